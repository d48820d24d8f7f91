/* Huffman trees over a vocabulary sorted by falling count, with word2vec's choice among equal counts. */
#ifndef WV_HUFFMAN_H
#define WV_HUFFMAN_H

#include <stdint.h>

/* Builds the tree of n >= 2 leaves. counts (2n - 1): the first n are given, falling; the rest is filled with the counts
 * of the inner nodes. parent and bit (2n - 1) get, for every node but the root, its parent and the bit on the way to it.
 * Returns the sum of the code lengths of all leaves. */
int64_t wv_huffman_build(int32_t n, int64_t *counts, int32_t *parent, uint8_t *bit);

/* Writes the code of every leaf, root first: leaf w has start[w] .. start[w + 1], node holds rows of the output matrix
 * (inner node k is row k, 0 .. n-2; the root is n-2), code the bits. start (n + 1), node and code (the sum above). */
void wv_huffman_paths(int32_t n, const int32_t *parent, const uint8_t *bit, int64_t *start, int32_t *node,
                      uint8_t *code);

#endif
