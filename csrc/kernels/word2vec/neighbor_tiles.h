/* Neighboring positions of CBOW with negative sampling that share a tile: which they are, their rows, and one draw of
 * negatives for all of them. cbow_neighbors.h trains the tile.
 */
#ifndef WV_WORD2VEC_NEIGHBOR_TILES_H
#define WV_WORD2VEC_NEIGHBOR_TILES_H

#include "base/scratch.h"
#include "kernels/word2vec/layers.h"
#include "kernels/word2vec/positions.h"

enum { MEAN_TILES = 200 }; /* the running mean of drawn rows is that of as many tiles */

static int neighbor_inputs(const wv_word2vec_run *run) { return 2 * run->options.window + WV_SHARING; }

/* Six for five: one block of the tile. */
static int shared_negatives(const wv_word2vec_run *run) {
    return run->options.negative + (run->options.negative + 4) / 5;
}

/* Every position meets all negatives and its center; weights overrun a block. */
static int neighbor_cells(const wv_word2vec_run *run) {
    return WV_SHARING * (1 + shared_negatives(run)) + 2 * WV_ROW_FLOATS;
}

static void neighbor_lay_out(word2vec_block *block, wv_scratch *scratch) {
    const wv_word2vec_run *run = block->run;
    neighbor_training *shared = &block->shared;
    int inputs = neighbor_inputs(run), drawn = shared_negatives(run), cells = neighbor_cells(run);
    for (int k = 0; k < TILE_STAGES; k++) {
        neighbor_tile *tile = &block->neighbors[k];
        tile->negative_draw = WV_TAKE(scratch, uint64_t, drawn);
        tile->input = WV_TAKE(scratch, float *, inputs);
        tile->word = WV_TAKE(scratch, int32_t, drawn);
        tile->share = WV_TAKE(scratch, float, drawn + WV_TILE_OUTPUTS);
        tile->output = WV_TAKE(scratch, float *, drawn + 2 * WV_SHARING);
    }
    shared->score = WV_TAKE(scratch, float, cells);
    shared->label = WV_TAKE(scratch, float, cells);
    shared->weight = WV_TAKE(scratch, float, cells);
    shared->held = WV_TAKE(scratch, float, WV_SHARING * inputs);
    shared->hidden = WV_TAKE(scratch, float, WV_SHARING * run->stride);
    shared->delta = WV_TAKE(scratch, float, WV_SHARING * run->stride);
    shared->mean = WV_TAKE(scratch, float, run->stride);
}

/* At the start of a block, which so depends on nothing before it. */
static void neighbor_begin(word2vec_block *block) {
    neighbor_training *shared = &block->shared;
    int cells = neighbor_cells(block->run);
    shared->tiles = 0;
    for (int d = 0; d < block->run->stride; d++) shared->mean[d] = 0;
    for (int k = 0; k < cells; k++) shared->label[k] = 0;
}

/* The next tile from block->position on: positions, windows and random numbers. 0: there are no more. */
WV_INLINE int neighbor_draw(word2vec_block *block, const row_store *store, neighbor_tile *tile) {
    const sentence_batch *batch = &block->batch;
    int position = block->position;
    tile->fetch_end = 0;
    while (position < batch->length && batch->first[position] == batch->last[position]) position++; /* no context */
    block->position = position;
    if (position >= batch->length) return 0;
    int end = batch->last[position];
    tile->position = position;
    tile->first = position;
    tile->last = position;
    tile->positions = end - position + 1 < WV_SHARING ? end - position + 1 : WV_SHARING;
    for (int n = 0; n < tile->positions; n++, position++) {
        draw_window(block, position, &tile->window_first[n], &tile->window_last[n]);
        if (tile->window_first[n] < tile->first) tile->first = tile->window_first[n];
        if (tile->window_last[n] > tile->last) tile->last = tile->window_last[n];
    }
    block->position = position;
    draw_words(block, store, shared_negatives(block->run), tile->negative_draw);
    return 1;
}

WV_INLINE void neighbor_list_negatives(word2vec_block *block, const row_store *store, neighbor_tile *tile) {
    const wv_word2vec_run *run = block->run;
    int drawn = shared_negatives(run), distinct = 0;
    float share = (float)run->options.negative / (float)drawn;
    for (int k = 0; k < drawn; k++) {
        int32_t word = noise_word_of(store, block, drawn_word(run, tile->negative_draw[k]));
        int j = 0;
        while (j < distinct && tile->word[j] != word) j++;
        if (j < distinct) {
            tile->share[j] += share;
            continue;
        }
        tile->word[j] = word;
        tile->share[j] = share;
        tile->output[j] = output_row_of(store, block, word);
        distinct++;
    }
    tile->negatives = distinct;
}

WV_INLINE void neighbor_list(word2vec_block *block, const row_store *store, neighbor_tile *tile) {
    const int32_t *word = block->batch.word;
    tile->inputs = tile->last - tile->first + 1;
    for (int i = 0; i < tile->inputs; i++) tile->input[i] = store->input_row(block, word[tile->first + i]);
    neighbor_list_negatives(block, store, tile);
    int rows = tile->negatives;
    for (int n = 0; n < tile->positions; n++)
        tile->output[rows++] = output_row_of(store, block, word[tile->position + n]);
    for (int n = 0; n < tile->positions; n++)
        rows += list_entering(block, store, tile->position + n, tile->output + rows);
    tile->fetch_end = rows;
    if (store->copies_listed) tile->copies = store->copies_listed(block);
}

/* Rows of the tile under way to the cache, an equal part of them with each of `updates` that are still to come. */
WV_INLINE tile_ahead part_of(const neighbor_tile *fetched, int *from, int updates) {
    int count = (fetched->fetch_end - *from + updates - 1) / updates;
    tile_ahead part = {count, (const float *const *)fetched->output + *from};
    *from += count;
    return part;
}

#endif
