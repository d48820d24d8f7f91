/* Repetition inside one text; see repetition.h. Items are equal when 64 bits of their hashes are. */
#include "core/repetition.h"

#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"

/* Odd, so that no power of it is 0. JOIN puts the hashes of tokens together where it matters where one ends. */
#define BASE UINT64_C(0x9e3779b97f4a7c15)
#define JOIN UINT64_C(0xd1342543de82ef95)
#define SPREAD UINT64_C(0xa0761d6478bd642f)

enum { AHEAD = 12, LARGE = 1 << 15 };

static inline uint64_t mixed(uint64_t h) {
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 29) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

static inline uint64_t hash_bytes(const unsigned char *bytes, int64_t length) {
    uint64_t h = (uint64_t)length * BASE + 1, word;
    for (; length >= 8; bytes += 8, length -= 8) {
        memcpy(&word, bytes, 8);
        __uint128_t product = (__uint128_t)(h ^ word) * UINT64_C(0xa0761d6478bd642f);
        h = (uint64_t)product ^ (uint64_t)(product >> 64) ^ (word * BASE);
    }
    word = 0;
    memcpy(&word, bytes, (size_t)length);
    return mixed(h ^ mixed(word + BASE));
}

int wv_repetition_begin(wv_repetition *r, int64_t items) {
    uint64_t capacity = 64;
    while (capacity < 2 * (uint64_t)items) capacity *= 2;
    if (capacity > r->capacity) {
        free(r->slot);
        r->slot = calloc(capacity, sizeof *r->slot);
        r->capacity = r->slot ? capacity : 0;
        r->stamp = 0;
        if (!r->slot) return -1;
    }
    r->mask = capacity - 1;
    r->stamp++;
    return 0;
}

int wv_repetition_again(wv_repetition *r, const unsigned char *bytes, int64_t length) {
    uint64_t hash = hash_bytes(bytes, length), i = hash & r->mask;
    while (r->slot[i].stamp == r->stamp && r->slot[i].hash != hash) i = (i + 1) & r->mask;
    if (r->slot[i].stamp == r->stamp) return 1;
    r->slot[i] = (wv_seen){hash, r->stamp};
    return 0;
}

/* The table of so many n-grams has 2^this places. The emptier it is, the fewer places are tried; large ones are fuller. */
static int place_bits(int64_t grams) {
    int64_t most = 8 * LARGE, wanted = 8 * grams < most ? 8 * grams : most;
    int bits = 6;
    while ((INT64_C(1) << bits) < wanted || (INT64_C(1) << bits) < 2 * grams) bits++;
    return bits;
}

static void free_tokens(wv_repetition *r) {
    free(r->hash);
    free(r->gram);
    free(r->power);
    free(r->characters);
    free(r->count);
    free(r->place);
}

static int make_tokens(wv_repetition *r, int64_t count) {
    if (count < r->tokens) return 0;
    int64_t tokens = 2 * count + 64;
    size_t size = (size_t)tokens;
    free_tokens(r);
    r->hash = malloc(size * sizeof *r->hash);
    r->gram = malloc(size * sizeof *r->gram);
    r->power = malloc(size * sizeof *r->power);
    r->characters = malloc(size * sizeof *r->characters);
    r->count = malloc(size * sizeof *r->count);
    r->place = malloc(sizeof *r->place << place_bits(tokens));
    r->tokens = r->hash && r->gram && r->power && r->characters && r->count && r->place ? tokens : 0;
    return r->tokens ? 0 : -1;
}

/* A token's hash is sum (byte + 1) BASE^(bytes behind it): that of two put together follows from theirs. Eight bytes are
 * summed at once, since no processor foresees where a token ends. */
