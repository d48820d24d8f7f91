/* Exact top-k by cosine, and analogies.
 *
 * Rows are taken a block at a time, made unit rows in scratch that stays in the second-level cache, so that inner
 * products are cosines; no normalized copy of all is kept. Only the lengths are (wv_search_rows), which a second scan need
 * not find again.
 *
 * The arithmetic (panels.h): SCORED_ROWS vectors read one coordinate at a time (a broadcast load, so they need no
 * alignment and no copy) against one or two panels of `lanes` vectors side by side:
 *
 *     score(row, lane) = sum over d of row[d] * panel[d][lane]
 *
 * Every score is one chain of multiply-adds over d whatever rows and lanes are beside it, so equal vectors get equal
 * scores and the answer does not depend on the number of threads, queries or rows. Rows left over at the end of a range
 * go the same way one by one, with stride 0.
 *
 * Selection is fused: scores are dropped by one subtraction and one OR per register unless one beats a threshold.
 */
#include <math.h>

#include "base/scratch.h"
#include "kernels/heap.h"
#include "kernels/panels.h"
#include "kernels/wv_kernels.h"

/* Rows scanned against all queries before the next ones are fetched: they stay in the second-level cache. */
#define TOP_K_BLOCK_BYTES (192 * 1024)
/* Rows of one analogy block: the scores of 512 words take 256 KB. */
#define ANALOGY_BLOCK_ROWS 128
#define COSMUL_EPSILON 0.001f /* Levy & Goldberg 2014 */

/* ---------------------------------------------------------------- unit rows */

typedef float any_float __attribute__((aligned(1))); /* rows of a mapped file begin anywhere */

static double scale_of(const any_float *row, int32_t dim) {
    double squares = 0;
    for (int32_t d = 0; d < dim; d++) squares += (double)row[d] * row[d];
    /* 0 -> 0 as a cosine with nothing; infinity -> infinity * 0 or 0 * NaN: no number, so never a neighbor. */
    return squares == 0 ? 0 : isfinite(squares) ? 1 / sqrt(squares) : NAN;
}

static void scale_row(const any_float *row, double scale, int32_t dim, float *out) {
    for (int32_t d = 0; d < dim; d++) out[d] = (float)(row[d] * scale);
}

static const any_float *row_at(const wv_search_rows *rows, int64_t row) {
    const char *at = rows->base + (rows->offsets ? rows->offsets[row] : row * rows->stride);
    return (const any_float *)(const void *)at;
}

/* 1 / length of a row, found once. */
static double known_scale(const wv_search_rows *rows, int64_t row) {
    double scale = rows->scale[row];
    return scale < 0 ? (rows->scale[row] = scale_of(row_at(rows, row), rows->dim)) : scale;
}

static void unit_row(const wv_search_rows *rows, int64_t row, float *out) {
    scale_row(row_at(rows, row), known_scale(rows, row), rows->dim, out);
}

void WV_NAME(wv_search_unit_rows)(const wv_search_rows *rows, const int64_t *numbers, int64_t count, float *out) {
    for (int64_t i = 0; i < count; i++) unit_row(rows, numbers[i], out + i * rows->dim);
}

void WV_NAME(wv_search_normalize)(const float *source, int64_t source_stride, float *out, int64_t out_stride,
                                  int64_t n, int32_t dim) {
    for (int64_t row = 0; row < n; row++) {
        const float *from = source + row * source_stride;
        scale_row(from, scale_of(from, dim), dim, out + row * out_stride);
    }
}

/* ---------------------------------------------------------------- top-k */

static void offer(const wv_top_k *run, int32_t query, int32_t row, float score) {
    if (!(score > run->threshold[query])) return;
    if (run->exclude_start) {
        int64_t first = run->exclude_start[query];
        if (contains(run->exclude + first, run->exclude_start[query + 1] - first, row)) return;
    }
    int64_t heap = (int64_t)query * run->k;
    run->threshold[query] = heap_replace(run->scores + heap, run->hits + heap, run->k, score, row);
}

/* The first `valid` of the rows scored, of which one score at least beats its threshold. */
static __attribute__((noinline)) void offer_rows(const wv_top_k *run, const panel_scores *scores, int panel,
                                                 int32_t query, int64_t row, int valid) {
    for (int r = 0; r < valid; r++)
        for (int lane = 0; lane < WV_LANES; lane++)
            offer(run, query + lane, (int32_t)(row + r), scores->score[r][panel][lane]);
}

/* A block of unit rows, of which the first is row `first` of all. */
typedef struct {
    const float *unit; /* (rows, dim), `stride` floats apart */
    int64_t stride;
    int64_t first;
} unit_block;

