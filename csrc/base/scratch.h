/* Scratch space: a kernel's working memory, laid out in one block that the caller owns.
 *
 * One function of a kernel takes its pieces in order; with memory NULL the same function only measures:
 *
 *     wv_scratch scratch = {memory, 0};
 *     float *score = WV_TAKE(&scratch, float, outputs);
 *     ... scratch.used is what the block must hold
 */
#ifndef WV_SCRATCH_H
#define WV_SCRATCH_H

#include <stddef.h>

#include "base/wv_shared.h"

/* `memory` is aligned to WV_CACHE_LINE bytes, or NULL to measure; every piece is. */
typedef struct {
    char *memory;
    size_t used;
} wv_scratch;

static inline void *wv_scratch_take(wv_scratch *scratch, size_t bytes) {
    void *piece = scratch->memory ? scratch->memory + scratch->used : NULL;
    scratch->used += (bytes + WV_CACHE_LINE - 1) / WV_CACHE_LINE * WV_CACHE_LINE;
    return piece;
}

#define WV_TAKE(scratch, type, count) ((type *)wv_scratch_take(scratch, sizeof(type) * (size_t)(count)))

#endif
