/* Rows of floats that are asked for before they are needed, cache line by cache line. */
#ifndef WV_CACHE_H
#define WV_CACHE_H

#include "base/lanes.h"
#include "base/wv_shared.h"

_Static_assert(WV_ROW_FLOATS * sizeof(float) == WV_CACHE_LINE, "rows are padded to a cache line");

/* Asks for the row: to read it, or as this core's own to change it. Inlined: a call of a function that only prefetches has
 * no effect for the compiler, which deletes it. */
WV_INLINE void wv_fetch(const float *row, int64_t floats) {
    for (int64_t d = 0; d < floats; d += WV_ROW_FLOATS) __builtin_prefetch(row + d);
}
WV_INLINE void wv_fetch_to_change(const float *row, int64_t floats) {
    for (int64_t d = 0; d < floats; d += WV_ROW_FLOATS) __builtin_prefetch(row + d, 1);
}

/* Into the second level alone: for more rows at once than the first level holds, which would push each other out. */
WV_INLINE void wv_fetch_to_l2(const float *row, int64_t floats) {
    for (int64_t d = 0; d < floats; d += WV_ROW_FLOATS) __builtin_prefetch(row + d, 0, 2);
}

#endif