/* Row `row` of the block and those after it; `stride` is 0 for a single left-over row. */
WV_INLINE void scan_rows(const wv_top_k *run, const unit_block *block, int64_t row, int64_t stride, int32_t panel,
                         int panels) {
    panel_scores scores;
    const int32_t dim = run->rows->dim;
    const float *query_panel = run->panels + (int64_t)panel * dim * WV_LANES;
    score_panels(block->unit + row * block->stride, stride, query_panel, dim, panels, panel == 0, &scores);
    for (int p = 0; p < panels; p++) {
        int32_t query = (panel + p) * WV_LANES;
        vfloat threshold;
        memcpy(&threshold, run->threshold + query, sizeof threshold);
        vint bits = (vint){0};
#pragma GCC unroll 16
        for (int r = 0; r < SCORED_ROWS; r++) bits |= (vint)(threshold - scores.score[r][p]);
        if (any_negative(bits)) offer_rows(run, &scores, p, query, block->first + row, stride ? SCORED_ROWS : 1);
    }
}

WV_INLINE void scan_block(const wv_top_k *run, const unit_block *block, int64_t rows, int32_t panel, int panels) {
    int64_t row = 0;
    for (; row + SCORED_ROWS <= rows; row += SCORED_ROWS) scan_rows(run, block, row, block->stride, panel, panels);
    for (; row < rows; row++) scan_rows(run, block, row, 0, panel, panels);
}

/* Floats between the rows of a block: each begins at a cache line. */
static int64_t unit_stride(int32_t dim) { return ((int64_t)dim + WV_ROW_FLOATS - 1) / WV_ROW_FLOATS * WV_ROW_FLOATS; }

static int64_t block_rows(int32_t dim) {
    int64_t rows = TOP_K_BLOCK_BYTES / 4 / unit_stride(dim) / SCORED_ROWS * SCORED_ROWS;
    return rows < SCORED_ROWS ? SCORED_ROWS : rows;
}

static size_t lay_out_unit(const wv_top_k *run, void *memory, float **unit) {
    wv_scratch scratch = {memory, 0};
    *unit = WV_TAKE(&scratch, float, block_rows(run->rows->dim) * unit_stride(run->rows->dim));
    return scratch.used;
}

size_t WV_NAME(wv_search_top_k_scratch_bytes)(const wv_top_k *run) {
    float *unit;
    return lay_out_unit(run, NULL, &unit);
}

void WV_NAME(wv_search_top_k)(const wv_top_k *run, int64_t start, int64_t end, void *scratch) {
    float *unit;
    lay_out_unit(run, scratch, &unit);
    const int32_t panels = (run->queries + WV_LANES - 1) / WV_LANES, dim = run->rows->dim;
    const int64_t size = block_rows(dim);
    for (int64_t row = start; row < end; row += size) {
        const int64_t rows = row + size < end ? size : end - row;
        const unit_block block = {unit, unit_stride(dim), row};
        for (int64_t i = 0; i < rows; i++) unit_row(run->rows, row + i, unit + i * block.stride);
        int32_t panel = 0;
        for (; panel + PANELS <= panels; panel += PANELS) scan_block(run, &block, rows, panel, PANELS);
        if (panel < panels) scan_block(run, &block, rows, panel, 1);
    }
}

void WV_NAME(wv_search_pack)(const float *x, int64_t stride, int32_t count, int32_t dim, float *panels) {
    pack(x, stride, count, dim, panels);
}

/* ---------------------------------------------------------------- analogies */

/* A block of rows and what it scores. */
typedef struct {
    float *unit;   /* (ANALOGY_BLOCK_ROWS, dim) */
    float *packed; /* panels of the block: (ANALOGY_BLOCK_ROWS / lanes, dim, lanes) */
    float *scores; /* (distinct, ANALOGY_BLOCK_ROWS) */
} analogy_buffers;

static size_t lay_out(const wv_analogies *run, void *memory, analogy_buffers *buffers) {
    wv_scratch scratch = {memory, 0};
    buffers->unit = WV_TAKE(&scratch, float, (int64_t)ANALOGY_BLOCK_ROWS * run->rows->dim);
    buffers->packed = WV_TAKE(&scratch, float, (int64_t)ANALOGY_BLOCK_ROWS * run->rows->dim);
    buffers->scores = WV_TAKE(&scratch, float, (int64_t)ANALOGY_BLOCK_ROWS * run->distinct);
    return scratch.used;
}

size_t WV_NAME(wv_search_analogies_scratch_bytes)(const wv_analogies *run) {
    analogy_buffers buffers;
    return lay_out(run, NULL, &buffers);
}

