/* See sampler.h. */
#include "core/sampler.h"

#define FULL 4294967296.0 /* a full bucket: 2^32 coins */

void wv_alias_build(int32_t n, double *weights, wv_alias *table, int32_t *work) {
    double total = 0;
    for (int32_t i = 0; i < n; i++) total += weights[i];

    /* work holds the buckets below their share from the left, the others from the right. */
    int32_t small = 0, large = n;
    for (int32_t i = 0; i < n; i++) {
        weights[i] *= FULL / (total / n);
        if (weights[i] < FULL)
            work[small++] = i;
        else
            work[--large] = i;
    }
    while (small > 0 && large < n) { /* fill each small bucket up from a large one */
        small--;
        int32_t under = work[small];
        int32_t over = work[large];
        table[under] = (wv_alias){(uint32_t)weights[under], over};
        weights[over] -= FULL - weights[under];
        if (weights[over] < FULL) {
            large++;
            work[small++] = over;
        }
    }
    /* What is left is full but for rounding. */
    while (small > 0) {
        small--;
        table[work[small]] = (wv_alias){UINT32_MAX, work[small]};
    }
    for (; large < n; large++) table[work[large]] = (wv_alias){UINT32_MAX, work[large]};
}
