/* BioWord (Liang et al. 2021, "Can a fruit fly learn word embeddings?", arXiv 2101.06887): one minibatch.
 *
 * A window gives 2 words inputs v: how often each word stands in the context, and the word in the middle (one-hot). The
 * Kenyon cell with the largest <W, v> wins (the lowest of equals); only winners learn, from v over the words' frequency:
 *
 *   ds[cell] = sum over windows won of v / p      xx[cell] = sum over windows won of <W, v / p> = <W, ds[cell]>
 *   W <- W + e (ds - xx W),   e = rate / max |ds - xx W|  (the largest over all cells and inputs; at least FLOOR)
 *
 * as the authors' program does (context words that occur twice count twice, unless `bag` makes v a set, as their paper
 * has it), with the windows of a batch seeing the weights of its beginning. No part of it is dense here:
 *
 *   - W[row, cell] = scale[cell] raw[row, cell]. An input that no window of the cell had changes by the factor
 *     1 - e xx alone, which goes to the scale; the others are computed from their old value and divided by the new
 *     scale. A scale that leaves 1 / LIMIT .. LIMIT, or would turn negative, is folded into its column.
 *   - max |ds - xx W| over the untouched inputs is at most |xx| scale largest; only a cell whose bound exceeds what the
 *     touched inputs reach is looked at in full.
 *
 * A batch takes stages, which the caller runs one after the other, each on all threads before the next begins:
 *
 *   winners   of a range of windows         (threads share the windows)
 *   gather    what the batch does to a cell (threads share the cells from here on)
 *   survey    all cells together            (reads only)
 *   scan      if the survey says so
 *   update    the weights
 *
 * Winners do not depend on how windows are shared, a cell's sums are made in one place in the order of the text, and a
 * maximum has no order: the result is the same bit for bit with any number of threads.
 */
#include <math.h>

#include "base/cache.h"
#include "base/scratch.h"
#include "kernels/wv_kernels.h"

#define FLOOR 1e-30
#define LIMIT 1048576.0
#define AHEAD 2 /* positions between fetching rows and using them */

/* A weight that a batch changes. */
typedef struct {
    double signal; /* ds = how often the input was active / its frequency */
    double weight; /* before the update */
    int32_t row;
} entry;

/* Scratch space. What `gather` leaves in it is read by `scan` and `update` of the same cells. */
typedef struct {
    float *scores, *scales; /* (stride) */
    const float **rows;     /* (2 window + 1) */
    int32_t *inputs;        /* (2 window + 1) */
    int32_t *order;         /* (longest_batch) */
    int32_t *starts;        /* (cells + 1) */
    int32_t *active;        /* (2 words), zero between kernels */
    entry *entries;         /* (2 window + 1) * longest_batch */
} scratch_space;

/* Lays the scratch space out in `memory`; returns its size in bytes. With memory NULL it only measures. */
static size_t lay_out(const wv_bioword_run *run, void *memory, scratch_space *space) {
    wv_scratch scratch = {memory, 0};
    size_t inputs = 2 * (size_t)run->window + 1;
    space->scores = WV_TAKE(&scratch, float, run->stride);
    space->scales = WV_TAKE(&scratch, float, run->stride);
    space->rows = WV_TAKE(&scratch, const float *, inputs);
    space->inputs = WV_TAKE(&scratch, int32_t, inputs);
    space->order = WV_TAKE(&scratch, int32_t, run->longest_batch);
    space->starts = WV_TAKE(&scratch, int32_t, (size_t)run->cells + 1);
    space->active = WV_TAKE(&scratch, int32_t, 2 * (size_t)run->words);
    space->entries = WV_TAKE(&scratch, entry, inputs * (size_t)run->longest_batch);
    return scratch.used;
}

size_t WV_NAME(wv_bioword_scratch_bytes)(const wv_bioword_run *run) {
    scratch_space space;
    return lay_out(run, NULL, &space);
}

/* ---------------------------------------------------------------- windows */

WV_INLINE int is_listed(const int32_t *inputs, int32_t n, int32_t row) {
    for (int32_t k = 0; k < n; k++)
        if (inputs[k] == row) return 1;
    return 0;
}

/* The inputs of the window around ids[at]: rows of the context words, left to right, of a bag each once, then the
 * middle word's. */
WV_INLINE int32_t window_inputs(const wv_bioword_run *run, int64_t at, int32_t *inputs) {
    const int32_t *ids = run->ids;
    int64_t low = at, high = at;
    while (low > 0 && at - low < run->window && ids[low - 1] >= 0) low--;
    while (high + 1 < run->length && high - at < run->window && ids[high + 1] >= 0) high++;
    int32_t n = 0;
    for (int64_t k = low; k <= high; k++)
        if (k != at && !(run->bag && is_listed(inputs, n, ids[k]))) inputs[n++] = ids[k];
    inputs[n++] = run->words + ids[at];
    return n;
}

