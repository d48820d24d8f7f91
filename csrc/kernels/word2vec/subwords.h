/* Subwords (fastText, Bojanowski et al. 2017): a word is the mean of its own row and the rows of its character n-grams.
 * Which rows those are is decided elsewhere (wv_cli/models/subwords.py); here they are read and written.
 *
 * fastText sums some 20 rows for every (word, predicted word) pair and writes 20 rows back. Here the mean is made once,
 * when a position enters the window, into a row of a ring (`hidden`), which stands for the word's input row in
 * all tiles until the window has passed; what it has gained by then is added to all its rows. Added undivided, as
 * fastText does: the mean of rows that all move by g moves by g, so `hidden` is what the mean would have become.
 * What is given up: rows that two words of a window share do not see each other's steps before they leave.
 *
 * The inputs must be the context words for that, as in word2vec. fastText's skip-gram turns them round (the center word
 * is the input, each context word is predicted), which loses a fifth of the analogies once negatives are shared.
 */
#ifndef WV_WORD2VEC_SUBWORDS_H
#define WV_WORD2VEC_SUBWORDS_H

#include "kernels/word2vec/row_stores.h"

/* Rows of the ring: a power of two. */
static int subword_ring_rows(const wv_word2vec_run *run) {
    int rows = 1;
    while (rows < 2 * run->options.window + 1) rows *= 2;
    return rows;
}

WV_INLINE int subword_count(const wv_word2vec_run *run, int32_t word) {
    return (int)(run->subword_start[word + 1] - run->subword_start[word]);
}

/* Asks for the list that will be read two positions on, and for where the one after it begins.
 * Inlined: a call of a function that only prefetches has no effect for the compiler, which deletes it. */
WV_INLINE void subword_fetch_list(const word2vec_block *block, const row_store *store, int position) {
    const sentence_batch *batch = &block->batch;
    if (position + 4 < batch->length) __builtin_prefetch(&block->run->subword_start[batch->word[position + 4]], 0, 3);
    if (position + 2 >= batch->length) return;
    const int32_t *row = store->subword_numbers(block, batch->word[position + 2]);
    __builtin_prefetch(row, 0, 3);
    __builtin_prefetch(row + 16, 0, 3);
}

WV_INLINE float *subword_hidden(const word2vec_block *block, int position) {
    return block->ring.hidden + (size_t)(position & (block->ring.rows - 1)) * (size_t)block->run->stride;
}

WV_INLINE float *subword_entry(const word2vec_block *block, int position) {
    return block->ring.entry + (size_t)(position & (block->ring.rows - 1)) * (size_t)block->run->stride;
}

WV_INLINE void subword_enter(word2vec_block *block, const row_store *store) {
    int position = block->ring.entered++, stride = block->run->stride;
    int32_t word = block->batch.word[position];
    int count = subword_count(block->run, word);
    float **list = block->ring.list, *hidden = subword_hidden(block, position), *entry = subword_entry(block, position);
    float share = 1.0f / (float)count;
    store->subword_rows(block, word, count, list);
    if (store->make_inputs) store->make_inputs(block);
    for (int d = 0; d < stride; d += WV_LANES) {
        vfloat sum = v_load(list[0] + d);
        for (int k = 1; k < count; k++) sum += v_load(list[k] + d);
        v_store(hidden + d, share * sum);
        v_store(entry + d, share * sum);
    }
}

WV_INLINE void subword_leave(word2vec_block *block, const row_store *store) {
    int position = block->ring.left++, stride = block->run->stride;
    int32_t word = block->batch.word[position];
    int count = subword_count(block->run, word);
    float **list = block->ring.list, *hidden = subword_hidden(block, position), *entry = subword_entry(block, position);
    store->subword_rows(block, word, count, list);
    for (int d = 0; d < stride; d += WV_LANES) {
        vfloat gain = v_load(hidden + d) - v_load(entry + d);
        for (int k = 0; k < count; k++) v_store(list[k] + d, v_load(list[k] + d) + gain);
    }
}

/* Before a tile of `position` whose context ends at `last`: positions that no later window reaches leave, those that it
 * needs enter. */
WV_INLINE void subword_advance(word2vec_block *block, const row_store *store, int position, int last) {
    subword_ring *ring = &block->ring;
    int first = block->batch.first[position];
    if (position - first > block->run->options.window) first = position - block->run->options.window;
    while (ring->left < first && ring->left < ring->entered) subword_leave(block, store);
    if (ring->left < first) { /* sentences of one word have no tile */
        ring->left = first;
        ring->entered = first;
    }
    while (ring->entered <= last) subword_enter(block, store);
}

/* Before a batch. */
WV_INLINE void subword_begin(word2vec_block *block) { block->ring.left = block->ring.entered = 0; }

/* At the end of a batch everything is in the matrix again. */
WV_INLINE void subword_flush(word2vec_block *block, const row_store *store) {
    while (block->ring.left < block->ring.entered) subword_leave(block, store);
}

#endif
