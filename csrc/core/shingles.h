/* The set of a text's shingles, and keys that texts of similar sets share.
 *
 * A shingle is so many words in a row; a text of fewer words has one, which is the text as it is. Its hash is a polynomial in
 * the hashes of its words, which rolls along the text, so that each word is hashed once.
 *
 * The sketch is Fast Similarity Sketching (Dahlgaard, Knudsen, Thorup, FOCS 2017, https://arxiv.org/abs/1704.04370): in round
 * r each shingle falls into one of t bins, and a bin keeps the least value of the first round that reaches it. From round t
 * on round r fills bin r - t. Two texts have equal numbers in a bin with the probability of their Jaccard similarity, as
 * with MinHash, and a long text needs one round instead of t permutations. */
#ifndef WV_SHINGLES_H
#define WV_SHINGLES_H

#include <stdint.h>

#include "core/simplify.h"

enum {
    WV_SHINGLES_MOST_BINS = 512,
    WV_SHINGLES_NO_MEMORY = 1
};

/* Of a text: its distinct shingles, by 32 bits of their hashes, none of them 0. All zero at first. */
typedef struct {
    unsigned char *words;
    int64_t words_capacity;
    uint64_t *word;       /* the hash of each word */
    uint64_t *hash;       /* of each shingle */
    uint32_t *set;        /* `count` distinct ones, in the order of the text */
    uint32_t *table;      /* of `slots`, which a power of two is, for finding equal ones */
    int64_t capacity, slots, shingles, count;
} wv_shingles;

void wv_shingles_free(wv_shingles *s);

/* Fills `s` with the shingles of `width` words of a text; those of s->hash are as often as the text has them. Without
 * `characters` the words are `words`, with a space between two. 0, WV_SHINGLES_NO_MEMORY, or what wv_simplify says instead
 * of a length. */
int64_t wv_shingles_of(wv_shingles *s, int width, const wv_characters *characters, const unsigned char *text, int64_t length,
                       const unsigned char *words, int64_t words_length);

/* The keys of `bands` bands of `rows` bins. */
void wv_shingles_keys(const wv_shingles *s, int bands, int rows, uint64_t *keys);

#endif
