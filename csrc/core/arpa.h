/* Lines of an ARPA file: `log10-probability word .. word [log10-back-off]`, parsed and printed, and their n-grams put in
 * order. Nothing here does I/O. */
#ifndef WV_ARPA_H
#define WV_ARPA_H

#include <stddef.h>
#include <stdint.h>

#include "core/wordmap.h"

/* Why wv_arpa_parse stopped before the end of its buffer. */
enum wv_arpa_stop {
    WV_ARPA_ALL,          /* all bytes read, or as many lines as there is room for */
    WV_ARPA_SECTION,      /* the line at `consumed` is blank or begins with a backslash */
    WV_ARPA_FIELDS,       /* it has not the fields of an n-gram of this length */
    WV_ARPA_NUMBER,       /* one of its numbers is none, nan, or more than -`zero` */
    WV_ARPA_POSITIVE,     /* its probability is above 1 */
    WV_ARPA_UNKNOWN_WORD, /* a word of it is no 1-gram */
    WV_ARPA_DUPLICATE,    /* its 1-gram was listed before */
    WV_ARPA_MEMORY,
};

typedef struct {
    int64_t lines, consumed;
    int64_t infinite;  /* numbers that were -inf, now `zero` */
    int32_t stop;
} wv_arpa_read;

/* N-grams of one length: the ids of their words (n, length), log10 probabilities (n) and back-offs (n). */
typedef struct {
    int64_t n; /* when they are read, the most that there is room for */
    int32_t length;
    int32_t *rows;
    float *prob, *backoff;
} wv_arpa_ngrams;

/* How lines are read. */
typedef struct {
    wv_wordmap *words; /* 1-grams are added to it (seen: their counts are above 0), words of longer ones found in it */
    int has_backoff;   /* 0: a back-off other than 0 is an error; one that is not there is 0 */
    float zero;        /* numbers below it become it */
} wv_arpa_rules;

/* Reads lines with n-grams of one length. text ends in a newline and has WV_TEXT_PADDING readable bytes behind it. */
wv_arpa_read wv_arpa_parse(const char *text, int64_t size, const wv_arpa_rules *rules, const wv_arpa_ngrams *ngrams);

/* Prints n lines; word i is blob[starts[i] .. starts[i + 1]), backoff may be NULL. Returns the bytes written, at most
 * those of the words + n * (length + 2 * (WV_FLOAT_CHARS + 1)). */
size_t wv_arpa_format(const wv_arpa_ngrams *ngrams, const char *blob, const int64_t *starts, char *out);

/* positions (n) such that rows ascend. Scratch: spare (n), counts (words + 1). */
void wv_arpa_order(const int32_t *rows, int64_t n, int32_t length, int32_t words, int32_t *positions, int32_t *spare,
                   int64_t *counts);
/* For ordered rows (n, length): parents[i] is the place among the ordered contexts (m, length - 1) of all but the last
 * word, -1 when it is not there. Returns the first row that equals the one before, -1 for none. */
int64_t wv_arpa_parents(const int32_t *contexts, int64_t m, const int32_t *rows, int64_t n, int32_t length,
                        int32_t *parents);

#endif
