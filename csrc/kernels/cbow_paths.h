/* CBOW with hierarchical softmax where neighbouring positions share a tile: every context row is taken up once for all
 * their hidden vectors, and moves once, as in cbow_neighbours.h. Every centre keeps its own path, whose nodes it shares
 * with few others: of a dozen two in the mean.
 *
 *     H = scale * held^T X                          (P, dim)
 *     s_nj = h_n . y_nj                             all of them first, from the rows as they were
 *     d_n = sum_j g_nj y_nj,  y_nj += g_nj h_n      position after position: a node of two paths moves twice
 *     X += held (share * D)
 *
 * The nodes are the outer loop, with as much of the hidden vector as fits in registers: paths differ in length, and
 * blocks of their nodes are branches that are guessed wrong.
 */
#ifndef WV_CBOW_PATHS_H
#define WV_CBOW_PATHS_H

#include "kernels/cbow_neighbours.h"

/* Vectors of a hidden vector, and of its gradient, that the registers hold at once. */
#define WV_PATH_COLUMNS (WV_REGISTERS == 32 ? 10 : 6)

/* The nodes of one path and what is to be done with them. */
typedef struct {
    int nodes;
    float *const *y;
    const float *hidden;
    vfloat *sums;      /* (nodes) */
    const float *step; /* (nodes) */
    float *delta;
    tile_ahead ahead;
} path_rows;

/* sums[j] += lane-wise partial dot products of hidden and y[j] in the columns from d on, the first of which begin them;
 * `columns` is a constant. */
WV_INLINE void path_dots(const path_rows *path, int columns, int d) {
    vfloat hidden[WV_PATH_COLUMNS];
    for (int c = 0; c < columns; c++) hidden[c] = v_load(path->hidden + d + c * WV_LANES);
    for (int j = 0; j < path->nodes; j++) {
        vfloat sum = d ? path->sums[j] : v_splat(0);
        for (int c = 0; c < columns; c++) sum += hidden[c] * v_load(path->y[j] + d + c * WV_LANES);
        path->sums[j] = sum;
    }
}

WV_INLINE void fetch_columns(const tile_ahead *ahead, int row, int columns, int d) {
    for (int c = 0; c < columns * WV_LANES; c += WV_ROW_FLOATS) __builtin_prefetch(ahead->rows[row] + d + c, 1, 3);
}

/* delta = sum over j of step[j] * y[j];  y[j] += step[j] * hidden in the columns from d on. */
WV_INLINE void path_steps(const path_rows *path, int columns, int d) {
    vfloat hidden[WV_PATH_COLUMNS], delta[WV_PATH_COLUMNS];
    int j = 0;
    for (int c = 0; c < columns; c++) {
        hidden[c] = v_load(path->hidden + d + c * WV_LANES);
        delta[c] = v_splat(0);
    }
    for (; j < path->nodes; j++) {
        vfloat step = v_splat(path->step[j]);
        float *y = path->y[j] + d;
        if (j < path->ahead.count) fetch_columns(&path->ahead, j, columns, d);
        for (int c = 0; c < columns; c++, y += WV_LANES) {
            vfloat row = v_load(y);
            delta[c] += step * row;
            v_store(y, row + step * hidden[c]);
        }
    }
    for (; j < path->ahead.count; j++) fetch_columns(&path->ahead, j, columns, d);
    for (int c = 0; c < columns; c++) v_store(path->delta + d + c * WV_LANES, delta[c]);
}

/* Calls `part` for all columns, in equal parts that fit in registers. `part` is a constant. */
WV_INLINE void each_part(const path_rows *path, int dim, void (*part)(const path_rows *path, int columns, int d)) {
    int left = dim / WV_LANES, parts = (left + WV_PATH_COLUMNS - 1) / WV_PATH_COLUMNS;
    for (int d = 0; parts > 0; parts--) {
        int columns = left / parts;
        switch (columns) {
#define CASE(n) case n: part(path, n, d); break;
#if WV_REGISTERS == 32
            CASE(10) CASE(9) CASE(8) CASE(7)
#endif
            CASE(6) CASE(5) CASE(4) CASE(3) CASE(2)
        default: part(path, 1, d);
#undef CASE
        }
        d += columns * WV_LANES;
        left -= columns;
    }
}

static void path_sums(const path_rows *path, int dim) { each_part(path, dim, path_dots); }

static void path_update(const path_rows *path, int dim) { each_part(path, dim, path_steps); }

WV_INLINE void train_cbow_paths(const wv_word2vec_run *run, neighbour_state *state, tile_training *training,
                                const sentence_batch *batch, neighbour_tile *tile, const neighbour_tile *fetched,
                                int64_t *examples) {
    int dim = (run->options.dim + WV_LANES - 1) / WV_LANES * WV_LANES, fetch = 0, d = 0;
    int cells = tile->path_start[tile->positions];
    float *score = state->score;
    cbow_tile rows = {.inputs = tile->inputs, .dim = dim, .input = tile->input};
    hold_rows(run, batch, tile, state, &rows);
    for (; d + WV_LANES < dim; d += 2 * WV_LANES) take_columns(&rows, 2, d, NULL);
    if (d < dim) take_columns(&rows, 1, d, NULL);
    path_rows path[WV_SHARING];
    for (int n = 0; n < tile->positions; n++) {
        int start = tile->path_start[n];
        path[n] = (path_rows){.nodes = tile->path_start[n + 1] - start, .y = tile->output + start,
                              .hidden = rows.hidden[n], .sums = state->sums + start, .step = score + start,
                              .delta = rows.delta[n]};
        path_sums(&path[n], dim);
    }
    for (int k = 0; k < cells; k += WV_LANES) v_store_unaligned(score + k, v_sums(state->sums + k));
    logistic_steps(cells, score, tile->label, NULL, training->lr, score, &training->totals);
    *examples += tile->positions;
    for (int n = 0; n < tile->positions; n++) {
        path[n].ahead = part_of(fetched, &fetch, tile->positions - n);
        path_update(&path[n], dim);
    }
    for (d = 0; d < dim; d += WV_LANES) {
        vfloat step[WV_SHARING];
        for (int n = 0; n < WV_SHARING; n++)
            step[n] = n < tile->positions ? rows.share[n] * v_load(rows.delta[n] + d) : v_splat(0);
        give_column(&rows, d, step);
    }
}

#endif
