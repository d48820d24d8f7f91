/* KenLM's binary models (format version 5), asked where they lie in a mapped file.
 *
 * A vocabulary finds the id of a word by its hash; <unk> is 0. Of the n-grams there are two layouts:
 *
 *   hashed   a table for each length, whose keys are hashes of ids, computed from the last word back; n-grams cannot be
 *            listed. The sign of log10 p says that no longer n-gram ends in this one.
 *   trie     reversed: the children of a node are the words before it, packed by bits, in order of their ids. Numbers
 *            may be quantized, and the high bits of where children begin may stand in an array of their own.
 *
 * Every n-gram is looked up from its last word back, so that no word waits for the answer to another one.
 *
 * Ids here are those of a language model of wv: <s> is WV_SENTENCE and </s> WV_SENTENCE_END. The words that the file has
 * in these places take the ids that <s> and </s> have in the file.
 *
 * What a file says is believed nowhere: WV_KENLM_DAMAGED is returned for ids that are no word's, children outside their
 * level, and numbers that are no logarithms. Nothing in the file need be aligned.
 */
#ifndef WV_KENLM_H
#define WV_KENLM_H

#include "core/ngrams.h"

enum { WV_KENLM_DAMAGED = -1 };

/* Where a number lies in a record, in bits; `table` has the values of quantized ones, or is NULL. */
typedef struct {
    const uint8_t *table;
    int32_t at, width;
} wv_kenlm_column;

/* The n-grams of a length from 2 on. The longest have no `backoff` and no `next`. */
typedef struct {
    const uint8_t *start;
    int64_t size;   /* buckets of a table; n-grams of a trie's level, one record fewer than there are */
    int64_t record; /* bytes of a bucket; bits of a record */
    wv_kenlm_column word, prob, backoff, next;
    const uint8_t *pointers; /* (pointer_count) uint64: the nodes where the high part of `next` rises by one; or NULL */
    int64_t pointer_count;
} wv_kenlm_level;

typedef struct {
    int32_t order, hashed;
    int64_t words;             /* ids are below */
    const uint8_t *vocabulary; /* entries of 12 bytes, hash and id; of a trie hashes in ascending order */
    int64_t vocabulary_size;
    const uint8_t *unigrams;
    int64_t unigram_bytes; /* of a record: log10 p, back-off; of a trie uint64 next */
    int32_t sentence, sentence_end; /* ids of <s> and </s> in the file */
    wv_kenlm_level levels[WV_LARGEST_ORDER]; /* of order - 1 lengths */
} wv_kenlm;

/* ids (n) of words, 0 where they are not listed. Word i is blob[starts[i] .. starts[i + 1]). */
int wv_kenlm_find(const wv_kenlm *model, const uint8_t *blob, const int64_t *starts, int64_t n, int32_t *ids);

/* Scores as wv_packed_score does (core/packedlm.h). A state (order - 1) is the words before, the newest first,
 * WV_NO_NODE where there are none. */
int wv_kenlm_score(const wv_kenlm *model, const int32_t *ids, int64_t n, int ends, int32_t *state, float *scores,
                   uint8_t *lengths);

/* log10 p(word | state) of all words. */
int wv_kenlm_all(const wv_kenlm *model, const int32_t *state, float *scores);

/* The n-grams of a length of a trie, in their order in the file: first words (n), log10 p (n), and, but for the longest,
 * back-offs (n) and where the next level's children begin (n + 1). */
int wv_kenlm_unpack(const wv_kenlm *model, int32_t length, int32_t *words, float *probs, float *backoffs, int64_t *next);

#endif
