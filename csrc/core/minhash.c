#include "core/minhash.h"

#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"

/* https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md */
#define PRIME_1 UINT64_C(0x9E3779B185EBCA87)
#define PRIME_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define PRIME_3 UINT64_C(0x165667B19E3779F9)
#define PRIME_4 UINT64_C(0x85EBCA77C2B2AE63)
#define PRIME_5 UINT64_C(0x27D4EB2F165667C5)

static inline uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static inline uint64_t eight(const unsigned char *at) {
    uint64_t x;
    memcpy(&x, at, sizeof x);
    return x;
}

static inline uint64_t four(const unsigned char *at) {
    uint32_t x;
    memcpy(&x, at, sizeof x);
    return x;
}

static inline uint64_t mixed(uint64_t sum, uint64_t lane) { return rotate(sum + lane * PRIME_2, 31) * PRIME_1; }

uint64_t wv_xxhash64(const unsigned char *bytes, int64_t length, uint64_t seed) {
    const unsigned char *at = bytes, *end = bytes + length;
    uint64_t h = seed + PRIME_5;
    if (length >= 32) {
        uint64_t sum[4] = {seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1};
        for (; end - at >= 32; at += 32) {
            for (int i = 0; i < 4; i++) sum[i] = mixed(sum[i], eight(at + 8 * i));
        }
        h = rotate(sum[0], 1) + rotate(sum[1], 7) + rotate(sum[2], 12) + rotate(sum[3], 18);
        for (int i = 0; i < 4; i++) h = (h ^ mixed(0, sum[i])) * PRIME_1 + PRIME_4;
    }
    h += (uint64_t)length;
    for (; end - at >= 8; at += 8) h = rotate(h ^ mixed(0, eight(at)), 27) * PRIME_1 + PRIME_4;
    if (end - at >= 4) {
        h = rotate(h ^ four(at) * PRIME_1, 23) * PRIME_2 + PRIME_3;
        at += 4;
    }
    for (; at < end; at++) h = rotate(h ^ *at * PRIME_5, 11) * PRIME_1;
    h = (h ^ h >> 33) * PRIME_2;
    h = (h ^ h >> 29) * PRIME_3;
    return h ^ h >> 32;
}

void wv_minhash_free(wv_minhash_scratch *scratch) {
    free(scratch->words);
    free(scratch->start);
    free(scratch->hash);
    memset(scratch, 0, sizeof *scratch);
}

static int grow_words(wv_minhash_scratch *s, int64_t needed) {
    if (needed <= s->words_capacity) return 0;
    free(s->words);
    s->words = malloc((size_t)needed);
    s->words_capacity = s->words ? needed : 0;
    return s->words ? 0 : WV_MINHASH_NO_MEMORY;
}

/* Room for `words` words, and for as many shingles. */
static int grow_counts(wv_minhash_scratch *s, int64_t words) {
    if (words <= s->capacity) return 0;
    int64_t capacity = words + words / 2 + 64;
    int64_t *start = realloc(s->start, (size_t)capacity * sizeof *start);
    if (!start) return WV_MINHASH_NO_MEMORY;
    s->start = start;
    uint64_t *hash = realloc(s->hash, (size_t)capacity * sizeof *hash);
    if (!hash) return WV_MINHASH_NO_MEMORY;
    s->hash = hash;
    s->capacity = capacity;
    return 0;
}

/* The hashes of all shingles; how many, or -1 without memory. */
static int64_t hash_shingles(int shingle, const unsigned char *words, int64_t length, wv_minhash_scratch *s) {
    int64_t count = 0, shingles = 0;
    for (const unsigned char *at = words, *end = words + length; length > 0 && at; count++) {
        if (grow_counts(s, count + 2)) return -1;
        s->start[count] = at - words;
        at = memchr(at, ' ', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (count) s->start[count] = length + 1; /* where one more word would begin */
    for (; shingles + shingle <= count; shingles++) {
        int64_t begin = s->start[shingles];
        s->hash[shingles] = wv_xxhash64(words + begin, s->start[shingles + shingle] - 1 - begin, 0);
    }
    return shingles;
}

int64_t wv_minhash_text(const wv_minhash *m, const wv_characters *characters, const unsigned char *text, int64_t length,
                        wv_minhash_scratch *scratch, uint64_t *keys, uint64_t *numbers) {
    if (characters) {
        if (grow_words(scratch, WV_SIMPLIFY_GROWTH * length + WV_CHARACTER_BYTES)) return WV_MINHASH_NO_MEMORY;
        length = wv_simplify(characters, text, length, scratch->words);
        if (length < 0) return length;
        text = scratch->words;
    }
    int64_t shingles = hash_shingles(m->shingle, text, length, scratch);
    if (shingles < 0) return WV_MINHASH_NO_MEMORY;
    uint64_t least[WV_MINHASH_MOST];
    m->least(m->a, m->b, m->bands * m->rows, scratch->hash, shingles, least);
    if (numbers) memcpy(numbers, least, (size_t)(m->bands * m->rows) * sizeof *numbers);
    for (int band = 0; band < m->bands; band++) {
        int64_t bytes = m->rows * (int64_t)sizeof *least;
        uint64_t key = wv_xxhash64((const unsigned char *)(least + band * m->rows), bytes, 0);
        keys[band] = shingles == 0 ? 0 : key ? key : 1;
    }
    return 0;
}
