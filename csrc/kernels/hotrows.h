/* Private copies of the rows that all threads use all the time.
 *
 * Without them the frequent rows travel from core to core at every step, 50 to 500 ns each time. With them each thread
 * works on its own copy and now and then adds what it has changed to the shared rows and takes over what the others have
 * changed (private_rows.h; Vuurens et al. 2016 do so for the top of the Huffman tree).
 *
 * The hottest rows every few hundred words, twice as many every second time, four times as many every fourth time and so
 * on: a ruler, as pWord2Vec has it between machines (Ji et al. 2016). A word half as frequent is exchanged half as often, so
 * between two exchanges all rows have changed about as much, and twice as many rows cost little more. How many rows, and
 * what share of a change is added, is decided in wv_cli/models/hotrows.py. No lock, as everywhere here: two threads that
 * exchange the same cache line within the same few nanoseconds may lose an update.
 *
 * With subwords (subwords.h) a word has some twenty input rows, and those that most words have are n-grams of any number:
 * a list says which they are, and in the lists of the words' rows they are marked.
 */
#ifndef WV_HOTROWS_H
#define WV_HOTROWS_H

#include "kernels/private_rows.h"
#include "kernels/wv_kernels.h"

/* Exchanges the `rows` hottest of `output`, rows <= count, and the same part of the copies of `input`. */
static void exchange_hottest(const wv_word2vec_run *run, const wv_hot_rows *hot, int32_t rows) {
    size_t stride = (size_t)run->stride;
    int32_t first = hot->hottest_output - rows, last = hot->hottest_output + rows;
    if (first < 0) first = 0;
    if (last > hot->count) last = hot->count;
    size_t begin = (size_t)first * stride;
    int32_t inputs = (int32_t)((int64_t)rows * hot->inputs / hot->count);
    exchange_rows(inputs, stride, hot->input_share, hot->input_row, run->input, hot->input, hot->input_base);
    exchange_rows(last - first, stride, hot->output_share + first, NULL,
                  run->output + (size_t)hot->first_output * stride + begin, hot->output + begin, hot->output_base + begin);
}

/* What is due after `tokens` more words. The first exchange, before the first word, is one of all rows. */
static void exchange_due(const wv_word2vec_run *run, wv_hot_rows *hot, int64_t tokens) {
    hot->tokens -= tokens;
    if (hot->tokens > 0) return;
    int64_t rows = hot->exchanges ? hot->hottest * (int64_t)(hot->exchanges & -hot->exchanges) : hot->count;
    exchange_hottest(run, hot, rows < hot->count ? (int32_t)rows : hot->count);
    hot->tokens = hot->interval;
    hot->exchanges++;
}

#endif
