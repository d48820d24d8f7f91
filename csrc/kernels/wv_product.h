/* Product quantization: the part of the kernels' contract that product.c fills (see wv_kernels.h for the notation). */
#ifndef WV_PRODUCT_H
#define WV_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#define WV_CENTROIDS 256 /* per block of coordinates: a code is one byte */

/* k-means on one block of coordinates. Deterministic in (seed, points): blocks may be trained by any thread. */
typedef struct {
    const float *x; /* (rows, >= first + width), rows `stride` floats apart */
    int64_t stride;
    const int64_t *sample; /* (points): the rows to learn from */
    int64_t points;
    int32_t first, width; /* the block: coordinates first .. first + width - 1 */
    int32_t iterations;
    uint64_t seed;
    float *centroids; /* out: (WV_CENTROIDS, width), no padding */
    double *errors;   /* out: (iterations): the sum of squared distances to the nearest centroid when each begins */
} wv_product_block;

/* Codes for rows of all blocks. */
typedef struct {
    const float *x; /* (rows, dim), rows `stride` floats apart */
    int64_t stride;
    int32_t dim, dsub;
    const float *centroids; /* (WV_CENTROIDS * dim): block after block, the last of dim % dsub coordinates if not 0 */
    uint8_t *codes;         /* out: (rows, ceil(dim / dsub)) */
} wv_product_codes;

/* One thread's scan of codes for the k rows of highest cosine with every query, the rows being the vectors that the codes
 * stand for. Heaps, thresholds and exclusions are those of wv_top_k. */
typedef struct {
    const uint8_t *codes; /* (n, ceil(dim / dsub)) */
    int32_t dim, dsub;
    const float *centroids; /* as above */
    double unit;            /* 1 / the largest magnitude in them, 0 when all are 0 */
    float *scale;           /* (n): 1 / length in these units, as a row's first scan finds it, 0 of a zero row; negative before */
    int32_t queries;
    int32_t k;
    const float *panels; /* the queries, unit vectors, (ceil(queries / lanes), dim, lanes) */
    float *threshold;
    float *scores;
    int32_t *hits;
    const int64_t *exclude_start;
    const int32_t *exclude;
} wv_product_search;

#endif
