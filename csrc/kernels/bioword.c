/* BioWord (Liang et al. 2021, "Can a fruit fly learn word embeddings?", arXiv 2101.06887): one minibatch.
 *
 * A window gives 2 words inputs v: how often each word stands in the context, and the word in the middle (one-hot). The
 * Kenyon cell with the largest <W, v> wins (the lowest of equals); only winners learn, from v over the words' frequency:
 *
 *   ds[cell] = sum over windows won of v / p      xx[cell] = sum over windows won of <W, v / p> = <W, ds[cell]>
 *   W <- W + e (ds - xx W),   e = rate / max |ds - xx W|  (the largest over all cells and inputs; at least FLOOR)
 *
 * as the authors' program does (context words that occur twice count twice), with the windows of a batch seeing the
 * weights of its beginning. No part of it is dense here:
 *
 *   - W[row, cell] = scale[cell] raw[row, cell]. An input that no window of the cell had changes by the factor
 *     1 - e xx alone, which goes to the scale; the others are computed from their old value and divided by the new
 *     scale. A scale that leaves 1 / LIMIT .. LIMIT, or would turn negative, is folded into its column.
 *   - max |ds - xx W| over the untouched inputs is at most |xx| scale largest; only a cell whose bound exceeds what the
 *     touched inputs reach is looked at in full.
 *
 * Threads split the windows, then the cells. Winners do not depend on how, a cell's sums are made by one thread in the
 * order of the text, and a maximum has no order: the result is the same bit for bit with any number of threads.
 */
#include <math.h>

#include "kernels/lanes.h"
#include "kernels/wv_kernels.h"

#define FLOOR 1e-30
#define LIMIT 1048576.0
#define AHEAD 2 /* positions between fetching rows and using them */

/* The inputs of the window around ids[at]: rows of the context words, left to right, then the middle word's. */
WV_INLINE int32_t window_inputs(const wv_bioword_run *run, int64_t at, int32_t *inputs) {
    const int32_t *ids = run->ids;
    int64_t low = at, high = at;
    while (low > 0 && at - low < run->window && ids[low - 1] >= 0) low--;
    while (high + 1 < run->length && high - at < run->window && ids[high + 1] >= 0) high++;
    int32_t n = 0;
    for (int64_t k = low; k < at; k++) inputs[n++] = ids[k];
    for (int64_t k = at + 1; k <= high; k++) inputs[n++] = ids[k];
    inputs[n++] = run->words + ids[at];
    return n;
}

WV_INLINE void fetch(const float *row, int32_t floats) {
    for (int32_t d = 0; d < floats; d += 16) __builtin_prefetch(row + d);
}

static void fetch_ahead(const wv_bioword_run *run, int64_t at) {
    int64_t entering = at + run->window + AHEAD, middle = at + AHEAD;
    if (entering < run->length && run->ids[entering] >= 0)
        fetch(run->raw + (size_t)run->stride * (size_t)run->ids[entering], run->stride);
    if (middle < run->length && run->ids[middle] >= 0)
        fetch(run->raw + (size_t)run->stride * (size_t)(run->words + run->ids[middle]), run->stride);
}

/* out = scales * the sum of n rows, `stride` floats. */
WV_INLINE void activations(const float *const *rows, int32_t n, const float *scales, int32_t stride, float *out) {
    int32_t d = 0;
    for (; d + 4 * WV_LANES <= stride; d += 4 * WV_LANES) {
        vfloat sum[4];
        for (int b = 0; b < 4; b++) sum[b] = v_load(rows[0] + d + b * WV_LANES);
        for (int32_t r = 1; r < n; r++)
            for (int b = 0; b < 4; b++) sum[b] += v_load(rows[r] + d + b * WV_LANES);
        for (int b = 0; b < 4; b++) v_store(out + d + b * WV_LANES, sum[b] * v_load(scales + d + b * WV_LANES));
    }
    for (; d < stride; d += WV_LANES) {
        vfloat sum = v_load(rows[0] + d);
        for (int32_t r = 1; r < n; r++) sum += v_load(rows[r] + d);
        v_store(out + d, sum * v_load(scales + d));
    }
}

/* The place of the largest of n values, the lowest of equals; values up to the next multiple of lanes are -inf. */
WV_INLINE int32_t largest_of(const float *values, int32_t n) {
    vfloat best = v_splat(-INFINITY);
    vint at = {0}, here = {0};
    for (int lane = 0; lane < WV_LANES; lane++) here[lane] = lane;
    for (int32_t d = 0; d < n; d += WV_LANES) {
        vfloat value = v_load(values + d);
        vint better = value > best;
        best = v_select(better, value, best);
        at = (better & here) | (~better & at);
        here += WV_LANES;
    }
    int32_t place = at[0];
    float most = best[0];
    for (int lane = 1; lane < WV_LANES; lane++)
        if (best[lane] > most || (best[lane] == most && at[lane] < place)) most = best[lane], place = at[lane];
    return place;
}

