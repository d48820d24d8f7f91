/* Counting more words than memory holds, by hybrid hashing (DeWitt, Katz, Olken, Shapiro, Stonebraker, Wood:
 * Implementation Techniques for Main Memory Database Systems, 1984).
 *
 * A word map takes words until it has its share of memory. From then on it is closed: its own words are still counted
 * in it, and every other word is put into one of WV_SPILL_PARTS streams, chosen by its hash, which the caller moves to
 * a file. All occurrences of a word are in the map or in one stream, so the streams are counted afterwards one by one,
 * each in a map of its own, which may close again and spill to streams one level deeper. Frequent words are met before
 * the map is full and never leave it.
 *
 * A stream is a row of segments, which can be read alone. A segment is a row of records: the length of the word and the
 * places of the text between this word and the one before in the segment, as numbers of 7 bits a byte, lowest first, the
 * eighth bit set when another byte follows; then the word.
 */
#ifndef WV_WORDSPILL_H
#define WV_WORDSPILL_H

#include <stddef.h>
#include <stdint.h>

#include "core/wordmap.h"

#define WV_SPILL_PARTS 64
#define WV_BAD_RECORD (-4)

typedef struct {
    unsigned char *bytes;
    uint64_t length, capacity;
    int64_t place; /* of the last word */
} wv_segment;

typedef struct {
    uint64_t most_bytes; /* of the map, which is closed before it takes more */
    int level;           /* another division of the same words than that of another level */
    int is_closed;       /* the map takes no more words */
    uint64_t bytes;      /* of all segments */
    wv_segment segments[WV_SPILL_PARTS];
} wv_spill;

void wv_spill_init(wv_spill *spill, int level, uint64_t most_bytes);
/* Forgets the segments; what follows begins new ones. */
void wv_spill_empty(wv_spill *spill);

/* Makes room in the map for `more` words, unless the spill is closed or is closed by that. 0 or a failure. */
int wv_spill_reserve(wv_spill *spill, wv_wordmap *map, int64_t more);
/* Puts a word that stands at `place` of the text into a segment. Places rise. 0 or WV_NO_MEMORY. */
int wv_spill_put(wv_spill *spill, const unsigned char *word, size_t length, int64_t place);

/* What is counted of a stream: words, and where each was seen first. */
typedef struct {
    wv_wordmap map;
    int64_t *firsts; /* of word i of the map */
    int64_t capacity;
} wv_stream_counts;

/* 0 or WV_NO_MEMORY. `counts` may be passed to wv_stream_counts_free in both cases. */
int wv_stream_counts_init(wv_stream_counts *counts);
void wv_stream_counts_free(wv_stream_counts *counts);
/* Counts the words of a segment; those that the map has no room for are put into `deeper`. 0, a failure of the map, or
 * WV_BAD_RECORD: these bytes are no segment. */
int wv_stream_counts_add(wv_stream_counts *counts, wv_spill *deeper, const unsigned char *bytes, uint64_t length);

#endif
