/* BioHash: competitive Hebbian learning of hash weights (Ryali, Hopfield, Grinberg, Krotov, ICML 2020), by minibatches.
 *
 *     <w, x>_w = sum_i |w_i|^(p-2) w_i x_i                        (the effective row, sign(w) |w|^(p-1), times x)
 *     g = 1 for the unit of highest <w, x>_w, -delta for the unit of rank `rank`, 0 for the others
 *     ds_u = sum over the batch of g (x - <w_u, x>_w w_u)         with the weights before the batch
 *     w_u += lr ds_u / max |ds|                                   (Krotov and Hopfield's normalization)
 *
 * Only units that won something change, so only their rows are touched. Of equal activations the lowest unit is ranked
 * first. The energy returned is sum over samples of -g <w, x>_w / <w, w>_w^((p-1)/p). */
#include <math.h>

#include "base/scratch.h"
#include "kernels/panels.h"
#include "kernels/wv_kernels.h"

#define SMALLEST 1e-30f /* of max |ds|, as in the authors' code */

/* One minibatch's working memory. */
typedef struct {
    float *panels;   /* (panels, dim, lanes): the samples */
    float *best;     /* (panels, rank, lanes): highest activations, best first */
    int32_t *unit;   /* (panels, rank, lanes): whose */
    float *change;   /* (units, stride), all zero between batches */
    float *overlap;  /* (units): sum of g <w, x>_w */
    int32_t *won;    /* (winners) units that change */
    int32_t winners;
    double energy;
    uint8_t *is_won; /* (units), zero between batches */
} work;

static int32_t ranks(const wv_biohash *run) { return run->delta != 0 && run->rank > 1 ? run->rank : 1; }

static size_t lay_out(const wv_biohash *run, int32_t batch, void *memory, work *w) {
    wv_scratch scratch = {memory, 0};
    *w = (work){0};
    int64_t samples = ((int64_t)batch + WV_LANES - 1) / WV_LANES * WV_LANES;
    w->panels = WV_TAKE(&scratch, float, samples * run->dim);
    w->best = WV_TAKE(&scratch, float, samples * ranks(run));
    w->unit = WV_TAKE(&scratch, int32_t, samples * ranks(run));
    w->change = WV_TAKE(&scratch, float, (int64_t)run->units * run->stride);
    w->overlap = WV_TAKE(&scratch, float, run->units);
    w->won = WV_TAKE(&scratch, int32_t, run->units);
    w->is_won = WV_TAKE(&scratch, uint8_t, run->units);
    return scratch.used;
}

size_t WV_NAME(wv_biohash_scratch_bytes)(const wv_biohash *run, int32_t batch) {
    work w;
    return lay_out(run, batch, NULL, &w);
}

static const float *sample_at(const wv_biohash_samples *samples, int64_t i) {
    return samples->rows + samples->order[i] * samples->stride;
}

/* The n samples from number `start` on. */
static void pack_samples(const wv_biohash *run, const wv_biohash_samples *samples, int64_t start, int32_t n,
                         float *panels) {
    for (int32_t base = 0; base < n; base += WV_LANES) {
        float *panel = panels + (int64_t)base * run->dim;
        int32_t present = n - base < WV_LANES ? n - base : WV_LANES;
        if (present < WV_LANES) memset(panel, 0, sizeof(float) * WV_LANES * (size_t)run->dim);
        for (int32_t lane = 0; lane < present; lane++) {
            const float *row = sample_at(samples, start + base + lane);
            for (int32_t d = 0; d < run->dim; d++) panel[(int64_t)d * WV_LANES + lane] = row[d];
        }
    }
}

/* Inserts a unit's activations in the ranking of a panel's samples, lane by lane. */
WV_INLINE void rank_unit(vfloat score, int32_t unit, int32_t count, float *best, int32_t *units) {
    vfloat worst = v_load(best + (int64_t)(count - 1) * WV_LANES);
    if (!any_negative(score > worst)) return;
    vint who = unit - (vint){0};
    for (int32_t rank = 0; rank < count; rank++) {
        vfloat held = v_load(best + (int64_t)rank * WV_LANES);
        vint holder = *(const vint *)(units + (int64_t)rank * WV_LANES);
        vint higher = score > held;
        v_store(best + (int64_t)rank * WV_LANES, v_select(higher, score, held));
        *(vint *)(units + (int64_t)rank * WV_LANES) = (higher & who) | (~higher & holder);
        score = v_select(higher, held, score);
        who = (higher & holder) | (~higher & who);
    }
}

/* Ranks SCORED_ROWS units for the samples of `panels` panels, or one unit when stride is 0. */
WV_INLINE void rank_rows(const wv_biohash *run, const work *w, int32_t unit, int64_t stride, int32_t panel,
                         int panels) {
    panel_scores scores;
    int32_t count = ranks(run);
    int rows = stride ? SCORED_ROWS : 1;
    score_panels(run->effective + unit * (int64_t)run->stride, stride,
                 w->panels + (int64_t)panel * run->dim * WV_LANES, run->dim, panels, 0, &scores);
    for (int r = 0; r < rows; r++)
        for (int p = 0; p < panels; p++) {
            int64_t at = (int64_t)(panel + p) * count * WV_LANES;
            rank_unit(scores.score[r][p], unit + r, count, w->best + at, w->unit + at);
        }
}

