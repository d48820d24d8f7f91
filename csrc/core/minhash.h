/* MinHash: numbers that two texts share with the probability of the Jaccard similarity of their shingles.
 *
 * A shingle is so many words in a row, joined by spaces; h is its xxHash64. Number k of a text is the least of
 *
 *     (a[k] h + b[k] mod 2^64) mod (2^61 - 1)
 *
 * over its shingles, with the overflow as it falls (datatrove's definition). The numbers are cut into bands of so many rows;
 * the xxHash64 of a band is its key. */
#ifndef WV_MINHASH_H
#define WV_MINHASH_H

#include <stdint.h>

#include "core/simplify.h"

enum { WV_MINHASH_MOST = 112 }; /* a multiple of eight */

typedef struct {
    int shingle, bands, rows;
    uint64_t a[WV_MINHASH_MOST], b[WV_MINHASH_MOST]; /* bands * rows of them */
    void (*least)(const uint64_t *a, const uint64_t *b, int32_t count, const uint64_t *hash, int64_t n, uint64_t *least);
} wv_minhash;

/* Memory of one thread; all zero at first. */
typedef struct {
    unsigned char *words;
    int64_t words_capacity;
    int64_t *start; /* of each word, in `words` */
    uint64_t *hash; /* of each shingle */
    int64_t capacity;
} wv_minhash_scratch;

void wv_minhash_free(wv_minhash_scratch *scratch);

uint64_t wv_xxhash64(const unsigned char *bytes, int64_t length, uint64_t seed);

enum { WV_MINHASH_NO_MEMORY = 1 };

/* The keys (bands) of a text, none of them 0; all are 0 for a text of fewer words than a shingle has. Where `numbers` is not
 * NULL, it becomes the numbers themselves (bands * rows), 2^64 - 1 without a shingle. Without `characters` the text is words
 * already, with a space between two. 0, WV_MINHASH_NO_MEMORY, or what wv_simplify says instead of a length. */
int64_t wv_minhash_text(const wv_minhash *m, const wv_characters *characters, const unsigned char *text, int64_t length,
                        wv_minhash_scratch *scratch, uint64_t *keys, uint64_t *numbers);

#endif
