/* Codes by linear hashers: every method that turns a vector into bits by projections ends here; what the projections
 * are is the business of wv_cli/hashing.
 *
 * Activations are made (panels.h) for a block of rows, then thresholded or the highest selected. An activation is one
 * chain of multiply-adds whatever is beside it, so a code does not depend on its neighbors. */
#include <math.h>

#include "base/scratch.h"
#include "kernels/heap.h"
#include "kernels/panels.h"
#include "kernels/wv_kernels.h"

#define BLOCK_ROWS (4 * SCORED_ROWS) /* share one pass over the weights, which need not fit the first-level cache */

static int64_t panel_count(const wv_hasher *hasher) { return (hasher->units + WV_LANES - 1) / WV_LANES; }
static int64_t padded_units(const wv_hasher *hasher) { return panel_count(hasher) * WV_LANES; }
static size_t bitmap_words(const wv_hasher *hasher) { return ((size_t)hasher->units + 63) / 64; }

typedef struct {
    float *activation; /* (BLOCK_ROWS, units padded) */
    uint64_t *bitmap;  /* (units / 64, rounded up): zero between rows */
    float *scores;     /* (active): the heap */
    int32_t *hits;     /* (active) */
} hash_buffers;

static size_t lay_out(const wv_hasher *hasher, void *memory, hash_buffers *buffers) {
    wv_scratch scratch = {memory, 0};
    buffers->activation = WV_TAKE(&scratch, float, BLOCK_ROWS * padded_units(hasher));
    buffers->bitmap = WV_TAKE(&scratch, uint64_t, bitmap_words(hasher));
    buffers->scores = WV_TAKE(&scratch, float, hasher->active);
    buffers->hits = WV_TAKE(&scratch, int32_t, hasher->active);
    return scratch.used;
}

size_t WV_NAME(wv_hash_scratch_bytes)(const wv_hasher *hasher) {
    hash_buffers buffers;
    return lay_out(hasher, NULL, &buffers);
}

/* out: (SCORED_ROWS, units) activations; `panels` is constant where this is inlined. `stride` 0: one row only. */
WV_INLINE void activate(const wv_hasher *hasher, const float *rows, int64_t stride, int64_t panel, int panels,
                        float *out) {
    panel_scores scores;
    score_panels(rows, stride, hasher->panels + panel * hasher->dim * WV_LANES, hasher->dim, panels, 0, &scores);
    int64_t units = padded_units(hasher);
    int count = stride ? SCORED_ROWS : 1;
    for (int r = 0; r < count; r++)
        for (int p = 0; p < panels; p++) v_store(out + r * units + (panel + p) * WV_LANES, scores.score[r][p]);
}

/* out: (n, units padded), n at most BLOCK_ROWS. */
static void activations(const wv_hasher *hasher, const float *rows, int64_t stride, int64_t n, float *out) {
    int64_t units = padded_units(hasher), count = panel_count(hasher);
    for (int64_t panel = 0; panel < count; panel += PANELS) {
        for (int64_t row = 0; row < n;) {
            int whole = row + SCORED_ROWS <= n;
            const float *first = rows + row * stride;
            if (panel + PANELS <= count)
                activate(hasher, first, whole ? stride : 0, panel, PANELS, out + row * units);
            else
                activate(hasher, first, whole ? stride : 0, panel, 1, out + row * units);
            row += whole ? SCORED_ROWS : 1;
        }
    }
}

void WV_NAME(wv_hash_bits)(const wv_hasher *hasher, const float *rows, int64_t stride, int64_t n, uint64_t *out,
                           void *scratch) {
    hash_buffers buffers;
    lay_out(hasher, scratch, &buffers);
    size_t words = bitmap_words(hasher);
    for (int64_t start = 0; start < n; start += BLOCK_ROWS) {
        int64_t count = n - start < BLOCK_ROWS ? n - start : BLOCK_ROWS;
        activations(hasher, rows + start * stride, stride, count, buffers.activation);
        for (int64_t row = 0; row < count; row++) {
            const float *activation = buffers.activation + row * padded_units(hasher);
            uint64_t *code = out + (start + row) * (int64_t)words;
            memset(code, 0, sizeof(uint64_t) * words);
            for (int32_t unit = 0; unit < hasher->units; unit++)
                code[unit / 64] |= (uint64_t)(activation[unit] > hasher->threshold[unit]) << (unit % 64);
        }
    }
}

/* The positions of the highest activations of one row, ascending; of equal ones the lowest position. Activations that
 * are no number, or minus infinity (weights may be as large as floats are), beat none: when too few others are there,
 * the lowest positions that are left fill the code, and whatever the numbers are it has `active` of them. */
static void select_active(const wv_hasher *hasher, const float *a, const hash_buffers *buffers, int32_t *out) {
    int32_t units = hasher->units, active = hasher->active;
    float *scores = buffers->scores;
    int32_t *hits = buffers->hits;
    uint64_t *bitmap = buffers->bitmap;
    for (int32_t i = 0; i < active; i++) {
        scores[i] = -INFINITY;
        hits[i] = INT32_MAX;
    }
    float worst = -INFINITY;
    int32_t unit = 0;
    for (; unit + WV_LANES <= units; unit += WV_LANES) {
        vfloat v = v_load(a + unit);
        if (!any_negative(v > worst)) continue;
        for (int32_t u = unit; u < unit + WV_LANES; u++)
            if (a[u] > worst) worst = heap_replace(scores, hits, active, a[u], u);
    }
    for (; unit < units; unit++)
        if (a[unit] > worst) worst = heap_replace(scores, hits, active, a[unit], unit);
    int32_t missing = 0;
    for (int32_t i = 0; i < active; i++) {
        if (hits[i] == INT32_MAX) missing++;
        else bitmap[hits[i] / 64] |= (uint64_t)1 << (hits[i] % 64);
    }
    for (unit = 0; missing; unit++) {
        uint64_t bit = (uint64_t)1 << (unit % 64);
        missing -= !(bitmap[unit / 64] & bit);
        bitmap[unit / 64] |= bit;
    }
    int32_t found = 0;
    for (int32_t word = 0; found < active; word++) {
        uint64_t bits = bitmap[word];
        bitmap[word] = 0;
        for (; bits; bits &= bits - 1) {
            out[found] = 64 * word + __builtin_ctzll(bits);
            found++;
        }
    }
}

void WV_NAME(wv_hash_active)(const wv_hasher *hasher, const float *rows, int64_t stride, int64_t n, int32_t *out,
                             void *scratch) {
    hash_buffers buffers;
    lay_out(hasher, scratch, &buffers);
    memset(buffers.bitmap, 0, sizeof(uint64_t) * bitmap_words(hasher));
    for (int64_t start = 0; start < n; start += BLOCK_ROWS) {
        int64_t count = n - start < BLOCK_ROWS ? n - start : BLOCK_ROWS;
        activations(hasher, rows + start * stride, stride, count, buffers.activation);
        for (int64_t row = 0; row < count; row++)
            select_active(hasher, buffers.activation + row * padded_units(hasher), &buffers,
                          out + (start + row) * hasher->active);
    }
}
