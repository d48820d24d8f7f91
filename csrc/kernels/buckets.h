/* The bucket of a hash: fastText's h % buckets. */
#ifndef WV_BUCKETS_H
#define WV_BUCKETS_H

#include <stdint.h>

/* h % buckets without a division: `scale` is floor((2^64 - 1) / buckets), the quotient is at most one too small. */
static inline uint32_t bucket_of(uint64_t h, uint32_t buckets, uint64_t scale) {
    uint64_t rest = h - (uint64_t)((unsigned __int128)h * scale >> 64) * buckets;
    while (rest >= buckets) rest -= buckets;
    return (uint32_t)rest;
}

#endif
