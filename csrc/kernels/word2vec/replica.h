/* A thread's replicas of the rows that all threads use all the time.
 *
 * Without them the frequent rows travel from core to core at every step, 50 to 500 ns each time. With them each thread
 * works on its own replica. Now and then it adds what it has changed to the shared rows and takes over what the others have
 * changed (kernels/replicas.h; Vuurens et al. 2016 do so for the top of the Huffman tree).
 *
 * The hottest rows are exchanged every few hundred words, twice as many every second time, four times as many every fourth
 * time and so on: a ruler, as pWord2Vec has it between machines (Ji et al. 2016). A word half as frequent is exchanged half
 * as often, so between two exchanges all rows have changed about as much, and twice as many rows cost little more.
 * wv_cli/models/replicas.py decides how many rows, and what share of a change is added. No lock, as everywhere here: two
 * threads that exchange the same cache line within the same few nanoseconds may lose an update.
 *
 * Most of the rows without replicas that a thread changes are noise words, each drawn anew for every center. So their
 * output rows are divided into slices, and a thread draws words of one slice for some time, then of the next: in the place
 * of a word of another slice it takes one of its own that is about as frequent. A slice is made of WV_SLICE_ROWS rows side
 * by side, then as many for each other slice, since processors fetch the lines next to one that is asked for: with every
 * second row of its own a thread still took its neighbor's lines away.
 *
 * With subwords (subwords.h) a word has about 20 input rows, and those that most words have are n-grams of any number:
 * a list says which they are, and in the lists of the words' rows they are marked.
 */
#ifndef WV_WORD2VEC_REPLICA_H
#define WV_WORD2VEC_REPLICA_H

#include "kernels/replicas.h"
#include "kernels/wv_kernels.h"

/* Exchanges the `rows` hottest of `output`, rows <= count, and the same part of the replicas of `input`. */
static void replica_exchange(const wv_word2vec_run *run, const wv_replicas *replicas, int32_t rows) {
    size_t stride = (size_t)run->stride;
    int32_t first = replicas->hottest_output - rows, last = replicas->hottest_output + rows;
    if (first < 0) first = 0;
    if (last > replicas->count) last = replicas->count;
    size_t begin = (size_t)first * stride;
    int32_t inputs = (int32_t)((int64_t)rows * replicas->inputs / replicas->count);
    exchange_rows(inputs, stride, replicas->input_share, replicas->input_row, run->input, replicas->input,
                  replicas->input_base);
    exchange_rows(last - first, stride, replicas->output_share + first, NULL,
                  run->output + (size_t)replicas->first_output * stride + begin, replicas->output + begin,
                  replicas->output_base + begin);
}

/* Exchanges what is due after `tokens` more words. The first exchange, before the first word, is one of all rows. */
static void replica_exchange_due(const wv_word2vec_run *run, wv_replicas *replicas, int64_t tokens) {
    replicas->tokens -= tokens;
    if (replicas->tokens > 0) return;
    int64_t rows = replicas->exchanges ? replicas->hottest * (int64_t)(replicas->exchanges & -replicas->exchanges)
                                       : replicas->count;
    replica_exchange(run, replicas, rows < replicas->count ? (int32_t)rows : replicas->count);
    replicas->tokens = replicas->interval;
    if (++replicas->exchanges % replicas->slice_exchanges == 0) replicas->slice = (replicas->slice + 1) % replicas->slices;
}

/* The noise word of the thread's slice in the place of `word`: of its group of `slices` times WV_SLICE_ROWS words the one
 * that is as far behind the first of its slice. */
WV_INLINE int32_t replica_noise_of_slice(const wv_replicas *replicas, int32_t word) {
    uint32_t position = (uint32_t)word - (uint32_t)replicas->slice_first;
    int is_sliced = position < (uint32_t)(replicas->slice_end - replicas->slice_first);
    int32_t bits = -is_sliced & ((replicas->slices - 1) * WV_SLICE_ROWS);
    return (word & ~bits) | ((replicas->slice * WV_SLICE_ROWS) & bits);
}

#endif
