/* Rows against rows where neighbouring positions share a tile (neighbours.h): one output against the rows of its window,
 * and drawn negatives against the rows of all windows, with a control variate.
 */
#ifndef WV_NEIGHBOUR_ROWS_H
#define WV_NEIGHBOUR_ROWS_H

#include "kernels/tile.h"

enum { COLUMN_INPUTS = 10 }; /* a loop for each number of rows up to this: the registers hold the sums of as many */

/* ---------------------------------------------------------------- one output against a window */

/* sums[i] = lane-wise partial dot products of x[i] and y; `inputs` is a constant. */
WV_INLINE void column_dots(int inputs, float *const *x, const float *y, int dim, vfloat *sums) {
    vfloat s[COLUMN_INPUTS];
    for (int i = 0; i < inputs; i++) s[i] = v_splat(0);
    for (int d = 0; d < dim; d += WV_LANES) {
        vfloat row = v_load(y + d);
        for (int i = 0; i < inputs; i++) s[i] += v_load(x[i] + d) * row;
    }
    for (int i = 0; i < inputs; i++) sums[i] = s[i];
}

/* x[i] += g[i] * y;  y += sum over i of g[i] * x[i]. A row may stand twice in x: one step after the other. Of more than
 * COLUMN_INPUTS rows the later ones see the first step of y. */
WV_INLINE void column_update(int inputs, float *const *x, float *y, int dim, const float *g, tile_ahead ahead) {
    vfloat step[COLUMN_INPUTS];
    for (int i = 0; i < inputs; i++) step[i] = v_splat(g[i]);
    for (int d = 0; d < dim; d += WV_LANES) {
        for (int k = 0; d % 16 == 0 && k < ahead.count; k++) __builtin_prefetch(ahead.rows[k] + d, 1, 3);
        vfloat row = v_load(y + d), sum = row;
        for (int i = 0; i < inputs; i++) {
            vfloat old = v_load(x[i] + d);
            sum += step[i] * old;
            v_store(x[i] + d, old + step[i] * row);
        }
        v_store(y + d, sum);
    }
}

#define EACH_COLUMN(CASE) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10)

static void column_sums(int inputs, float *const *x, const float *y, int dim, vfloat *sums) {
    for (int first = 0; first < inputs; first += COLUMN_INPUTS) {
        switch (inputs - first) {
#define CASE(n) case n: column_dots(n, x + first, y, dim, sums + first); break;
            EACH_COLUMN(CASE)
#undef CASE
        default: column_dots(COLUMN_INPUTS, x + first, y, dim, sums + first);
        }
    }
}

static void column_updates(int inputs, float *const *x, float *y, int dim, const float *g, tile_ahead ahead) {
    for (int first = 0; first < inputs; first += COLUMN_INPUTS, ahead.count = 0) {
        switch (inputs - first) {
#define CASE(n) case n: column_update(n, x + first, y, dim, g + first, ahead); break;
            EACH_COLUMN(CASE)
#undef CASE
        default: column_update(COLUMN_INPUTS, x + first, y, dim, g + first, ahead);
        }
    }
}

/* ---------------------------------------------------------------- negatives against all windows */

/* What the control variate of a block of negatives needs. */
typedef struct {
    const float *share, *windows;
    float *mean;
    float pull; /* lr * s, less what the drawn rows themselves are of the mean */
    float rate; /* of the mean */
} control_variate;

WV_INLINE void negatives_update_of(int inputs, float *const *x, int outputs, float *const *y, int dim, const float *g,
                                   control_variate control, tile_ahead ahead) {
    float total = 0;
    for (int j = 0; j < outputs; j++) total += control.share[j];
    for (int d = 0; d < dim; d += WV_LANES) {
        for (int k = 0; d % 16 == 0 && k < ahead.count; k++) __builtin_prefetch(ahead.rows[k] + d, 1, 3);
        vfloat row[WV_TILE_OUTPUTS], delta[WV_TILE_OUTPUTS], mean = v_load(control.mean + d), off = -total * mean;
        for (int j = 0; j < outputs; j++) {
            row[j] = v_load(y[j] + d);
            delta[j] = v_splat(0);
            off += control.share[j] * row[j];
        }
        v_store(control.mean + d, mean + control.rate * off);
        off *= control.pull;
        for (int i = 0; i < inputs; i++) {
            vfloat old = v_load(x[i] + d), sum = old + control.windows[i] * off;
            for (int j = 0; j < outputs; j++) {
                vfloat step = v_splat(g[i * outputs + j]);
                sum += step * row[j];
                delta[j] += step * old;
            }
            v_store(x[i] + d, sum);
        }
        for (int j = 0; j < outputs; j++) v_store(y[j] + d, row[j] + delta[j]);
    }
}

static void negatives_update(int inputs, float *const *x, int outputs, float *const *y, int dim, const float *g,
                             control_variate control, tile_ahead ahead) {
    switch (outputs) {
    case 6: negatives_update_of(inputs, x, 6, y, dim, g, control, ahead); break;
    case 5: negatives_update_of(inputs, x, 5, y, dim, g, control, ahead); break;
    case 4: negatives_update_of(inputs, x, 4, y, dim, g, control, ahead); break;
    case 3: negatives_update_of(inputs, x, 3, y, dim, g, control, ahead); break;
    case 2: negatives_update_of(inputs, x, 2, y, dim, g, control, ahead); break;
    default: negatives_update_of(inputs, x, 1, y, dim, g, control, ahead);
    }
}

/* lr * s: the mean step of a block of negatives, each as its weight says, downwards. */
WV_INLINE float mean_step(int cells, const float *step, const float *weight) {
    vfloat steps = v_splat(0), weights = v_splat(0);
    for (int k = 0; k < cells; k += WV_LANES) {
        steps += v_load_unaligned(step + k);
        weights += v_load_unaligned(weight + k);
    }
    float weight_sum = v_sum(weights);
    return weight_sum > 0 ? -v_sum(steps) / weight_sum : 0;
}

#endif
