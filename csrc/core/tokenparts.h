/* What tokenwindows.c, simplestretches.c and wordtokens.c share: tokens that are added and counted, and stretches of any kind. */
#ifndef WV_TOKENPARTS_H
#define WV_TOKENPARTS_H

#include "core/characters.h"
#include "core/recordtext.h"
#include "core/wordtokens.h"

int wv_tokens_grow(wv_tokens *out);

/* 0, or -1 without memory. */
static inline int wv_tokens_add(wv_tokens *out, wv_token token) {
    if (out->count == out->capacity && wv_tokens_grow(out)) return -1;
    out->token[out->count++] = token;
    return 0;
}

/* Bits from .. to. */
static inline uint64_t wv_bits_between(int from, int to) { return (UINT64_C(1) << to) - (UINT64_C(1) << from); }

/* A stretch of which bit i of `others` says that byte i is neither letter nor digit of ASCII, bit i of `digits` that it is a
 * digit. `rules`: WV_WORDS_*. */
typedef struct {
    const unsigned char *at;
    int length;
    unsigned rules;
    uint64_t others, digits;
} wv_simple_stretch;

/* Adds the tokens of a stretch that begins at `begin` in the text, if the rules alone say how it is cut. Returns how many they
 * are; 0: more must be known; -1 without memory. */
int wv_tokens_of_simple(const wv_simple_stretch *s, int64_t begin, wv_tokens *out);

/* Whether the bytes are a unit, such as kg, that is a token of its own behind a digit. */
int wv_is_unit(const unsigned char *at, int32_t length);

/* Adds the tokens of the stretch at text[at], whatever it is. Returns where it ends, behind white space where that stands
 * there; -1 without memory. */
int64_t wv_tokens_of_stretch(const unsigned char *text, const unsigned char *end, int64_t at, wv_tokens *out);

#endif
