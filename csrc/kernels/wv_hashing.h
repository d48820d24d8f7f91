/* Hashing and search over codes: part of the contract of the kernels (wv_kernels.h), to which the same notation
 * applies. */
#ifndef WV_HASHING_H
#define WV_HASHING_H

#include <stddef.h>
#include <stdint.h>

/* A linear hasher: `units` weight vectors in panels, (ceil(units / lanes), dim, lanes) as for search. The activation of
 * unit u on a row x is <weights[u], x>. active 0: bit u is activation > threshold[u]; else the `active` units of
 * highest activation are on, of equal ones the lowest. */
typedef struct {
    int32_t dim, units, active;
    const float *panels;
    const float *threshold; /* (units), only for active 0 */
} wv_hasher;

/* BioHash (Ryali et al. 2020). `effective` is sign(w) |w|^(p - 1), the row whose inner product with x is <w, x>_w; it
 * is `weights` itself when p is 2. */
typedef struct {
    int32_t dim, stride, units;
    int32_t rank;   /* the unit of this rank (2 ..) is pushed away by `delta`; 1 or delta 0: none */
    float delta, p;
    int normalize;  /* 1: rows go back to the unit p-norm after each change */
    float *weights; /* (units, dim), rows `stride` floats apart */
    float *effective;
} wv_biohash;

/* Rows that it learns from, in this order. */
typedef struct {
    const float *rows;    /* `stride` floats apart */
    int64_t stride;
    const int32_t *order; /* (n) */
    int64_t n;
} wv_biohash_samples;

#define WV_CODE_LANES 8 /* codes side by side in a panel, whatever the instruction set */

/* One thread's scan of packed codes for the k nearest by Hamming distance to every query. panels is
 * (ceil(n / WV_CODE_LANES), words, WV_CODE_LANES), 64-byte aligned: word w of eight codes stand side by side. Heaps are
 * those of wv_top_k with score = -distance, exact in a float for up to 2^24 bits. */
typedef struct {
    const uint64_t *panels;
    int64_t n;
    int32_t words, queries, k;
    const uint64_t *query;  /* (queries, words) */
    float *scores;          /* (queries, k), filled with -inf */
    int32_t *hits;          /* (queries, k) */
    const int64_t *exclude_start;
    const int32_t *exclude;
} wv_hamming;

/* The same over sparse codes by an inverted index: the rows that have bit b on are row[start[b]] .. row[start[b + 1]
 * - 1], ascending. Score = overlap. */
typedef struct {
    const int64_t *start; /* (bits + 1) */
    const int32_t *row;
    int64_t n;
    int32_t active, queries, k;
    const int32_t *query; /* (queries, active) positions */
    float *scores;
    int32_t *hits;
    const int64_t *exclude_start;
    const int32_t *exclude;
} wv_overlap;

#endif
