/* Asking a back-off model of n-grams: p(w | h) = prob of the n-gram h w where it is listed, otherwise the back-off of h
 * (1 when h is not listed) times p(w | h without its first word).
 *
 * The state after a word is the longest n-gram that ends there, is listed and shorter than the order: with suffix links
 * a word costs one search for each time it backs off, and one more. Numbers are logarithms to base 10.
 */
#ifndef WV_NGRAMSCORE_H
#define WV_NGRAMSCORE_H

#include "core/ngrams.h"

typedef struct {
    wv_ngram_trie trie;
    const float *prob;    /* of every node */
    const float *backoff; /* of the nodes shorter than the order */
    int32_t words;
} wv_ngram_model;

/* The state in which a sentence begins. */
int32_t wv_ngram_begin(const wv_ngram_model *model);

/* log10 p(word | *state), and the words of the n-gram that was found, from which *state goes on. */
float wv_ngram_step(const wv_ngram_model *model, int32_t word, int32_t *state, uint8_t *length);

/* Scores a stream of ids (0 .. words - 1) with -1 for the end of each sentence, which is scored as </s>. *state goes
 * from block to block. `ends` 0: sentences neither begin in <s> nor end in </s>; the score of their ends is 0. */
void wv_ngram_score(const wv_ngram_model *model, const int32_t *ids, int64_t n, int ends, int32_t *state, float *scores,
                    uint8_t *lengths);

/* log10 p of the last word of each n-gram of `length` words (2 or more) after the others but the first: what shorter
 * n-grams say of it. */
void wv_ngram_below(const wv_ngram_model *model, int32_t length, float *scores);

/* log10 p(word | state) of all words. */
void wv_ngram_all(const wv_ngram_model *model, int32_t state, float *scores);

#endif
