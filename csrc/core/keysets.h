/* Sets of 64-bit keys that are only ever added to: several side by side, one for each column of the keys.
 *
 * A set is a table of keys with linear probing. Keys are hashes, so a key's upper bits say its slot, whatever the capacity.
 * A table is filled to three quarters and then grows by half: a key takes 11 to 16 bytes. Key 0 stands for an empty slot, and
 * in a row of keys for "no key". */
#ifndef WV_KEYSETS_H
#define WV_KEYSETS_H

#include <stdint.h>

typedef struct {
    uint64_t *slot;
    uint64_t capacity, count;
} wv_keyset;

/* Makes room for `more` keys. 0, or -1 without memory; the set is then as it was. */
int wv_keyset_reserve(wv_keyset *set, int64_t more);

/* Adds keys[i * stride] for i < n; there is room for them. Keys that are in the set, and zeros, are passed over. */
void wv_keyset_insert(wv_keyset *set, const uint64_t *keys, int64_t n, int64_t stride);

/* Writes the `count` keys of the set, in the order of their slots, which is nearly ascending. */
void wv_keyset_list(const wv_keyset *set, uint64_t *keys);

void wv_keyset_free(wv_keyset *set);

/* For each row of keys (n, columns): whether no column's key is in the set of that column. Such a row is then added, so that
 * later rows are compared with it; the others are not. A row whose first key is 0 is new and is not added. The sets have room
 * for n keys each. */
void wv_keysets_first(wv_keyset *sets, int64_t columns, const uint64_t *keys, int64_t n, unsigned char *first);

/* Clusters of rows that share a key in some column, each row with itself at least: stays[i] becomes the row that stands for
 * row i's cluster. Rows are joined with the last one that has the same key, column after column. The row of the larger
 * cluster then stands for both; of two of one size, that of the earlier row's cluster. Zeros join nothing. 0, or -1 without
 * memory. */
int wv_keysets_clusters(int64_t columns, const uint64_t *keys, int64_t n, int64_t *stays);

#endif
