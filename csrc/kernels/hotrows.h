/* Private copies of the rows that all threads use all the time.
 *
 * Without them the frequent rows travel from core to core at every step, 50 to 500 ns each time. With them each thread
 * works on its own copy and now and then adds what it has changed to the shared rows and takes over what the others have
 * changed (Vuurens et al. 2016 do so for the top of the Huffman tree):
 *
 *     shared += share * (copy - base);   copy = base = shared
 *
 * The hottest rows every few hundred words, twice as many every second time, four times as many every fourth time and so
 * on: a ruler, as pWord2Vec has it between machines (Ji et al. 2016). A word half as frequent is exchanged half as often, so
 * between two exchanges all rows have changed about as much, and twice as many rows cost little more. How many rows, and
 * what share of a change is added, is decided in wv_cli/models/hotrows.py. No lock, as everywhere here: two threads that
 * exchange the same cache line within the same few nanoseconds may lose an update.
 *
 * With subwords (subwords.h) a window works on copies of its input rows anyway: only the output rows are hot.
 */
#ifndef WV_HOTROWS_H
#define WV_HOTROWS_H

#include "kernels/lanes.h"
#include "kernels/wv_kernels.h"

static void exchange_rows(int32_t rows, size_t stride, const float *share, float *shared, float *copy, float *base) {
    for (int32_t row = 0; row < rows; row++) {
        vfloat part = v_splat(share[row]);
        for (size_t k = (size_t)row * stride; k < ((size_t)row + 1) * stride; k += WV_LANES) {
            vfloat sum = v_load(shared + k) + part * (v_load(copy + k) - v_load(base + k));
            v_store(shared + k, sum);
            v_store(copy + k, sum);
            v_store(base + k, sum);
        }
    }
}

/* Exchanges the `rows` hottest of both matrices; rows <= count. */
static void exchange_hottest(const wv_word2vec_run *run, const wv_hot_rows *hot, int32_t rows) {
    size_t stride = (size_t)run->stride;
    int32_t first = hot->hottest_output - rows, last = hot->hottest_output + rows;
    if (first < 0) first = 0;
    if (last > hot->count) last = hot->count;
    size_t begin = (size_t)first * stride;
    if (!run->subword) exchange_rows(rows, stride, hot->input_share, run->input, hot->input, hot->input_base);
    exchange_rows(last - first, stride, hot->output_share + first, run->output + (size_t)hot->first_output * stride + begin,
                  hot->output + begin, hot->output_base + begin);
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
