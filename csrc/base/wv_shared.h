/* Structs and constants that core/ and several kernels share: how matrices lie in memory, ids of a corpus, alias tables,
 * records of GloVe, the names of the output layers. */
#ifndef WV_SHARED_H
#define WV_SHARED_H

#include <stdint.h>

#define WV_CACHE_LINE 64 /* bytes; scratch and the first row of a matrix are aligned to it */
#define WV_ROW_FLOATS 16 /* a cache line of floats. Rows are padded to it: aligned loads, and no line of two threads */

/* In an id stream (see wv_cli/text/corpus.py) a line ends with this id. Ids below it are labels: label =
 * WV_FIRST_LABEL - id. */
#define WV_END_OF_LINE (-1)
#define WV_FIRST_LABEL (-2)

/* One bucket of an alias table (core/sampler.h): stay when the coin is below `threshold`, else take `other`. */
typedef struct {
    uint32_t threshold;
    int32_t other;
} wv_alias;

/* A co-occurrence count in a tile: row and column are relative to the tile's first word and first context. */
typedef struct {
    uint16_t row, column;
    float count;
} wv_glove_record;

/* Output layers, by the values of --loss; outputs.h has their formulas. A kernel has a table with a row for each that it
 * knows: word2vec.c all, supervised.c and prediction.c all but NCE and HS_NS. */
typedef enum { WV_LOSS_NS, WV_LOSS_HS, WV_LOSS_SOFTMAX, WV_LOSS_NCE, WV_LOSS_OVA, WV_LOSS_HS_NS } wv_loss;

/* A stretch of a corpus in one epoch: what a kernel trains on in one call. */
typedef struct {
    const int32_t *ids; /* the corpus */
    int64_t start, end; /* places in it */
    int32_t epoch;
    int64_t document; /* doc2vec: the row of the first document */
    float lr;         /* language models: the learning rate, which the others take from the place */
} wv_block;

/* What one block of a training did: sums, so that blocks and threads add up. */
typedef struct {
    double loss;      /* summed negative log likelihood, natural log; NaN or infinite once a row has diverged */
    int64_t examples; /* terms in `loss`: (input, predicted word) pairs; CBOW, texts: predicted words; labels: lines;
                       * language models: predictions, of words and sentence ends */
    int64_t tokens;   /* ids of words read, before subsampling; language models: words that were predicted */
    float lr;         /* at the end of the block */
} wv_block_result;

#endif
