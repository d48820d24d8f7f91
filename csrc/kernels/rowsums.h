/* Sums of rows of a classifier's input: those of a word, and those of a line, whose mean is its hidden vector
 * (prediction.c). Rows are floats at any byte of a mapped file, or codes of a product quantizer.
 *
 * Most words of a text have stood in it before. A word's rows, its character n-grams, are summed once, and a line is the
 * sum of its words: a tenth of the memory that its rows are.
 */
#ifndef WV_ROWSUMS_H
#define WV_ROWSUMS_H

#include "base/lanes.h"
#include "kernels/wv_product.h"
#include "kernels/wv_supervised.h"

enum {
    CHUNK = 8, /* vectors of a row summed at once, in registers */
    PIECE = 16 /* rows summed at once: between the passes over their columns they stay in the nearest cache */
};

/* Floats of a sum of rows on its way: whole vectors, zeros up to the stride, and then the vector that ends with the last
 * column. That one overlaps the others, so that nothing is read behind a row. */
static size_t sum_floats(const wv_prediction_run *run) { return (size_t)run->stride + WV_ROW_FLOATS; }

/* Adds rows to `vectors` vectors of `to` from column d on, and with `rest` to the one that ends with the last column.
 * Both are constants. */
WV_INLINE void add_columns(const wv_prediction_run *run, const char *const *row, int rows, float *to, int d, int vectors,
                           int rest) {
    vfloat sum[CHUNK + 1], part;
    int last = run->dim - WV_LANES;
    for (int v = 0; v < vectors; v++) sum[v] = v_load(to + d + v * WV_LANES);
    sum[vectors] = v_load(to + run->stride);
    for (int k = 0; k < rows; k++) {
        for (int v = 0; v < vectors; v++) {
            memcpy(&part, row[k] + (size_t)(d + v * WV_LANES) * sizeof(float), sizeof part);
            sum[v] += part;
        }
        if (rest) {
            memcpy(&part, row[k] + (size_t)last * sizeof(float), sizeof part);
            sum[vectors] += part;
        }
    }
    for (int v = 0; v < vectors; v++) v_store(to + d + v * WV_LANES, sum[v]);
    if (rest) v_store(to + run->stride, sum[vectors]);
}

static void add_column(const char *const *row, int rows, float *to, int d) {
    float part;
    for (int k = 0; k < rows; k++) {
        memcpy(&part, row[k] + (size_t)d * sizeof part, sizeof part);
        to[d] += part;
    }
}

/* Adds a few rows of floats to a sum, in their order. In a mapped file they begin at any byte. */
static void add_piece(const wv_prediction_run *run, const char *const *row, int rows, float *sum) {
    int d = 0, dim = run->dim;
    for (; d + CHUNK * WV_LANES <= dim; d += CHUNK * WV_LANES) add_columns(run, row, rows, sum, d, CHUNK, 0);
    int vectors = (dim - d) / WV_LANES, rest = dim % WV_LANES != 0;
    if (dim < WV_LANES) {
        for (; d < dim; d++) add_column(row, rows, sum, d);
        return;
    }
    switch (2 * vectors + rest) {
#define COLUMNS(n) \
    case 2 * n: add_columns(run, row, rows, sum, d, n, 0); break; \
    case 2 * n + 1: add_columns(run, row, rows, sum, d, n, 1); break
        case 1: add_columns(run, row, rows, sum, d, 0, 1); break;
        COLUMNS(1); COLUMNS(2); COLUMNS(3); COLUMNS(4); COLUMNS(5); COLUMNS(6); COLUMNS(7);
#undef COLUMNS
    }
}

/* The numbers of a row from its codes, each for `dsub` of them. */
WV_INLINE void decode(const wv_prediction_run *run, int64_t row, int dsub, float *out) {
    const uint8_t *code = (const uint8_t *)run->input + row * run->row_bytes;
    float norm = 1;
    if (run->norm_code) memcpy(&norm, run->norms + run->norm_code[row] * sizeof norm, sizeof norm);
    for (int d = 0; d < run->dim; d += dsub, code++) {
        int width = run->dim - d < dsub ? run->dim - d : dsub;
        const char *centroid = run->centroids + ((size_t)d * WV_CENTROIDS + (size_t)(*code * width)) * sizeof(float);
        for (int j = 0; j < width; j++) {
            float part;
            memcpy(&part, centroid + (size_t)j * sizeof part, sizeof part);
            out[d + j] = part * norm;
        }
    }
}

