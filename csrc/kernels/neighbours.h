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

#include "kernels/layers.h"
#include "kernels/neighbour_rows.h"
#include "kernels/scratch.h"

enum {
    MEAN_TILES = 200, /* over so many tiles goes the running mean of drawn rows */
    TILE_ROWS = 16, /* at most so many context rows meet a negative at once: with wide windows the sum of their steps
                       would go past the mark */
};

/* The centres position .. position + positions - 1 and the context first .. last of all of them. */
typedef struct {
    int live, position, positions, first, last;
    int window_first[WV_SHARING], window_last[WV_SHARING];
    uint64_t *draw;
    int inputs, negatives, fetch_end;
    float **input;   /* (inputs) */
    float *windows;  /* (inputs): how many windows hold the row */
    int32_t *word;   /* (negatives): distinct */
    float *share;    /* (negatives): how much one is to count for each pair */
    round_copies copies;
    float **output;  /* the negatives, the centres, and behind them the rows of words that are new in the windows */
} neighbour_tile;

typedef struct {
    neighbour_tile tile[STAGES];
    float **column;            /* the rows of each window, one window after the other */
    float *score, *none, *one; /* (cells): scores and steps; labels */
    float *weight;
    vfloat *sums;
    float *mean;               /* (dim): of the drawn output rows */
    int tiles;                 /* that it is made of, at most MEAN_TILES */
} neighbour_state;

static int neighbour_inputs(const wv_word2vec_run *run) { return 2 * run->options.window + WV_SHARING; }

/* Of a tile of negatives, or of all windows. */
static int neighbour_cells(const wv_word2vec_run *run) {
    int windows = WV_SHARING * 2 * run->options.window, block = TILE_ROWS * WV_TILE_OUTPUTS;
    return (windows > block ? windows : block) + WV_ROW_FLOATS;
}

/* Six for five: one block of the tile. */
static int shared_negatives(const wv_word2vec_run *run) {
    return run->options.negative + (run->options.negative + 4) / 5;
}

static void lay_out_neighbours(const wv_word2vec_run *run, wv_scratch *scratch, neighbour_state *state) {
    int inputs = neighbour_inputs(run), drawn = shared_negatives(run);
    int entering = run->subword ? run->most_subwords : 1;
    int cells = neighbour_cells(run);
    for (int k = 0; k < STAGES; k++) {
        neighbour_tile *tile = &state->tile[k];
        tile->draw = WV_TAKE(scratch, uint64_t, drawn);
        tile->input = WV_TAKE(scratch, float *, inputs);
        tile->windows = WV_TAKE(scratch, float, inputs);
        tile->word = WV_TAKE(scratch, int32_t, drawn);
        tile->share = WV_TAKE(scratch, float, drawn + WV_TILE_OUTPUTS);
        tile->output = WV_TAKE(scratch, float *, drawn + WV_SHARING * (1 + entering));
    }
    state->column = WV_TAKE(scratch, float *, cells);
    state->score = WV_TAKE(scratch, float, cells);
    state->none = WV_TAKE(scratch, float, cells);
    state->one = WV_TAKE(scratch, float, cells);
    state->weight = WV_TAKE(scratch, float, cells);
    state->sums = WV_TAKE(scratch, vfloat, cells);
    state->mean = WV_TAKE(scratch, float, run->stride);
}

/* At the start of a block, which so depends on nothing before it. */
static void forget_mean(const wv_word2vec_run *run, neighbour_state *state) {
    int cells = neighbour_cells(run);
    state->tiles = 0;
    for (int d = 0; d < run->stride; d++) state->mean[d] = 0;
    for (int k = 0; k < cells; k++) state->none[k] = 0, state->one[k] = 1;
}

/* ---------------------------------------------------------------- listing */

/* The next tile from *at on: positions, windows and random numbers. 0: there are no more. */
WV_INLINE int draw_neighbours(const wv_word2vec_run *run, const sentence_batch *batch, uint64_t *random, int *at,
                              neighbour_tile *tile) {
    tile->fetch_end = 0;
    while (*at < batch->length && batch->first[*at] == batch->last[*at]) ++*at; /* no context */
    if (*at >= batch->length) return 0;
    int position = *at, end = batch->last[position];
    tile->position = position;
    tile->first = position;
    tile->last = position;
    tile->positions = end - position + 1 < WV_SHARING ? end - position + 1 : WV_SHARING;
    for (int n = 0; n < tile->positions; n++, position++) {
        draw_window(run, batch, position, random, &tile->window_first[n], &tile->window_last[n]);
        if (tile->window_first[n] < tile->first) tile->first = tile->window_first[n];
        if (tile->window_last[n] > tile->last) tile->last = tile->window_last[n];
        if (run->subword) fetch_subword_list(run, batch, position + run->options.window);
    }
    *at = position;
    draw_words(run, random, shared_negatives(run), tile->draw);
    return 1;
}

