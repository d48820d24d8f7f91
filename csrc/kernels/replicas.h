/* Replicas of rows that a thread works on, and what they were when it last told the others:
 *
 *     shared += share * (copy - base);   copy = base = shared
 *
 * All is zero at first: the first exchange takes the shared rows over. */
#ifndef WV_REPLICAS_H
#define WV_REPLICAS_H

#include <stddef.h>

#include "base/lanes.h"

/* copy[i] is one of shared[of[i]], or where `of` is NULL of shared[i]. */
static void exchange_rows(int32_t rows, size_t stride, const float *share, const int32_t *of, float *shared, float *copy,
                          float *base) {
    for (int32_t i = 0; i < rows; i++, copy += stride, base += stride) {
        vfloat part = v_splat(share[i]);
        float *row = shared + (size_t)(of ? of[i] : i) * stride;
        for (size_t k = 0; k < stride; k += WV_LANES) {
            vfloat sum = v_load(row + k) + part * (v_load(copy + k) - v_load(base + k));
            v_store(row + k, sum);
            v_store(copy + k, sum);
            v_store(base + k, sum);
        }
    }
}

#endif
