/* A text reduced to its words, as near-duplicates are compared: lower case, numbers as 0, without punctuation and accents.
 *
 * Each character is replaced by itself: a table, of which the caller makes a page when its first character comes, says by
 * what. Only two things depend on their neighbors: a number (digits, one mark, digits) and the capital sigma, whose lower
 * case at the end of a word is another letter. */
#ifndef WV_SIMPLIFY_H
#define WV_SIMPLIFY_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/recordtext.h"

enum {
    WV_CHARACTER_LETTER, /* becomes its `bytes`, or nothing */
    WV_CHARACTER_SPACE,  /* separates words */
    WV_CHARACTER_DIGIT,
    WV_CHARACTER_SIGMA,
    WV_CHARACTER_HARD, /* the caller must simplify a text with such a character */
    WV_CHARACTER_WORD, /* becomes its `bytes`, which are a word of their own */
    WV_CHARACTER_KIND = 7,
    WV_CHARACTER_MARK = 8,     /* may stand once within a number */
    WV_CHARACTER_CASED = 16,   /* has upper or lower case */
    WV_CHARACTER_IGNORED = 32, /* is passed over where sigma looks for a cased neighbor */
    WV_CHARACTER_BEGINS_MARKED = 64, /* its first code point has a combining class, in wv_fold */
    WV_CHARACTER_ENDS_MARKED = 128,  /* its last one has */
    WV_CHARACTER_BYTES = 14,
    WV_CHARACTER_PAGE = 256, /* characters */
    WV_CHARACTER_PAGES = 0x110000 / WV_CHARACTER_PAGE,
    WV_SIMPLIFY_GROWTH = 3 /* a character becomes at most this many times as long */
};

typedef struct {
    unsigned char flags, length, bytes[WV_CHARACTER_BYTES];
} wv_character;

typedef struct {
    _Atomic(wv_character *) page[WV_CHARACTER_PAGES];
} wv_characters;

wv_characters *wv_characters_new(void); /* without a page; NULL without memory */
void wv_characters_free(wv_characters *characters);
/* Copies a page; other threads may be reading. 0; -1 without memory, -2 for a character that is too long. */
int wv_characters_add(wv_characters *characters, int page, const wv_character *rows);

enum { WV_SIMPLIFY_HARD = -1, WV_SIMPLIFY_PAGE = -2 /* - 2 - p: page p is missing */ };

/* The character at `at`, which has `length` bytes; NULL: `problem` is WV_SIMPLIFY_HARD for bytes that are no UTF-8, or
 * WV_SIMPLIFY_PAGE - p. */
static inline const wv_character *wv_read_character(const wv_characters *characters, const unsigned char *at,
                                                    const unsigned char *end, int *length, int64_t *problem) {
    int32_t c = at[0];
    *length = 1;
    if (c >= 0x80) {
        *length = wv_utf8_length(at, end);
        if (*length == 2)
            c = (c & 0x1f) << 6 | (at[1] & 0x3f);
        else if (*length == 3)
            c = (c & 0x0f) << 12 | (at[1] & 0x3f) << 6 | (at[2] & 0x3f);
        else if (*length == 4)
            c = (c & 0x07) << 18 | (at[1] & 0x3f) << 12 | (at[2] & 0x3f) << 6 | (at[3] & 0x3f);
        else {
            *problem = WV_SIMPLIFY_HARD;
            return NULL;
        }
    }
    const wv_character *page = atomic_load_explicit(&characters->page[c / WV_CHARACTER_PAGE], memory_order_acquire);
    if (page) return page + c % WV_CHARACTER_PAGE;
    *problem = WV_SIMPLIFY_PAGE - c / WV_CHARACTER_PAGE;
    return NULL;
}

/* The words of text[:length], which is UTF-8, with a space between two of them. `out` has room for
 * WV_SIMPLIFY_GROWTH * length + WV_CHARACTER_BYTES bytes. Returns how many were written, WV_SIMPLIFY_HARD for a text with a
 * hard character or one that is no UTF-8, or WV_SIMPLIFY_PAGE - p. */
int64_t wv_simplify(const wv_characters *characters, const unsigned char *text, int64_t length, unsigned char *out);

/* Lines of text[length] with each character replaced, in the same room; of ASCII only capitals may be, by small letters. A
 * byte that is no UTF-8 stays. Returns how many bytes were written for the first *read bytes, which are whole lines, or all
 * there are. Where they are fewer, *problem is WV_SIMPLIFY_HARD for a line with a hard character, or with two marked ones
 * beside each other, or WV_SIMPLIFY_PAGE - p. */
int64_t wv_fold(const wv_characters *characters, const unsigned char *text, int64_t length, unsigned char *out,
                int64_t *read, int64_t *problem);

#endif
