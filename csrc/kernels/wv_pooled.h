/* The pooled text classifier: the structs of kernels/pooled.c. */
#ifndef WV_POOLED_H
#define WV_POOLED_H

#include <stdint.h>

#include "base/wv_shared.h"

/* Fields of PooledConfig (wv_cli/models/sentence_config.py) that a step reads. */
typedef struct {
    float dropout, ngram_dropout, label_smoothing;
    int64_t seed;
} wv_pooled_options;

/* What a head reads: text t has the rows id[start[t]:start[t + 1]], each once, with their values. */
typedef struct {
    const int64_t *start;
    const int32_t *id;
    const float *value;
} wv_pooled_inputs;

typedef struct {
    wv_pooled_inputs tokens, ngrams;
} wv_pooled_texts;

/* Rows and output weights of a head: rows padded to a stride, columns of the weights to WV_ROW_FLOATS. */
typedef struct {
    int32_t dim, stride;
    float *row;    /* (rows, stride) */
    float *column; /* (dim, outputs) */
} wv_pooled_head;

/* Question q has the outputs question[q]:question[q + 1], which its softmax is over. */
typedef struct {
    int32_t outputs, questions;
    const int32_t *question; /* (questions + 1) */
    wv_pooled_head tokens, ngrams;
} wv_pooled_model;

/* Training of a model. Text t has the label columns labels[label_starts[t]:label_starts[t + 1]]; those of a question have
 * equal weight. */
typedef struct {
    wv_pooled_options options;
    wv_pooled_model model;
    wv_pooled_texts texts;
    const int64_t *label_starts;
    const int32_t *labels;
    float *token_sum; /* (rows of the tokens): AdaGrad's sums of mean squares */
} wv_pooled_run;

/* One thread's copies of the output weights, and what these were at the last exchange (replicas.h), as wv_pooled_head has
 * them. */
typedef struct {
    float *tokens, *ngrams, *token_base, *ngram_base;
} wv_pooled_replicas;

/* A step from 1: which texts, and its learning rates. */
typedef struct {
    const int64_t *text;
    int64_t texts, step;
    float lr, row_lr;
} wv_pooled_step;

#endif
