/* Subwords (fastText, Bojanowski et al. 2017): a word is the mean of its own row and the rows of its character n-grams.
 * Which rows those are is decided elsewhere (wv_cli/models/subwords.py); here they are read and written.
 *
 * fastText sums some 20 rows for every (word, predicted word) pair and writes 20 rows back. Here the mean is made once,
 * when a position enters the window, into a row of a ring (`hidden`), which stands for the word's input row in
 * all tiles until the window has passed; what it has gained by then is added to all its rows. Added undivided, as
 * fastText does: the mean of rows that all move by g moves by g, so `hidden` is what the mean would have become.
 * What is given up: rows that two words of a window share do not see each other's steps before they leave.
 *
 * The inputs must be the context words for that, as in word2vec. fastText's skip-gram turns them round (the centre word
 * is the input, each context word is predicted), which loses a fifth of the analogies once negatives are shared.
 */
#ifndef WV_SUBWORDS_H
#define WV_SUBWORDS_H

#include "base/lanes.h"
#include "kernels/rounds.h"
#include "kernels/wv_kernels.h"

/* Sentences end to end. `first` and `last` say, for each position, where its sentence begins and ends; `pool` is what
 * chooses negatives for them. */
typedef struct {
    int length;
    int32_t *word, *first, *last;
    random_pool pool;
} sentence_batch;

/* Positions left .. entered-1 of a batch are in the window; position p lies in row p % rows (a power of two). */
typedef struct {
    int left, entered, rows;
    float *hidden, *entry; /* (rows, dim): the mean of the rows as it is now, and as it was on entering */
    float **list;          /* rows of one word */
    const wv_hot_rows *hot;
} hidden_ring;

static int ring_rows(const wv_word2vec_run *run) {
    int rows = 1;
    while (rows < 2 * run->options.window + 1) rows *= 2;
    return rows;
}

static int subword_count(const wv_word2vec_run *run, int32_t word) {
    return (int)(run->subword_start[word + 1] - run->subword_start[word]);
}

/* The rows of a word; negative: the copy -1 - row of `hot`. */
static const int32_t *subwords_of(const wv_word2vec_run *run, const wv_hot_rows *hot, int32_t word) {
    return (hot->subword ? hot->subword : run->subword) + run->subword_start[word];
}

/* Writes where the rows of a word begin; returns how many there are. */
static int list_subwords(const wv_word2vec_run *run, const wv_hot_rows *hot, int32_t word, float **list) {
    const int32_t *row = subwords_of(run, hot, word);
    int count = subword_count(run, word);
    if (hot->round) {
        for (int k = 0; k < count; k++) list[k] = round_row(&hot->round->input, run->input, run->stride, row[k]);
        return count;
    }
    if (!hot->subword) {
        for (int k = 0; k < count; k++) list[k] = run->input + (size_t)row[k] * (size_t)run->stride;
        return count;
    }
    for (int k = 0; k < count; k++) {
        int is_copy = row[k] < 0;
        list[k] = (is_copy ? hot->input : run->input) + (size_t)(is_copy ? -1 - row[k] : row[k]) * (size_t)run->stride;
    }
    return count;
}

/* Asks for the list that will be read two positions on, and for where the one after it begins.
 * Inlined: a call of a function that only prefetches has no effect for the compiler, which deletes it. */
WV_INLINE void fetch_subword_list(const wv_word2vec_run *run, const wv_hot_rows *hot, const sentence_batch *batch,
                                  int position) {
    if (position + 4 < batch->length) __builtin_prefetch(&run->subword_start[batch->word[position + 4]], 0, 3);
    if (position + 2 >= batch->length) return;
    const int32_t *row = subwords_of(run, hot, batch->word[position + 2]);
    __builtin_prefetch(row, 0, 3);
    __builtin_prefetch(row + 16, 0, 3);
}

static float *hidden_row(const wv_word2vec_run *run, const hidden_ring *ring, int position) {
    return ring->hidden + (size_t)(position & (ring->rows - 1)) * (size_t)run->stride;
}

static float *entry_row(const wv_word2vec_run *run, const hidden_ring *ring, int position) {
    return ring->entry + (size_t)(position & (ring->rows - 1)) * (size_t)run->stride;
}

static void subword_enter(const wv_word2vec_run *run, const sentence_batch *batch, hidden_ring *ring) {
    int position = ring->entered++;
    int count = list_subwords(run, ring->hot, batch->word[position], ring->list);
    float *hidden = hidden_row(run, ring, position), *entry = entry_row(run, ring, position);
    float share = 1.0f / (float)count;
    if (ring->hot->round) copy_inputs(run, ring->hot->round, ring->hot->round->input.listed);
    for (int d = 0; d < run->stride; d += WV_LANES) {
        vfloat sum = v_load(ring->list[0] + d);
        for (int k = 1; k < count; k++) sum += v_load(ring->list[k] + d);
        v_store(hidden + d, share * sum);
        v_store(entry + d, share * sum);
    }
}

static void subword_leave(const wv_word2vec_run *run, const sentence_batch *batch, hidden_ring *ring) {
    int position = ring->left++;
    int count = list_subwords(run, ring->hot, batch->word[position], ring->list);
    float *hidden = hidden_row(run, ring, position), *entry = entry_row(run, ring, position);
    for (int d = 0; d < run->stride; d += WV_LANES) {
        vfloat gain = v_load(hidden + d) - v_load(entry + d);
        for (int k = 0; k < count; k++) v_store(ring->list[k] + d, v_load(ring->list[k] + d) + gain);
    }
}

/* Before a tile of `position` whose context ends at `last`: positions that no later window reaches leave, those that it
 * needs enter. */
static void ring_advance(const wv_word2vec_run *run, const sentence_batch *batch, hidden_ring *ring, int position,
                         int last) {
    int first = batch->first[position];
    if (position - first > run->options.window) first = position - run->options.window;
    while (ring->left < first && ring->left < ring->entered) subword_leave(run, batch, ring);
    if (ring->left < first) { /* sentences of one word have no tile */
        ring->left = first;
        ring->entered = first;
    }
    while (ring->entered <= last) subword_enter(run, batch, ring);
}

/* At the end of a batch everything is in the matrix again. */
static void ring_flush(const wv_word2vec_run *run, const sentence_batch *batch, hidden_ring *ring) {
    while (ring->left < ring->entered) subword_leave(run, batch, ring);
}

#endif
