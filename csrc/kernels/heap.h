/* The k best of a scan: heaps with the worst hit first (lowest score, then highest row), so that ties go to the
 * lowest row when rows are offered in ascending order. Shared by the searches over vectors and over codes. */
#ifndef WV_HEAP_H
#define WV_HEAP_H

#include "base/lanes.h"

WV_INLINE int worse(float score, int32_t row, float than_score, int32_t than_row) {
    return score < than_score || (score == than_score && row > than_row);
}

/* Replaces the worst of k hits and returns the score of the new worst one. */
static inline float heap_replace(float *scores, int32_t *hits, int32_t k, float score, int32_t row) {
    int64_t hole = 0;
    for (;;) {
        int64_t child = 2 * hole + 1;
        if (child >= k) break;
        if (child + 1 < k && worse(scores[child + 1], hits[child + 1], scores[child], hits[child])) child++;
        if (!worse(scores[child], hits[child], score, row)) break;
        scores[hole] = scores[child];
        hits[hole] = hits[child];
        hole = child;
    }
    scores[hole] = score;
    hits[hole] = row;
    return scores[0];
}

/* Whether `row` is one of `count` ascending numbers. */
static inline int contains(const int32_t *ascending, int64_t count, int32_t row) {
    int64_t low = 0;
    while (low < count) {
        int64_t middle = low + (count - low) / 2;
        if (ascending[middle] == row) return 1;
        if (ascending[middle] < row) low = middle + 1;
        else count = middle;
    }
    return 0;
}

#endif
