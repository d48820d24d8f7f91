/* The documents of highest BM25 for a query, from an inverted index that may lie in a mapped file.
 *
 *     score(query, D) = sum over every token of the query: idf(t) f / (f + k1 (1 - b + b |D| / mean |D|))
 *     idf(t) = ln(1 + (N - n + .5) / (n + .5))
 *
 * N documents, n of them with the token, f its count in D, |D| the tokens of D. Everything is read as a stranger's file:
 * places and documents are checked before they are used.
 */
#ifndef WV_BM25_H
#define WV_BM25_H

#include <stdint.h>

/* Postings in a block, of which the index knows a bound. Blocks are counted from the first posting of all, so that they
 * need no places of their own: one may hold the end of a token's list and the beginning of the next. */
enum { WV_BM25_BLOCK = 64 };

/* What is wrong. */
enum {
    WV_BM25_FINE = 0,
    WV_BM25_MEMORY,
    WV_BM25_WORD_PLACES,    /* a token's bytes lie outside of `words` */
    WV_BM25_POSTING_PLACES, /* a token's postings lie outside of all */
    WV_BM25_ORDER,          /* the documents of a token do not ascend, or are none */
    WV_BM25_LENGTHS         /* a document has a negative number of tokens */
};

/* Token t is words[word_at[t] .. word_at[t + 1]), ascending by bytes, and has the postings posting_at[t] ..
 * posting_at[t + 1] - 1: found[i] times in documents[i], ascending. */
typedef struct {
    const unsigned char *words;
    const int64_t *word_at, *posting_at; /* (tokens + 1) */
    int64_t tokens, word_bytes, postings;
    const int32_t *documents;  /* (postings) */
    const uint16_t *found;     /* (postings) */
    const float *bounds;       /* (postings / WV_BM25_BLOCK, rounded up): no f / (f + ...) of a block is larger */
    const int32_t *lengths;    /* (n): the tokens of each document */
    int64_t n;                 /* documents, less than 2^31 */
    double mean, k1, b;
} wv_bm25;

/* Fills `bounds`, (blocks), of such an index. */
int wv_bm25_make_bounds(const wv_bm25 *index, float *bounds);

/* The token that is text[length], in *token; -1 where it is none of the index. */
int wv_bm25_find(const wv_bm25 *index, const unsigned char *text, int64_t length, int64_t *token);

/* The k best documents for query[size], tokens of the index, one as often as it stands in the query: their rows and scores,
 * best first, ties to the lowest row, in rows[k] and scores[k], and how many there are in *count. */
int wv_bm25_top(const wv_bm25 *index, const int64_t *query, int64_t size, int64_t k, int32_t *rows,
                            double *scores, int64_t *count);

#endif
