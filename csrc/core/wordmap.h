/* A hash map from words (byte strings without NUL) to ids 0, 1, 2 ... in order of first sight, with a count each.
 *
 * Made for text: nearly every look-up is a hit on a short word that stands in cache. So:
 *   - open addressing, linear probing, 32-byte slots: one look-up touches one cache line, counting included;
 *   - words of up to 16 bytes are the key itself, two zero-padded uint64 (a word holds no NUL, so padding is not
 *     ambiguous and no length is stored); comparing two words is comparing two integers;
 *   - longer words live in an arena; their slot holds the hash with a zero low byte (no short word starts with NUL, so
 *     the two kinds cannot be mistaken) and the offset in the arena;
 *   - the slot is chosen by the hash's upper bits, so doubling the table walks both tables in order.
 * It is no general container: words are never removed, and it is not for several threads at once. The two kinds of key
 * are told apart by their low byte, which is the word's first byte on little-endian machines only.
 */
#ifndef WV_WORDMAP_H
#define WV_WORDMAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/little_endian.h"

#define WV_SHORT_WORD 16 /* bytes that fit a slot */

/* Failures of functions that insert; also the values of wv_encoder_feed. */
#define WV_NO_MEMORY (-1)
#define WV_TOO_MANY_WORDS (-2)

typedef struct {
    uint64_t low, high; /* low == 0: the slot is empty */
} wv_word_key;

typedef struct {
    wv_word_key key;
    int64_t count;
    int32_t id;
    int32_t padding;
} wv_slot;

typedef struct {
    wv_slot *slots; /* capacity, a power of two */
    uint64_t mask;  /* capacity - 1 */
    int shift;      /* hash >> shift is the first slot to look at */
    int32_t size;   /* words held: the next id */
    unsigned char *arena;
    uint64_t arena_used, arena_capacity;
} wv_wordmap;

/* 0 or WV_NO_MEMORY. `map` may be passed to wv_wordmap_free in both cases. */
int wv_wordmap_init(wv_wordmap *map, int64_t expected_words);
void wv_wordmap_free(wv_wordmap *map);

/* Grows the table for `more` words, so that as many inserts cannot fail on it and do not move slots (pointers to
 * slots stay valid). 0, WV_NO_MEMORY or WV_TOO_MANY_WORDS. */
int wv_wordmap_reserve(wv_wordmap *map, int64_t more);

/* The slot of a word, inserted with count 0 when new; NULL: out of memory. Call wv_wordmap_reserve first. */
wv_slot *wv_wordmap_add(wv_wordmap *map, const unsigned char *word, size_t length);
/* The slot of a word or NULL. */
wv_slot *wv_wordmap_find(wv_wordmap *map, const unsigned char *word, size_t length);

/* The ids of words of a list, word i being blob[starts[i] .. starts[i + 1]); new ones are inserted, or with `known_only`
 * get -1. 0 or a failure. */
int wv_wordmap_ids(wv_wordmap *map, const unsigned char *blob, const int64_t *starts, int64_t words, int known_only,
                   int32_t *ids);

/* Bytes of the words from id `first` on, end to end. */
uint64_t wv_wordmap_blob_bytes(const wv_wordmap *map, int32_t first);
/* Writes word `first` + i to blob[starts[i] .. starts[i + 1]] and its count to counts[i] (unless NULL). starts has
 * size - first + 1 entries. */
void wv_wordmap_dump(const wv_wordmap *map, int32_t first, unsigned char *blob, int64_t *starts, int64_t *counts);

/* Bytes of memory that the map takes. */
uint64_t wv_wordmap_bytes(const wv_wordmap *map);
/* The same when its table has grown for `more` words. */
uint64_t wv_wordmap_bytes_with(const wv_wordmap *map, int64_t more);

/* A hash of each word of a list: not cryptographic, and another one in another version: no file may keep it. hashes
 * (words). */
void wv_hash_words(const unsigned char *blob, const int64_t *starts, int64_t words, uint64_t *hashes);

/* ------------------------------------------------ for the tokenizer's inner loop */

/* Folded 64 x 64 -> 128 bit product, the mixing step of wyhash (Wang Yi, public domain idea). */
static inline uint64_t wv_fold_product(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t wv_hash_key(wv_word_key key) {
    return wv_fold_product(key.low ^ 0x9E3779B97F4A7C15u, key.high ^ 0xD1B54A32D192ED03u);
}

static inline wv_word_key wv_short_key(const unsigned char *word, size_t length) {
    wv_word_key key = {0, 0};
    memcpy(&key, word, length);
    return key;
}

/* masks[WV_SHORT_WORD - n ..] begins with n bytes of ones and goes on with zeros. */
static const unsigned char wv_key_masks[2 * WV_SHORT_WORD] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                                              255, 255, 255, 255, 255, 0};

/* The key of a word, or {0, its length} of one longer than a key. `readable` is the end of the readable bytes. */
static inline wv_word_key wv_word_key_at(const unsigned char *word, size_t length, const unsigned char *readable) {
    wv_word_key key, mask;
    if (length > WV_SHORT_WORD) return (wv_word_key){0, length};
    if (readable - word < (ptrdiff_t)sizeof key) return wv_short_key(word, length);
    memcpy(&key, word, sizeof key);
    memcpy(&mask, wv_key_masks + WV_SHORT_WORD - length, sizeof mask);
    return (wv_word_key){key.low & mask.low, key.high & mask.high};
}

/* 1 when the key is a short word's, not a long one's. */
static inline int wv_is_short_key(wv_word_key key) { return (key.low & 0xFF) != 0; }

/* The first slot to look at. */
static inline wv_slot *wv_home_slot(const wv_wordmap *map, uint64_t hash) { return &map->slots[hash >> map->shift]; }

/* The slot of a short key, searched from its home slot on. When new it is inserted with count 0 (after
 * wv_wordmap_reserve), or with `known_only` NULL is returned. */
static inline wv_slot *wv_wordmap_seek(wv_wordmap *map, wv_word_key key, wv_slot *slot, int known_only) {
    for (;;) {
        if (slot->key.low == key.low && slot->key.high == key.high) return slot;
        if (slot->key.low == 0) {
            if (known_only) return NULL;
            slot->key = key;
            slot->id = map->size++;
            return slot;
        }
        slot++;
        if (slot == map->slots + map->mask + 1) slot = map->slots;
    }
}

#endif
