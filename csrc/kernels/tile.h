/* The arithmetic under every word2vec model: a tile of M input rows against N output rows.
 *
 *     S = X Y^T                    (M, N)   scores: tile_scores
 *     G = lr * d(-loss)/dS         (M, N)   made by the output layer (outputs.h)
 *     X += G Y,  Y += G^T X_old             tile_update
 *
 * S and G are kept input by input, S[input * outputs + output]: the update reads them in that order (6 % faster than the
 * other).
 *
 * Why a tile: word2vec C makes one dot product and two row updates per (input, output) pair and waits for memory. Here
 * every row is read once for S and once more for the update, and M x N dot products share the loads. The registers hold
 * WV_TILE_INPUTS x WV_TILE_OUTPUTS sums: 4 x 6 of AVX-512's and ARM's 32 registers, 2 x 6 of AVX2's and SSE2's 16.
 *
 * Rows: aligned to 64 bytes, zero padding, which stays zero. `width` floats of each take part, a multiple of WV_LANES.
 * All functions are static with constant block sizes; the compiler makes one loop per size. A kernel may use one half.
 */
#ifndef WV_TILE_H
#define WV_TILE_H

#include "base/lanes.h"
#include "base/wv_shared.h"

#define WV_TILE_OUTPUTS 6
#define WV_TILE_INPUTS (WV_REGISTERS == 32 ? 4 : 2)

/* The scores of a block of inputs and outputs; both counts are constants. The sums stay in registers until they are
 * scores. */
WV_INLINE void tile_block(int inputs, float *const *x, int outputs, float *const *y, int width, float *scores) {
    vfloat sums[WV_TILE_INPUTS * WV_TILE_OUTPUTS + WV_LANES];
    int count = inputs * outputs;
    for (int i = 0; i < inputs; i++)
        for (int j = 0; j < outputs; j++) sums[i * outputs + j] = v_splat(0);
    for (int k = count; k % WV_LANES; k++) sums[k] = v_splat(0);
    for (int d = 0; d < width; d += WV_LANES) {
        vfloat row[WV_TILE_INPUTS];
        for (int i = 0; i < inputs; i++) row[i] = v_load(x[i] + d);
        for (int j = 0; j < outputs; j++) {
            vfloat other = v_load(y[j] + d);
            for (int i = 0; i < inputs; i++) sums[i * outputs + j] += row[i] * other;
        }
    }
    for (int k = 0; k < count; k += WV_LANES) v_store_unaligned(scores + k, v_sums(sums + k));
}

WV_INLINE void tile_scores_of(int inputs, float *const *x, int outputs, float *const *y, int width, float *scores) {
    int i = 0;
    for (; i + WV_TILE_INPUTS <= inputs; i += WV_TILE_INPUTS)
        tile_block(WV_TILE_INPUTS, x + i, outputs, y, width, scores + i * outputs);
    if (WV_TILE_INPUTS == 4 && inputs - i == 3)
        tile_block(3, x + i, outputs, y, width, scores + i * outputs);
    else if (WV_TILE_INPUTS == 4 && inputs - i == 2)
        tile_block(2, x + i, outputs, y, width, scores + i * outputs);
    else if (i < inputs)
        tile_block(1, x + i, outputs, y, width, scores + i * outputs);
}

/* scores[input * outputs + output] = x[input] . y[output], for outputs in 1 .. WV_TILE_OUTPUTS. `scores` may be overrun
 * by WV_LANES - 1. */
__attribute__((unused)) static void tile_scores(int inputs, float *const *x, int outputs, float *const *y, int width,
                                                float *scores) {
    switch (outputs) {
    case 6: tile_scores_of(inputs, x, 6, y, width, scores); break;
    case 5: tile_scores_of(inputs, x, 5, y, width, scores); break;
    case 4: tile_scores_of(inputs, x, 4, y, width, scores); break;
    case 3: tile_scores_of(inputs, x, 3, y, width, scores); break;
    case 2: tile_scores_of(inputs, x, 2, y, width, scores); break;
    default: tile_scores_of(inputs, x, 1, y, width, scores);
    }
}

/* Rows that will be needed soon. Their lines are asked for one column of the update loop at a time: all at once they
 * would fill the core's dozen line buffers and stall it (a tenth of the whole time), as would all of one row. */
typedef struct {
    int count;
    const float *const *rows;
} tile_ahead;

