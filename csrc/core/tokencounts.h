/* How often each token stands in a text, text after text, where a word may be several tokens.
 *
 * The tokens of each different word are asked for once. All later texts find them in a map by the word's bytes.
 */
#ifndef WV_TOKENCOUNTS_H
#define WV_TOKENCOUNTS_H

#include <stdint.h>

#include "core/wordmap.h"

/* Zero at first, then wv_tokencounts_init. */
typedef struct {
    wv_wordmap words;
    int64_t *begin;  /* (words + 1): where the tokens of each word begin */
    int32_t *tokens; /* of all words */
    int64_t words_room, tokens_room;
    int32_t *times; /* (numbers_room): how often each token stands in this text */
    int32_t *seen;  /* (numbers_room): its different tokens, in order of first sight */
    int64_t numbers_room;
    int64_t different, length; /* of `seen`; tokens of this text */
} wv_tokencounts;

/* 0, or -1 without memory. */
int wv_tokencounts_init(wv_tokencounts *counts);
void wv_tokencounts_free(wv_tokencounts *counts);

/* Counts the words of text[length], which are divided by blanks and line ends, from *at on, up to the first one that is not
 * known. *at is then where that begins. Returns how long it is, 0 at the end of the text. */
int64_t wv_tokencounts_feed(wv_tokencounts *counts, const unsigned char *text, int64_t length, int64_t *at);
/* Makes such a word known: it has these `size` tokens, numbers from 0 on. 0, or -1 without memory. */
int wv_tokencounts_define(wv_tokencounts *counts, const unsigned char *word, int64_t length, const int32_t *tokens,
                          int64_t size);
/* Counts a token besides those of words. 0, or -1 without memory. */
int wv_tokencounts_add(wv_tokencounts *counts, int32_t token);
/* Ends a text: its different tokens in order of first sight, and how often each stands there, 65,535 at most, in tokens and
 * found, (different) both. */
void wv_tokencounts_take(wv_tokencounts *counts, int32_t *tokens, uint16_t *found);

#endif