int wv_repetition_tokens(wv_repetition *r, const unsigned char *text, const wv_tokens *tokens) {
    enum { EIGHT = 8 };
    uint64_t power[EIGHT + 1] = {1}, ones[EIGHT + 1] = {0};
    for (int k = 0; k < EIGHT; k++) {
        power[k + 1] = power[k] * BASE;
        ones[k + 1] = ones[k] + power[k];
    }
    if (make_tokens(r, tokens->count)) return -1;
    r->characters[0] = 0;
    for (int64_t i = 0; i < tokens->count; i++) {
        const wv_token *token = &tokens->token[i];
        int64_t begin = token->begin, end = begin + token->length;
        uint64_t hash = 0, token_power = 1;
        while (begin < end) {
            int64_t last = end - begin > EIGHT ? begin + EIGHT : end, length = last - begin;
            uint64_t bytes = 0, sum = ones[length];
            if (last >= EIGHT) {
                memcpy(&bytes, text + last - EIGHT, EIGHT);
                bytes = bytes >> 8 * (EIGHT - length) << 8 * (EIGHT - length);
            } else {
                memcpy((unsigned char *)&bytes + EIGHT - length, text + begin, (size_t)length);
            }
            for (int k = 0; k < EIGHT; k++) sum += (bytes >> 8 * (EIGHT - 1 - k) & 0xff) * power[k];
            hash = hash * power[length] + sum;
            token_power *= power[length];
            begin = last;
        }
        r->hash[i] = hash;
        r->power[i] = token_power;
        r->characters[i + 1] = r->characters[i] + token->characters;
    }
    return 0;
}

/* Empties a table of the places of `grams` n-grams that may differ. Returns by how many bits a hash is moved to the right. */
static int begin_places(wv_repetition *r, int64_t grams) {
    int bits = place_bits(grams);
    memset(r->place, 0, sizeof *r->place << bits);
    return 64 - bits;
}

/* Where the place of the n-gram at i stands, plus one; 0 there: it is new. */
static inline uint32_t *find_place(const wv_repetition *r, int64_t i, int shift) {
    uint64_t gram = r->gram[i], mask = UINT64_MAX >> shift, at = gram * SPREAD >> shift;
    while (r->place[at] && r->gram[r->place[at] - 1] != gram) at = (at + 1) & mask;
    return &r->place[at];
}

/* Long texts' tables lie outside the caches. */
static inline void fetch_place(const wv_repetition *r, int64_t i, int64_t grams, int shift) {
    if (i + AHEAD < grams) __builtin_prefetch(&r->place[r->gram[i + AHEAD] * SPREAD >> shift], 1);
}

int wv_repetition_top(wv_repetition *r, const wv_tokens *tokens, int64_t top[3]) {
    int64_t n_tokens = tokens->count;
    memcpy(r->gram, r->hash, (size_t)n_tokens * sizeof *r->gram);
    for (int n = 2; n <= 4; n++) {
        int64_t grams = n_tokens - n + 1, best = 0;
        top[n - 2] = 0;
        if (grams < 1) continue;
        int shift = begin_places(r, grams);
        for (int64_t i = 0; i < grams; i++) r->gram[i] = r->gram[i] * JOIN + r->hash[i + n - 1];
        for (int64_t i = 0; i < grams; i++) {
            fetch_place(r, i, grams, shift);
            uint32_t *place = find_place(r, i, shift);
            r->count[i] = 0;
            if (!*place) *place = (uint32_t)i + 1;
            r->count[*place - 1]++;
        }
        for (int64_t i = 1; i < grams; i++) {
            if (r->count[i] > r->count[best]) best = i;
        }
        top[n - 2] = (r->characters[best + n] - r->characters[best] + n - 1) * r->count[best];
    }
    return 0;
}

int wv_repetition_grams(wv_repetition *r, const wv_tokens *tokens, int64_t repeated[6]) {
    int64_t n_tokens = tokens->count;
    memcpy(r->gram, r->hash, (size_t)n_tokens * sizeof *r->gram);
    for (int n = 2; n <= 10; n++) {
        int64_t grams = n_tokens - n + 1, sum = 0;
        for (int64_t i = 0; i < grams; i++) r->gram[i] = r->gram[i] * r->power[i + n - 1] + r->hash[i + n - 1];
        if (n < 5) continue;
        int shift = grams > 0 ? begin_places(r, grams) : 0;
        for (int64_t i = 0; i < grams;) {
            fetch_place(r, i, grams, shift);
            uint32_t *place = find_place(r, i, shift);
            if (*place) {
                sum += r->characters[i + n] - r->characters[i];
                i += n;
            } else {
                *place = (uint32_t)++i;
            }
        }
        repeated[n - 5] = sum;
    }
    return 0;
}

void wv_repetition_free(wv_repetition *r) {
    free(r->slot);
    free_tokens(r);
    *r = (wv_repetition){0};
}
