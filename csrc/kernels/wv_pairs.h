/* Static embeddings trained on pairs of texts: the structs of kernels/pairs.c. */
#ifndef WV_PAIRS_H
#define WV_PAIRS_H

#include <stdint.h>

#include "base/wv_shared.h"

#define WV_PAIR_BLOCK 96  /* anchors whose scores are in memory at once */
#define WV_PAIR_UNIT 32   /* texts of a piece of work; segments of columns are padded to a multiple of so many floats */
#define WV_PAIR_CHUNK 128 /* candidates whose sums are one partial sum */

/* A batch of pairs. Sizes and tables are the caller's; the arrays of the last part are laid out in scratch memory by
 * pairs_lay_out. B is `pairs`, C `candidates`, P `columns`: C rounded up to WV_PAIR_UNIT. */
typedef struct {
    int32_t pairs, candidates, columns, blocks;
    int32_t levels, width, stride; /* width: of a vector whose segments are padded; stride: of a row of the table */
    const int32_t *level_end;      /* (levels): where a level ends in a padded vector */
    const int32_t *natural_end;    /* (levels): where it ends in a row of the table */
    const float *level_weight;     /* (levels) */
    float scale;
    int32_t symmetric;
    const float *table;    /* (rows, stride) */
    const int32_t *ids;    /* tokens: rows of the table */
    const int64_t *starts; /* text t is ids[starts[t]:starts[t + 1]] */
    const int64_t *texts;  /* (B + C): the anchors, the positives, then all hard negatives */
    const int32_t *anchor; /* (P): the same number for the same anchor; another one for a hard negative */
    const int32_t *text;   /* (P): the same number for the same candidate */
    /* lanes: floats in a register; A and B are the mean vectors of anchors and candidates */
    float *a, *a_gradient;     /* (blocks, width / lanes, WV_PAIR_BLOCK, lanes) */
    float *b, *b_gradient;     /* (P / lanes, width, lanes) */
    float *b_rows;             /* (width / lanes, P, lanes) */
    float *block;              /* (levels, P / lanes, WV_PAIR_BLOCK, lanes): products, then their gradients */
    float *a_inverse;          /* (levels, blocks * WV_PAIR_BLOCK): 1 / |a| */
    float *b_inverse;          /* (levels, P) */
    float *partial;            /* (P / WV_PAIR_CHUNK, levels, WV_PAIR_BLOCK, lanes): sums over the columns of a chunk */
    float *row_factor;         /* (levels, WV_PAIR_BLOCK) */
    float *column_factor;      /* (levels, P) */
    float *a_radial;           /* (levels, blocks * WV_PAIR_BLOCK): the parts of gradients along the vectors */
    float *b_radial;           /* (levels, P) */
    float *diagonal;           /* (levels, blocks * WV_PAIR_BLOCK): scores of the pairs themselves */
    double *loss;              /* (blocks * WV_PAIR_BLOCK) */
    float *anchor_gradients;   /* (B, stride): for each occurrence of a token in the text */
    float *candidate_gradients; /* (C, stride): in the memory of b */
} wv_pairs;

/* What training changes, and the rows that a batch touches: token rows[i] occurs in the texts of the batch
 * where[first[i]:first[i + 1]]. */
typedef struct {
    float *table;          /* (rows, stride) */
    float *mean, *square;  /* (rows, stride): Adam's moments, as they were at the step `last` */
    float *sum;            /* (rows): AdaGrad's sums of mean squares */
    int32_t *last;         /* (rows): the step, from 1, in which a row was changed; 0: never */
    int32_t dim, stride, step, pairs;
    const int32_t *row;
    const int64_t *first;
    const int32_t *where;
    const double *ahead;   /* (steps + 1): see kernels/pairrows.c */
    float lr, decay_mean, decay_square, epsilon;
} wv_pair_rows;

#endif
