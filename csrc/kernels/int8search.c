/* The nearest of rows of int8 to float queries, by cosine.
 *
 * Rows become floats in scratch that stays in the cache, some at a time, for all queries. WV_LANES sums are made together:
 * of some rows with one query, or of fewer rows with TOGETHER queries, for which a row is loaded once. Every sum is one chain
 * of multiply-adds over the lanes of a vector, whatever is beside it, so that equal rows get equal scores, and a query the
 * same answer in every batch.
 */
#include "base/scratch.h"
#include "kernels/heap.h"
#include "kernels/wv_kernels.h"

#define TOGETHER 4    /* queries */
#define BLOCK_ROWS 64 /* as many as stay in the second-level cache, and whole registers of sums; of one query fewer */

static size_t lay_out(const wv_int8_search *run, void *memory, float **block) {
    wv_scratch scratch = {memory, 0};
    *block = WV_TAKE(&scratch, float, BLOCK_ROWS * run->stride);
    return scratch.used;
}

size_t WV_NAME(wv_int8_search_scratch_bytes)(const wv_int8_search *run) {
    float *block;
    return lay_out(run, NULL, &block);
}

/* Lane r * queries + q of the result: row r (`stride` floats apart) times query q. */
WV_INLINE vfloat score_rows(const wv_int8_search *run, const float *row, int64_t stride, const float *query,
                            int queries) {
    vfloat sums[WV_LANES] = {{0}};
    for (int64_t d = 0; d < run->stride; d += WV_LANES) {
#pragma GCC unroll 16
        for (int r = 0; r < WV_LANES / queries; r++) {
            const vfloat numbers = v_load(row + r * stride + d);
#pragma GCC unroll 4
            for (int q = 0; q < queries; q++) sums[r * queries + q] += numbers * v_load(query + q * run->stride + d);
        }
    }
    return v_sums(sums);
}

static __attribute__((noinline)) void offer_scores(const wv_int8_search *run, const float *scores, int64_t row,
                                                   int rows, int32_t query, int queries) {
    for (int r = 0; r < rows; r++)
        for (int q = 0; q < queries; q++) {
            const int64_t heap = (int64_t)(query + q) * run->k;
            const float score = scores[r * queries + q];
            if (!(run->norms[row + r] >= run->least_norm && score > run->scores[heap])) continue;
            heap_replace(run->scores + heap, run->hits + heap, run->k, score, (int32_t)(row + r));
        }
}

/* `rows` rows from the one that stands at `at` on: all of a register of sums or, with stride 0, one. */
WV_INLINE void scan_rows(const wv_int8_search *run, const float *at, int64_t row, int64_t stride, int rows,
                         int32_t query, int queries) {
    const vfloat sums = score_rows(run, at, stride, run->queries + query * run->stride, queries);
    float norms[WV_LANES], worst[WV_LANES], scores[WV_LANES];
    for (int lane = 0; lane < WV_LANES; lane++) {
        norms[lane] = run->norms[row + (stride ? lane / queries : 0)];
        worst[lane] = run->scores[(int64_t)(query + lane % queries) * run->k];
    }
    const vfloat found = sums / v_load_unaligned(norms);
    const vint better = found > v_load_unaligned(worst);
    int32_t any = 0;
    for (int lane = 0; lane < WV_LANES; lane++) any |= better[lane];
    if (!any) return;
    v_store_unaligned(scores, found);
    offer_scores(run, scores, row, rows, query, queries);
}

WV_INLINE void scan_block(const wv_int8_search *run, const float *block, int64_t first, int64_t rows, int32_t query,
                          int queries) {
    const int together = WV_LANES / queries;
    const int64_t stride = run->stride;
    int64_t row = 0;
    for (; row + together <= rows; row += together)
        scan_rows(run, block + row * stride, first + row, stride, together, query, queries);
    for (; row < rows; row++) scan_rows(run, block + row * stride, first + row, 0, 1, query, queries);
}

void WV_NAME(wv_int8_search_top_k)(const wv_int8_search *run, int64_t start, int64_t end, void *scratch) {
    float *block;
    lay_out(run, scratch, &block);
    memset(block, 0, sizeof(float) * (size_t)(BLOCK_ROWS * run->stride));
    const int64_t size = run->count < TOGETHER ? WV_LANES : BLOCK_ROWS;
    for (int64_t first = start; first < end; first += size) {
        const int64_t rows = first + size < end ? size : end - first;
        for (int64_t row = 0; row < rows; row++) {
            const int8_t *numbers = run->rows + (first + row) * run->dim;
            float *out = block + row * run->stride;
            for (int32_t d = 0; d < run->dim; d++) out[d] = numbers[d];
        }
        int32_t query = 0;
        for (; query + TOGETHER <= run->count; query += TOGETHER) scan_block(run, block, first, rows, query, TOGETHER);
        for (; query < run->count; query++) scan_block(run, block, first, rows, query, 1);
    }
}