/* Inlined: a call of a function that only prefetches has no effect for the compiler, which deletes it. */
WV_INLINE void fetch_ahead(const wv_bioword_run *run, int64_t at) {
    int64_t entering = at + run->window + AHEAD, middle = at + AHEAD;
    if (entering < run->length && run->ids[entering] >= 0)
        wv_fetch(run->raw + (size_t)run->stride * (size_t)run->ids[entering], run->stride);
    if (middle < run->length && run->ids[middle] >= 0)
        wv_fetch(run->raw + (size_t)run->stride * (size_t)(run->words + run->ids[middle]), run->stride);
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

/* The index of the largest of n values, the lowest of equals; values up to the next multiple of lanes are -inf. */
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
    int first = 0;
    for (int lane = 1; lane < WV_LANES; lane++)
        if (best[lane] > best[first] || (best[lane] == best[first] && at[lane] < at[first])) first = lane;
    return at[first];
}

static void prepare(const wv_bioword_run *run, scratch_space *space) {
    for (int32_t c = 0; c < run->stride; c++) space->scales[c] = c < run->cells ? (float)run->scale[c] : 0;
}

static int32_t window_rows(const wv_bioword_run *run, int64_t at, int words_only, scratch_space *space) {
    int32_t n = window_inputs(run, at, space->inputs);
    if (words_only) {
        space->inputs[0] = space->inputs[n - 1];
        n = 1;
    }
    for (int32_t k = 0; k < n; k++) space->rows[k] = run->raw + (size_t)run->stride * (size_t)space->inputs[k];
    return n;
}

int64_t WV_NAME(wv_bioword_activations)(const wv_bioword_run *run, int64_t start, int64_t end, int words_only,
                                        void *scratch, float *out) {
    scratch_space space;
    lay_out(run, scratch, &space);
    int64_t written = 0;
    prepare(run, &space);
    for (int64_t at = start; at < end; at++) {
        if (run->ids[at] < 0) continue;
        int32_t n = window_rows(run, at, words_only, &space);
        activations(space.rows, n, space.scales, run->stride, space.scores);
        for (int32_t c = 0; c < run->cells; c++) out[written * run->cells + c] = space.scores[c];
        written++;
    }
    return written;
}

void WV_NAME(wv_bioword_winners)(const wv_bioword_run *run, int64_t start, int64_t from, int64_t to, void *scratch) {
    scratch_space space;
    lay_out(run, scratch, &space);
    prepare(run, &space);
    for (int64_t at = from; at < to; at++) {
        if (run->ids[at] < 0) {
            run->winner[at - start] = -1;
            continue;
        }
        fetch_ahead(run, at);
        int32_t n = window_rows(run, at, 0, &space);
        activations(space.rows, n, space.scales, run->stride, space.scores);
        for (int32_t c = run->cells; c < run->stride; c++) space.scores[c] = -INFINITY;
        run->winner[at - start] = largest_of(space.scores, run->cells);
    }
}

/* ---------------------------------------------------------------- cells */

/* Cells are dealt out by cache lines, so that no two threads write to the same one. */
WV_INLINE int is_mine(int32_t cell, int32_t thread, int32_t threads) {
    return cell / WV_ROW_FLOATS % threads == thread;
}

WV_INLINE double change(const entry *e, double xx) { return e->signal - xx * e->weight; }

/* Orders the windows of the batch by the cell that won: those of cell c are order[starts[c]] ..
 * order[starts[c + 1] - 1], in the order of the text. */
static void order_by_winner(const wv_bioword_run *run, int32_t n, scratch_space *space) {
    int32_t cells = run->cells, *starts = space->starts;
    for (int32_t c = 0; c <= cells; c++) starts[c] = 0;
    for (int32_t k = 0; k < n; k++)
        if (run->winner[k] >= 0) starts[run->winner[k]]++;
    for (int32_t c = 0; c < cells; c++) starts[c + 1] += starts[c];
    /* Each start is now its cell's end, and moves to its beginning. */
    for (int32_t k = n - 1; k >= 0; k--)
        if (run->winner[k] >= 0) space->order[--starts[run->winner[k]]] = k;
}

/* Lists the inputs of the windows that a cell has won, each once, from entries[filled] on, and counts them in `active`.
 * Returns where the list ends. */
static int32_t list_inputs(const wv_bioword_run *run, int64_t start, int32_t cell, int32_t filled,
                           scratch_space *space) {
    for (int32_t k = space->starts[cell]; k < space->starts[cell + 1]; k++) {
        int32_t inputs = window_inputs(run, start + space->order[k], space->inputs);
        for (int32_t i = 0; i < inputs; i++) {
            int32_t row = space->inputs[i];
            if (space->active[row]++ == 0) space->entries[filled++].row = row;
        }
    }
    return filled;
}

