/* Co-occurrence counts: counting a range of an id stream row by row, merging sorted runs, ordering records for training.
 *
 * Counting needs no hash table. The positions of every word are listed first (one counting sort); then row i of the
 * matrix is summed in an array with one cell per word while the positions of word i are visited. A row comes out
 * complete and sorted, rows are independent of each other (threads), and nothing is kept but the row.
 *
 * Sums are exact: a pair at distance d weighs units[d] of a common fraction, so the order of summation cannot matter.
 */
#ifndef WV_COOCCUR_H
#define WV_COOCCUR_H

#include <stdint.h>

#include "base/wv_shared.h"

/* GloVe's record, 16 bytes; ids count from 1. Runs that are still to be merged hold units, finished records values. */
typedef struct {
    int32_t row, column;
    union {
        int64_t units;
        double value;
    };
} wv_record;

typedef struct {
    const int32_t *ids;   /* the whole stream */
    int64_t begin;        /* first position listed: `low` less a window, not below 0 */
    int64_t low, end;     /* pairs whose right word stands in [low, end) are counted */
    const int64_t *starts;    /* (words + 1) into positions */
    const int32_t *positions; /* of each word in [begin, end), relative to begin, ascending */
    int32_t words;
    int32_t window;
    int both_sides;       /* 1: contexts on both sides, 0: row = left word, column = right word, as GloVe -symmetric 0 */
    const int64_t *units; /* (window + 1): the weight of distance d */
    double scale;         /* > 0: records get units / scale as their value, 0: they get the units */
} wv_cooccur;

/* Lists positions: starts (words + 1) and positions (one entry per word id in the range). */
void wv_cooccur_positions(const int32_t *ids, int64_t begin, int64_t end, int32_t words, int64_t *starts,
                          int32_t *positions);

/* Bytes of zeroed scratch for wv_cooccur_rows; it is zero again afterwards. */
int64_t wv_cooccur_scratch_bytes(int32_t words);
/* Counts rows [first, last) into out, sorted; returns the number of records. `out` must hold
 * min(words, 2 * window * occurrences) records for every row. */
int64_t wv_cooccur_rows(const wv_cooccur *run, int32_t first, int32_t last, void *scratch, wv_record *out);

/* Sorted runs that are merged: run r stands at records[first[r] .. last[r]). */
typedef struct {
    const wv_record *records;
    int32_t runs;
    int64_t *first; /* (runs), moved on */
    const int64_t *last;
    const uint8_t *more; /* (runs): the run has a next piece, which must be seen before the merge goes on behind this one */
    int32_t *heap;       /* (runs), scratch */
} wv_record_runs;

/* Merges runs. Stops when `out` is full, when all is merged, or when a run that has more is used up. Equal keys are summed:
 * as units, or as values in the order of the runs. The last record written may still grow unless all is merged, so it is
 * kept in `pending` (row 0: none). Returns the number of records written. */
int64_t wv_cooccur_merge(const wv_record_runs *runs, int as_values, wv_record *pending, wv_record *out, int64_t capacity);

/* Checks ids in 1 .. rows and values finite and positive. Returns the first bad record or -1; *ascending is cleared when
 * the keys do not rise strictly from *last_key on, which is moved to the last. */
int64_t wv_cooccur_check(const wv_record *records, int64_t n, int32_t words, uint64_t *last_key, int *ascending);

/* Sorts records by (row, column), equal keys in their order. Scratch: spare (n) and counts (WV_SORT_COUNTS). */
#define WV_SORT_COUNTS 65536
void wv_cooccur_sort(wv_record *records, wv_record *spare, int64_t n, int64_t *counts);

/* The ranges of columns that tiles have. */
typedef struct {
    int32_t words, ranges;
    const uint16_t *range_of; /* (words): the range of each column, from 0 */
    const int32_t *first;     /* (ranges): its first column, from 0 */
    int64_t largest;          /* records of a chunk, at most */
} wv_tile_ranges;

/* Orders records of rows [first_row, first_row + 65536) by column range, and deals each range's records out, like cards,
 * to as many chunks of about equal size as it takes for none to exceed `largest`: chunk j of q gets every q-th record
 * from the j-th on, so that it holds the rows and columns of the whole tile. counts (ranges) becomes the sizes of the
 * ranges. 0, or -1 for a column beyond. */
typedef struct {
    int64_t base, size, spare; /* chunks begin at base + j * size + min(j, spare) */
    int64_t chunks, turn, round;
} wv_deal;
int wv_cooccur_tiles(const wv_tile_ranges *ranges, const wv_record *records, int64_t n, int32_t first_row,
                     int64_t *counts, wv_deal *deals, wv_glove_record *out);

#endif
