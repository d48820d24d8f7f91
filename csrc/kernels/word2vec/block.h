/* What one thread has in one block of the corpus: sentences, tiles under way, subword means, buffers.
 *
 * Three constants say what is done with it, each a row of a table: where rows are trained (row_stores.h), what predicts
 * (the output layer, layers.h), and what the rows of a window become (the context rule, word2vec.c).
 */
#ifndef WV_WORD2VEC_BLOCK_H
#define WV_WORD2VEC_BLOCK_H

#include "kernels/outputs.h"
#include "kernels/wv_kernels.h"

enum {
    BATCH_WORDS = 512, /* sentences are read until so many words are there: short lines share a pipeline */
    TILE_STAGES = 5,
    WV_SHARING = 4, /* neighboring positions that may share a tile */
};

/* The `size` random numbers mix(seed), mix(seed + 1) .. that choose the words of a block (deterministic.h). */
typedef struct {
    uint64_t seed;
    uint32_t size;
} random_pool;

/* Sentences end to end. `first` and `last` say, for each position, where its sentence begins and ends. */
typedef struct {
    int length;
    int32_t *word, *first, *last;
} sentence_batch;

/* How many copies of rows there must be before a tile is trained (deterministic.h). */
typedef struct {
    int32_t input, output;
} row_copies;

/* One tile: the context positions first .. last (without `position` itself) and the rows. A weight counts how often an
 * output stands in it; `weighted` says whether any does more than once. The rows output[fetch] ..
 * output[fetch_end - 1] are to be fetched early: the outputs, and behind them the rows of the word that is new in the
 * window. `opens`: the first tile of its position. */
typedef struct {
    int opens, position, first, last;
    uint64_t *negative_draw; /* negative sampling: the numbers that choose them */
    const int32_t *path;     /* hierarchical softmax: that of the center word */
    int inputs, outputs, fetch, fetch_end, weighted;
    int32_t center;
    int32_t *output_row;
    float **input, **output, **output_bias; /* output_bias: NCE */
    float *input_weight, *output_weight, *output_label; /* input_weight: only with subwords */
    row_copies copies;
} position_tile;

/* The centers position .. position + positions - 1 and the context first .. last of all of them (neighbor_tiles.h). */
typedef struct {
    int position, positions, first, last;
    int window_first[WV_SHARING], window_last[WV_SHARING];
    uint64_t *negative_draw;
    int inputs, negatives, fetch_end;
    float **input;  /* (inputs) */
    int32_t *word;  /* (negatives): distinct */
    float *share;   /* (negatives): how much one is to count for each position */
    float **output; /* (fetch_end): the negatives, the centers, and the rows of words that are new in the windows */
    row_copies copies;
} neighbor_tile;

/* The buffers in which a thread trains its tiles, the learning rate, and the sums so far. */
typedef struct {
    float **x;     /* (inputs) rows of x_copy */
    float *x_copy; /* (inputs + 1, dim): old inputs; CBOW: the hidden vector and its gradient */
    float *score;  /* (inputs, outputs) */
    float *label, *weight;
    float lr;
    tile_totals totals;
    double loss; /* of the batch, what is not in `totals` */
    int64_t examples;
} tile_training;

/* The buffers in which it trains neighboring positions that share a tile (cbow_neighbors.h). */
typedef struct {
    float *score, *label, *weight; /* (cells): scores and steps, labels, weights */
    float *held;                   /* (inputs, WV_SHARING): 1 where a window holds the row */
    float *hidden, *delta;         /* (WV_SHARING, dim) */
    float *mean;                   /* (dim): of the drawn output rows */
    int tiles;                     /* that it is made of, at most MEAN_TILES */
} neighbor_training;

/* Positions left .. entered-1 of a batch are in the window; position p lies in row p % rows, a power of two
 * (subwords.h). */
typedef struct {
    int left, entered, rows;
    float *hidden, *entry; /* (rows, dim): the mean of the rows as it is now, and as it was on entering */
    float **list;          /* rows of one word */
} subword_ring;

typedef struct {
    const wv_word2vec_run *run;
    wv_word2vec_rows *rows;
    int width; /* floats of a row that are computed with: dim in whole vectors, at most the stride */
    uint64_t random;
    random_pool pool;
    sentence_batch batch;
    int position, context, context_last; /* where the next tile lies: a new position, or one of its context words */
    int by_context; /* every context word has a tile of its own */
    subword_ring ring;
    position_tile tile[TILE_STAGES];
    tile_training training;
    neighbor_tile neighbors[TILE_STAGES];
    neighbor_training shared;
} word2vec_block;

#endif
