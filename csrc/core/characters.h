/* Character classes: what a heuristic or a word boundary asks of a character. Unicode 14. */
#ifndef WV_CHARACTERS_H
#define WV_CHARACTERS_H

#include <stdint.h>

#include "core/recordtext.h"

enum {
    WV_CHAR_SPACE = 1,         /* Python's str.isspace() */
    WV_CHAR_LETTER = 2,        /* str.isalpha(): categories L* */
    WV_CHAR_SYMBOL = 4,        /* datatrove's PUNCTUATION_SET */
    WV_CHAR_TERMINAL = 8,      /* datatrove's TERMINAL_PUNCTUATION: ends a sentence in some script */
    WV_CHAR_BREAK = 16,        /* ends a line for str.splitlines() */
    WV_CHAR_UPPER = 32,        /* upper case of Latin-1, Greek and Russian */
    WV_CHAR_PUNCTUATION = 64,  /* categories P* */
    WV_CHAR_CLOSING = 128,     /* split off the end of a word; the rest as spaCy's lists have it */
    WV_CHAR_OPENING = 256,     /* split off the start of a word */
    WV_CHAR_ICON = 512,        /* category So: split off anywhere */
    WV_CHAR_QUOTE = 1024,
    WV_CHAR_CURRENCY = 2048,
    WV_CHAR_DIVIDING = 4096    /* a word without one of these is never divided */
};

#define WV_CHARACTERS 0x110000

/* Classes by code point. Zero until wv_characters_prepare() has been called, once, by one thread. */
extern uint16_t wv_character_class[WV_CHARACTERS];
void wv_characters_prepare(void);

/* The code point of the valid UTF-8 at *at, which moves to the next one. */
static inline uint32_t wv_next_character(const unsigned char **at) {
    const unsigned char *p = *at;
    uint32_t c = p[0];
    if (c < 0x80) {
        *at = p + 1;
    } else if (c < 0xe0) {
        c = (c & 0x1f) << 6 | (p[1] & 0x3fu);
        *at = p + 2;
    } else if (c < 0xf0) {
        c = (c & 0xf) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
        *at = p + 3;
    } else {
        c = (c & 7) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
        *at = p + 4;
    }
    return c;
}

/* The class of the last character before `end`; there is one. `end` moves to its start. */
static inline unsigned wv_previous_class(const unsigned char **end) {
    const unsigned char *p = *end - 1;
    while ((*p & 0xc0) == 0x80) p--;
    *end = p;
    return wv_character_class[wv_next_character(&p)];
}

/* Bytes at .. end of which (byte & mask) is `wanted`: sums of bytes are eight times as fast as those of longer numbers. */
static inline int64_t wv_count_masked(const unsigned char *at, const unsigned char *end, unsigned mask, unsigned wanted) {
    enum { LANES = 64, MOST = 255 };
    int64_t count = 0;
    while (end - at >= LANES) {
        unsigned char lane[LANES] = {0};
        for (int n = 0; n < MOST && end - at >= LANES; n++, at += LANES) {
            for (int i = 0; i < LANES; i++) lane[i] = (unsigned char)(lane[i] + ((at[i] & mask) == wanted));
        }
        for (int i = 0; i < LANES; i++) count += lane[i];
    }
    for (; at < end; at++) count += (*at & mask) == wanted;
    return count;
}

static inline int64_t wv_count_byte(const unsigned char *at, const unsigned char *end, unsigned char byte) {
    return wv_count_masked(at, end, 0xff, byte);
}

/* Characters of valid UTF-8. */
static inline int64_t wv_count_characters(const unsigned char *at, const unsigned char *end) {
    return end - at - wv_count_masked(at, end, 0xc0, 0x80);
}

/* start .. end without the white space around it. */
static inline void wv_strip(const unsigned char **start, const unsigned char **end) {
    while (*start < *end) {
        const unsigned char *next = *start;
        if (!(wv_character_class[wv_next_character(&next)] & WV_CHAR_SPACE)) break;
        *start = next;
    }
    while (*start < *end) {
        const unsigned char *last = *end;
        if (!(wv_previous_class(&last) & WV_CHAR_SPACE)) break;
        *end = last;
    }
}

/* Where the line at `at` ends, by str.splitlines(); *next: where the next one begins. */
static inline const unsigned char *wv_line_end(const unsigned char *at, const unsigned char *end,
                                               const unsigned char **next) {
    for (; at < end; at++) {
        while (end - at >= 8) { /* controls and what is not ASCII stop this, and what looks like them behind these */
            uint64_t eight = wv_eight(at);
            uint64_t special = ((eight - WV_BYTES(0x20)) | eight) & WV_BYTES(0x80);
            if (special) {
                at += __builtin_ctzll(special) / 8;
                break;
            }
            at += 8;
        }
        if (at == end) break;
        unsigned char c = *at;
        if (c < 0x80) {
            if (!(wv_character_class[c] & WV_CHAR_BREAK)) continue;
            *next = at + 1 + (c == '\r' && at + 1 < end && at[1] == '\n');
            return at;
        }
        if (c == 0xc2 && at[1] == 0x85) {
            *next = at + 2;
            return at;
        }
        if (c == 0xe2 && at[1] == 0x80 && (at[2] & 0xfe) == 0xa8) {
            *next = at + 3;
            return at;
        }
    }
    return *next = end;
}

#endif