WV_INLINE void list_shared_negatives(const wv_word2vec_run *run, const wv_hot_rows *hot, neighbour_tile *tile) {
    int drawn = shared_negatives(run), distinct = 0;
    float share = (float)run->options.negative / (float)drawn;
    for (int k = 0; k < drawn; k++) {
        int32_t word = drawn_word(run, tile->draw[k]);
        int j = 0;
        while (j < distinct && tile->word[j] != word) j++;
        if (j < distinct) {
            tile->share[j] += share;
            continue;
        }
        tile->word[j] = word;
        tile->share[j] = share;
        tile->output[j] = output_row(run, hot, word);
        distinct++;
    }
    tile->negatives = distinct;
}

WV_INLINE void list_neighbours(const wv_word2vec_run *run, const wv_hot_rows *hot, const sentence_batch *batch,
                               const hidden_ring *ring, neighbour_tile *tile) {
    tile->inputs = tile->last - tile->first + 1;
    for (int i = 0; i < tile->inputs; i++) {
        tile->input[i] = context_row(run, hot, batch, ring, tile->first + i);
        tile->windows[i] = 0;
    }
    for (int n = 0; n < tile->positions; n++) {
        for (int p = tile->window_first[n]; p <= tile->window_last[n]; p++) tile->windows[p - tile->first] += 1;
        tile->windows[tile->position + n - tile->first] -= 1;
    }
    list_shared_negatives(run, hot, tile);
    int rows = tile->negatives;
    for (int n = 0; n < tile->positions; n++)
        tile->output[rows++] = output_row(run, hot, batch->word[tile->position + n]);
    for (int n = 0; n < tile->positions; n++)
        rows += list_entering(run, hot, batch, tile->position + n, tile->output + rows);
    tile->fetch_end = rows;
    if (hot->round) tile->copies = copies_listed(hot->round);
}

/* ---------------------------------------------------------------- weights */

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

/* Rows of the tile under way to the cache, an equal part of them with each of `updates` that are still to come. */
WV_INLINE tile_ahead part_of(const neighbour_tile *fetched, int *from, int updates) {
    int count = (fetched->fetch_end - *from + updates - 1) / updates;
    tile_ahead part = {count, (const float *const *)fetched->output + *from};
    *from += count;
    return part;
}

WV_INLINE void train_neighbours(const wv_word2vec_run *run, neighbour_state *state, tile_training *training,
                                const sentence_batch *batch, const neighbour_tile *tile, const neighbour_tile *fetched,
                                int64_t *examples) {
    int dim = (run->options.dim + WV_LANES - 1) / WV_LANES * WV_LANES, inputs = tile->inputs, fetch = 0;
    int chunks = (inputs + TILE_ROWS - 1) / TILE_ROWS;
    int updates = tile->positions + chunks * ((tile->negatives + WV_TILE_OUTPUTS - 1) / WV_TILE_OUTPUTS);
    const int32_t *centre = batch->word + tile->position;
    float *score = state->score, *const *x = tile->input;
    int start[WV_SHARING + 1] = {0};
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

/* All tiles of the batch, through the stages of word2vec.c. */
static void train_neighbour_batch(const wv_word2vec_run *run, const wv_hot_rows *hot, sentence_batch *batch,
                                  hidden_ring *ring, neighbour_state *state, tile_training *training, uint64_t *random,
                                  int64_t *examples) {
    neighbour_tile *drawn = &state->tile[0], *listed = &state->tile[1], *fetched = &state->tile[2],
                   *waiting = &state->tile[3], *trained = &state->tile[4];
    int at = 0;
    for (int k = 0; k < STAGES; k++) state->tile[k].live = 0;
    for (int steps = STAGES - 1; steps > 0;) {
        neighbour_tile *done = trained;
        trained = waiting;
        waiting = fetched;
        fetched = listed;
        listed = drawn;
        drawn = done;
        drawn->live = draw_neighbours(run, batch, random, &at, drawn);
        if (!drawn->live) steps--;
        if (listed->live) list_neighbours(run, hot, batch, ring, listed);
        if (!trained->live) continue;
        if (hot->round) make_copies(run, hot->round, trained->copies);
        if (run->subword) ring_advance(run, batch, ring, trained->position, trained->last);
        train_neighbours(run, state, training, batch, trained, fetched, examples);
    }
}

#endif
