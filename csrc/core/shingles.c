#include "core/shingles.h"

#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "core/minhash.h"

enum { EIGHT = 8 };

#define ODD UINT64_C(0x9E3779B97F4A7C15)
#define FACTOR UINT64_C(0xD6E8FEB86659FD93)
#define EACH_BYTE UINT64_C(0x0101010101010101)

/* The finalizer of MurmurHash3 (Austin Appleby, public domain). */
static inline uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
    x = (x ^ x >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
    return x ^ x >> 33;
}

void wv_shingles_free(wv_shingles *s) {
    free(s->words);
    free(s->word);
    free(s->hash);
    free(s->set);
    free(s->table);
    memset(s, 0, sizeof *s);
}

static int grow_words(wv_shingles *s, int64_t needed) {
    if (needed <= s->words_capacity) return 0;
    free(s->words);
    s->words = malloc((size_t)needed);
    s->words_capacity = s->words ? needed : 0;
    return s->words ? 0 : -1;
}

/* Room for so many words, shingles, and distinct ones. */
static int grow_counts(wv_shingles *s, int64_t words) {
    if (words <= s->capacity) return 0;
    int64_t capacity = words + words / 2 + 64, slots = 256;
    while (slots < 2 * capacity) slots *= 2;
    free(s->word);
    free(s->hash);
    free(s->set);
    free(s->table);
    s->word = malloc((size_t)capacity * sizeof *s->word);
    s->hash = malloc((size_t)capacity * sizeof *s->hash);
    s->set = malloc((size_t)capacity * sizeof *s->set);
    s->table = malloc((size_t)slots * sizeof *s->table);
    int whole = s->word && s->hash && s->set && s->table;
    s->capacity = whole ? capacity : 0;
    s->slots = slots;
    return whole ? 0 : -1;
}

/* The hash of each word of s->words[:length], with a space and eight more bytes behind them. Eight bytes are read at once;
 * the first space among them ends the word. How many words. */
static int64_t hash_words(wv_shingles *s, int64_t length) {
    const unsigned char *at = s->words, *end = at + length;
    int64_t count = 0;
    while (at < end) {
        uint64_t h = ODD, x, spaces;
        for (;;) {
            memcpy(&x, at, EIGHT);
            uint64_t zero = x ^ EACH_BYTE * ' ';
            spaces = (zero - EACH_BYTE) & ~zero & EACH_BYTE * 0x80;
            if (spaces) break;
            h = (h ^ x) * FACTOR;
            h ^= h >> 32;
            at += EIGHT;
        }
        int bytes = __builtin_ctzll(spaces) / EIGHT;
        x &= (UINT64_C(1) << EIGHT * bytes) - 1;
        h = (h ^ x) * FACTOR;
        s->word[count++] = h ^ h >> 32;
        at += bytes + 1;
    }
    return count;
}

static void hash_shingles(wv_shingles *s, int width, int64_t words) {
    uint64_t sum = 0, first = 1; /* ODD to the power width - 1 */
    for (int k = 1; k < width; k++) first *= ODD;
    for (int64_t i = 0; i < words; i++) {
        if (i >= width) sum -= first * s->word[i - width];
        sum = sum * ODD + s->word[i];
        if (i + 1 >= width) s->hash[i + 1 - width] = mixed(sum);
    }
    s->shingles = words - width + 1;
}

static void find_distinct(wv_shingles *s) {
    int64_t slots = 16;
    while (slots < 2 * s->shingles) slots *= 2;
    memset(s->table, 0, (size_t)slots * sizeof *s->table);
    s->count = 0;
    for (int64_t i = 0; i < s->shingles; i++) {
        uint32_t x = (uint32_t)s->hash[i];
        x += !x;
        int64_t at = x & (slots - 1);
        while (s->table[at] && s->table[at] != x) at = (at + 1) & (slots - 1);
        if (!s->table[at]) s->table[at] = s->set[s->count++] = x;
    }
}

int64_t wv_shingles_of(wv_shingles *s, int width, const wv_characters *characters, const unsigned char *text, int64_t length,
                       const unsigned char *words, int64_t words_length) {
    int64_t most = characters ? WV_SIMPLIFY_GROWTH * length + WV_CHARACTER_BYTES : words_length;
    if (grow_words(s, most + 1 + EIGHT)) return WV_SHINGLES_NO_MEMORY;
    int64_t written = words_length;
    if (characters) {
        written = wv_simplify(characters, text, length, s->words);
        if (written < 0) return written;
    } else if (words_length) {
        memcpy(s->words, words, (size_t)words_length);
    }
    memset(s->words + written, ' ', 1 + EIGHT);
    if (grow_counts(s, written / 2 + 1)) return WV_SHINGLES_NO_MEMORY;
    int64_t count = hash_words(s, written);
    if (count < width) {
        s->hash[0] = wv_xxhash64(text, length, 0);
        s->shingles = 1;
    } else {
        hash_shingles(s, width, count);
    }
    find_distinct(s);
    return 0;
}

/* The number in each bin. A round in front stands above all of later ones. */
static void find_numbers(const wv_shingles *s, int bins, uint64_t *number) {
    enum { BELOW_ROUND = 10 };
    for (int bin = 0; bin < bins; bin++) number[bin] = UINT64_MAX;
    for (int round = 0, empty = bins; empty; round++) {
        uint64_t front = (uint64_t)round << (64 - BELOW_ROUND);
        for (int64_t i = 0; i < s->shingles; i++) {
            uint64_t x = round ? mixed(s->hash[i] + (uint64_t)round * ODD) : s->hash[i];
            uint64_t bin = round < bins ? (x >> 32) * (uint64_t)bins >> 32 : (uint64_t)(round - bins);
            x = front | x >> BELOW_ROUND;
            if (x < number[bin]) number[bin] = x;
        }
        empty = 0;
        for (int bin = 0; bin < bins; bin++) empty += number[bin] == UINT64_MAX;
    }
}

void wv_shingles_keys(const wv_shingles *s, int bands, int rows, uint64_t *keys) {
    uint64_t number[WV_SHINGLES_MOST_BINS];
    find_numbers(s, bands * rows, number);
    for (int band = 0; band < bands; band++) {
        keys[band] = wv_xxhash64((const unsigned char *)(number + band * rows), rows * (int64_t)sizeof *number, 0);
    }
}
