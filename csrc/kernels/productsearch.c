/* Exact search among product codes, which are not decoded: asymmetric distances (Jegou, Douze, Schmid 2011).
 *
 * A code names a centroid c_m for each block m of coordinates. For a panel of `lanes` queries side by side a table holds
 * the inner product of every centroid with every query's block, so a row's cosines are a look-up for each block:
 *
 *     score(row, lane) = scale(row) * sum over m of table[m][code[row][m]][lane]
 *     scale(row) = 1 / sqrt(sum over m of |c_m|^2)
 *
 * It is the cosine with the decoded vector but for rounding. Every score is one chain of additions over m whatever rows
 * and lanes are beside it. A table takes 1 KB for each block and lane: those of 16 queries and 16 blocks stay in the
 * second-level cache while all rows of a thread pass by.
 */
#include <math.h>

#include "base/scratch.h"
#include "kernels/heap.h"
#include "kernels/panels.h"
#include "kernels/wv_kernels.h"

#define ROWS 8 /* scored together: their look-ups do not wait for each other */

typedef struct {
    float *table;    /* (blocks, WV_CENTROIDS, lanes) */
    double *squares; /* (blocks, WV_CENTROIDS): |c|^2 */
} product_tables;

static int32_t blocks_of(const wv_product_search *run) { return (run->dim + run->dsub - 1) / run->dsub; }

static size_t lay_out(const wv_product_search *run, void *memory, product_tables *tables) {
    wv_scratch scratch = {memory, 0};
    const int64_t entries = (int64_t)blocks_of(run) * WV_CENTROIDS;
    tables->table = WV_TAKE(&scratch, float, entries * WV_LANES);
    tables->squares = WV_TAKE(&scratch, double, entries);
    return scratch.used;
}

size_t WV_NAME(wv_product_search_scratch_bytes)(const wv_product_search *run) {
    product_tables tables;
    return lay_out(run, NULL, &tables);
}

/* The centroids' coordinates in units of the largest one: no sum of squares or products can leave the numbers. */
static float coordinate(const wv_product_search *run, int64_t at) {
    return (float)((double)run->centroids[at] * run->unit);
}

/* table (blocks, WV_CENTROIDS, lanes) of a panel (dim, lanes). */
static void fill_table(const wv_product_search *run, const float *panel, float *table) {
    int64_t at = 0;
    for (int32_t first = 0; first < run->dim; first += run->dsub) {
        const int32_t width = run->dim - first < run->dsub ? run->dim - first : run->dsub;
        for (int c = 0; c < WV_CENTROIDS; c++, table += WV_LANES) {
            vfloat sum = (vfloat){0};
            for (int32_t j = 0; j < width; j++)
                sum += v_load(panel + (int64_t)(first + j) * WV_LANES) * coordinate(run, at++);
            v_store(table, sum);
        }
    }
}

static void fill_squares(const wv_product_search *run, double *squares) {
    int64_t at = 0;
    for (int32_t first = 0; first < run->dim; first += run->dsub) {
        const int32_t width = run->dim - first < run->dsub ? run->dim - first : run->dsub;
        for (int c = 0; c < WV_CENTROIDS; c++) {
            double sum = 0;
            for (int32_t j = 0; j < width; j++, at++) sum += (double)coordinate(run, at) * coordinate(run, at);
            *squares++ = sum;
        }
    }
}

static void find_scales(const wv_product_search *run, int64_t start, int64_t end, double *squares) {
    int filled = 0;
    const int32_t blocks = blocks_of(run);
    for (int64_t row = start; row < end; row++) {
        if (run->scale[row] >= 0) continue;
        if (!filled) fill_squares(run, squares);
        filled = 1;
        double sum = 0;
        for (int32_t m = 0; m < blocks; m++) sum += squares[m * WV_CENTROIDS + run->codes[row * blocks + m]];
        run->scale[row] = sum > 0 ? (float)(1 / sqrt(sum)) : 0;
    }
}

static void offer(const wv_product_search *run, int32_t query, int32_t row, float score) {
    if (!(score > run->threshold[query])) return;
    const int64_t first = run->exclude_start[query];
    if (contains(run->exclude + first, run->exclude_start[query + 1] - first, row)) return;
    const int64_t heap = (int64_t)query * run->k;
    run->threshold[query] = heap_replace(run->scores + heap, run->hits + heap, run->k, score, row);
}

static __attribute__((noinline)) void offer_rows(const wv_product_search *run, const vfloat *scores, int32_t query,
                                                 int64_t row, int rows) {
    for (int r = 0; r < rows; r++)
        for (int lane = 0; lane < WV_LANES; lane++) offer(run, query + lane, (int32_t)(row + r), scores[r][lane]);
}

/* `rows` is constant where this is inlined. */
WV_INLINE void scan_rows(const wv_product_search *run, const float *table, int32_t query, int64_t row, int rows) {
    const int32_t blocks = blocks_of(run);
    const uint8_t *codes = run->codes + row * blocks;
    vfloat sum[ROWS];
    for (int r = 0; r < rows; r++) sum[r] = (vfloat){0};
    for (int32_t m = 0; m < blocks; m++) {
        const float *entries = table + (int64_t)m * WV_CENTROIDS * WV_LANES;
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) sum[r] += v_load(entries + codes[(int64_t)r * blocks + m] * WV_LANES);
    }
    vfloat threshold;
    memcpy(&threshold, run->threshold + query, sizeof threshold);
    vint bits = (vint){0};
    for (int r = 0; r < rows; r++) {
        sum[r] *= run->scale[row + r];
        bits |= (vint)(threshold - sum[r]);
    }
    if (any_negative(bits)) offer_rows(run, sum, query, row, rows);
}

void WV_NAME(wv_product_search)(const wv_product_search *run, int64_t start, int64_t end, void *scratch) {
    product_tables tables;
    lay_out(run, scratch, &tables);
    find_scales(run, start, end, tables.squares);
    for (int32_t query = 0; query < run->queries; query += WV_LANES) {
        fill_table(run, run->panels + (int64_t)query * run->dim, tables.table);
        int64_t row = start;
        for (; row + ROWS <= end; row += ROWS) scan_rows(run, tables.table, query, row, ROWS);
        for (; row < end; row++) scan_rows(run, tables.table, query, row, 1);
    }
}
