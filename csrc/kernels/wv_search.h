/* Exact search: the structs of kernels/search.c. */
#ifndef WV_SEARCH_H
#define WV_SEARCH_H

#include <stdint.h>

/* Vectors stand side by side in panels so that one register holds the same coordinate of `lanes` of them:
 * panels is (ceil(count / lanes), dim, lanes), the lanes after the last vector zero, aligned to 64 bytes. */

/* One thread's scan for the k best rows of every query. Each query owns a heap of k slots, worst first (lowest score,
 * then highest row); the caller fills them with score -inf. NaN is never selected. */
typedef struct {
    const float *rows; /* (n, dim), rows `stride` floats apart; any alignment */
    int64_t stride;
    int32_t dim;
    int32_t queries;
    int32_t k;
    const float *panels;          /* the queries */
    float *threshold;             /* (queries rounded up to lanes): the worst score in the heap; +inf after the last */
    float *scores;                /* (queries, k) */
    int32_t *hits;                /* (queries, k): row numbers */
    const int64_t *exclude_start; /* (queries + 1): query q never returns exclude[exclude_start[q] .. [q + 1]); or NULL */
    const int32_t *exclude;       /* row numbers, ascending within a query */
} wv_top_k;

typedef enum { WV_3COSADD, WV_3COSMUL } wv_analogy_method;

/* One thread's scan for the k best answers to `a is to b as c is to ?`. Questions share words, so the scores of the
 * distinct words against a block of rows are made once and combined per question. */
typedef struct {
    const float *rows; /* (n, dim) unit vectors */
    int64_t stride;
    int32_t dim;
    int32_t questions;
    int32_t k;
    wv_analogy_method method;
    const float *words; /* (distinct, dim) unit vectors, rows `dim` floats apart */
    int32_t distinct;
    const int32_t *question; /* (questions, 3): a, b, c as rows of `words` */
    const int32_t *word_row; /* (distinct): the row each word must not be answered with */
    float *threshold;        /* (questions) */
    float *scores;           /* (questions, k) */
    int32_t *hits;           /* (questions, k) */
} wv_analogies;

#endif
