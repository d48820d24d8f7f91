/* The pooled text classifier: the structs of kernels/pooled.c. */
#ifndef WV_POOLED_H
#define WV_POOLED_H

#include <stdint.h>

#include "base/wv_shared.h"

#define WV_POOL_WINDOW 64 /* tokens of a window */

/* Fields of PooledConfig (wv_cli/models/pooled_config.py) that a step reads. */
typedef struct {
    float dropout, ngram_dropout, label_smoothing;
    int64_t seed;
} wv_pooled_options;

/* Texts: text t has the tokens ids[starts[t]:starts[t + 1]] and the features feature[feature_starts[t]:...], each once,
 * with their values. */
typedef struct {
    const int64_t *starts, *feature_starts;
    const int32_t *ids, *feature;
    const float *value;
} wv_pooled_texts;

/* A model. Rows are padded to a stride; `dense` is one array, so that the optimizer is one loop: A (hidden, 3 stride),
 * a (padded hidden), G (outputs, padded hidden), c (padded outputs), H (outputs, rank_stride), e (padded outputs); see
 * pooled.c. */
typedef struct {
    int32_t dim, stride;       /* of tokens' rows */
    int32_t rank, rank_stride; /* of features' rows */
    int32_t hidden, outputs;
    float *table;    /* (tokens, stride) */
    float *features; /* (features, rank_stride) */
    float *dense;
} wv_pooled_model;

/* Training of a model: what the optimizers keep, and the right answers. Text t has the label columns
 * labels[label_starts[t]:label_starts[t + 1]] of equal weight. */
typedef struct {
    wv_pooled_options options;
    wv_pooled_model model;
    wv_pooled_texts texts;
    const int64_t *label_starts;
    const int32_t *labels;
    float *table_sum;     /* (tokens): AdaGrad's sums of mean squares */
    float *mean, *square; /* as dense: Adam's moments of A, a, G and c */
    int32_t batch, longest; /* texts of a step, and tokens of a text, at most */
} wv_pooled_run;

/* A step from 1: which texts, and its learning rates. */
typedef struct {
    const int64_t *text;
    int32_t texts;
    int64_t step;
    float lr, row_lr, ngram_lr;
} wv_pooled_step;

#endif
