/* From ids to positions: sentences, subsampling, windows, and the input rows of a tile. The output layer (layers.h) decides
 * what is predicted, the context rule (word2vec.c) what a tile computes.
 *
 * A tile is one position of a sentence with all its context words, or, without shared negatives, with one of them;
 * or several positions (neighbor_tiles.h).
 */
#ifndef WV_WORD2VEC_POSITIONS_H
#define WV_WORD2VEC_POSITIONS_H

#include "base/rng.h"
#include "kernels/word2vec/subwords.h"

/* Reads one sentence from ids[position] on and appends the words that survive subsampling. It ends at a line end, at
 * `end` or after max_sentence words. Returns where the next one begins; adds the words read to *tokens. */
static int64_t read_sentence(word2vec_block *block, const int32_t *ids, int64_t position, int64_t end,
                             int64_t *tokens) {
    const wv_word2vec_run *run = block->run;
    sentence_batch *batch = &block->batch;
    int begin = batch->length, length = begin;
    while (position < end && length - begin < run->options.max_sentence) {
        int32_t word = ids[position++];
        if (word == WV_END_OF_LINE) break;
        if (word < 0) continue; /* a label */
        ++*tokens;
        batch->word[length] = word;
        length += run->keep == NULL || (uint32_t)(wv_rng_next(&block->random) >> 32) <= run->keep[word];
    }
    /* In a random order (Fisher & Yates) a window holds any other words of the sentence with equal chance. */
    for (int k = length - 1; run->options.whole_line && k > begin; k--) {
        int other = begin + (int)wv_rng_below(wv_rng_next(&block->random), (uint32_t)(k - begin + 1));
        int32_t word = batch->word[k];
        batch->word[k] = batch->word[other];
        batch->word[other] = word;
    }
    for (int k = begin; k < length; k++) {
        batch->first[k] = begin;
        batch->last[k] = length - 1;
    }
    batch->length = length;
    return position;
}

/* Draws the width of the window of a position: the context first .. last with the position itself. */
WV_INLINE void draw_window(word2vec_block *block, int position, int *first, int *last) {
    const sentence_batch *batch = &block->batch;
    int window = block->run->options.window, begin = batch->first[position], end = batch->last[position];
    if (block->run->options.shrink_window)
        window = 1 + (int)wv_rng_below(wv_rng_next(&block->random), (uint32_t)window);
    *first = position - begin > window ? position - window : begin;
    *last = end - position > window ? position + window : end;
    if (block->run->options.window_side == WV_WINDOW_SIDE_RIGHT) *first = position;
    if (block->run->options.window_side == WV_WINDOW_SIDE_LEFT) *last = position;
}

/* Before the first tile of a batch. */
WV_INLINE void first_position(word2vec_block *block) {
    block->position = block->context_last = -1;
    block->context = 0;
}

/* Finds the next tile and draws the width of its window. 0: no more tiles. */
WV_INLINE int next_position(word2vec_block *block, position_tile *tile) {
    tile->opens = 0;
    while (block->context > block->context_last) { /* a position without context (the window is empty) has no tile */
        if (++block->position >= block->batch.length) return 0;
        tile->opens = 1;
        draw_window(block, block->position, &block->context, &block->context_last);
        if (block->context == block->position) block->context++;           /* first of its sentence */
        if (block->context_last == block->position) block->context_last--; /* last of its sentence */
    }
    tile->position = block->position;
    tile->first = block->context;
    tile->last = block->by_context ? block->context : block->context_last;
    block->context = tile->last + 1;
    if (block->context == block->position) block->context++;
    return 1;
}

/* Lists the input rows of a tile, or what the ring holds in their stead. */
WV_INLINE void list_inputs(word2vec_block *block, const row_store *store, position_tile *tile) {
    const int32_t *word = block->batch.word;
    int inputs = 0; /* stays behind at `position` itself: a branch would be guessed wrong once a tile */
    if (block->run->subword) {
        for (int p = tile->first; p <= tile->last; p++) {
            tile->input[inputs] = subword_hidden(block, p);
            tile->input_weight[inputs] = (float)subword_count(block->run, word[p]);
            inputs += p != tile->position;
        }
    } else {
        for (int p = tile->first; p <= tile->last; p++) {
            tile->input[inputs] = store->input_row(block, word[p]);
            inputs += p != tile->position;
        }
    }
    tile->inputs = inputs;
}

/* Lists the rows of the word that is new in the window of `position`; returns how many. */
WV_INLINE int list_entering(word2vec_block *block, const row_store *store, int position, float **list) {
    int entering = position + block->run->options.window;
    if (entering >= block->batch.length) return 0;
    int32_t word = block->batch.word[entering];
    if (block->run->subword) {
        int count = subword_count(block->run, word);
        store->subword_rows(block, word, count, list);
        return count;
    }
    *list = store->input_row(block, word);
    return 1;
}

#endif
