/* Words of running text by Unicode's rules (UAX #29, Unicode 16), and sentences by the same annex.
 *
 * A word is what stands between two word boundaries, but for white space and controls. Han, Hiragana and Thai are thus cut
 * into characters. A sentence boundary inside a word counts at the end of the word.
 */
#ifndef WV_SEGMENTS_H
#define WV_SEGMENTS_H

#include <stdint.h>

#define WV_SEGMENT_CHARACTERS 0x110000

/* Values of Word_Break, in the order of tests/reference/segments.py. */
enum {
    WV_WB_OTHER,
    WV_WB_CR,
    WV_WB_LF,
    WV_WB_NEWLINE,
    WV_WB_EXTEND,
    WV_WB_ZWJ,
    WV_WB_REGIONAL,
    WV_WB_FORMAT,
    WV_WB_KATAKANA,
    WV_WB_HEBREW,
    WV_WB_ALETTER,
    WV_WB_SINGLE_QUOTE,
    WV_WB_DOUBLE_QUOTE,
    WV_WB_MIDNUMLET,
    WV_WB_MIDLETTER,
    WV_WB_MIDNUM,
    WV_WB_NUMERIC,
    WV_WB_EXTENDNUMLET,
    WV_WB_SPACE
};

/* Values of Sentence_Break. */
enum {
    WV_SB_OTHER,
    WV_SB_CR,
    WV_SB_LF,
    WV_SB_EXTEND,
    WV_SB_SEP,
    WV_SB_FORMAT,
    WV_SB_SP,
    WV_SB_LOWER,
    WV_SB_UPPER,
    WV_SB_OLETTER,
    WV_SB_NUMERIC,
    WV_SB_ATERM,
    WV_SB_SCONTINUE,
    WV_SB_STERM,
    WV_SB_CLOSE
};

/* A character's kind: its Word_Break, its Sentence_Break shifted, and flags. */
enum {
    WV_SEGMENT_WORD_BREAK = 31,
    WV_SEGMENT_SENTENCE_SHIFT = 5,
    WV_SEGMENT_PICTOGRAPH = 512, /* Extended_Pictographic */
    WV_SEGMENT_WORD = 1024,      /* a letter or a number */
    WV_SEGMENT_INVISIBLE = 2048, /* categories Z*, Cc and Cf */
    WV_SEGMENT_DIGIT = 4096,     /* category Nd */
    WV_SEGMENT_EMOJI = 8192      /* makes an emoji of other characters: of a flag, or U+20E3 of a keycap */
};

/* Kinds by code point. Zero until wv_segments_prepare() has been called, once, by one thread. */
extern uint16_t wv_segment_kind[WV_SEGMENT_CHARACTERS];
void wv_segments_prepare(void);

enum { WV_DIGITS_KEEP, WV_DIGITS_ZERO, WV_DIGITS_DROP };

typedef struct {
    int blanks;           /* words end at white space only */
    int drop_punctuation; /* words without a letter, a number or an emoji go */
    int digits;           /* of a word each decimal digit becomes 0; or words of numbers go */
    int sentences;        /* each sentence becomes a line */
} wv_word_rules;

typedef struct {
    uint16_t *kind;
    int32_t *place;
    unsigned char *cut; /* which boundaries are before a character: 1 of words, 2 of sentences */
    int64_t capacity;
} wv_segment_scratch;

enum { WV_CUT_WORD = 1, WV_CUT_SENTENCE = 2 };

/* The words of text[length], which is less than 2 GB and has no part of a line in it but its last, as lines with a blank
 * between words. A byte that is no UTF-8 is a character of its own. The labels and weights of lines for a classifier,
 * __label__... and __weight__..., are one word each. `out` holds 2 * length + 1 bytes. Returns how many were
 * written, or -1 without memory. */
int64_t wv_write_words(const wv_word_rules *rules, const unsigned char *text, int64_t length,
                       wv_segment_scratch *scratch, unsigned char *out);
/* The boundaries before the characters of a text, in scratch->cut. Returns how many characters there are, or -1. */
int64_t wv_find_boundaries(const unsigned char *text, int64_t length, int sentences, wv_segment_scratch *scratch);
void wv_segment_scratch_free(wv_segment_scratch *scratch);

#endif
