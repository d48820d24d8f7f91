/* Pieces of texts by a unigram model of sentencepiece: normalization by its table, then the most probable pieces.
 *
 * The pieces form a trie in one array: the child of a node by a byte is the unit `next ^ byte`, if that names the node
 * as its parent. Scores are added as sentencepiece adds them, so that ties fall as they do there. */
#ifndef WV_PIECES_H
#define WV_PIECES_H

#include <stdint.h>

enum { WV_PIECES_NO_MEMORY = -1, WV_PIECES_DAMAGED = -2 };

typedef struct {
    int32_t parent; /* -1: the unit is free */
    int32_t next;
    int32_t piece; /* -1: no piece ends here */
    float score;
} wv_piece_unit;

typedef struct {
    wv_piece_unit *units;
    int64_t size;
    int32_t first_free, last_free; /* while it is built */
    const unsigned char *rules; /* uint32 (rules_size): what is replaced, as a trie of Darts; NULL for none */
    int64_t rules_size;
    const unsigned char *replacements; /* (replacements_size), each with a NUL behind it */
    int64_t replacements_size;
    unsigned char plain[128]; /* whether a byte stays as it is before another byte of ASCII */
    int adds_prefix, removes_blanks, escapes;
    int32_t unknown;
    float unknown_score;
} wv_pieces;

typedef struct {
    const unsigned char *bytes;
    int64_t length;
    int32_t id;
    float score;
} wv_piece;

/* What comes of texts: ids with -1 behind each text, and the spellings of those that are unknown. */
typedef struct {
    int32_t *ids;
    int64_t count, capacity;
    unsigned char *spelled;
    int64_t spelled_length, spelled_capacity;
    int64_t *ends; /* (unknown) where each spelling ends */
    int64_t unknown, ends_capacity;
    unsigned char *text; /* the normalized text */
    int64_t text_length, text_capacity;
    void *path; /* the best way to each byte of the text */
    int64_t path_capacity;
} wv_cut;

/* Makes the trie of n pieces, which it puts in order. 0, WV_PIECES_NO_MEMORY, or
 * WV_PIECES_DAMAGED for an empty piece and one that comes twice. */
int wv_pieces_build(wv_pieces *pieces, wv_piece *piece, int64_t n);
void wv_pieces_prepare(wv_pieces *pieces); /* looks at the rules */
void wv_pieces_free(wv_pieces *pieces);

/* Adds the pieces of a text. 0, WV_PIECES_NO_MEMORY, or WV_PIECES_DAMAGED for rules that lead nowhere. */
int wv_pieces_cut(const wv_pieces *pieces, const unsigned char *text, int64_t length, wv_cut *cut);
void wv_cut_free(wv_cut *cut);

#endif
