/* Text to word ids in one pass: splits bytes into words, looks them up, counts them and writes the id stream.
 *
 * core/separators.h says what separates words; \n ends a line. Neither words nor lines have a longest length. Chunks may
 * be cut anywhere.
 *
 * The id stream holds word ids and WV_END_OF_LINE (base/wv_shared.h) after each line that has a word in it; lines
 * without one leave nothing unless `every_line`. Unknown words (`known_only`) leave nothing either.
 *
 * With a `spill` (core/wordspill.h), and without `keep_ids`, the map takes no more memory than it allows. Words that it
 * has no room for go there.
 */
#ifndef WV_TOKENIZER_H
#define WV_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#include "core/idbuffer.h"
#include "core/wordmap.h"
#include "core/wordspill.h"

typedef struct {
    wv_wordmap map;
    int known_only; /* 1: words outside the map are dropped, or spilled; 0: they are added */
    int keep_ids;   /* 1: write the id stream; 0: count only */
    int every_line; /* 1: lines without a word end in the stream, too */
    wv_spill *spill; /* the caller's, or NULL */

    wv_idbuffer stream; /* so far; the caller may take or empty it */
    int32_t last_id;   /* last id of the stream; WV_END_OF_LINE at its start */
    int64_t tokens;    /* words read, dropped ones included */
    int64_t lines;     /* \n read, plus an unfinished last line */
    int line_is_open;  /* bytes were read since the last \n */

    unsigned char *carry; /* the unfinished word at the end of the last chunk */
    size_t carry_length, carry_capacity;
} wv_encoder;

/* 0 or WV_NO_MEMORY. */
int wv_encoder_init(wv_encoder *encoder, int known_only, int keep_ids, int every_line, int64_t expected_words);
void wv_encoder_free(wv_encoder *encoder);

/* 0, WV_NO_MEMORY or WV_TOO_MANY_WORDS. */
int wv_encoder_feed(wv_encoder *encoder, const unsigned char *bytes, size_t length);
/* Ends the last word and the last line. */
int wv_encoder_finish(wv_encoder *encoder);

/* Bit i tells whether byte i of a 64-byte block is a separator; the second mask is \n alone. */
typedef struct {
    uint64_t separators, newlines;
} wv_masks;
wv_masks wv_block_masks(const unsigned char *block);
/* The same in plain integer arithmetic, for machines without a faster one. */
wv_masks wv_block_masks_portable(const unsigned char *block);

#endif
