/* Exact search: the structs of kernels/search.c. */
#ifndef WV_SEARCH_H
#define WV_SEARCH_H

#include <stdint.h>

/* Vectors stand side by side in panels so that one register holds the same coordinate of `lanes` of them:
 * panels is (ceil(count / lanes), dim, lanes), the lanes after the last vector zero, aligned to 64 bytes. */

/* Vectors that are searched as they lie, of any length and at any address: nothing is copied but a block at a time, made
 * unit rows on the way. Row i begins offsets[i] bytes after `base`, or i * stride where there are no offsets. */
typedef struct {
    const char *base; /* float32 */
    int64_t stride;   /* bytes */
    const int64_t *offsets; /* (n), or NULL */
    int32_t dim;
    double *scale; /* (n): 1 / length, as the first scan of a row finds it: 0 of a zero row, NaN of one that holds NaN or
                    * infinity; negative before that */
} wv_search_rows;

/* One thread's scan for the k best rows of every query. Each query owns a heap of k slots, worst first (lowest score,
 * then highest row); the caller fills them with score -inf. NaN is never selected. */
typedef struct {
    const wv_search_rows *rows; /* (n, dim) */
    int32_t queries;
    int32_t k;
    const float *panels;          /* the queries, unit vectors */
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
    const wv_search_rows *rows; /* (n, dim) */
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

/* Queries against rows of int8. Each query owns a heap of k slots, as in wv_top_k; the caller fills them. */
typedef struct {
    const int8_t *rows; /* (n, dim) */
    const float *norms; /* (n): their lengths */
    float least_norm;   /* a row of a smaller length is no answer */
    int32_t dim;
    int32_t count;        /* queries */
    int32_t k;
    const float *queries; /* (count, stride): unit vectors and zeros up to `stride`, a multiple of 16; 64-byte aligned */
    int64_t stride;
    float *scores; /* (count, k) */
    int32_t *hits; /* (count, k): row numbers */
} wv_int8_search;

#endif
