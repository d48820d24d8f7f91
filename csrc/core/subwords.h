/* fastText's subwords: the hash, the character n-grams of a word, the word n-grams of a line; means of matrix rows.
 *
 * All of it as fastText 0.9.2 does it, so that its models mean the same here: FNV-1a with bytes taken as signed
 * (dictionary.cc, Dictionary::hash), n-grams counted in UTF-8 code points over `<word>` (Dictionary::computeSubwords),
 * word n-grams over sign-extended hashes (Dictionary::addWordNgrams). Nothing is allocated and nothing is global.
 */
#ifndef WV_SUBWORDS_H
#define WV_SUBWORDS_H

#include <stddef.h>
#include <stdint.h>

uint32_t wv_fasttext_hash(const char *bytes, size_t length);

/* Buckets of the n-grams of minn .. maxn code points of `<word>`: for each first character the shorter n-gram first. A
 * single character that is `<` or `>` is none. `word` comes without its brackets. Writes the first `capacity` of them to
 * `out` (which may be NULL when capacity is 0) and returns how many there are; 0 when buckets is 0. Bytes that are no UTF-8
 * do what they do in fastText: a continuation byte belongs to the character before it. */
int64_t wv_subwords(const char *word, size_t length, int minn, int maxn, uint32_t buckets, int32_t *out, int64_t capacity);

/* The same for the n-grams that begin at bytes first .. last of `<word>`, which has length + 2. */
int64_t wv_subwords_from(const char *word, size_t length, size_t first, size_t last, int minn, int maxn, uint32_t buckets,
                         int32_t *out, int64_t capacity);

/* The same n-grams as text: n-gram i is bytes spans[2 i] .. spans[2 i + 1] of `<word>`. Same order and return value. */
int64_t wv_subword_spans(const char *word, size_t length, int minn, int maxn, int64_t *spans, int64_t capacity);

/* Buckets of the word n-grams of 2 .. n words of a line: for each first word the shorter n-gram first. hashes (count)
 * are wv_fasttext_hash of the words; only the first `firsts` words begin n-grams. Returns how many there are, as wv_subwords
 * does. */
int64_t wv_line_ngrams(const uint32_t *hashes, int64_t count, int64_t firsts, int n, uint32_t buckets, int32_t *out,
                       int64_t capacity);

/* out (groups, dim) = means of groups of rows of a matrix (., dim) of floats that may begin at any byte; group g is rows
 * rows[starts[g] .. starts[g + 1]], or those numbers themselves when `rows` is NULL; an empty one becomes 0. Summed in
 * float32 in the order given and multiplied by 1 / size, as fastText sums. */
void wv_mean_rows(const char *matrix, int64_t dim, const int64_t *starts, const int64_t *rows, int64_t groups,
                  float *out);

/* The same with sums in double, of rows[i] times weights[i] in float; `weights` may be NULL. */
void wv_weighted_means(const char *matrix, int64_t dim, const int64_t *starts, const int32_t *rows, const float *weights,
                       int64_t groups, double *out);

/* out = bytes begin .. begin + size - 1 of a matrix (., dim) most of whose rows may be zero: row kept[i], ascending and
 * with a byte among these, is row source[i] of `values`, or row i where `source` is NULL. Rows of `values` are `stride`
 * floats apart. `begin` and `out` may lie within a number. */
void wv_spread_rows(const float *values, int64_t stride, const int32_t *source, const int64_t *kept, int64_t count,
                    int64_t dim, int64_t begin, int64_t size, char *out);

#endif
