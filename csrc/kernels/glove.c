/* GloVe (Pennington, Socher, Manning 2014): AdaGrad steps on one tile of the matrix of co-occurrence counts.
 *
 *   cost = 1/2 f(x) (w.c + b + b~ - ln x)^2,   f(x) = min(1, (x / x_max)^alpha)
 *
 * A word's row holds [w, b, 1] and a context's [c, 1, b~], zeros up to `half` floats, and as many squared gradients
 * behind them: one stretch of memory per row, and the biases are coordinates like the others. The ones stay ones
 * because their squared gradient is so large (1e30) that a step is lost in rounding.
 *
 * Squared gradients hold the squares of eta times the gradient, from 1 on, as in GloVe's program. A bias whose learning
 * rate is r starts from (eta / r)^2: then eta g / sqrt((eta / r)^2 + sum (eta g)^2) = r g / sqrt(1 + sum (r g)^2).
 */
#include <math.h>

#include "base/cache.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "kernels/wv_kernels.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define AHEAD 3 /* records between fetching a row and using it */

/* 1 / sqrt(x), relative error below 1e-6: the processor's estimate, for which C has no spelling, and one step of
 * Newton's method; elsewhere the root and the division. */
WV_INLINE vfloat inverse_root(vfloat x) {
#if defined(__AVX512F__)
    vfloat y = (vfloat)_mm512_rsqrt14_ps((__m512)x);
    return y * (1.5f - 0.5f * (x * y) * y);
#elif defined(__AVX2__)
    vfloat y = (vfloat)_mm256_rsqrt_ps((__m256)x);
    return y * (1.5f - 0.5f * (x * y) * y);
#else
    vfloat y;
    for (int lane = 0; lane < WV_LANES; lane++) y[lane] = 1.0f / sqrtf(x[lane]);
    return y;
#endif
}

/* A chunk of records, and behind the last as many as are fetched ahead and as fill the last register. */
typedef struct {
    size_t padded;
    float *logs, *weights;  /* (padded): ln x, f(x) */
    wv_glove_record *order; /* (padded): the records as they are trained on */
} chunk_buffers;

static size_t lay_out(int32_t records, void *memory, chunk_buffers *buffers) {
    wv_scratch scratch = {memory, 0};
    buffers->padded = ((size_t)records + AHEAD + WV_ROW_FLOATS) / WV_ROW_FLOATS * WV_ROW_FLOATS;
    buffers->logs = WV_TAKE(&scratch, float, buffers->padded);
    buffers->weights = WV_TAKE(&scratch, float, buffers->padded);
    buffers->order = WV_TAKE(&scratch, wv_glove_record, buffers->padded);
    return scratch.used;
}

size_t WV_NAME(wv_glove_scratch_bytes)(int32_t records) {
    chunk_buffers buffers;
    return lay_out(records, NULL, &buffers);
}

/* out = the records in a random order ("inside-out" Fisher-Yates). */
static void shuffle(const wv_glove_record *records, int32_t n, uint64_t random, wv_glove_record *out) {
    for (int32_t k = 0; k < n; k++) {
        uint32_t other = wv_rng_below(wv_rng_next(&random), (uint32_t)k + 1);
        out[k] = out[other];
        out[other] = records[k];
    }
}

/* The limits of the gradients of coordinates d and following; from `clipped` on there are none. */
WV_INLINE vfloat limits(int d, float clip, int clipped) {
    vfloat limit = v_splat(clip);
    for (int lane = clipped > d ? clipped - d : 0; lane < WV_LANES; lane++) limit[lane] = INFINITY;
    return limit;
}

WV_INLINE vfloat within(vfloat gradient, vfloat limit) {
    gradient = v_select(gradient > limit, limit, gradient);
    return v_select(gradient < -limit, -limit, gradient);
}

