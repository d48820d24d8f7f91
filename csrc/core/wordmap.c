/* The word map's slow half: growing, long words, and writing the words out. See wordmap.h for the layout. */
#include "core/wordmap.h"

#include <stdlib.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/wv_shared.h"

enum { SMALLEST_TABLE = 1024, HUGE_PAGE = 1 << 21, AT_ONCE = 64 };

/* A table is at most two thirds full: probe chains stay near one slot. */
static int too_full(uint64_t words, uint64_t capacity) { return words > capacity / 3 * 2; }

static int set_table(wv_wordmap *map, uint64_t capacity) {
    if (capacity > SIZE_MAX / sizeof(wv_slot)) return WV_NO_MEMORY;
    size_t bytes = capacity * sizeof(wv_slot);
    size_t alignment = bytes < 2 * HUGE_PAGE ? WV_CACHE_LINE : HUGE_PAGE; /* no slot straddles a cache line */
    wv_slot *slots = aligned_alloc(alignment, bytes);
    if (!slots) return WV_NO_MEMORY;
#if defined(MADV_HUGEPAGE)
    /* Random slots of a large table miss the page table more often than the cache. A request: all is well without. */
    if (alignment == HUGE_PAGE) (void)madvise(slots, bytes, MADV_HUGEPAGE);
#endif
    memset(slots, 0, bytes);
    map->slots = slots;
    map->mask = capacity - 1;
    map->shift = 64 - __builtin_ctzll(capacity);
    return 0;
}

int wv_wordmap_init(wv_wordmap *map, int64_t expected_words) {
    memset(map, 0, sizeof *map);
    uint64_t capacity = SMALLEST_TABLE;
    while (too_full((uint64_t)expected_words, capacity)) capacity *= 2;
    return set_table(map, capacity);
}

void wv_wordmap_free(wv_wordmap *map) {
    free(map->slots);
    free(map->arena);
    memset(map, 0, sizeof *map);
}

static uint64_t key_hash(wv_word_key key) { return wv_is_short_key(key) ? wv_hash_key(key) : key.low; }

/* Slots of the table for `more` words. */
static uint64_t capacity_with(const wv_wordmap *map, int64_t more) {
    uint64_t words = (uint64_t)map->size + (uint64_t)more, capacity = map->mask + 1;
    while (too_full(words, capacity)) capacity *= 2;
    return capacity;
}

int wv_wordmap_reserve(wv_wordmap *map, int64_t more) {
    if ((uint64_t)map->size + (uint64_t)more > INT32_MAX) return WV_TOO_MANY_WORDS;
    uint64_t capacity = capacity_with(map, more);
    if (capacity == map->mask + 1) return 0;
    wv_slot *old = map->slots;
    uint64_t old_capacity = map->mask + 1;
    if (set_table(map, capacity)) return WV_NO_MEMORY;
    for (uint64_t i = 0; i < old_capacity; i++) {
        if (old[i].key.low == 0) continue;
        uint64_t index = key_hash(old[i].key) >> map->shift;
        while (map->slots[index].key.low != 0) index = (index + 1) & map->mask;
        map->slots[index] = old[i];
    }
    free(old);
    return 0;
}

/* The hash of a long word: its low byte is zero (the mark of a long word), and it is never 0 (the mark of an empty slot). */
static uint64_t long_hash(const unsigned char *word, size_t length) {
    uint64_t hash = wv_fold_product(length ^ 0xA0761D6478BD642Fu, 0xE7037ED1A0B428DBu);
    wv_word_key part;
    while (length > sizeof part) {
        memcpy(&part, word, sizeof part);
        hash = wv_fold_product(part.low ^ hash, part.high ^ 0x8EBC6AF09C88C6E3u);
        word += sizeof part;
        length -= sizeof part;
    }
    part = wv_short_key(word, length);
    hash = wv_fold_product(part.low ^ hash, part.high ^ 0x589965CC75374CC3u);
    hash &= ~(uint64_t)0xFF;
    return hash ? hash : 0x100;
}

/* In the arena a word is its length (uint64) and its bytes, from a multiple of 8. */
static int is_in_arena(const wv_wordmap *map, uint64_t offset, const unsigned char *word, size_t length) {
    uint64_t stored;
    memcpy(&stored, map->arena + offset, sizeof stored);
    return stored == length && memcmp(map->arena + offset + sizeof stored, word, length) == 0;
}

static int put_in_arena(wv_wordmap *map, const unsigned char *word, size_t length, uint64_t *offset) {
    uint64_t stored = length;
    uint64_t needed = map->arena_used + sizeof stored + ((stored + 7) & ~(uint64_t)7);
    if (needed > map->arena_capacity) {
        uint64_t capacity = needed + needed / 2 + 4096;
        unsigned char *arena = realloc(map->arena, capacity);
        if (!arena) return WV_NO_MEMORY;
        map->arena = arena;
        map->arena_capacity = capacity;
    }
    *offset = map->arena_used;
    memcpy(map->arena + *offset, &stored, sizeof stored);
    memcpy(map->arena + *offset + sizeof stored, word, length);
    map->arena_used = needed;
    return 0;
}

wv_slot *wv_wordmap_find(wv_wordmap *map, const unsigned char *word, size_t length) {
    if (length == 0) return NULL;
    if (length <= WV_SHORT_WORD) {
        wv_word_key key = wv_short_key(word, length);
        return wv_wordmap_seek(map, key, wv_home_slot(map, wv_hash_key(key)), 1);
    }
    uint64_t hash = long_hash(word, length);
    for (uint64_t index = hash >> map->shift;; index = (index + 1) & map->mask) {
        wv_slot *slot = &map->slots[index];
        if (slot->key.low == 0) return NULL;
        if (slot->key.low == hash && is_in_arena(map, slot->key.high, word, length)) return slot;
    }
}

