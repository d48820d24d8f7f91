/* Affine maps of vectors: the part of the kernels' contract that affine.c fills (see wv_kernels.h for the notation). */
#ifndef WV_AFFINE_H
#define WV_AFFINE_H

#include <stddef.h>
#include <stdint.h>

/* out = (x - mean) matrix, in double, rounded once. */
typedef struct {
    const float *x; /* (n, dim), rows `stride` floats apart */
    int64_t stride;
    int32_t dim, columns;
    const double *mean;   /* (dim) */
    const double *matrix; /* (dim, columns) */
    float *out;           /* (n, columns), rows `out_stride` floats apart */
    int64_t out_stride;
} wv_affine;

#endif
