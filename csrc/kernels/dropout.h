/* Dropout (Srivastava et al. 2014): numbers that a step leaves out, while those that stay are made larger, so that a model
 * that leaves out none answers with the same mean. */
#ifndef WV_DROPOUT_H
#define WV_DROPOUT_H

#include <stddef.h>

#include "base/lanes.h"
#include "base/rng.h"

/* keep[0 .. count): 0 with the probability `dropout`, else 1 / (1 - dropout). count is a multiple of 4. */
static void draw_kept(float dropout, uint64_t *random, size_t count, float *keep) {
    float scale = 1 / (1 - dropout);
    uint32_t limit = (uint32_t)(dropout * 65536.0f);
    for (size_t k = 0; k < count; k += 4) {
        uint64_t number = wv_rng_next(random);
        for (size_t j = 0; j < 4; j++) keep[k + j] = ((uint32_t)(number >> 16 * j) & 0xffffu) < limit ? 0 : scale;
    }
}

/* values *= factors; both are aligned and padded to WV_LANES. */
static void multiply(size_t count, float *values, const float *factors) {
    for (size_t k = 0; k < count; k += WV_LANES) v_store(values + k, v_load(values + k) * v_load(factors + k));
}

#endif
