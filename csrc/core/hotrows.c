#include "core/hotrows.h"

#include <string.h>

void wv_hot_load(size_t n, const float *shared, float *restrict copy, float *restrict base) {
    memcpy(copy, shared, n * sizeof *copy);
    memcpy(base, shared, n * sizeof *base);
}

void wv_hot_exchange(size_t n, float *restrict shared, float *restrict copy, float *restrict base) {
    for (size_t k = 0; k < n; k++) shared[k] = copy[k] = base[k] = shared[k] + (copy[k] - base[k]);
}