static const char *row_at(const wv_prediction_run *run, int64_t row) { return run->input + row * run->row_bytes; }

static float *word_sum(const wv_prediction_run *run, const wv_prediction_words *known, int64_t word) {
    return known->sum + (size_t)word * (size_t)run->stride;
}

/* Inlined: a call of a function that only prefetches has no effect for the compiler, which deletes it. */
WV_INLINE void prefetch_rows(const wv_prediction_run *run, const wv_prediction_words *known, const int32_t *row,
                             int64_t rows) {
    for (int64_t k = 0; k < rows; k++) {
        int is_word = row[k] < 0;
        const char *from = is_word ? (const char *)word_sum(run, known, ~row[k]) : row_at(run, row[k]);
        const char *last = from + (is_word ? run->stride * (int)sizeof(float) : run->row_bytes) - 1;
        for (; from < last; from += WV_CACHE_LINE) __builtin_prefetch(from, 0, 3);
        __builtin_prefetch(last, 0, 3);
        if (run->norm_code && !is_word) __builtin_prefetch(run->norm_code + row[k], 0, 3);
    }
}

/* Adds rows and sums of words to a sum. `after` more follow them in the array, which are summed next: their memory is asked
 * for, too. */
static void add_rows(const wv_prediction_run *run, const wv_prediction_words *known, const int32_t *row, int64_t rows,
                     int64_t after, float *piece, float *sum) {
    const char *from[PIECE];
    for (int64_t k = 0; k < rows; k += PIECE) {
        int count = rows - k < PIECE ? (int)(rows - k) : PIECE;
        int64_t ahead = rows - k - count + after;
        prefetch_rows(run, known, row + k + count, ahead < PIECE ? ahead : PIECE);
        for (int i = 0; i < count; i++) {
            int is_word = row[k + i] < 0;
            from[i] = is_word ? (const char *)word_sum(run, known, ~row[k + i]) : row_at(run, row[k + i]);
            if (is_word || !run->centroids) continue;
            float *made = piece + (size_t)i * (size_t)run->dim;
            if (run->dsub == 2)
                decode(run, row[k + i], 2, made);
            else
                decode(run, row[k + i], run->dsub, made);
            from[i] = (const char *)made;
        }
        add_piece(run, from, count, sum);
    }
}

/* The mean of `rows` rows from their sum, in place. */
static void finish_sum(const wv_prediction_run *run, int64_t rows, float *sum) {
    float scale = 1.0f / (float)rows;
    int last = run->dim - WV_LANES;
    for (int d = 0; d < run->stride; d += WV_LANES) v_store(sum + d, v_load(sum + d) * scale);
    if (last >= 0 && run->dim % WV_LANES) v_store_unaligned(sum + last, v_load(sum + run->stride) * scale);
}

/* Sums the rows of the words that have no sum yet; `sum` is room for one. */
static void sum_words(const wv_prediction_run *run, const wv_prediction_words *known, float *piece, float *sum) {
    const int64_t *start = known->start;
    for (int64_t word = known->summed; word < known->words; word++) {
        int64_t rows = start[word + 1] - start[word], after = start[known->words] - start[word + 1];
        memset(sum, 0, sum_floats(run) * sizeof *sum);
        add_rows(run, known, known->row + start[word], rows, after, piece, sum);
        finish_sum(run, 1, sum);
        memcpy(word_sum(run, known, word), sum, (size_t)run->stride * sizeof *sum);
    }
}

/* How many rows of the input a line has, those of its words counted. */
static int64_t count_rows(const wv_prediction_words *known, const int32_t *row, int64_t rows) {
    int64_t count = 0;
    for (int64_t k = 0; k < rows; k++) count += row[k] < 0 ? known->start[~row[k] + 1] - known->start[~row[k]] : 1;
    return count;
}

#endif
