/* Work on lists of words as Python's WordList holds them: word i is blob[starts[i] .. starts[i + 1]). */
#ifndef WV_WORDLIST_H
#define WV_WORDLIST_H

#include <stdint.h>

/* Where the words order[0], order[1], ... of a list of `words` begin when they stand end to end: new_starts (n + 1).
 * Returns -1, or the first k whose order[k] is no word of the list. */
int64_t wv_gather_starts(const int64_t *starts, int64_t words, const int64_t *order, int64_t n, int64_t *new_starts);
/* Copies the same words; out is (new_starts[n]). */
void wv_gather_words(const char *blob, const int64_t *starts, const int64_t *order, int64_t n,
                     const int64_t *new_starts, char *out);

typedef struct {
    int64_t lines;      /* read */
    int64_t word_bytes; /* of their words */
    int stopped;        /* 1: the next line is not a word and a count */
} wv_counts_read;

/* Lines `word count`, the count a whole number below 2^63, the fields separated by blanks (core/separators.h); the last
 * newline may be missing. Fills blob (size), starts (lines + 1) and counts (lines), for as many lines as `text` has. */
wv_counts_read wv_split_counts(const char *text, int64_t size, char *blob, int64_t *starts, int64_t *counts);

#endif
