/* Repetition inside one text; see repetition.h. Items are equal when 64 bits of their hashes are. */
#include "core/repetition.h"

#include <stdlib.h>
#include <string.h>

/* Odd, so that no power of it is 0. */
#define BASE UINT64_C(0x9e3779b97f4a7c15)

enum { AHEAD = 12 };

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
    if (++r->stamp == 0) {
        memset(r->slot, 0, r->capacity * sizeof *r->slot);
        r->stamp = 1;
    }
    return 0;
}

/* The hash's entry; a new one, with the value `value`, is `*fresh`. */
static inline wv_seen *find(wv_repetition *r, uint64_t hash, uint32_t value, int *fresh) {
    uint64_t i = hash & r->mask;
    while (r->slot[i].stamp == r->stamp && r->slot[i].hash != hash) i = (i + 1) & r->mask;
    *fresh = r->slot[i].stamp != r->stamp;
    if (*fresh) r->slot[i] = (wv_seen){hash, r->stamp, value};
    return &r->slot[i];
}

/* Long texts' tables lie outside the caches. */
static inline void fetch(const wv_repetition *r, uint64_t hash) { __builtin_prefetch(&r->slot[hash & r->mask], 1); }

int wv_repetition_again(wv_repetition *r, const unsigned char *bytes, int64_t length) {
    int fresh;
    find(r, hash_bytes(bytes, length), 0, &fresh);
    return !fresh;
}

static int make_tokens(wv_repetition *r, int64_t count) {
    if (count < r->tokens) return 0;
    int64_t tokens = 2 * count + 64;
    size_t size = (size_t)tokens;
    free(r->hash);
    free(r->gram);
    free(r->power);
    free(r->characters);
    free(r->count);
    r->hash = malloc(size * sizeof *r->hash);
    r->gram = malloc(size * sizeof *r->gram);
    r->power = malloc(size * sizeof *r->power);
    r->characters = malloc(size * sizeof *r->characters);
    r->count = malloc(size * sizeof *r->count);
    r->tokens = r->hash && r->gram && r->power && r->characters && r->count ? tokens : 0;
    return r->tokens ? 0 : -1;
}

/* A token's hash is sum (byte + 1) BASE^(bytes behind it): that of two put together follows from theirs. */
int wv_repetition_tokens(wv_repetition *r, const unsigned char *text, const wv_tokens *tokens) {
    if (make_tokens(r, tokens->count)) return -1;
    r->characters[0] = 0;
    for (int64_t i = 0; i < tokens->count; i++) {
        const wv_token *token = &tokens->token[i];
        const unsigned char *at = text + token->begin, *end = at + token->length;
        uint64_t hash = 0, power = 1;
        for (; at < end; at++) {
            hash = hash * BASE + *at + 1;
            power *= BASE;
        }
        r->hash[i] = hash;
        r->power[i] = power;
        r->characters[i + 1] = r->characters[i] + token->characters;
    }
    return 0;
}

int wv_repetition_top(wv_repetition *r, const wv_tokens *tokens, int64_t top[3]) {
    int64_t n_tokens = tokens->count;
    for (int64_t i = 0; i < n_tokens; i++) r->gram[i] = mixed(r->hash[i]);
    for (int n = 2; n <= 4; n++) {
        int64_t grams = n_tokens - n + 1, best = 0;
        top[n - 2] = 0;
        if (grams < 1) continue;
        if (wv_repetition_begin(r, grams)) return -1;
        for (int64_t i = 0; i < grams; i++) r->gram[i] = mixed(r->gram[i] * BASE + r->hash[i + n - 1]);
        for (int64_t i = 0; i < grams; i++) {
            int fresh;
            if (i + AHEAD < grams) fetch(r, r->gram[i + AHEAD]);
            uint32_t first = find(r, r->gram[i], (uint32_t)i, &fresh)->value;
            r->count[i] = 0;
            r->count[first]++;
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
        if (grams > 0 && wv_repetition_begin(r, grams)) return -1;
        for (int64_t i = 0; i < grams;) {
            int fresh;
            if (i + AHEAD < grams) fetch(r, mixed(r->gram[i + AHEAD]));
            find(r, mixed(r->gram[i]), 0, &fresh);
            if (!fresh) sum += r->characters[i + n] - r->characters[i];
            i += fresh ? 1 : n;
        }
        repeated[n - 5] = sum;
    }
    return 0;
}

void wv_repetition_free(wv_repetition *r) {
    free(r->slot);
    free(r->hash);
    free(r->gram);
    free(r->power);
    free(r->characters);
    free(r->count);
    *r = (wv_repetition){0};
}
