/* Neighbouring positions that share a tile: which they are, their rows, and one draw of negatives for all, or with
 * hierarchical softmax the paths of all. What is computed with them is neighbours.h for skip-gram, cbow_neighbours.h and
 * cbow_paths.h for CBOW.
 */
#ifndef WV_NEIGHBOUR_TILES_H
#define WV_NEIGHBOUR_TILES_H

#include "base/scratch.h"
#include "kernels/layers.h"

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
    float *windows;  /* (inputs): how many windows hold the row; skip-gram */
    int32_t *word;   /* (negatives): distinct */
    float *share;    /* (negatives): how much one is to count for each pair */
    round_copies copies;
    float **output;  /* the negatives, the centres, and behind them the rows of words that are new in the windows */
    float **fetch;   /* (fetch_end): what is to be fetched: `output`, or of hierarchical softmax a list of its own */
    /* Hierarchical softmax, where `output` has the nodes of path after path: */
    const int32_t *path[WV_SHARING];
    int path_start[WV_SHARING + 1]; /* where the nodes of a path begin in `output` and `label` */
    float *label;
    float **node; /* (fetch_end): lower ones, and the rows of words that are new in the windows */
} neighbour_tile;

typedef struct {
    neighbour_tile tile[STAGES];
    float **column;            /* the rows of each window, one window after the other */
    float *score, *none, *one; /* (cells): scores and steps; labels */
    float *weight;
    float *held, *given;       /* (inputs, WV_SHARING): CBOW */
    float *hidden, *delta;     /* (WV_SHARING, dim): CBOW */
    vfloat *sums;
    float *mean;               /* (dim): of the drawn output rows */
    int tiles;                 /* that it is made of, at most MEAN_TILES */
} neighbour_state;

static int neighbour_inputs(const wv_word2vec_run *run) { return 2 * run->options.window + WV_SHARING; }

/* Six for five: one block of the tile. */
static int shared_negatives(const wv_word2vec_run *run) {
    return run->options.negative + (run->options.negative + 4) / 5;
}

/* Of one position, at most, which it does not share. */
static int own_outputs(const wv_word2vec_run *run) { return run->path ? run->longest_path : 1; }

/* Of a tile of negatives, of all windows, or of all outputs of a CBOW tile. */
static int neighbour_cells(const wv_word2vec_run *run) {
    int windows = WV_SHARING * 2 * run->options.window, block = TILE_ROWS * WV_TILE_OUTPUTS;
    int most = windows > block ? windows : block, outputs = WV_SHARING * (own_outputs(run) + shared_negatives(run));
    return (most > outputs ? most : outputs) + 2 * WV_ROW_FLOATS;
}

static void lay_out_neighbours(const wv_word2vec_run *run, wv_scratch *scratch, neighbour_state *state) {
    int inputs = neighbour_inputs(run), drawn = shared_negatives(run);
    int entering = run->subword ? run->most_subwords : 1, own = own_outputs(run);
    int cells = neighbour_cells(run);
    for (int k = 0; k < STAGES; k++) {
        neighbour_tile *tile = &state->tile[k];
        tile->draw = WV_TAKE(scratch, uint64_t, drawn);
        tile->input = WV_TAKE(scratch, float *, inputs);
        tile->windows = WV_TAKE(scratch, float, inputs);
        tile->word = WV_TAKE(scratch, int32_t, drawn);
        tile->share = WV_TAKE(scratch, float, drawn + WV_TILE_OUTPUTS);
        tile->output = WV_TAKE(scratch, float *, drawn + WV_SHARING * (own + entering));
        if (!run->path) continue;
        tile->label = WV_TAKE(scratch, float, WV_SHARING * own + WV_ROW_FLOATS);
        tile->node = WV_TAKE(scratch, float *, WV_SHARING * (own + entering));
    }
    state->column = WV_TAKE(scratch, float *, cells);
    state->score = WV_TAKE(scratch, float, cells);
    state->none = WV_TAKE(scratch, float, cells);
    state->one = WV_TAKE(scratch, float, cells);
    state->weight = WV_TAKE(scratch, float, cells);
    state->held = WV_TAKE(scratch, float, WV_SHARING * inputs);
    state->given = WV_TAKE(scratch, float, WV_SHARING * inputs);
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
    for (int k = 0; k < cells; k++) state->none[k] = 0, state->one[k] = 1;
}

/* ---------------------------------------------------------------- listing */

