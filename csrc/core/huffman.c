/* See huffman.h. The two-queue method: leaves are sorted, inner nodes are born in rising order of count, so the two
 * lightest nodes always stand at the heads of the two queues; linear time, no heap. */
#include "core/huffman.h"

/* The lightest node not yet taken. Of equal counts the inner node comes first, as in word2vec.c. */
static int32_t take_lightest(const int64_t *counts, int32_t *leaf, int32_t *inner, int32_t born) {
    if (*leaf >= 0 && (*inner >= born || counts[*leaf] < counts[*inner])) return (*leaf)--;
    return (*inner)++;
}

int64_t wv_huffman_build(int32_t n, int64_t *counts, int32_t *parent, uint8_t *bit) {
    int32_t leaf = n - 1, inner = n;
    for (int32_t born = n; born < 2 * n - 1; born++) {
        int32_t first = take_lightest(counts, &leaf, &inner, born);
        int32_t second = take_lightest(counts, &leaf, &inner, born);
        counts[born] = counts[first] + counts[second];
        parent[first] = born;
        parent[second] = born;
        bit[first] = 0;
        bit[second] = 1;
    }
    int64_t total = 0;
    for (int32_t word = 0; word < n; word++)
        for (int32_t at = word; at != 2 * n - 2; at = parent[at]) total++;
    return total;
}

void wv_huffman_paths(int32_t n, const int32_t *parent, const uint8_t *bit, int64_t *start, int32_t *node,
                      uint8_t *code) {
    start[0] = 0;
    for (int32_t word = 0; word < n; word++) {
        int64_t length = 0;
        for (int32_t at = word; at != 2 * n - 2; at = parent[at]) length++;
        int64_t end = start[word] + length;
        start[word + 1] = end;
        for (int32_t at = word; at != 2 * n - 2; at = parent[at]) {
            end--;
            node[end] = parent[at] - n;
            code[end] = bit[at];
        }
    }
}
