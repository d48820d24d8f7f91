/* What tokenwindows.c and wordtokens.c share: tokens that are added and counted, and stretches of any kind. */
#ifndef WV_TOKENPARTS_H
#define WV_TOKENPARTS_H

#include "core/characters.h"
#include "core/recordtext.h"
#include "core/wordtokens.h"

int wv_tokens_grow(wv_tokens *out);

static inline void wv_tokens_clear(wv_tokens *out) {
    out->count = out->words = out->word_characters = out->with_letter = 0;
    out->longest = 0;
}

/* 0, or -1 without memory. */
static inline int wv_tokens_add(wv_tokens *out, wv_token token) {
    int is_word = !(token.all & WV_CHAR_SYMBOL);
    if (out->count == out->capacity && wv_tokens_grow(out)) return -1;
    out->words += is_word;
    out->word_characters += is_word ? token.characters : 0;
    out->with_letter += (token.any & WV_CHAR_LETTER) != 0;
    out->token[out->count++] = token;
    return 0;
}

/* Whether the bytes are a unit, such as kg, that is a token of its own behind a digit. */
int wv_is_unit(const unsigned char *at, int32_t length);

/* Adds the tokens of the stretch at text[at], whatever it is. Returns where it ends, behind white space where that stands
 * there; -1 without memory. */
int64_t wv_tokens_of_stretch(const unsigned char *text, const unsigned char *end, int64_t at, wv_tokens *out);

#endif
