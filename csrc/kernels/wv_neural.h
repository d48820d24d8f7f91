/* Neural language models: the structs of kernels/neural.c. */
#ifndef WV_NEURAL_H
#define WV_NEURAL_H

#include <stdint.h>

#include "base/wv_shared.h"

typedef enum { WV_NEURAL_NPLM, WV_NEURAL_LBL, WV_NEURAL_IVLBL } wv_neural_model;
typedef enum { WV_CONTEXT_FULL, WV_CONTEXT_DIAGONAL } wv_context_matrices;
typedef enum {
    WV_NEURAL_LOSS_SOFTMAX,
    WV_NEURAL_LOSS_NCE,
    WV_NEURAL_LOSS_NS,
    WV_NEURAL_LOSS_HS,
    WV_NEURAL_LOSS_IMPORTANCE,
    WV_NEURAL_LOSS_CLASS
} wv_neural_loss;

/* What the user chooses. Every field is the attribute of its name of NeuralConfig (wv_cli/models/config.py). */
typedef struct {
    wv_neural_model model;
    wv_neural_loss loss;
    wv_context_matrices context_matrices; /* of LBL; those of IVLBL are diagonal */
    int32_t order;    /* words of an n-gram: order - 1 of context and the one that is predicted */
    int32_t dim;
    int direct;       /* NPLM: the context words reach the output layer past the hidden layer, too */
    int32_t negative; /* noise words, drawn for a whole batch */
    int32_t batch;    /* positions that move at once */
    float dropout;    /* share of the numbers of context and hidden layer that are left out */
    uint64_t seed;
} wv_neural_options;

/* A training run; what does not change while it runs, except the matrices (Hogwild). A table that the output layer does
 * not read is NULL. C = (order - 1) * stride is the length of a context, the nearest word first. */
typedef struct {
    wv_neural_options options;
    int32_t vocab_size, stride;
    int32_t hidden, hidden_stride; /* numbers of the predicted vector; of a log-bilinear model dim, stride */
    int32_t output_rows, output_stride;
    float *input;       /* (vocab_size, dim) */
    float *mixing;      /* (hidden, C); diagonal: (order - 1, dim) */
    float *hidden_bias; /* (hidden): NPLM */
    float *output;      /* (output_rows, hidden), with direct (output_rows, hidden_stride + C); may be `input` */
    float *bias;        /* (output_rows); -1e30 for rows that are nothing to predict */
    const wv_alias *sampler;   /* (vocab_size): noise */
    const float *log_noise;    /* (vocab_size): ln(negative * P_noise(word)) */
    const int64_t *code_start; /* (vocab_size + 1): the codes of a word; NULL: word w has one code, w */
    const int64_t *path_start; /* (codes + 1): the tree path of a code, root first ... */
    const int32_t *path;       /* ... twice the row of `output`, plus the answer of that node */
    int32_t longest_path;      /* nodes of all codes of a word, at most */
    const int32_t *word_class;  /* (vocab_size) */
    const int32_t *class_start; /* (classes + 1): the words of a class; their rows come first, those of the classes follow */
    int32_t classes, largest_class;
} wv_neural_run;

#endif