static void prepare(const wv_bioword_run *run, const wv_bioword_room *room) {
    for (int32_t c = 0; c < run->stride; c++) room->scales[c] = c < run->cells ? (float)run->scale[c] : 0;
}

static int32_t window_rows(const wv_bioword_run *run, int64_t at, int words_only, const wv_bioword_room *room) {
    int32_t n = window_inputs(run, at, room->inputs);
    if (words_only) room->inputs[0] = room->inputs[n - 1], n = 1;
    for (int32_t k = 0; k < n; k++) room->rows[k] = run->raw + (size_t)run->stride * (size_t)room->inputs[k];
    return n;
}

int64_t WV_NAME(wv_bioword_activations)(const wv_bioword_run *run, int64_t start, int64_t end, int words_only,
                                        const wv_bioword_room *room, float *out) {
    int64_t written = 0;
    prepare(run, room);
    for (int64_t at = start; at < end; at++) {
        if (run->ids[at] < 0) continue;
        int32_t n = window_rows(run, at, words_only, room);
        activations(room->rows, n, room->scales, run->stride, room->scores);
        for (int32_t c = 0; c < run->cells; c++) out[written * run->cells + c] = room->scores[c];
        written++;
    }
    return written;
}

static void winners(const wv_bioword_run *run, int64_t start, int64_t from, int64_t to, const wv_bioword_room *room) {
    prepare(run, room);
    for (int64_t at = from; at < to; at++) {
        if (run->ids[at] < 0) {
            run->winner[at - start] = -1;
            continue;
        }
        fetch_ahead(run, at);
        int32_t n = window_rows(run, at, 0, room);
        activations(room->rows, n, room->scales, run->stride, room->scores);
        for (int32_t c = run->cells; c < run->stride; c++) room->scores[c] = -INFINITY;
        run->winner[at - start] = largest_of(room->scores, run->cells);
    }
}

/* Cells are dealt out by cache lines, so that no two threads write to the same one. */
WV_INLINE int is_mine(const wv_bioword_run *run, int32_t cell, int32_t thread) {
    return cell / WV_ROW_FLOATS % run->threads == thread;
}

WV_INLINE double change(const wv_bioword_entry *entry, double xx) { return entry->signal - xx * entry->weight; }

/* Entries of this thread's cells, and what the whole batch must know of them. */
static void gather(wv_bioword_run *run, int64_t start, int64_t end, int32_t thread, const wv_bioword_room *room) {
    int32_t cells = run->cells, n = (int32_t)(end - start), *starts = room->starts;
    for (int32_t c = 0; c <= cells; c++) starts[c] = 0;
    for (int32_t k = 0; k < n; k++)
        if (run->winner[k] >= 0) starts[run->winner[k] + 1]++;
    for (int32_t c = 0; c < cells; c++) starts[c + 1] += starts[c];
    for (int32_t k = 0; k < n; k++)
        if (run->winner[k] >= 0) room->order[starts[run->winner[k]]++] = k;
    /* starts[c] is now where cell c ends, and starts[c - 1] where it begins. */
    int32_t filled = 0;
    for (int32_t c = 0; c < cells; c++) {
        if (!is_mine(run, c, thread)) continue;
        run->first[c] = filled;
        for (int32_t k = c ? starts[c - 1] : 0; k < starts[c]; k++) {
            int32_t inputs = window_inputs(run, start + room->order[k], room->inputs);
            for (int32_t i = 0; i < inputs; i++)
                if (room->active[room->inputs[i]]++ == 0) room->entries[filled++].row = room->inputs[i];
        }
        run->last[c] = filled;
        double xx = 0, signal2 = 0, touched = 0;
        for (int32_t e = run->first[c]; e < filled; e++) {
            wv_bioword_entry *entry = room->entries + e;
            int32_t row = entry->row;
            entry->signal = room->active[row] * run->inverse[row < run->words ? row : row - run->words];
            entry->weight = run->scale[c] * (double)run->raw[(size_t)run->stride * (size_t)row + (size_t)c];
            room->active[row] = 0;
            xx += entry->weight * entry->signal;
            signal2 += entry->signal * entry->signal;
        }
        for (int32_t e = run->first[c]; e < filled; e++)
            touched = fmax(touched, fabs(change(room->entries + e, xx)));
        run->xx[c] = xx, run->signal2[c] = signal2, run->touched[c] = touched;
    }
}