static void rank_units(const wv_biohash *run, const work *w, int32_t n) {
    int32_t panels = (n + WV_LANES - 1) / WV_LANES, count = ranks(run);
    for (int32_t i = 0; i < panels * count * WV_LANES; i++) {
        w->best[i] = -INFINITY;
        w->unit[i] = 0;
    }
    for (int32_t unit = 0; unit < run->units;) {
        int whole = unit + SCORED_ROWS <= run->units;
        int64_t stride = whole ? run->stride : 0;
        int32_t panel = 0;
        for (; panel + PANELS <= panels; panel += PANELS) rank_rows(run, w, unit, stride, panel, PANELS);
        if (panel < panels) rank_rows(run, w, unit, stride, panel, 1);
        unit += whole ? SCORED_ROWS : 1;
    }
}

/* w <- effective, for one row. */
static void make_effective(const wv_biohash *run, int32_t unit) {
    if (run->effective == run->weights) return;
    const float *w = run->weights + (int64_t)unit * run->stride;
    float *out = run->effective + (int64_t)unit * run->stride;
    if (run->p == 3)
        for (int32_t d = 0; d < run->dim; d++) out[d] = w[d] * fabsf(w[d]);
    else
        for (int32_t d = 0; d < run->dim; d++) out[d] = copysignf(powf(fabsf(w[d]), run->p - 1), w[d]);
}

/* <w, w>_w, which is the p-norm to the power p. */
static float power_norm(const wv_biohash *run, int32_t unit) {
    const float *w = run->weights + (int64_t)unit * run->stride;
    const float *v = run->effective + (int64_t)unit * run->stride;
    float sum = 0;
    for (int32_t d = 0; d < run->dim; d++) sum += w[d] * v[d];
    return sum;
}

/* Adds g times a sample to the change of its unit. */
static void learn(const wv_biohash *run, work *w, const float *x, float g, float score, int32_t unit) {
    if (!w->is_won[unit]) {
        w->is_won[unit] = 1;
        w->won[w->winners++] = unit;
    }
    float *change = w->change + (int64_t)unit * run->stride;
    for (int32_t d = 0; d < run->dim; d++) change[d] += g * x[d];
    w->overlap[unit] += g * score;
    w->energy -= g * (double)score / pow(power_norm(run, unit) + SMALLEST, (run->p - 1) / run->p);
}

/* Moves the weights of the units that won, and leaves the buffers zero for the next batch. */
static void apply(const wv_biohash *run, work *w, float lr) {
    int32_t won = w->winners;
    float largest = SMALLEST;
    for (int32_t i = 0; i < won; i++) {
        int32_t unit = w->won[i];
        const float *row = run->weights + (int64_t)unit * run->stride;
        float *change = w->change + (int64_t)unit * run->stride;
        float overlap = w->overlap[unit];
        for (int32_t d = 0; d < run->dim; d++) {
            change[d] -= overlap * row[d];
            float size = fabsf(change[d]);
            largest = size > largest ? size : largest;
        }
    }
    float scale = lr / largest;
    for (int32_t i = 0; i < won; i++) {
        int32_t unit = w->won[i];
        float *row = run->weights + (int64_t)unit * run->stride;
        float *change = w->change + (int64_t)unit * run->stride;
        for (int32_t d = 0; d < run->dim; d++) row[d] += scale * change[d];
        make_effective(run, unit);
        if (run->normalize) {
            float length = powf(power_norm(run, unit) + SMALLEST, 1 / run->p);
            for (int32_t d = 0; d < run->dim; d++) row[d] /= length;
            make_effective(run, unit);
        }
        memset(change, 0, sizeof(float) * (size_t)run->dim);
        w->overlap[unit] = 0;
        w->is_won[unit] = 0;
    }
    w->winners = 0;
}

double WV_NAME(wv_biohash_train)(const wv_biohash *run, const wv_biohash_samples *samples, int32_t batch, float lr,
                                 void *scratch) {
    work w;
    lay_out(run, batch, scratch, &w);
    int32_t count = ranks(run);
    for (int64_t start = 0; start < samples->n; start += batch) {
        int32_t size = samples->n - start < batch ? (int32_t)(samples->n - start) : batch;
        pack_samples(run, samples, start, size, w.panels);
        rank_units(run, &w, size);
        for (int32_t i = 0; i < size; i++) {
            const float *sample = sample_at(samples, start + i);
            int64_t first = (int64_t)(i / WV_LANES) * count * WV_LANES + i % WV_LANES;
            int64_t last = first + (int64_t)(count - 1) * WV_LANES;
            learn(run, &w, sample, 1, w.best[first], w.unit[first]);
            if (count > 1) learn(run, &w, sample, -run->delta, w.best[last], w.unit[last]);
        }
        apply(run, &w, lr);
    }
    return w.energy;
}
