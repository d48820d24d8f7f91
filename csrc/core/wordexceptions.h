/* Words that spaCy's English tokenizer cuts otherwise than by its rules: contractions, abbreviations, emoticons. */
#ifndef WV_WORDEXCEPTIONS_H
#define WV_WORDEXCEPTIONS_H

#include <stdint.h>

enum { WV_EXCEPTION_LONGEST = 31, WV_EXCEPTION_KEYS = 1024 };

/* Bit i of `cuts` and `plain`: a token begins at byte i, as the exception has it and by the rules alone. */
typedef struct {
    uint32_t cuts, plain;
    int32_t begin, length;
} wv_exception;

/* Lengths of the exceptions with this first and last byte, as bits. */
extern uint32_t wv_exception_lengths[WV_EXCEPTION_KEYS];

/* Bytes of the longest exception with this first byte that the rules cut. */
extern uint8_t wv_exception_longest[256];

static inline uint32_t wv_exception_key(const unsigned char *at, int64_t length) {
    return (at[0] * 37u + at[length - 1]) % WV_EXCEPTION_KEYS;
}

/* The same for bytes whose key has their length. */
const wv_exception *wv_exception_find(const unsigned char *at, int64_t length);

/* The exception that these bytes, one at least, are, or NULL: for nearly all words. */
static inline const wv_exception *wv_exception_of(const unsigned char *at, int64_t length) {
    if (length > WV_EXCEPTION_LONGEST || !(wv_exception_lengths[wv_exception_key(at, length)] >> length & 1)) return 0;
    return wv_exception_find(at, length);
}

/* Once, by one thread, behind wv_characters_prepare(). 0, or -1 without memory. */
int wv_exceptions_prepare(void);

/* For tests: the number of exceptions, and number i with its bytes. */
int32_t wv_exceptions_count(void);
const wv_exception *wv_exception_at(int32_t i, const unsigned char **text);

#endif