WV_INLINE double untouched_bound(const wv_bioword_run *run, int32_t cell) {
    return fabs(run->xx[cell]) * run->scale[cell] * (double)run->largest[cell];
}

WV_INLINE double largest_change(const wv_bioword_run *run) {
    double most = 0;
    for (int32_t c = 0; c < run->cells; c++) most = fmax(most, run->touched[c]);
    return most;
}

/* Makes touched[cell] the maximum over all inputs, and `largest` exact. */
static void scan(wv_bioword_run *run, int32_t cell, const wv_bioword_room *room) {
    float most = 0, untouched = 0;
    for (int32_t e = run->first[cell]; e < run->last[cell]; e++) room->active[room->entries[e].row] = 1;
    for (int32_t row = 0; row < 2 * run->words; row++) {
        float size = fabsf(run->raw[(size_t)run->stride * (size_t)row + (size_t)cell]);
        if (size > most) most = size;
        if (!room->active[row] && size > untouched) untouched = size;
    }
    for (int32_t e = run->first[cell]; e < run->last[cell]; e++) room->active[room->entries[e].row] = 0;
    run->largest[cell] = most;
    run->touched[cell] = fmax(run->touched[cell], fabs(run->xx[cell]) * run->scale[cell] * (double)untouched);
}

/* raw *= factor for the whole cell, whose scale becomes 1. */
static void fold(wv_bioword_run *run, int32_t cell, double factor) {
    double norm2 = 0;
    float most = 0;
    for (int32_t row = 0; row < 2 * run->words; row++) {
        float *weight = run->raw + (size_t)run->stride * (size_t)row + (size_t)cell;
        *weight = (float)((double)*weight * factor);
        norm2 += (double)*weight * (double)*weight;
        if (fabsf(*weight) > most) most = fabsf(*weight);
    }
    run->scale[cell] = 1, run->largest[cell] = most, run->norm2[cell] = norm2;
}

static void update(wv_bioword_run *run, int32_t cell, double step, const wv_bioword_room *room) {
    double xx = run->xx[cell], decay = 1 - step * xx, scale = run->scale[cell] * decay;
    int folds = !(scale >= 1 / LIMIT && scale <= LIMIT);
    if (folds) fold(run, cell, scale), scale = 1;
    run->scale[cell] = scale;
    double inverse = 1 / scale, norm2 = run->norm2[cell];
    for (int32_t e = run->first[cell]; e < run->last[cell]; e++) {
        const wv_bioword_entry *entry = room->entries + e;
        float *place = run->raw + (size_t)run->stride * (size_t)entry->row + (size_t)cell;
        double weight = entry->weight + step * change(entry, xx), before = (double)*place;
        *place = (float)(weight * inverse);
        if (fabsf(*place) > run->largest[cell]) run->largest[cell] = fabsf(*place);
        if (folds) norm2 += (double)*place * (double)*place - before * before;
    }
    run->norm2[cell] = folds ? norm2 : decay * decay * norm2 + 2 * decay * step * xx + step * step * run->signal2[cell];
}

double WV_NAME(wv_bioword_batch)(wv_bioword_run *run, int64_t start, int64_t end, double rate, int32_t thread,
                                 const wv_bioword_room *room) {
    int64_t n = end - start;
    winners(run, start, start + n * thread / run->threads, start + n * (thread + 1) / run->threads, room);
    wv_barrier_wait(&run->barrier, run->threads);
    gather(run, start, end, thread, room);
    wv_barrier_wait(&run->barrier, run->threads);
    double most = largest_change(run), energy = 0;
    int scans = 0;
    for (int32_t c = 0; c < run->cells; c++) {
        scans |= untouched_bound(run, c) > most;
        if (run->norm2[c] > 0) energy -= run->xx[c] / sqrt(run->norm2[c]);
    }
    /* Every thread must have read before any writes. */
    wv_barrier_wait(&run->barrier, run->threads);
    if (scans) {
        for (int32_t c = 0; c < run->cells; c++)
            if (is_mine(run, c, thread) && untouched_bound(run, c) > most) scan(run, c, room);
        wv_barrier_wait(&run->barrier, run->threads);
        most = largest_change(run);
    }
    double step = rate / fmax(most, FLOOR);
    for (int32_t c = 0; c < run->cells; c++)
        if (is_mine(run, c, thread) && run->last[c] > run->first[c]) update(run, c, step, room);
    wv_barrier_wait(&run->barrier, run->threads);
    return energy;
}
