/* Neighbouring positions of CBOW with negative sampling that share a tile: which they are, their rows, and one draw of
 * negatives for all of them. cbow_neighbours.h trains the tile.
 */
#ifndef WV_NEIGHBOUR_TILES_H
#define WV_NEIGHBOUR_TILES_H

#include "base/scratch.h"
#include "kernels/layers.h"

enum {
    WV_SHARING = 4,   /* neighbouring positions that may share a tile */
    MEAN_TILES = 200, /* the running mean of drawn rows is that of as many tiles */
};

/* The centres position .. position + positions - 1 and the context first .. last of all of them. */
typedef struct {
    int live, position, positions, first, last;
    int window_first[WV_SHARING], window_last[WV_SHARING];
    uint64_t *draw;
    int inputs, negatives, fetch_end;
    float **input;   /* (inputs) */
    int32_t *word;   /* (negatives): distinct */
    float *share;    /* (negatives): how much one is to count for each pair */
    round_copies copies;
    float **output;  /* (fetch_end): the negatives, the centres, and the rows of words that are new in the windows */
} neighbour_tile;

typedef struct {
    neighbour_tile tile[STAGES];
    float *score, *label, *weight; /* (cells): scores and steps, labels, weights */
    float *held;                   /* (inputs, WV_SHARING): 1 where a window holds the row */
    float *hidden, *delta;         /* (WV_SHARING, dim) */
    vfloat *sums;                  /* (cells) */
    float *mean;                   /* (dim): of the drawn output rows */
    int tiles;                     /* that it is made of, at most MEAN_TILES */
} neighbour_state;

static int neighbour_inputs(const wv_word2vec_run *run) { return 2 * run->options.window + WV_SHARING; }

/* Six for five: one block of the tile. */
static int shared_negatives(const wv_word2vec_run *run) {
    return run->options.negative + (run->options.negative + 4) / 5;
}

/* Every position meets all negatives and its centre; weights overrun a block. */
static int neighbour_cells(const wv_word2vec_run *run) {
    return WV_SHARING * (1 + shared_negatives(run)) + 2 * WV_ROW_FLOATS;
}

static void lay_out_neighbours(const wv_word2vec_run *run, wv_scratch *scratch, neighbour_state *state) {
    int inputs = neighbour_inputs(run), drawn = shared_negatives(run);
    int cells = neighbour_cells(run);
    for (int k = 0; k < STAGES; k++) {
        neighbour_tile *tile = &state->tile[k];
        tile->draw = WV_TAKE(scratch, uint64_t, drawn);
        tile->input = WV_TAKE(scratch, float *, inputs);
        tile->word = WV_TAKE(scratch, int32_t, drawn);
        tile->share = WV_TAKE(scratch, float, drawn + WV_TILE_OUTPUTS);
        tile->output = WV_TAKE(scratch, float *, drawn + 2 * WV_SHARING);
    }
    state->score = WV_TAKE(scratch, float, cells);
    state->label = WV_TAKE(scratch, float, cells);
    state->weight = WV_TAKE(scratch, float, cells);
    state->held = WV_TAKE(scratch, float, WV_SHARING * inputs);
    state->hidden = WV_TAKE(scratch, float, WV_SHARING * run->stride);
    state->delta = WV_TAKE(scratch, float, WV_SHARING * run->stride);
    state->sums = WV_TAKE(scratch, vfloat, cells);
    state->mean = WV_TAKE(scratch, float, run->stride);
}

/* At the start of a block, which so depends on nothing before it. */
static void forget_mean(const wv_word2vec_run *run, neighbour_state *state) {
    int cells = neighbour_cells(run);
    state->tiles = 0;
    for (int d = 0; d < run->stride; d++) state->mean[d] = 0;
    for (int k = 0; k < cells; k++) state->label[k] = 0;
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
    }
    *at = position;
    draw_words(run, batch, random, shared_negatives(run), tile->draw);
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
                               neighbour_tile *tile) {
    tile->inputs = tile->last - tile->first + 1;
    for (int i = 0; i < tile->inputs; i++) tile->input[i] = input_row(run, hot, batch->word[tile->first + i]);
    list_shared_negatives(run, hot, tile);
    int rows = tile->negatives;
    for (int n = 0; n < tile->positions; n++)
        tile->output[rows++] = output_row(run, hot, batch->word[tile->position + n]);
    for (int n = 0; n < tile->positions; n++)
        rows += list_entering(run, hot, batch, tile->position + n, tile->output + rows);
    tile->fetch_end = rows;
    if (hot->round) tile->copies = copies_listed(hot->round);
}

/* ---------------------------------------------------------------- fetching */

/* Rows of the tile under way to the cache, an equal part of them with each of `updates` that are still to come. */
WV_INLINE tile_ahead part_of(const neighbour_tile *fetched, int *from, int updates) {
    int count = (fetched->fetch_end - *from + updates - 1) / updates;
    tile_ahead part = {count, (const float *const *)fetched->output + *from};
    *from += count;
    return part;
}

/* ---------------------------------------------------------------- the batch */

/* Trains a tile; meanwhile it fetches rows of the tile `fetched`. */
typedef void (*train_neighbours)(const wv_word2vec_run *run, neighbour_state *state, tile_training *training,
                                 const sentence_batch *batch, neighbour_tile *tile, const neighbour_tile *fetched,
                                 int64_t *examples);

/* All tiles of the batch, through the stages of word2vec.c. Not inlined: where it is, the loops beside it, of batches
 * that share nothing, are compiled worse (hierarchical softmax a twentieth slower). */
__attribute__((noinline)) static void train_neighbour_batch(const wv_word2vec_run *run, const wv_hot_rows *hot,
                                                            sentence_batch *batch, neighbour_state *state,
                                                            tile_training *training, train_neighbours train,
                                                            uint64_t *random, int64_t *examples) {
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
        if (listed->live) list_neighbours(run, hot, batch, listed);
        if (!trained->live) continue;
        if (hot->round) make_copies(run, hot->round, trained->copies);
        train(run, state, training, batch, trained, fetched, examples);
    }
}

#endif
