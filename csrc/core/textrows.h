/* From text to the rows of a fastText model: every line of a chunk becomes the rows of its words, of their character
 * n-grams and of its word n-grams, and its labels, by the rules of fastText's Dictionary::getLine.
 *
 * One line in, one line out: a word `</s>` inside a line ends what is read of it (fastText begins a new line there).
 * Every line ends with `</s>`, the last of a text too, even where its newline is missing, unless `bare_end` says that
 * such a line then has none, as in fastText.
 *
 * Words that a text has again and again need their character n-grams only once: with `most_words` a short word with more
 * than WV_FEW_ROWS rows is given as one number, ~w, and row[start[w]] .. of `words` are its rows. A word may get another
 * number later in the text.
 *
 * A line of any length is read in pieces that are cut between words, and its rows are handed on as they come. The n-grams
 * of 4096 words then follow these words instead of the last word of the line.
 */
#ifndef WV_TEXTROWS_H
#define WV_TEXTROWS_H

#include <stddef.h>
#include <stdint.h>

#include "core/wordmap.h"

typedef struct {
    wv_wordmap *map;           /* words, then labels: label i has the id words + i */
    int32_t words;
    int minn, maxn;            /* maxn 0: no character n-grams */
    int word_ngrams;           /* 1: none */
    uint32_t buckets;          /* 0: no n-gram has a row */
    const int32_t *bucket_row; /* (buckets): its row behind the words, -1 for none; NULL: the bucket's number */
    const uint8_t *has_row;    /* (buckets) bits, from the lowest one of a byte on: whether it is not -1 */
    const char *prefix;        /* unknown words that begin with it are dropped: they are labels */
    size_t prefix_length;
} wv_text_rules;

typedef struct {
    const char *text;
    size_t length;
    wv_slot *slot; /* of a short word, where the search for it begins; else NULL */
    wv_word_key key;
} wv_text_word;

enum { WV_FEW_ROWS = 2 };

/* A short word that has stood before. An empty key: no word. */
typedef struct {
    wv_word_key key;
    uint32_t hash; /* fastText's */
    int32_t rows;
    int32_t row[WV_FEW_ROWS]; /* its rows, or if there are more, row[0] is its number in `words` and row[1] where they begin */
} wv_text_seen;

/* Words that have stood before and have more than WV_FEW_ROWS rows: word w has row[start[w]] .. row[start[w + 1] - 1]. */
typedef struct {
    int64_t count, old; /* how many there are; that were there before the text that was last read */
    int64_t start_capacity, row_capacity;
    int64_t *start; /* (count + 1) */
    int32_t *row;
} wv_text_words;

/* What takes rows: `context` is its own. */
typedef struct {
    void (*take)(void *context, const int32_t *row, int64_t rows);
    void *context;
} wv_row_taker;

/* Line i begins at row[start[2 i]] and label[start[2 i + 1]] and ends where line i + 1 begins. It has seen[2 i] words, of
 * which seen[2 i + 1] have a row. Grown by realloc. */
typedef struct {
    int64_t lines, line_capacity;
    int64_t *start; /* 2 (lines + 1) */
    int32_t *row, *label, *seen;
    int64_t row_capacity, label_capacity, seen_capacity;
    uint32_t *hash; /* of the words of one line */
    int64_t hash_capacity;
    wv_text_word *word; /* the words of one line */
    int64_t word_capacity;
    wv_text_seen *before; /* NULL without n-grams */
    wv_text_words words;
    int64_t most_words;   /* 0: words are given as rows. Else as numbers; all are forgotten before a text if there are more */
    int64_t hashes;       /* of a line in pieces: those that n-grams still begin with */
    int ended;            /* of a line in pieces: `</s>` has come */
} wv_text_rows;

/* Reads whole lines, `length` bytes; only the last of a text may lack its newline. Fills `rows`, zeroed at first, and then
 * used again for the next lines of these rules, whose words are often the same. 0 or WV_NO_MEMORY. */
int wv_text_rows_read(const wv_text_rules *rules, const char *text, size_t length, int bare_end, wv_text_rows *rows);
/* Reads a piece of a line, cut between words; the `last` one may end with the newline. `taker` gets its rows. `rows`, zeroed
 * at first, has one line with the labels and the `seen` of this piece. */
int wv_text_rows_piece(const wv_text_rules *rules, const char *text, size_t length, int last, int bare_end,
                       wv_row_taker taker, wv_text_rows *rows);
void wv_text_rows_free(wv_text_rows *rows);

#endif
