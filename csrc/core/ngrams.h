/* The n-grams of a text: sorted records of them, and the trie that the records make.
 *
 * Ids of words: WV_UNKNOWN, WV_SENTENCE and WV_SENTENCE_END, then the words. A window begins at any place of a sentence
 * `<s> w1 .. wT </s>` and goes on for `order` words or to </s>. A record is a window and how often it occurs: `order`
 * ids, 0 beyond its end, and the count in two more int32 (wv_record_width of them in all). Records are sorted by their
 * ids. The prefixes of all windows are all n-grams of the text, each as often as it occurs, with <s> nowhere but in
 * front.
 *
 * The trie lists the n-grams of one length after those of the next shorter, each length in order of its ids, so that a
 * node's children, the n-grams that continue it by one word, stand side by side: first[node] .. first[node + 1]. Words
 * are the nodes 0 .. words - 1. A suffix link leads to the n-gram without its first word.
 */
#ifndef WV_NGRAMS_H
#define WV_NGRAMS_H

#include <stdint.h>

enum { WV_UNKNOWN, WV_SENTENCE, WV_SENTENCE_END };
#define WV_LARGEST_ORDER 10
#define WV_NO_NODE (-1)
static inline int32_t wv_record_width(int32_t order) { return order + 2; }

/* Writes a stream of ids with -1 at the end of each line as sentences, with the length of the window that begins at each
 * place. Both arrays take n + lines entries. Returns the number of places. */
int64_t wv_ngrams_windows(const int32_t *stream, int64_t n, int32_t order, int32_t *ids, uint8_t *lengths);

/* The windows of n places, as wv_ngrams_windows has written them. */
typedef struct {
    const int32_t *ids;
    const uint8_t *lengths;
    int64_t n;
    int32_t order, words;
} wv_ngram_windows;

/* Sorts the windows that begin with a word from `low` to below `high`, of which there are `found`. positions and spare are
 * (found), counts (words + 1). The result is in positions. */
void wv_ngrams_sort(const wv_ngram_windows *windows, int32_t low, int32_t high, int64_t found, int32_t *positions,
                    int32_t *spare, int64_t *counts);

/* Writes records, at most `capacity`, of sorted windows from positions[*at] on, and moves *at on. Returns the number of
 * records. */
int64_t wv_ngrams_records(const wv_ngram_windows *windows, const int32_t *positions, int64_t *at, int32_t *records,
                          int64_t capacity);

/* Sorted runs that are merged: run r stands at records[first[r] .. last[r]). */
typedef struct {
    const int32_t *records;
    int32_t order, runs;
    int64_t *first; /* (runs), moved on */
    const int64_t *last;
    const uint8_t *more; /* (runs): the run has a next piece, which must be seen before the merge goes on behind this one */
    int32_t *heap;       /* (runs), scratch */
} wv_ngram_runs;

/* Merges runs. Stops when `out` is full, when all is merged, or when a run that has more is used up. Counts of equal records
 * are added up. The last record written may still grow unless all is merged, so it is kept in `pending` (first id 0: none).
 * Returns the number of records written. */
int64_t wv_ngrams_merge(const wv_ngram_runs *runs, int32_t *pending, int32_t *out, int64_t capacity);

/* The trie on its way, one level an order. Of the n-grams of a level the first `taken` are elsewhere by now. */
typedef struct {
    int32_t *word, *first; /* first: child of the next level, counted from its begin */
    int64_t *count;
    int64_t size, capacity, taken; /* size + taken stay below 2^31 */
} wv_ngram_level;

typedef struct {
    int32_t order;
    int32_t last[WV_LARGEST_ORDER]; /* the last record */
    int started;
    wv_ngram_level levels[WV_LARGEST_ORDER];
} wv_ngram_builder;

void wv_ngram_builder_init(wv_ngram_builder *builder, int32_t order);
void wv_ngram_builder_free(wv_ngram_builder *builder);
/* Adds records that follow those added before; equal ones are summed. 0, -1 when memory or ids run out, -2 for records
 * that do not ascend. */
int wv_ngram_builder_add(wv_ngram_builder *builder, const int32_t *records, int64_t n);

/* A trie: `levels` has the first node of each length, and the number of nodes behind the last. first has one more entry
 * than there are nodes that can have children, those shorter than `order`. */
typedef struct {
    int32_t order;
    const int64_t *levels;
    const int32_t *word, *first, *suffix;
} wv_ngram_trie;

/* The child of `node` (WV_NO_NODE: the root, whose children are all words) by `word`, or WV_NO_NODE. */
int32_t wv_ngram_child(const wv_ngram_trie *trie, int32_t node, int32_t word);
/* The longest suffix of `node` and `word`, shorter than both together, that is a node. */
int32_t wv_ngram_suffix(const wv_ngram_trie *trie, int32_t node, int32_t word);
/* Fills suffix, which `trie` points to, for the children of those of the nodes begin .. end whose own suffix is one of
 * low .. high; the nodes have `length` words, and shorter ones are filled, those of single words too. Nodes are read in
 * order, the children of low .. high in any: a range that fits the cache, or the memory, is searched there. Returns how
 * many of these children lack the n-gram without their first word. */
int64_t wv_ngram_link(const wv_ngram_trie *trie, int32_t length, int64_t begin, int64_t end, int32_t low, int32_t high,
                      int32_t *suffix);

#endif
