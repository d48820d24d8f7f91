/* What a back-off model of n-grams says of its own n-grams: p(w | h) = prob of the n-gram h w where it is listed,
 * otherwise the back-off of h (1 when h is not listed) times p(w | h without its first word). Numbers are logarithms to
 * base 10. Texts are scored by packed models (core/packedlm.h).
 */
#ifndef WV_NGRAMSCORE_H
#define WV_NGRAMSCORE_H

#include "core/ngrams.h"

typedef struct {
    wv_ngram_trie trie;
    const float *prob;    /* of every node */
    const float *backoff; /* of the nodes shorter than the order */
} wv_ngram_model;

/* log10 p of the last word of each child of the nodes begin .. end after the others but the first: what shorter n-grams
 * say of it. */
void wv_ngram_below(const wv_ngram_model *model, int64_t begin, int64_t end, float *scores);

#endif