/* Entries of a share of the cells, and what the whole batch must know of them. */
void WV_NAME(wv_bioword_gather)(const wv_bioword_run *run, int64_t start, int64_t end, int32_t thread, int32_t threads,
                                void *scratch) {
    scratch_space space;
    lay_out(run, scratch, &space);
    order_by_winner(run, (int32_t)(end - start), &space);
    int32_t filled = 0;
    for (int32_t c = 0; c < run->cells; c++) {
        if (!is_mine(c, thread, threads)) continue;
        run->first[c] = filled;
        filled = list_inputs(run, start, c, filled, &space);
        run->last[c] = filled;
        double xx = 0, signal2 = 0, touched = 0;
        for (int32_t k = run->first[c]; k < filled; k++) {
            entry *e = space.entries + k;
            int32_t row = e->row;
            e->signal = space.active[row] * run->inverse[row < run->words ? row : row - run->words];
            e->weight = run->scale[c] * (double)run->raw[(size_t)run->stride * (size_t)row + (size_t)c];
            space.active[row] = 0;
            xx += e->weight * e->signal;
            signal2 += e->signal * e->signal;
        }
        for (int32_t k = run->first[c]; k < filled; k++) touched = fmax(touched, fabs(change(space.entries + k, xx)));
        run->xx[c] = xx;
        run->signal2[c] = signal2;
        run->touched[c] = touched;
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

void WV_NAME(wv_bioword_survey)(const wv_bioword_run *run, wv_bioword_survey *survey) {
    double most = largest_change(run), energy = 0;
    int scans = 0;
    for (int32_t c = 0; c < run->cells; c++) {
        scans |= untouched_bound(run, c) > most;
        if (run->norm2[c] > 0) energy -= run->xx[c] / sqrt(run->norm2[c]);
    }
    survey->energy = energy;
    survey->most = most;
    survey->scans = scans;
}

static void mark_active(const wv_bioword_run *run, int32_t cell, int32_t mark, scratch_space *space) {
    for (int32_t k = run->first[cell]; k < run->last[cell]; k++) space->active[space->entries[k].row] = mark;
}

/* Makes touched[cell] the maximum over all inputs, and `largest` exact. */
static void scan_cell(const wv_bioword_run *run, int32_t cell, scratch_space *space) {
    float most = 0, untouched = 0;
    mark_active(run, cell, 1, space);
    for (int32_t row = 0; row < 2 * run->words; row++) {
        float size = fabsf(run->raw[(size_t)run->stride * (size_t)row + (size_t)cell]);
        if (size > most) most = size;
        if (!space->active[row] && size > untouched) untouched = size;
    }
    mark_active(run, cell, 0, space);
    run->largest[cell] = most;
    run->touched[cell] = fmax(run->touched[cell], fabs(run->xx[cell]) * run->scale[cell] * (double)untouched);
}

void WV_NAME(wv_bioword_scan)(const wv_bioword_run *run, double most, int32_t thread, int32_t threads, void *scratch) {
    scratch_space space;
    lay_out(run, scratch, &space);
    for (int32_t c = 0; c < run->cells; c++)
        if (is_mine(c, thread, threads) && untouched_bound(run, c) > most) scan_cell(run, c, &space);
}

/* raw *= factor for the whole cell, whose scale becomes 1. */
static void fold(const wv_bioword_run *run, int32_t cell, double factor) {
    double norm2 = 0;
    float most = 0;
    for (int32_t row = 0; row < 2 * run->words; row++) {
        float *weight = run->raw + (size_t)run->stride * (size_t)row + (size_t)cell;
        *weight = (float)((double)*weight * factor);
        norm2 += (double)*weight * (double)*weight;
        if (fabsf(*weight) > most) most = fabsf(*weight);
    }
    run->scale[cell] = 1;
    run->largest[cell] = most;
    run->norm2[cell] = norm2;
}

static void update_cell(const wv_bioword_run *run, int32_t cell, double step, const entry *entries) {
    double xx = run->xx[cell], decay = 1 - step * xx, scale = run->scale[cell] * decay;
    int folds = !(scale >= 1 / LIMIT && scale <= LIMIT);
    if (folds) {
        fold(run, cell, scale);
        scale = 1;
    }
    run->scale[cell] = scale;
    double inverse = 1 / scale, norm2 = run->norm2[cell];
    for (int32_t k = run->first[cell]; k < run->last[cell]; k++) {
        const entry *e = entries + k;
        float *raw = run->raw + (size_t)run->stride * (size_t)e->row + (size_t)cell;
        double weight = e->weight + step * change(e, xx), before = (double)*raw;
        *raw = (float)(weight * inverse);
        if (fabsf(*raw) > run->largest[cell]) run->largest[cell] = fabsf(*raw);
        if (folds) norm2 += (double)*raw * (double)*raw - before * before;
    }
    run->norm2[cell] = folds ? norm2 : decay * decay * norm2 + 2 * decay * step * xx + step * step * run->signal2[cell];
}

void WV_NAME(wv_bioword_update)(const wv_bioword_run *run, double rate, int32_t thread, int32_t threads,
                                void *scratch) {
    scratch_space space;
    lay_out(run, scratch, &space);
    double step = rate / fmax(largest_change(run), FLOOR);
    for (int32_t c = 0; c < run->cells; c++)
        if (is_mine(c, thread, threads) && run->last[c] > run->first[c]) update_cell(run, c, step, space.entries);
}
