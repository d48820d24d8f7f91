#include "core/keysets.h"

#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 1024, AHEAD = 4 };

static inline uint64_t *home(const wv_keyset *set, uint64_t key) {
    return set->slot + (uint64_t)(((unsigned __int128)key * set->capacity) >> 64);
}

/* The slot that holds the key, or the empty one where it would stand. */
static inline uint64_t *seek(const wv_keyset *set, uint64_t key) {
    uint64_t *at = home(set, key), *end = set->slot + set->capacity;
    while (*at != key && *at) {
        if (++at == end) at = set->slot;
    }
    return at;
}

static inline void add(wv_keyset *set, uint64_t key) {
    uint64_t *at = seek(set, key);
    set->count += !*at;
    *at = key;
}

int wv_keyset_reserve(wv_keyset *set, int64_t more) {
    uint64_t needed = set->count + (uint64_t)more;
    needed += needed / 3 + 1;
    if (needed <= set->capacity) return 0;
    uint64_t capacity = set->capacity + set->capacity / 2;
    if (capacity < SMALLEST) capacity = SMALLEST;
    if (capacity < needed) capacity = needed;
    wv_keyset larger = {calloc(capacity, sizeof *larger.slot), capacity, 0};
    if (!larger.slot) return -1;
    for (uint64_t i = 0; i < set->capacity; i++) {
        if (set->slot[i]) add(&larger, set->slot[i]);
    }
    free(set->slot);
    *set = larger;
    return 0;
}

void wv_keyset_insert(wv_keyset *set, const uint64_t *keys, int64_t n, int64_t stride) {
    for (int64_t i = 0; i < n; i++) {
        if (i + AHEAD < n) __builtin_prefetch(home(set, keys[(i + AHEAD) * stride]), 1);
        if (keys[i * stride]) add(set, keys[i * stride]);
    }
}

void wv_keyset_list(const wv_keyset *set, uint64_t *keys) {
    for (uint64_t i = 0; i < set->capacity; i++) {
        if (set->slot[i]) *keys++ = set->slot[i];
    }
}

void wv_keyset_free(wv_keyset *set) {
    free(set->slot);
    memset(set, 0, sizeof *set);
}

void wv_keysets_first(wv_keyset *sets, int64_t columns, const uint64_t *keys, int64_t n, unsigned char *first) {
    for (int64_t i = 0; i < n; i++, keys += columns) {
        if (i + AHEAD < n) {
            for (int64_t c = 0; c < columns; c++) __builtin_prefetch(home(&sets[c], keys[AHEAD * columns + c]), 1);
        }
        first[i] = 1;
        if (!keys[0]) continue;
        for (int64_t c = 0; c < columns && first[i]; c++) first[i] = !*seek(&sets[c], keys[c]);
        for (int64_t c = 0; c < columns && first[i]; c++) add(&sets[c], keys[c]);
    }
}

static int64_t cluster_of(int64_t *stays, int64_t row) {
    while (stays[row] != row) row = stays[row] = stays[stays[row]];
    return row;
}

int wv_keysets_clusters(int64_t columns, const uint64_t *keys, int64_t n, int64_t *stays) {
    uint64_t capacity = (uint64_t)n + (uint64_t)n / 3 + 1;
    int64_t *last = malloc(capacity * sizeof *last); /* row + 1 of the last one with a key, 0: none */
    int64_t *size = malloc(((size_t)n + 1) * sizeof *size);
    if (!last || !size) {
        free(last);
        free(size);
        return -1;
    }
    for (int64_t i = 0; i < n; i++) stays[i] = i, size[i] = 1;
    for (int64_t c = 0; c < columns; c++) {
        memset(last, 0, capacity * sizeof *last);
        for (int64_t i = 0; i < n; i++) {
            uint64_t key = keys[i * columns + c];
            if (!key) continue;
            uint64_t at = (uint64_t)(((unsigned __int128)key * capacity) >> 64);
            while (last[at] && keys[(last[at] - 1) * columns + c] != key) at = at + 1 < capacity ? at + 1 : 0;
            if (last[at]) {
                int64_t a = cluster_of(stays, last[at] - 1), b = cluster_of(stays, i);
                if (size[a] < size[b]) {
                    int64_t other = a;
                    a = b;
                    b = other;
                }
                if (a != b) {
                    stays[b] = a;
                    size[a] += size[b];
                }
            }
            last[at] = i + 1;
        }
    }
    for (int64_t i = 0; i < n; i++) stays[i] = cluster_of(stays, i);
    free(last);
    free(size);
    return 0;
}