wv_slot *wv_wordmap_add(wv_wordmap *map, const unsigned char *word, size_t length) {
    if (length <= WV_SHORT_WORD) {
        wv_word_key key = wv_short_key(word, length);
        return wv_wordmap_seek(map, key, wv_home_slot(map, wv_hash_key(key)), 0);
    }
    uint64_t hash = long_hash(word, length);
    for (uint64_t index = hash >> map->shift;; index = (index + 1) & map->mask) {
        wv_slot *slot = &map->slots[index];
        if (slot->key.low == hash && is_in_arena(map, slot->key.high, word, length)) return slot;
        if (slot->key.low == 0) {
            uint64_t offset;
            if (put_in_arena(map, word, length, &offset)) return NULL;
            slot->key = (wv_word_key){hash, offset};
            slot->id = map->size++;
            return slot;
        }
    }
}

int wv_wordmap_ids(wv_wordmap *map, const unsigned char *blob, const int64_t *starts, int64_t words, int known_only,
                   int32_t *ids) {
    wv_word_key keys[AT_ONCE];
    wv_slot *homes[AT_ONCE];
    for (int64_t begin = 0; begin < words; begin += AT_ONCE) {
        int64_t n = words - begin < AT_ONCE ? words - begin : AT_ONCE;
        int failure = known_only ? 0 : wv_wordmap_reserve(map, n);
        if (failure) return failure;
        for (int64_t i = 0; i < n; i++) {
            const unsigned char *word = blob + starts[begin + i];
            size_t length = (size_t)(starts[begin + i + 1] - starts[begin + i]);
            keys[i] = length <= WV_SHORT_WORD ? wv_short_key(word, length) : (wv_word_key){0, 0};
            homes[i] = wv_home_slot(map, wv_hash_key(keys[i]));
            __builtin_prefetch(homes[i], 1);
        }
        for (int64_t i = 0; i < n; i++) {
            const unsigned char *word = blob + starts[begin + i];
            size_t length = (size_t)(starts[begin + i + 1] - starts[begin + i]);
            wv_slot *slot = keys[i].low   ? wv_wordmap_seek(map, keys[i], homes[i], known_only)
                            : known_only ? wv_wordmap_find(map, word, length)
                                         : wv_wordmap_add(map, word, length);
            if (!slot && !known_only) return WV_NO_MEMORY;
            ids[begin + i] = slot ? slot->id : -1;
        }
    }
    return 0;
}

/* The bytes of a slot's word, and how many. */
static const unsigned char *word_of(const wv_wordmap *map, const wv_slot *slot, uint64_t *length) {
    if (!wv_is_short_key(slot->key)) {
        memcpy(length, map->arena + slot->key.high, sizeof *length);
        return map->arena + slot->key.high + sizeof *length;
    }
    const unsigned char *word = (const unsigned char *)&slot->key;
    const unsigned char *end = memchr(word, 0, WV_SHORT_WORD);
    *length = end ? (uint64_t)(end - word) : WV_SHORT_WORD;
    return word;
}

uint64_t wv_wordmap_blob_bytes(const wv_wordmap *map, int32_t first) {
    uint64_t total = 0, length;
    for (uint64_t i = 0; i <= map->mask; i++) {
        if (map->slots[i].key.low == 0 || map->slots[i].id < first) continue;
        word_of(map, &map->slots[i], &length);
        total += length;
    }
    return total;
}

void wv_wordmap_dump(const wv_wordmap *map, int32_t first, unsigned char *blob, int64_t *starts, int64_t *counts) {
    uint64_t length;
    /* Lengths first, into starts[i + 1]; their running sum says where each word goes. */
    starts[0] = 0;
    for (uint64_t i = 0; i <= map->mask; i++) {
        const wv_slot *slot = &map->slots[i];
        if (slot->key.low == 0 || slot->id < first) continue;
        word_of(map, slot, &length);
        starts[slot->id - first + 1] = (int64_t)length;
        if (counts) counts[slot->id - first] = slot->count;
    }
    for (int32_t i = 0; i < map->size - first; i++) starts[i + 1] += starts[i];
    for (uint64_t i = 0; i <= map->mask; i++) {
        const wv_slot *slot = &map->slots[i];
        if (slot->key.low == 0 || slot->id < first) continue;
        const unsigned char *word = word_of(map, slot, &length);
        memcpy(blob + starts[slot->id - first], word, length);
    }
}

uint64_t wv_wordmap_bytes(const wv_wordmap *map) { return wv_wordmap_bytes_with(map, 0); }

uint64_t wv_wordmap_bytes_with(const wv_wordmap *map, int64_t more) {
    return capacity_with(map, more) * sizeof(wv_slot) + map->arena_capacity;
}

void wv_hash_words(const unsigned char *blob, const int64_t *starts, int64_t words, uint64_t *hashes) {
    for (int64_t i = 0; i < words; i++) {
        const unsigned char *word = blob + starts[i];
        size_t length = (size_t)(starts[i + 1] - starts[i]);
        hashes[i] = length <= WV_SHORT_WORD ? wv_hash_key(wv_short_key(word, length)) : long_hash(word, length);
    }
}
