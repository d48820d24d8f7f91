/* Exact top-k by inner product, and analogies. Unit rows in, so inner products are cosines.
 *
 * The tile: TILE_ROWS vectors read one coordinate at a time (a broadcast load, so they need no alignment and no copy)
 * against one or two panels of `lanes` vectors side by side:
 *
 *     score(row, lane) = sum over d of row[d] * panel[d][lane]
 *
 * Every score is one chain of multiply-adds over d whatever its place in the tile, so equal vectors get equal scores and
 * the answer does not depend on the number of threads, queries or rows. Rows left over at the end of a range go through
 * the same tile one by one, with stride 0.
 *
 * Selection is fused: a tile is dropped by one subtraction and one OR per register unless it beats a threshold.
 */
#include <math.h>

#include "kernels/heap.h"
#include "kernels/panels.h"
#include "kernels/wv_kernels.h"

/* Rows scanned against all queries before the next ones are fetched: they stay in the second-level cache. */
#define TOP_K_BLOCK_BYTES (192 * 1024)
/* Rows of one analogy block: the scores of 512 words take 256 KB. */
#define ANALOGY_BLOCK_ROWS 128
#define COSMUL_EPSILON 0.001f /* Levy & Goldberg 2014 */

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

/* The first `valid` rows of a tile, of which one score at least beats its threshold. */
static __attribute__((noinline)) void offer_tile(const wv_top_k *run, const tile *t, int panel, int32_t query,
                                                 int64_t row, int valid) {
    for (int r = 0; r < valid; r++)
        for (int lane = 0; lane < WV_LANES; lane++)
            offer(run, query + lane, (int32_t)(row + r), t->score[r][panel][lane]);
}

/* `stride` is 0 for a single left-over row. */
WV_INLINE void scan_tile(const wv_top_k *run, int64_t row, int64_t stride, int32_t panel, int panels) {
    tile t;
    const float *query_panel = run->panels + (int64_t)panel * run->dim * WV_LANES;
    tile_scores(run->rows + row * run->stride, stride, query_panel, run->dim, panels, panel == 0, &t);
    for (int p = 0; p < panels; p++) {
        int32_t query = (panel + p) * WV_LANES;
        vfloat threshold;
        memcpy(&threshold, run->threshold + query, sizeof threshold);
        vint bits = (vint){0};
#pragma GCC unroll 16
        for (int r = 0; r < TILE_ROWS; r++) bits |= (vint)(threshold - t.score[r][p]);
        if (any_negative(bits)) offer_tile(run, &t, p, query, row, stride ? TILE_ROWS : 1);
    }
}

WV_INLINE void scan_block(const wv_top_k *run, int64_t start, int64_t end, int32_t panel, int panels) {
    int64_t row = start;
    for (; row + TILE_ROWS <= end; row += TILE_ROWS) scan_tile(run, row, run->stride, panel, panels);
    for (; row < end; row++) scan_tile(run, row, 0, panel, panels);
}

void WV_NAME(wv_search_top_k)(const wv_top_k *run, int64_t start, int64_t end) {
    int64_t block = TOP_K_BLOCK_BYTES / 4 / run->stride / TILE_ROWS * TILE_ROWS;
    if (block < TILE_ROWS) block = TILE_ROWS;
    int32_t panels = (run->queries + WV_LANES - 1) / WV_LANES;
    for (int64_t row = start; row < end; row += block) {
        int64_t stop = row + block < end ? row + block : end;
        int32_t panel = 0;
        for (; panel + PANELS <= panels; panel += PANELS) scan_block(run, row, stop, panel, PANELS);
        if (panel < panels) scan_block(run, row, stop, panel, 1);
    }
}

/* ---------------------------------------------------------------- packing and normalising */

void WV_NAME(wv_search_pack)(const float *x, int64_t stride, int32_t count, int32_t dim, float *panels) {
    pack(x, stride, count, dim, panels);
}

void WV_NAME(wv_search_normalise)(const float *in, int64_t in_stride, float *out, int64_t out_stride, int64_t n,
                                  int32_t dim) {
    for (int64_t row = 0; row < n; row++) {
        const float *from = in + row * in_stride;
        float *to = out + row * out_stride;
        double squares = 0;
        for (int32_t d = 0; d < dim; d++) squares += (double)from[d] * from[d];
        /* 0 -> 0 as a cosine with nothing; infinity -> infinity * 0 or 0 * NaN: no number, so never a neighbour. */
        double scale = squares == 0 ? 0 : isfinite(squares) ? 1 / sqrt(squares) : NAN;
        for (int32_t d = 0; d < dim; d++) to[d] = (float)(from[d] * scale);
    }
}

/* ---------------------------------------------------------------- analogies */

static size_t packed_bytes(const wv_analogies *run) {
    return sizeof(float) * ANALOGY_BLOCK_ROWS * (size_t)run->dim;
}

size_t WV_NAME(wv_search_analogies_scratch_bytes)(const wv_analogies *run) {
    return packed_bytes(run) + sizeof(float) * ANALOGY_BLOCK_ROWS * (size_t)run->distinct;
}

/* scores: (distinct, ANALOGY_BLOCK_ROWS) inner products of the words with the packed block. */
static void score_words(const wv_analogies *run, const float *packed, float *scores) {
    for (int32_t panel = 0; panel < ANALOGY_BLOCK_ROWS / WV_LANES; panel += PANELS) {
        const float *block = packed + (int64_t)panel * run->dim * WV_LANES;
        for (int32_t word = 0; word < run->distinct;) {
            tile t;
            int whole = word + TILE_ROWS <= run->distinct;
            tile_scores(run->words + (int64_t)word * run->dim, whole ? run->dim : 0, block, run->dim, PANELS, 0, &t);
            for (int r = 0; r < (whole ? TILE_ROWS : 1); r++, word++)
                for (int p = 0; p < PANELS; p++)
                    v_store(scores + (int64_t)word * ANALOGY_BLOCK_ROWS + (panel + p) * WV_LANES, t.score[r][p]);
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
    float combined[ANALOGY_BLOCK_ROWS] __attribute__((aligned(64)));
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
    float *packed = scratch;
    float *scores = packed + packed_bytes(run) / sizeof(float);
    for (int64_t row = start; row < end; row += ANALOGY_BLOCK_ROWS) {
        int64_t valid = end - row < ANALOGY_BLOCK_ROWS ? end - row : ANALOGY_BLOCK_ROWS;
        if (valid < ANALOGY_BLOCK_ROWS) memset(packed, 0, packed_bytes(run));
        pack(run->rows + row * run->stride, run->stride, (int32_t)valid, run->dim, packed);
        score_words(run, packed, scores);
        if (run->method == WV_3COSADD) answer_block(run, scores, row, valid, WV_3COSADD);
        else answer_block(run, scores, row, valid, WV_3COSMUL);
    }
}
