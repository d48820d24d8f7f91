/* Words that spaCy's English tokenizer cuts otherwise than by its rules: contractions, abbreviations, emoticons. Some it has
 * in common with its tokenizers of other languages. */
#ifndef WV_WORDEXCEPTIONS_H
#define WV_WORDEXCEPTIONS_H

#include <stdint.h>

enum { WV_EXCEPTION_LONGEST = 31, WV_EXCEPTION_KEYS = 1 << 16 };

/* Bit i of `cuts` and `plain`: a token begins at byte i, as the exception has it and by the rules alone. */
typedef struct {
    uint32_t cuts, plain;
    int32_t begin, length;
    int is_english; /* and of no other language */
} wv_exception;

/* Two bits for each key: an exception has it, and one has it without its last byte. 2 of 100 words have the key of one. */
enum { WV_EXCEPTION = 1, WV_EXCEPTION_BUT_LAST = 2 };
extern uint64_t wv_exception_keys[WV_EXCEPTION_KEYS / 32];

/* Bytes of the longest exception with this first byte that the rules cut. */
extern uint8_t wv_exception_longest[256];

static inline uint32_t wv_exception_key(const unsigned char *at, int64_t length) {
    uint64_t size = (uint64_t)length;
    uint32_t some = at[0] | (uint32_t)at[size / 2] << 8 | (uint32_t)at[size - 1] << 16 | (uint32_t)size << 24;
    return some * 0x9e3779b1u >> 16;
}

/* The bits of the key of these bytes, one at least. */
static inline unsigned wv_exception_bits(const unsigned char *at, int64_t length) {
    uint32_t key = wv_exception_key(at, length);
    return wv_exception_keys[key / 32] >> key % 32 * 2 & (WV_EXCEPTION | WV_EXCEPTION_BUT_LAST);
}

/* wv_exception_of() of bytes whose key has a bit. */
const wv_exception *wv_exception_find(const unsigned char *at, int64_t length);

/* The exception that these bytes, one at least, are, in English; NULL: for nearly all words. */
static inline const wv_exception *wv_exception_of(const unsigned char *at, int64_t length) {
    if (!(wv_exception_bits(at, length) & WV_EXCEPTION) || length > WV_EXCEPTION_LONGEST) return 0;
    return wv_exception_find(at, length);
}

/* Once, by one thread, behind wv_characters_prepare(). 0, or -1 without memory. */
int wv_exceptions_prepare(void);

/* For tests: the number of exceptions, and number i with its bytes. */
int32_t wv_exceptions_count(void);
const wv_exception *wv_exception_at(int32_t i, const unsigned char **text);

#endif