/* One AdaGrad step on both rows; `scale` is f(x) times the error. `clipped` is 0 where no gradient reaches `clip`. */
WV_INLINE void update(float *w, float *c, int half, float scale, float eta, float clip, int clipped) {
    vfloat error = v_splat(scale), rate = v_splat(eta);
    for (int d = 0; d < half; d += WV_LANES) {
        vfloat wd = v_load(w + d), cd = v_load(c + d);
        vfloat w_square = v_load(w + half + d), c_square = v_load(c + half + d);
        vfloat w_step = error * cd, c_step = error * wd;
        if (clipped) {
            vfloat limit = limits(d, clip, clipped);
            w_step = within(w_step, limit);
            c_step = within(c_step, limit);
        }
        w_step *= rate;
        c_step *= rate;
        v_store(w + d, wd - w_step * inverse_root(w_square));
        v_store(c + d, cd - c_step * inverse_root(c_square));
        v_store(w + half + d, w_square + w_step * w_step);
        v_store(c + half + d, c_square + c_step * c_step);
    }
}

WV_INLINE double train(const wv_glove_run *run, int half, float *words, float *contexts, const chunk_buffers *buffers,
                       int32_t n) {
    const wv_glove_record *records = buffers->order;
    const float *logs = buffers->logs, *weights = buffers->weights;
    float clip2 = run->clip * run->clip;
    size_t row = 2 * (size_t)half;
    double loss = 0;
    for (int32_t k = 0; k < n; k++) {
        wv_fetch_to_change(words + row * records[k + AHEAD].row, (int64_t)row);
        wv_fetch_to_change(contexts + row * records[k + AHEAD].column, (int64_t)row);
        float *w = words + row * records[k].row;
        float *c = contexts + row * records[k].column;
        vfloat product = v_splat(0), w_size = v_splat(0), c_size = v_splat(0);
        for (int d = 0; d < half; d += WV_LANES) {
            vfloat wd = v_load(w + d), cd = v_load(c + d);
            product += wd * cd;
            w_size += wd * wd;
            c_size += cd * cd;
        }
        float error = v_sum(product) - logs[k];
        float scale = weights[k] * error;
        loss += 0.5 * (double)scale * error;
        /* No coordinate of either gradient can exceed the limit while |scale| |row| does not. */
        if (scale * scale * v_sum(w_size + c_size) <= clip2)
            update(w, c, half, scale, run->eta, run->clip, 0);
        else
            update(w, c, half, scale, run->eta, run->clip, run->clipped);
    }
    return loss;
}

double WV_NAME(wv_glove_chunk)(const wv_glove_run *run, const wv_glove_part *chunk, void *scratch) {
    chunk_buffers buffers;
    int32_t n = chunk->n;
    lay_out(n, scratch, &buffers);
    size_t padded = buffers.padded;
    float *logs = buffers.logs, *weights = buffers.weights;
    wv_glove_record *order = buffers.order;
    shuffle(chunk->records, n, wv_rng_stream(chunk->seed, chunk->iteration, chunk->number), order);
    for (size_t k = (size_t)n; k < padded; k++) order[k] = order[0];
    for (size_t k = 0; k < padded; k++) logs[k] = order[k].count;
    for (size_t k = 0; k < padded; k += WV_LANES) {
        vfloat count = v_load(logs + k), log = v_log(count);
        vfloat weight = v_exp((log - run->log_x_max) * run->alpha);
        v_store(weights + k, v_select(log < run->log_x_max, weight, v_splat(1)));
        v_store(logs + k, log);
    }
    float *words = run->words + 2 * (size_t)run->half * (size_t)chunk->first_row;
    float *contexts = run->contexts + 2 * (size_t)run->half * (size_t)chunk->first_column;
    switch (run->half) { /* a known length spares the loops' counting; the usual dimensions: 50, 100, 200, 300 */
    case 64: return train(run, 64, words, contexts, &buffers, n);
    case 112: return train(run, 112, words, contexts, &buffers, n);
    case 208: return train(run, 208, words, contexts, &buffers, n);
    case 304: return train(run, 304, words, contexts, &buffers, n);
    default: return train(run, run->half, words, contexts, &buffers, n);
    }
}
