/* A back-off model of n-grams packed by bits, to be asked where it lies in a mapped file.
 *
 * The n-grams of each length form a level. They stand in order of their ids, so that the children of an n-gram, those
 * that continue it by one word, stand side by side (core/ngrams.h). A level has columns of numbers of one width each:
 *
 *   word      the last word; no column in the first level, where it is the place
 *   prob      log10 p of that word after the others: a place in a table of values, or without a table the bits of
 *             -log10 p, whose sign is known
 *   backoff   likewise what shorter n-grams are multiplied with, of all levels but the last; without a table its bits
 *   offsets   where the children begin, of all levels but the last: WV_PACKED_BLOCK n-grams share a base, and differ
 *             from it by a number of as few bits as the last needs. index (blocks + 1) has base and the sum of the
 *             widths before; a block has one offset more than n-grams, so that children also end.
 *
 * There are no links: a state is the node of every length that ends in the last word, so that a word costs one search
 * for each length. The searches of WV_PACKED_AT_ONCE words are made level by level, in about the order of the nodes in
 * the file: they do not wait for each other, and few pages are read twice.
 *
 * What a file says is believed nowhere: WV_PACKED_DAMAGED is returned for children outside their level, numbers
 * outside their table, and probabilities above 1 or none.
 */
#ifndef WV_PACKEDLM_H
#define WV_PACKEDLM_H

#include "core/ngrams.h"

#define WV_PACKED_BLOCK 32
#define WV_PACKED_AT_ONCE (1 << 18)
#define WV_PACKED_PADDING 8 /* bytes that may be read behind the last column */
enum { WV_PACKED_DAMAGED = -1 };

typedef struct {
    const uint8_t *bits;
    const float *table; /* (values), or NULL */
    int64_t values;
    int32_t width; /* up to 32 */
} wv_packed_column;

typedef struct {
    int64_t size;
    wv_packed_column word, prob, backoff;
    const uint32_t *index; /* (blocks + 1) pairs */
    const uint8_t *offsets;
    uint32_t widths; /* the sum of those of all blocks */
} wv_packed_level;

/* closed: no n-gram is listed without the one that it ends in. */
typedef struct {
    int32_t order;
    int closed;
    wv_packed_level levels[WV_LARGEST_ORDER];
} wv_packed_model;

/* Writes n numbers of `width` bits; bits is zero and has WV_PACKED_PADDING bytes more than they take. */
void wv_packed_write(const uint32_t *numbers, int64_t n, int32_t width, uint8_t *bits);
void wv_packed_read(const uint8_t *bits, int64_t n, int32_t width, uint32_t *numbers);

/* A set of numbers: a bit for each of them, in pages of WV_PACKED_PAGE numbers that are there once one of them is. The
 * numbers of a model are logarithms, whose float32 share few exponents: some 15 MB of pages hold all of a large model. */
#define WV_PACKED_PAGE 65536
typedef struct {
    uint64_t *pages[65536]; /* NULL: none of these numbers is in the set */
    int64_t size;
} wv_packed_set;

/* 0, or -1 when memory runs out. A set begins as zeros. */
int wv_packed_set_add(wv_packed_set *set, const uint32_t *numbers, int64_t n);
/* Writes all numbers (size), ascending. */
void wv_packed_set_list(const wv_packed_set *set, uint32_t *numbers);
void wv_packed_set_free(wv_packed_set *set);

/* Writes where the children of `size` n-grams begin: first (size + 1). index says how wide each block is. */
void wv_packed_write_offsets(const int32_t *first, int64_t size, const uint32_t *index, uint8_t *bits);
/* first (size + 1) of a level; `below` is the size of the next one. */
int wv_packed_children(const wv_packed_level *level, int64_t below, int32_t *first);

/* A state (order - 1): the node of each length that ends in the last words, WV_NO_NODE where none is listed. */
void wv_packed_begin(const wv_packed_model *model, int ends, int32_t *state);

/* Bytes of scratch for scoring n ids. */
int64_t wv_packed_scratch(const wv_packed_model *model, int64_t n);

/* Scores ids (each a word of the model, or -1 for the end of a sentence, which is scored as </s>) that go on from
 * `state`, which moves on. `ends` 0: sentences neither begin in <s> nor end in </s>; the score of their ends is 0. The
 * scratch is aligned as malloc does. */
int wv_packed_score(const wv_packed_model *model, const int32_t *ids, int64_t n, int ends, int32_t *state,
                    float *scores, uint8_t *lengths, void *scratch);

/* log10 p(word | state) of all words. */
int wv_packed_all(const wv_packed_model *model, const int32_t *state, float *scores);

#endif
