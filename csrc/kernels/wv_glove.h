/* GloVe: the structs of kernels/glove.c. */
#ifndef WV_GLOVE_H
#define WV_GLOVE_H

#include <stdint.h>

#include "base/wv_shared.h"

/* Rows are 2 * half floats: the vector with its bias, then the squared gradients (see kernels/glove.c). */
typedef struct {
    float *words;    /* (vocab_size, 2 * half) */
    float *contexts; /* (vocab_size, 2 * half) */
    int32_t half;    /* dim + 2 rounded up to WV_ROW_FLOATS */
    int32_t clipped; /* so many coordinates are clipped: dim, or with the biases `half` */
    float eta, clip, log_x_max, alpha;
} wv_glove_run;

/* A chunk of a tile, in an order drawn from (seed, iteration, number). */
typedef struct {
    const wv_glove_record *records;
    int32_t n;
    int32_t first_row, first_column; /* of the tile */
    uint64_t seed, iteration, number;
} wv_glove_part;

#endif
