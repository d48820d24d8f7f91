/* Repetition inside one text: lines, paragraphs and n-grams of tokens that come again. */
#ifndef WV_REPETITION_H
#define WV_REPETITION_H

#include <stdint.h>

#include "core/wordtokens.h"

/* Hashes that were seen. An entry counts when its stamp is the current one, so that nothing need be cleared. */
typedef struct {
    uint64_t hash, stamp;
} wv_seen;

typedef struct {
    wv_seen *slot;
    uint64_t mask, capacity, stamp;
    uint64_t *hash, *gram; /* of each token, and of the n-gram that begins with it */
    uint64_t *power;       /* what the hash of the tokens before it is multiplied with */
    int64_t *characters;   /* in all tokens before it */
    uint32_t *count;       /* of the n-gram that begins with it, at its first place */
    uint32_t *place;       /* by the hash of an n-gram: where it is first, plus one */
    int64_t tokens; /* room in these */
} wv_repetition;

/* Makes room for `items` that may differ, none of them seen. 0, or -1 without memory. */
int wv_repetition_begin(wv_repetition *r, int64_t items);
/* Whether the bytes were seen; now they are. */
int wv_repetition_again(wv_repetition *r, const unsigned char *bytes, int64_t length);

/* Hashes of tokens, before the two below. 0, or -1 without memory. */
int wv_repetition_tokens(wv_repetition *r, const unsigned char *text, const wv_tokens *tokens);
/* Characters of the most frequent n-gram of tokens, the first one of these, with spaces between them, times its count: for
 * n = 2 .. 4. */
int wv_repetition_top(wv_repetition *r, const wv_tokens *tokens, int64_t top[3]);
/* Characters, without spaces, of the n-grams that were there before, for n = 5 .. 10: as in datatrove, the search goes on
 * behind such an n-gram, and n-grams are equal when their tokens put together are. */
int wv_repetition_grams(wv_repetition *r, const wv_tokens *tokens, int64_t repeated[6]);

void wv_repetition_free(wv_repetition *r);

#endif
