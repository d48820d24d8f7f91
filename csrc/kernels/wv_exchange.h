/* Rows that several ranks train copies of: the part of the kernels' contract that exchange.c fills (see wv_kernels.h for the
 * notation). */
#ifndef WV_EXCHANGE_H
#define WV_EXCHANGE_H

#include <stdint.h>

#define WV_DIRECTIONS 16 /* in each of which a share of its own is taken */

/* One matrix of one rank. */
typedef struct {
    float *current; /* (rows, columns), rows `stride` floats apart: as this rank trains them */
    int64_t stride;
    float *base; /* (rows, columns), without padding: as all ranks know them */
    int32_t columns;
    const float *updates, *movers; /* (rows): since the row was due last; the ranks that make them */
} wv_exchanged;

/* How far an update goes: exp(-way updates) is left of the distance to the optimum, in each of the directions, which are
 * orthogonal and of length 1, and in all others. */
typedef struct {
    const float *directions; /* (columns, WV_DIRECTIONS); zero where there are fewer */
    const float *transposed; /* (WV_DIRECTIONS, columns), rows `stride` floats apart, zero behind the last column */
    int64_t stride;
    const float *way;        /* (WV_DIRECTIONS) */
    float other_way;
} wv_ways;

#endif
