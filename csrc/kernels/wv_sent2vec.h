/* sent2vec: the structs of kernels/sent2vec.c. */
#ifndef WV_SENT2VEC_H
#define WV_SENT2VEC_H

#include <stdint.h>

#include "base/wv_shared.h"

/* What the user chooses. Every field is the attribute of its name of Sent2vecConfig (wv_cli/models/sentence_config.py). */
typedef struct {
    int32_t dim;
    int32_t word_ngrams;    /* longest word n-gram */
    int32_t dropout_ngrams; /* n-grams of two words and more that are left out of a sentence each time */
    int32_t negative;
    int32_t max_sentence; /* words; longer lines are cut */
    float lr;             /* falls linearly with the position in the run, to 0 */
    int32_t epochs;
    uint64_t seed;
} wv_sent2vec_options;

/* What a corpus needs: the words of its longest sentence, and how many rows have been given out. */
typedef struct {
    int32_t longest, next_row;
} wv_sent2vec_survey;

/* A training run; what does not change while it runs, except the matrices (Hogwild). */
typedef struct {
    wv_sent2vec_options options;
    int32_t vocab_size, stride;
    int32_t longest;      /* from the survey */
    const int32_t *hash;  /* (vocab_size): fastText's hash of every word; NULL: no n-grams */
    uint32_t buckets;
    int32_t *bucket_row;  /* (buckets): row of every bucket, -1 when it does not occur */
    float *input;         /* (rows, dim): words, then n-grams */
    float *output;        /* (vocab_size, dim) */
    int64_t epoch_ids;    /* ids in the corpus: with `epochs` the length of the schedule */
    const uint32_t *keep; /* (vocab_size): a word is predicted when its 32-bit draw is <= keep; NULL: all are */
    const wv_alias *sampler; /* (vocab_size): noise distribution */
} wv_sent2vec_run;

#endif
