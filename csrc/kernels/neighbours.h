/* Skip-gram with negative sampling where neighbouring positions share a tile: their context rows are taken up once, and
 * one draw of negatives serves them all. Sharing between the context words of one position is pWord2Vec's (Ji et al.
 * 2016), between positions that of Rengasamy et al. (2017), here without looking for positions that fit.
 *
 * Of a tile with P = 4 positions, M context rows (once each, though a row stands in the windows of several) and N drawn
 * negatives
 *
 *     centres     each against the rows of its own window
 *     negatives   all against all M rows; cell (i, j) counts t_i * m_j * negative / N times, where t_i of the P windows
 *                 hold row i and word j was drawn m_j times. Windows whose centre is j itself are left out of t_i
 *
 * so that a pair meets `negative` negatives in the mean, as when each position draws its own. The scores of all centres
 * are made first; their updates and the negatives then see the rows as the update before has left them.
 *
 * N is smaller than P * negative, so the steps of the negatives vary more, and analogies suffer. Much of the variation
 * is that of which rows are drawn, which a control variate takes out (Wang, Chen, Smola & Xing 2013): with s the mean
 * sigmoid of the tile and E y the mean of output rows under the noise,
 *
 *     sum_j sigma_ij y_j   becomes   sum_j (sigma_ij - s) y_j + N s E y
 *
 * for the input rows, the same in the mean. E y is the running mean of the rows drawn so far in the block. What is left of
 * the loss in quality is why this is an option (benchmarks/README.md, "What helped").
 */
#ifndef WV_NEIGHBOURS_H
#define WV_NEIGHBOURS_H

#include "kernels/neighbour_rows.h"
#include "kernels/neighbour_tiles.h"

/* ---------------------------------------------------------------- weights */

/* windows[i]: how many windows hold row i. */
WV_INLINE void count_windows(neighbour_tile *tile) {
    for (int i = 0; i < tile->inputs; i++) tile->windows[i] = 0;
    for (int n = 0; n < tile->positions; n++) {
        for (int p = tile->window_first[n]; p <= tile->window_last[n]; p++) tile->windows[p - tile->first] += 1;
        tile->windows[tile->position + n - tile->first] -= 1;
    }
}

/* weight (inputs, outputs) of the rows from `from` and the negatives from `first` on, and zeros as far as vectors
 * reach. */
WV_INLINE void weigh_negatives(const neighbour_tile *tile, const int32_t *centre, int from, int inputs, int first,
                               int outputs, float *weight) {
    const float *share = tile->share + first;
    for (int i = 0, cell = 0; i < inputs; i++, cell += outputs)
        for (int j = 0; j < WV_TILE_OUTPUTS; j++) weight[cell + j] = tile->windows[from + i] * share[j];
    for (int k = 0; k < WV_ROW_FLOATS; k++) weight[inputs * outputs + k] = 0;
    for (int n = 0; n < tile->positions; n++)
        for (int j = 0; j < outputs; j++) {
            if (tile->word[first + j] != centre[n]) continue;
            for (int i = 0; i < inputs; i++) {
                int p = tile->first + from + i;
                int held = p >= tile->window_first[n] && p <= tile->window_last[n] && p != tile->position + n;
                if (held) weight[i * outputs + j] -= share[j];
            }
        }
}

/* ---------------------------------------------------------------- training */

WV_INLINE void train_skipgram_neighbours(const wv_word2vec_run *run, neighbour_state *state, tile_training *training,
                                         const sentence_batch *batch, neighbour_tile *tile,
                                         const neighbour_tile *fetched, int64_t *examples) {
    int dim = (run->options.dim + WV_LANES - 1) / WV_LANES * WV_LANES, inputs = tile->inputs, fetch = 0;
    int chunks = (inputs + TILE_ROWS - 1) / TILE_ROWS;
    int updates = tile->positions + chunks * ((tile->negatives + WV_TILE_OUTPUTS - 1) / WV_TILE_OUTPUTS);
    const int32_t *centre = batch->word + tile->position;
    float *score = state->score, *const *x = tile->input;
    int start[WV_SHARING + 1] = {0};
    count_windows(tile);
    for (int n = 0; n < tile->positions; n++) {
        int cell = start[n]; /* stays behind at the centre itself */
        for (int p = tile->window_first[n]; p <= tile->window_last[n]; p++) {
            state->column[cell] = x[p - tile->first];
            cell += p != tile->position + n;
        }
        start[n + 1] = cell;
        column_sums(cell - start[n], state->column + start[n], tile->output[tile->negatives + n], dim,
                    state->sums + start[n]);
    }
    int pairs = start[tile->positions];
    for (int k = 0; k < pairs; k += WV_LANES) v_store_unaligned(score + k, v_sums(state->sums + k));
    logistic_steps(pairs, score, state->one, NULL, training->lr, score, &training->totals);
    for (int n = 0; n < tile->positions; n++, updates--)
        column_updates(start[n + 1] - start[n], state->column + start[n], tile->output[tile->negatives + n], dim,
                       score + start[n], part_of(fetched, &fetch, updates));
    *examples += pairs;
    state->tiles += state->tiles < MEAN_TILES;
    float part = 1.0f / (float)state->tiles;
    for (int j = 0; j < tile->negatives; j += WV_TILE_OUTPUTS) {
        int block = tile_block(tile->negatives, j);
        float *const *y = tile->output + j, rate = part / (float)run->options.negative;
        for (int c = 0, i = 0; c < chunks; c++, updates--, rate = 0) {
            int rows = (inputs - i) / (chunks - c), cells = rows * block;
            tile_scores(rows, x + i, block, y, dim, state->sums, score);
            weigh_negatives(tile, centre, i, rows, j, block, state->weight);
            logistic_steps(cells, score, state->none, state->weight, training->lr, score, &training->totals);
            control_variate control = {tile->share + j, tile->windows + i, state->mean,
                                       (1 - part) * mean_step(cells, score, state->weight), rate};
            negatives_update(rows, x + i, block, y, dim, score, control, part_of(fetched, &fetch, updates));
            i += rows;
        }
    }
}

#endif
