/* Exact top-k by inner product, and analogies. Unit rows in, so inner products are cosines.
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

#include "kernels/heap.h"
#include "kernels/panels.h"
#include "kernels/scratch.h"
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

/* The first `valid` of the rows scored, of which one score at least beats its threshold. */
static __attribute__((noinline)) void offer_rows(const wv_top_k *run, const panel_scores *scores, int panel,
                                                 int32_t query, int64_t row, int valid) {
    for (int r = 0; r < valid; r++)
        for (int lane = 0; lane < WV_LANES; lane++)
            offer(run, query + lane, (int32_t)(row + r), scores->score[r][panel][lane]);
}

/* `stride` is 0 for a single left-over row. */
WV_INLINE void scan_rows(const wv_top_k *run, int64_t row, int64_t stride, int32_t panel, int panels) {
    panel_scores scores;
    const float *query_panel = run->panels + (int64_t)panel * run->dim * WV_LANES;
    score_panels(run->rows + row * run->stride, stride, query_panel, run->dim, panels, panel == 0, &scores);
    for (int p = 0; p < panels; p++) {
        int32_t query = (panel + p) * WV_LANES;
        vfloat threshold;
        memcpy(&threshold, run->threshold + query, sizeof threshold);
        vint bits = (vint){0};
#pragma GCC unroll 16
        for (int r = 0; r < SCORED_ROWS; r++) bits |= (vint)(threshold - scores.score[r][p]);
        if (any_negative(bits)) offer_rows(run, &scores, p, query, row, stride ? SCORED_ROWS : 1);
    }
}

WV_INLINE void scan_block(const wv_top_k *run, int64_t start, int64_t end, int32_t panel, int panels) {
    int64_t row = start;
    for (; row + SCORED_ROWS <= end; row += SCORED_ROWS) scan_rows(run, row, run->stride, panel, panels);
    for (; row < end; row++) scan_rows(run, row, 0, panel, panels);
}

void WV_NAME(wv_search_top_k)(const wv_top_k *run, int64_t start, int64_t end) {
    int64_t block = TOP_K_BLOCK_BYTES / 4 / run->stride / SCORED_ROWS * SCORED_ROWS;
    if (block < SCORED_ROWS) block = SCORED_ROWS;
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

void WV_NAME(wv_search_normalise)(const float *source, int64_t source_stride, float *out, int64_t out_stride,
                                  int64_t n, int32_t dim) {
    for (int64_t row = 0; row < n; row++) {
        const float *from = source + row * source_stride;
        float *to = out + row * out_stride;
        double squares = 0;
        for (int32_t d = 0; d < dim; d++) squares += (double)from[d] * from[d];
        /* 0 -> 0 as a cosine with nothing; infinity -> infinity * 0 or 0 * NaN: no number, so never a neighbour. */
        double scale = squares == 0 ? 0 : isfinite(squares) ? 1 / sqrt(squares) : NAN;
        for (int32_t d = 0; d < dim; d++) to[d] = (float)(from[d] * scale);
    }
}

/* ---------------------------------------------------------------- analogies */

/* A block of rows and what it scores. */
typedef struct {
    float *packed; /* panels of the block: (ANALOGY_BLOCK_ROWS / lanes, dim, lanes) */
    float *scores; /* (distinct, ANALOGY_BLOCK_ROWS) */
} analogy_buffers;

static size_t lay_out(const wv_analogies *run, void *memory, analogy_buffers *buffers) {
    wv_scratch scratch = {memory, 0};
    buffers->packed = WV_TAKE(&scratch, float, (int64_t)ANALOGY_BLOCK_ROWS * run->dim);
    buffers->scores = WV_TAKE(&scratch, float, (int64_t)ANALOGY_BLOCK_ROWS * run->distinct);
    return scratch.used;
}

size_t WV_NAME(wv_search_analogies_scratch_bytes)(const wv_analogies *run) {
    analogy_buffers buffers;
    return lay_out(run, NULL, &buffers);
}

/* scores: (distinct, ANALOGY_BLOCK_ROWS) inner products of the words with the packed block. */
static void score_words(const wv_analogies *run, const float *packed, float *scores) {
    for (int32_t panel = 0; panel < ANALOGY_BLOCK_ROWS / WV_LANES; panel += PANELS) {
        const float *block = packed + (int64_t)panel * run->dim * WV_LANES;
        for (int32_t word = 0; word < run->distinct;) {
            panel_scores block_scores;
            int whole = word + SCORED_ROWS <= run->distinct;
            int rows = whole ? SCORED_ROWS : 1;
            score_panels(run->words + (int64_t)word * run->dim, whole ? run->dim : 0, block, run->dim, PANELS, 0,
                         &block_scores);
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
    analogy_buffers buffers;
    lay_out(run, scratch, &buffers);
    float *scores = buffers.scores;
    for (int64_t row = start; row < end; row += ANALOGY_BLOCK_ROWS) {
        int64_t valid = end - row < ANALOGY_BLOCK_ROWS ? end - row : ANALOGY_BLOCK_ROWS;
        if (valid < ANALOGY_BLOCK_ROWS)
            memset(buffers.packed, 0, sizeof(float) * ANALOGY_BLOCK_ROWS * (size_t)run->dim);
        pack(run->rows + row * run->stride, run->stride, (int32_t)valid, run->dim, buffers.packed);
        score_words(run, buffers.packed, scores);
        if (run->method == WV_3COSADD) answer_block(run, scores, row, valid, WV_3COSADD);
        else answer_block(run, scores, row, valid, WV_3COSMUL);
    }
}