/* Asks for the paths of a tile, and for where those of the next begin. */
WV_INLINE void fetch_paths(const wv_word2vec_run *run, const sentence_batch *batch, neighbour_tile *tile) {
    int next = tile->position + tile->positions;
    for (int n = 0; n < tile->positions; n++) {
        tile->path[n] = &run->path[run->path_start[batch->word[tile->position + n]]];
        __builtin_prefetch(tile->path[n], 0, 3);
        __builtin_prefetch(tile->path[n] + 15, 0, 3);
    }
    for (int n = 0; n < WV_SHARING && next + n < batch->length; n++)
        __builtin_prefetch(&run->path_start[batch->word[next + n]], 0, 3);
}

/* The next tile from *at on: positions, windows and random numbers. 0: there are no more. */
WV_INLINE int draw_neighbours(const wv_word2vec_run *run, const wv_hot_rows *hot, const sentence_batch *batch,
                              uint64_t *random, int *at, sharing shares, neighbour_tile *tile) {
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
        if (run->subword) fetch_subword_list(run, hot, batch, position + run->options.window);
    }
    *at = position;
    if (shares == SHARES_CONTEXT)
        fetch_paths(run, batch, tile);
    else
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

/* Returns how many rows are to be fetched. */
WV_INLINE int list_centres_and_negatives(const wv_word2vec_run *run, const wv_hot_rows *hot,
                                         const sentence_batch *batch, neighbour_tile *tile) {
    list_shared_negatives(run, hot, tile);
    int rows = tile->negatives;
    for (int n = 0; n < tile->positions; n++)
        tile->output[rows++] = output_row(run, hot, batch->word[tile->position + n]);
    tile->fetch = tile->output;
    return rows;
}

/* The same. The top of the tree is in the cache. */
WV_INLINE int list_paths(const wv_word2vec_run *run, const wv_hot_rows *hot, const sentence_batch *batch,
                         neighbour_tile *tile) {
    int nodes = 0, fetched = 0;
    for (int n = 0; n < tile->positions; n++) {
        const int64_t *start = &run->path_start[batch->word[tile->position + n]];
        int length = (int)(start[1] - start[0]);
        tile->path_start[n] = nodes;
        for (int j = 0; j < length; j++, nodes++) {
            int32_t step = tile->path[n][j];
            tile->label[nodes] = (float)(step & 1);
            tile->node[fetched] = tile->output[nodes] = output_row(run, hot, step >> 1);
            fetched += j >= CACHED_NODES;
        }
    }
    tile->path_start[tile->positions] = nodes;
    tile->fetch = tile->node;
    return fetched;
}

WV_INLINE void list_neighbours(const wv_word2vec_run *run, const wv_hot_rows *hot, const sentence_batch *batch,
                               const hidden_ring *ring, sharing shares, neighbour_tile *tile) {
    tile->inputs = tile->last - tile->first + 1;
    for (int i = 0; i < tile->inputs; i++) tile->input[i] = context_row(run, hot, batch, ring, tile->first + i);
    int rows = shares == SHARES_CONTEXT ? list_paths(run, hot, batch, tile)
                                        : list_centres_and_negatives(run, hot, batch, tile);
    for (int n = 0; n < tile->positions; n++)
        rows += list_entering(run, hot, batch, tile->position + n, tile->fetch + rows);
    tile->fetch_end = rows;
    if (hot->round) tile->copies = copies_listed(hot->round);
}

/* ---------------------------------------------------------------- fetching */

/* Rows of the tile under way to the cache, an equal part of them with each of `updates` that are still to come. */
WV_INLINE tile_ahead part_of(const neighbour_tile *fetched, int *from, int updates) {
    int count = (fetched->fetch_end - *from + updates - 1) / updates;
    tile_ahead part = {count, (const float *const *)fetched->fetch + *from};
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
                                                            sentence_batch *batch, hidden_ring *ring,
                                                            neighbour_state *state, tile_training *training,
                                                            sharing shares, train_neighbours train, uint64_t *random,
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
        drawn->live = draw_neighbours(run, hot, batch, random, &at, shares, drawn);
        if (!drawn->live) steps--;
        if (listed->live) list_neighbours(run, hot, batch, ring, shares, listed);
        if (!trained->live) continue;
        if (hot->round) make_copies(run, hot->round, trained->copies);
        if (run->subword) ring_advance(run, batch, ring, trained->position, trained->last);
        train(run, state, training, batch, trained, fetched, examples);
    }
}

#endif
