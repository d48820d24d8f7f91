/* From ids to positions: sentences, subsampling, windows, and the input rows of a tile. What is predicted (layers.h)
 * and what a tile computes (word2vec.c) is not decided here.
 *
 * A tile is one position of a sentence with all its context words, or, without shared negatives, with one of them;
 * or several positions (neighbour_tiles.h).
 */
#ifndef WV_POSITIONS_H
#define WV_POSITIONS_H

#include "base/rng.h"
#include "kernels/rounds.h"
#include "kernels/subwords.h"
#include "kernels/wv_kernels.h"

enum { BATCH = 512 }; /* sentences are read until so many words are there: short lines share a pipeline */

enum { STAGES = 5 }; /* of a tile, from its draw to its training: word2vec.c */

/* One tile: the context positions first .. last (without `position` itself) and the rows. A weight counts how often an
 * output stands in it; `weighted` says whether any does more than once. The rows output[fetch] ..
 * output[fetch_end - 1] are to be fetched early: the outputs, and behind them the rows of the word that is new in the
 * window. `opens`: the first tile of its position. */
typedef struct {
    int live, opens, position, first, last;
    uint64_t *negative_draw; /* negative sampling: the numbers that choose them */
    const int32_t *path;     /* hierarchical softmax: that of the centre word */
    int inputs, outputs, fetch, fetch_end, weighted;
    int32_t centre;
    int32_t *output_row;
    float **input, **output;
    float *input_weight, *output_weight, *output_label; /* input_weight: only with subwords */
    round_copies copies;
} tile_rows;

/* Reads one sentence from ids[*position] on and appends the words that survive subsampling. It ends at a line end, at
 * `end` or after max_sentence words. */
static void read_sentence(const wv_word2vec_run *run, const int32_t *ids, int64_t *position, int64_t end,
                          uint64_t *random, sentence_batch *batch, int64_t *tokens) {
    int begin = batch->length, length = begin;
    int64_t p = *position;
    while (p < end && length - begin < run->options.max_sentence) {
        int32_t word = ids[p++];
        if (word == WV_END_OF_LINE) break;
        if (word < 0) continue; /* a label */
        ++*tokens;
        batch->word[length] = word;
        length += run->keep == NULL || (uint32_t)(wv_rng_next(random) >> 32) <= run->keep[word];
    }
    for (int k = begin; k < length; k++) {
        batch->first[k] = begin;
        batch->last[k] = length - 1;
    }
    batch->length = length;
    *position = p;
}

/* Where the next tile lies: a new position, or the next context word of the current one. */
typedef struct {
    int position, context, last;
} tile_cursor;

/* Whether all context words of a position share a tile: only draws of negatives for each of them ask for smaller
 * ones. */
static int shares_tile(const wv_word2vec_run *run, int whole_window) {
    return whole_window || run->options.share_negatives || !run->sampler;
}

/* Draws the width of the window of a position: the context first .. last with the position itself. */
WV_INLINE void draw_window(const wv_word2vec_run *run, const sentence_batch *batch, int position, uint64_t *random,
                           int *first, int *last) {
    int window = run->options.window, begin = batch->first[position], end = batch->last[position];
    if (run->options.shrink_window) window = 1 + (int)wv_rng_below(wv_rng_next(random), (uint32_t)window);
    *first = position - begin > window ? position - window : begin;
    *last = end - position > window ? position + window : end;
}

/* Finds the next tile and draws the width of its window. 0: no more tiles. */
WV_INLINE int next_tile(const wv_word2vec_run *run, const sentence_batch *batch, int shared, uint64_t *random,
                        tile_cursor *at, tile_rows *rows) {
    rows->opens = 0;
    while (at->context > at->last) { /* a position without context (the window is empty) has no tile */
        if (++at->position >= batch->length) return 0;
        rows->opens = 1;
        draw_window(run, batch, at->position, random, &at->context, &at->last);
        if (at->context == at->position) at->context++; /* first of its sentence */
        if (at->last == at->position) at->last--;       /* last of its sentence */
    }
    rows->position = at->position;
    rows->first = at->context;
    rows->last = shared ? at->last : at->context;
    at->context = rows->last + 1;
    if (at->context == at->position) at->context++;
    return 1;
}

WV_INLINE float *input_row(const wv_word2vec_run *run, const wv_hot_rows *hot, int32_t word) {
    if (hot->round) return round_row(&hot->round->input, run->input, run->stride, word);
    return (word < hot->count ? hot->input : run->input) + (size_t)word * (size_t)run->stride;
}

/* The input row of a position, or what the ring holds in its stead. */
WV_INLINE float *context_row(const wv_word2vec_run *run, const wv_hot_rows *hot, const sentence_batch *batch,
                             const hidden_ring *ring, int position) {
    return run->subword ? hidden_row(run, ring, position) : input_row(run, hot, batch->word[position]);
}

/* Lists the input rows of a tile. */
WV_INLINE void list_inputs(const wv_word2vec_run *run, const wv_hot_rows *hot, const sentence_batch *batch,
                           const hidden_ring *ring, tile_rows *rows) {
    int inputs = 0; /* stays behind at `position` itself: a branch would be guessed wrong once a tile */
    for (int p = rows->first; p <= rows->last; p++) {
        rows->input[inputs] = context_row(run, hot, batch, ring, p);
        if (run->subword) rows->input_weight[inputs] = (float)subword_count(run, batch->word[p]);
        inputs += p != rows->position;
    }
    rows->inputs = inputs;
}

/* Lists the rows of the word that is new in the window of `position`; returns how many. */
WV_INLINE int list_entering(const wv_word2vec_run *run, const wv_hot_rows *hot, const sentence_batch *batch,
                            int position, float **list) {
    int entering = position + run->options.window;
    if (entering >= batch->length) return 0;
    if (run->subword) return list_subwords(run, hot, batch->word[entering], list);
    *list = input_row(run, hot, batch->word[entering]);
    return 1;
}

#endif
