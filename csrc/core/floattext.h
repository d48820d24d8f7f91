/* Rows of word vectors as text and as word2vec's binary records: parsing and printing.
 *
 * Numbers: reading is correctly rounded to float32 for any decimal of up to 1000 characters (exponents, nan and inf
 * included); writing is fixed decimals, equal to printf's "%.6f" digit for digit, or some significant digits, equal to its
 * "%.5g", or the shortest text that reads back to the same float32. Neither depends on the locale. Words are bytes; what a word may hold is the caller's affair.
 * Nothing here does I/O or keeps state, but for one locale, made at the start. */
#ifndef WV_FLOATTEXT_H
#define WV_FLOATTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/little_endian.h"

/* Readable bytes every text buffer must have after its end (their content does not matter): numbers are read 8 bytes
 * at a time. */
#define WV_TEXT_PADDING 16

/* Longest text of one float: "-" + 39 digits + "." + 9 decimals. */
#define WV_FLOAT_CHARS 50

/* Why a row reader stopped before the end of its buffer. */
enum wv_stop {
    WV_STOP_NONE,       /* all bytes read, or `capacity` rows reached */
    WV_STOP_BAD_ROW,    /* the row at `consumed` is not word + dim numbers */
    WV_STOP_NOT_FINITE, /* the row at `consumed` holds nan, inf or a number too large for float32 */
    WV_STOP_PARTIAL,    /* binary only: the row at `consumed` continues after the buffer */
    WV_STOP_LONG_WORD,  /* binary only: no space within WV_BINARY_WORD_LIMIT bytes after `consumed` */
};

/* A word field of a binary file longer than this means the reader has lost the start of the row. */
#define WV_BINARY_WORD_LIMIT (1 << 20)

typedef struct {
    int64_t rows;       /* rows read */
    int64_t consumed;   /* bytes of those rows */
    int64_t word_bytes; /* bytes of their words, now packed end to end */
    int stop;
} wv_rows_read;

/* Makes the locale that the few hardest numbers are read in. To be called once, before anything is parsed. 0, or an errno. */
int wv_floattext_start(void);

/* One number from text[0 .. size): the bytes it takes, 0 when there is none. The whole text needs no terminator but
 * WV_TEXT_PADDING readable bytes after it. */
size_t wv_parse_float(const char *text, size_t size, float *value);

/* Text rows `word number{dim}`, fields separated by blanks (core/separators.h), each row ended by "\n" or "\r\n" (the last byte of the
 * buffer must be one). A word holding spaces is accepted when the last `dim` fields are numbers and the field before
 * them is not; with `dim_is_known` that field may be a number, too ("Windows 10"), unless it has the many decimals of a vector's.
 *   text     (size + WV_TEXT_PADDING)  overwritten: the words are packed end to end at its start
 *   matrix   (capacity, dim)           filled
 *   lengths  (capacity)                bytes of each word, filled */
wv_rows_read wv_parse_rows(char *text, int64_t size, int32_t dim, int dim_is_known, int64_t capacity, float *matrix,
                           int64_t *lengths);

/* Binary rows: word, ' ', dim raw float32; any '\n' before the word is skipped. Arguments as above. */
wv_rows_read wv_unpack_rows(char *data, int64_t size, int32_t dim, int64_t capacity, float *matrix, int64_t *lengths);

/* Where binary rows lie: to be filled. */
typedef struct {
    int64_t capacity;
    int64_t *offsets; /* (capacity): the first byte of each row's numbers, after `data` */
    int64_t *lengths; /* (capacity): bytes of each word */
    char *words;      /* (room): the words end to end */
    int64_t room;     /* >= size - capacity * 4 * dim: where that is too small, the bytes end before `capacity` rows, and the
                       * words are of no use */
} wv_row_places;

/* Finds binary rows, which are left where they are; their numbers are not looked at. */
wv_rows_read wv_find_rows(const char *data, int64_t size, int32_t dim, const wv_row_places *places);

/* Prints one float and returns the bytes written (at most WV_FLOAT_CHARS). decimals 1 .. 9: fixed; 0: shortest exact; -1 .. -6: so
 * many significant digits. */
size_t wv_format_float(float value, int decimals, char *out);

/* Words with their vectors: word i is blob[starts[i] .. starts[i + 1]). */
typedef struct {
    const float *matrix; /* (rows, dim), rows `stride` floats apart */
    ptrdiff_t stride;
    int64_t rows;
    int32_t dim;
    const char *blob;
    const int64_t *starts;
} wv_word_rows;

/* Prints rows; `trailing_space` adds word2vec's space after the last number. `out` must hold (word bytes) +
 * rows * (2 + dim * (WV_FLOAT_CHARS + 1)). Returns the bytes written. */
size_t wv_format_rows(const wv_word_rows *rows, int decimals, int trailing_space, char *out);

/* Packs rows as word2vec's binary records: word, ' ', dim raw float32, '\n'. Returns the bytes written. */
size_t wv_pack_rows(const wv_word_rows *rows, char *out);

/* First value of the matrix that is nan or infinite, as row * dim + column; -1 when all are finite. */
int64_t wv_first_not_finite(const float *matrix, ptrdiff_t stride, int32_t dim, int64_t rows);

/* First word that is empty or holds a space, tab, newline or NUL; -1 when there is none. */
int64_t wv_first_unwritable(const char *blob, const int64_t *starts, int64_t words);

int64_t wv_count_lines(const char *text, int64_t size);
/* Fields separated by blanks. */
int64_t wv_count_fields(const char *text, int64_t size);

#endif