WV_INLINE void tile_fetch(tile_ahead ahead, int d) {
    for (int k = 0; d % WV_ROW_FLOATS == 0 && k < ahead.count; k++) __builtin_prefetch(ahead.rows[k] + d, 1, 3);
}

/* A tile's update: x_new[input] += sum over outputs of g * y[output];  y[output] += sum over inputs of g * x[input].
 * x_new may be x itself when these are all the outputs of the tile; with more than WV_TILE_OUTPUTS outputs the caller
 * passes a copy of the old rows as x, so that every output sees the same inputs. Outputs must be distinct rows. */
typedef struct {
    int inputs, outputs, width; /* outputs: 1 .. WV_TILE_OUTPUTS */
    float *const *x, *const *x_new, *const *y;
    const float *g; /* (inputs, outputs) */
    tile_ahead ahead;
} tile_step;

/* `outputs` and `in_place`, that x_new is x, are constants. */
WV_INLINE void tile_update_of(const tile_step *step, int outputs, int in_place) {
    int inputs = step->inputs, width = step->width;
    float *const *x = step->x, *const *x_new = step->x_new, *const *y = step->y;
    const float *g = step->g;
    tile_ahead ahead = step->ahead;
    for (int d = 0; d < width; d += WV_LANES) {
        tile_fetch(ahead, d);
        vfloat row[WV_TILE_OUTPUTS], delta[WV_TILE_OUTPUTS];
        for (int j = 0; j < outputs; j++) row[j] = v_load(y[j] + d), delta[j] = v_splat(0);
        for (int i = 0; i < inputs; i++) {
            vfloat old = v_load(x[i] + d), sum = in_place ? old : v_load(x_new[i] + d);
            for (int j = 0; j < outputs; j++) {
                vfloat times = v_splat(g[i * outputs + j]);
                sum += times * row[j];
                delta[j] += times * old;
            }
            v_store((in_place ? x : x_new)[i] + d, sum);
        }
        for (int j = 0; j < outputs; j++) v_store(y[j] + d, row[j] + delta[j]);
    }
}

WV_INLINE void tile_update_switch(const tile_step *step, int in_place) {
    switch (step->outputs) {
    case 6: tile_update_of(step, 6, in_place); break;
    case 5: tile_update_of(step, 5, in_place); break;
    case 4: tile_update_of(step, 4, in_place); break;
    case 3: tile_update_of(step, 3, in_place); break;
    case 2: tile_update_of(step, 2, in_place); break;
    default: tile_update_of(step, 1, in_place);
    }
}

__attribute__((unused)) static void tile_update(const tile_step *step) {
    if (step->x == step->x_new)
        tile_update_switch(step, 1);
    else
        tile_update_switch(step, 0);
}

WV_INLINE void tile_update_one_of(float *x, float *delta, int outputs, float *const *y, int width, const float *g,
                                  tile_ahead ahead) {
    vfloat times[WV_TILE_OUTPUTS];
    for (int j = 0; j < outputs; j++) times[j] = v_splat(g[j]);
    for (int d = 0; d < width; d += WV_LANES) {
        tile_fetch(ahead, d);
        vfloat old = v_load(x + d), sum = v_load(delta + d);
        for (int j = 0; j < outputs; j++) {
            vfloat row = v_load(y[j] + d);
            sum += times[j] * row;
            v_store(y[j] + d, row + times[j] * old);
        }
        v_store(delta + d, sum);
    }
}

/* The same for one input, whose steps go to `delta`. A loop of its own: without the sums over inputs a step is one
 * multiply-add, rounded once. */
__attribute__((unused)) static void tile_update_one(float *x, float *delta, int outputs, float *const *y, int width,
                                                    const float *g, tile_ahead ahead) {
    switch (outputs) {
    case 6: tile_update_one_of(x, delta, 6, y, width, g, ahead); break;
    case 5: tile_update_one_of(x, delta, 5, y, width, g, ahead); break;
    case 4: tile_update_one_of(x, delta, 4, y, width, g, ahead); break;
    case 3: tile_update_one_of(x, delta, 3, y, width, g, ahead); break;
    case 2: tile_update_one_of(x, delta, 2, y, width, g, ahead); break;
    default: tile_update_one_of(x, delta, 1, y, width, g, ahead);
    }
}

#endif
