/* doc2vec: the structs of kernels/doc2vec.c. */
#ifndef WV_DOC2VEC_H
#define WV_DOC2VEC_H

#include <stdint.h>

#include "base/wv_shared.h"

typedef enum { WV_DOC2VEC_DBOW, WV_DOC2VEC_DM_MEAN, WV_DOC2VEC_DM_CONCAT } wv_doc2vec_algorithm;
typedef enum { WV_DOC2VEC_BEFORE, WV_DOC2VEC_AROUND } wv_doc2vec_context;
typedef enum { WV_MEAN_GRADIENT_DOCUMENT, WV_MEAN_GRADIENT_WORD2VEC, WV_MEAN_GRADIENT_CORRECTED } wv_mean_gradient;

/* What the user chooses. Every field is the attribute of its name of Doc2vecConfig (wv_cli/models/sentence_config.py). */
typedef struct {
    wv_doc2vec_algorithm algorithm;
    wv_doc2vec_context context; /* of DM: the words before the one that is predicted, or those on both sides */
    wv_mean_gradient mean_gradient; /* of DM_MEAN: what is divided by the number of vectors in the mean */
    wv_loss loss;               /* NS or HS */
    int32_t dim;
    int32_t window; /* of DM: words of context on a side */
    int32_t negative;
    float lr, least_lr; /* the rate falls linearly with the position in the run, never below least_lr */
    int32_t epochs;
    uint64_t seed;
} wv_doc2vec_options;

/* A run; what does not change while it lasts, except the matrices (Hogwild). A document is a line of the corpus, and has
 * the row of its number, or the rows of its tags. A table that is not read is NULL. */
typedef struct {
    wv_doc2vec_options options;
    int frozen; /* 1: only the documents learn, each by itself, whatever stands around it */
    int32_t vocab_size, stride, output_stride;
    int64_t longest;      /* words of the longest document */
    float *documents;     /* (documents, dim), or with tags (tags, dim) */
    const int64_t *tag_start; /* (documents + 1): tags of a document ... */
    const int32_t *tag;       /* ... rows of `documents`; of DM_CONCAT one */
    int64_t most_tags;        /* of a document; 1 without tags */
    float *input;         /* (vocab_size + 1, dim) of DM: context words; the last stands where there is none */
    float *output;        /* (vocab_size, width), HS: (vocab_size - 1, width); width: dim, of DM_CONCAT that of all it joins */
    int64_t epoch_ids;    /* ids in the corpus: with `epochs` the length of the schedule */
    const uint32_t *keep; /* (vocab_size): a word stays when its 32-bit draw is <= keep; NULL: all do */
    const wv_alias *sampler;   /* (vocab_size): noise distribution of NS */
    const int64_t *path_start; /* (vocab_size + 1): path of a word, root first ... */
    const int32_t *path;       /* ... twice the row of `output`, plus the bit that the node is to answer */
    int32_t longest_path;
} wv_doc2vec_run;

#endif
