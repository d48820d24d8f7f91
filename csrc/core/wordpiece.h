/* Text -> numbers of tokens, as the `tokenizers` package makes them with the models WordPiece and WordLevel.
 *
 * Each character is replaced by itself, as in simplify.h: a table says by what, and whether it belongs to a word. A word
 * is divided into the longest pieces of the vocabulary, from the left, or looked up whole. One that cannot be divided is
 * the unknown token. wv_cli/encoders/wordpiece.py makes the table. */
#ifndef WV_WORDPIECE_H
#define WV_WORDPIECE_H

#include "core/simplify.h"
#include "core/wordmap.h"

enum {
    WV_PIECE_LETTER, /* belongs to a word by its `bytes`; without bytes it is passed over */
    WV_PIECE_SPACE,  /* separates words */
    WV_PIECE_ALONE,  /* a word of its own */
    WV_PIECE_SYMBOL, /* words of these and of letters are different words */
    WV_PIECE_HARD    /* depends on its neighbors: the caller must put the text in order */
};

typedef struct {
    wv_wordmap first, rest;    /* tokens that begin a word, and that continue one; `count` is a token's number */
    int64_t longest_piece;     /* bytes of the longest of these */
    wv_characters *characters; /* rows with the kinds above */
    /* Tokens that are found before words are, token i being added[starts[i] .. starts[i + 1]]: the longest first. */
    const unsigned char *added;
    const int64_t *added_starts;
    const int32_t *added_numbers;
    int added_count;
    unsigned char begins[256]; /* whether such a token begins with this byte */
    int is_whole;              /* words are looked up whole */
    int32_t unknown;
    int32_t dropped;         /* a token's number that is left out after counting, or -1 */
    int64_t most_characters; /* a longer word is unknown */
} wv_wordpiece;

typedef struct {
    int32_t *ids;
    int64_t count, capacity;
    unsigned char *word; /* wv_wordpiece_word_bytes(m) */
} wv_pieces;

int64_t wv_wordpiece_word_bytes(const wv_wordpiece *m);

enum { WV_PIECES_NO_MEMORY = INT32_MIN };

/* Appends the tokens of text[:length], which is UTF-8, but no more than `most` (0: all); `is_ordered`: hard characters are
 * letters. Returns 0, 1 when tokens were left off, WV_PIECES_NO_MEMORY or what wv_simplify returns. */
int64_t wv_wordpiece_read(const wv_wordpiece *m, const unsigned char *text, int64_t length, int64_t most, int is_ordered,
                          wv_pieces *out);

#endif