/* scores: (distinct, ANALOGY_BLOCK_ROWS) inner products of the words with the packed block. */
static void score_words(const wv_analogies *run, const float *packed, float *scores) {
    const int32_t dim = run->rows->dim;
    for (int32_t panel = 0; panel < ANALOGY_BLOCK_ROWS / WV_LANES; panel += PANELS) {
        const float *block = packed + (int64_t)panel * dim * WV_LANES;
        for (int32_t word = 0; word < run->distinct;) {
            panel_scores block_scores;
            int whole = word + SCORED_ROWS <= run->distinct;
            int rows = whole ? SCORED_ROWS : 1;
            score_panels(run->words + (int64_t)word * dim, whole ? dim : 0, block, dim, PANELS, 0, &block_scores);
            for (int r = 0; r < rows; r++) {
                float *out = scores + (int64_t)(word + r) * ANALOGY_BLOCK_ROWS + panel * WV_LANES;
                for (int p = 0; p < PANELS; p++) v_store(out + p * WV_LANES, block_scores.score[r][p]);
            }
            word += rows;
        }
    }
}

static __attribute__((noinline)) void offer_answers(const wv_analogies *run, int32_t question, const float *scores,
                                                    int64_t row, int64_t valid) {
    const int32_t *abc = run->question + 3 * (int64_t)question;
    int64_t heap = (int64_t)question * run->k;
    for (int64_t i = 0; i < valid; i++) {
        if (!(scores[i] > run->threshold[question])) continue;
        int32_t answer = (int32_t)(row + i);
        int asked = 0;
        for (int j = 0; j < 3; j++) asked |= run->word_row[abc[j]] == answer;
        if (asked) continue;
        run->threshold[question] =
            heap_replace(run->scores + heap, run->hits + heap, run->k, scores[i], answer);
    }
}

/* 3CosAdd: cos(x, b) - cos(x, a) + cos(x, c) (Mikolov et al. 2013).
 * 3CosMul: cos'(x, b) cos'(x, c) / (cos'(x, a) + epsilon), cos' = (cos + 1) / 2 (Levy & Goldberg 2014). */
WV_INLINE void answer_block(const wv_analogies *run, const float *scores, int64_t row, int64_t valid,
                            wv_analogy_method method) {
    float combined[ANALOGY_BLOCK_ROWS] __attribute__((aligned(WV_CACHE_LINE)));
    for (int32_t question = 0; question < run->questions; question++) {
        const int32_t *abc = run->question + 3 * (int64_t)question;
        const float *a = scores + (int64_t)abc[0] * ANALOGY_BLOCK_ROWS;
        const float *b = scores + (int64_t)abc[1] * ANALOGY_BLOCK_ROWS;
        const float *c = scores + (int64_t)abc[2] * ANALOGY_BLOCK_ROWS;
        vfloat threshold = v_splat(run->threshold[question]);
        vint bits = (vint){0};
        for (int i = 0; i < ANALOGY_BLOCK_ROWS; i += WV_LANES) {
            vfloat score = method == WV_3COSADD
                               ? v_load(b + i) - v_load(a + i) + v_load(c + i)
                               : (v_load(b + i) + 1.0f) * (v_load(c + i) + 1.0f) /
                                     (2.0f * v_load(a + i) + (2.0f + 4.0f * COSMUL_EPSILON));
            v_store(combined + i, score);
            bits |= (vint)(threshold - score);
        }
        if (any_negative(bits)) offer_answers(run, question, combined, row, valid);
    }
}

void WV_NAME(wv_search_analogies)(const wv_analogies *run, int64_t start, int64_t end, void *scratch) {
    analogy_buffers buffers;
    lay_out(run, scratch, &buffers);
    float *scores = buffers.scores;
    const int32_t dim = run->rows->dim;
    for (int64_t row = start; row < end; row += ANALOGY_BLOCK_ROWS) {
        int64_t valid = end - row < ANALOGY_BLOCK_ROWS ? end - row : ANALOGY_BLOCK_ROWS;
        if (valid < ANALOGY_BLOCK_ROWS)
            memset(buffers.packed, 0, sizeof(float) * ANALOGY_BLOCK_ROWS * (size_t)dim);
        for (int64_t i = 0; i < valid; i++) unit_row(run->rows, row + i, buffers.unit + i * dim);
        pack(buffers.unit, dim, (int32_t)valid, dim, buffers.packed);
        score_words(run, buffers.packed, scores);
        if (run->method == WV_3COSADD) answer_block(run, scores, row, valid, WV_3COSADD);
        else answer_block(run, scores, row, valid, WV_3COSMUL);
    }
}
