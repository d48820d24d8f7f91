/* Private copies of the rows that all threads use all the time.
 *
 * Without them the few hundred most frequent rows travel from core to core at every step, 50 to 500 ns each time. With
 * them each thread works on its own copy and, every few thousand words, adds what it has changed to the shared rows and
 * takes over what the others have changed (Vuurens et al. 2016 do so for the top of the Huffman tree):
 *
 *     shared += copy - base;   copy = base = shared
 *
 * Seldom enough that the rows stay at home, often enough that no thread works on old values: every 4,000 words is no
 * faster, and at 40,000 the loss of the first epoch is 1.5 % higher. No lock, as everywhere here: two threads that exchange the
 * same cache line within the same few nanoseconds may lose an update.
 *
 * With subwords (subwords.h) a window works on copies of its input rows anyway: only the output rows are hot.
 */
#ifndef WV_HOTROWS_H
#define WV_HOTROWS_H

#include "kernels/lanes.h"
#include "kernels/wv_kernels.h"

enum { HOT_TOKENS = 2000 }; /* words between two exchanges */

static void exchange_rows(size_t floats, float *shared, float *copy, float *base) {
    for (size_t k = 0; k < floats; k += WV_LANES) {
        vfloat sum = v_load(shared + k) + (v_load(copy + k) - v_load(base + k));
        v_store(shared + k, sum);
        v_store(copy + k, sum);
        v_store(base + k, sum);
    }
}

static void exchange_hot_rows(const wv_word2vec_run *run, const wv_hot_rows *hot) {
    size_t stride = (size_t)run->stride, floats = (size_t)hot->count * stride;
    if (!run->subword) exchange_rows(floats, run->input, hot->input, hot->input_base);
    exchange_rows(floats, run->output + (size_t)hot->first_output * stride, hot->output, hot->output_base);
}

#endif
