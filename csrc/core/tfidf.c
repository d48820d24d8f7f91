#include "core/tfidf.h"

#include <math.h>

/* Shell sort with the gaps of Ciura 2001: texts are short, or nearly so. */
static void sort_ids(int32_t *id, int64_t count) {
    static const int32_t gaps[] = {1577, 701, 301, 132, 57, 23, 10, 4, 1};
    for (unsigned g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (int64_t i = gaps[g]; i < count; i++) {
            const int32_t moved = id[i];
            int64_t at = i;
            for (; at >= gaps[g] && id[at - gaps[g]] > moved; at -= gaps[g]) id[at] = id[at - gaps[g]];
            id[at] = moved;
        }
}

void wv_tfidf(int64_t texts, int64_t *start, int32_t *id, float *value, const float *idf) {
    int64_t begin = texts ? start[0] : 0, packed = begin;
    for (int64_t t = 0; t < texts; t++) {
        const int64_t end = start[t + 1], first = packed;
        double squares = 0;
        sort_ids(id + begin, end - begin);
        for (int64_t i = begin, next; i < end; i = next) {
            for (next = i + 1; next < end && id[next] == id[i]; next++) {
            }
            const float weight = (idf ? idf[id[i]] : 1) * (next - i > 1 ? 1 + logf((float)(next - i)) : 1);
            id[packed] = id[i];
            value[packed++] = weight;
            squares += (double)weight * (double)weight;
        }
        const float norm = squares > 0 ? (float)(1 / sqrt(squares)) : 0;
        for (int64_t i = first; i < packed; i++) value[i] *= norm;
        begin = end;
        start[t + 1] = packed;
    }
}
