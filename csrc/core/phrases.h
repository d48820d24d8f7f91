/* Pairs of neighboring words in an id stream: counting them in bounded memory, and replacing chosen ones by one id.
 *
 * Counting is exact. A pair that cannot reach the wanted score whatever its count (see wv_pair_bound) is not counted at
 * all. When the table of the others has grown to its limit, half of the hash space is dropped and the other half counted
 * to the end; the dropped part is counted in another walk over the stream, split again when it must be. So little memory
 * costs walks, not counts, and nothing goes to disk.
 *
 * Connectors ("of", "the") are no words of pairs: they may stand between two. Then the second word of the pair is the id
 * of the whole chain, the connectors and the word, which wv_chains gives out.
 */
#ifndef WV_PHRASES_H
#define WV_PHRASES_H

#include <stddef.h>
#include <stdint.h>

/* What a word's own count says about all its pairs: (a, b) can reach the wanted score only if
 *     max(a.least, b.least) < min(a.most, b.most).
 * The scores are such functions of the three counts that this is exact for a pair as frequent as its rarer word. */
typedef struct {
    float least, most;
} wv_pair_bound;

typedef struct {
    uint64_t key; /* first word + 1 in the upper half, second word + 1 in the lower; 0: the slot is empty */
    int64_t value;
} wv_pair;

typedef struct {
    wv_pair *slots;
    uint64_t capacity, largest; /* powers of two; `largest` is the limit */
    int shift;
    uint64_t size;
    /* The part of the hash space being counted: hashes whose lower `part_bits` bits are `part`. Parts still to count: */
    int part_bits, waiting;
    uint64_t part;
    struct {
        int bits;
        uint64_t part;
    } waiting_parts[64];
} wv_pair_table;

/* Ids for chains of words: of (id, next word) each, so that a longer chain is one of a chain and a word. */
typedef struct {
    const unsigned char *connects; /* per word id: 1 for a connector; NULL: there are none */
    wv_pair_table table;           /* (id, word) -> id of the chain */
    int32_t next;                  /* the first id that is not given out; ids of words are below the first of all */
} wv_chains;

enum { WV_MOST_CONNECTORS = 16 }; /* more of them in a row stand between no pair */

/* The id of a chain, -2 for one that is not known; with `make` a new one for that, -1 when there is no memory. */
int32_t wv_chain_id(wv_chains *chains, int32_t id, int32_t word, int make);

/* What counting carries from piece to piece: the last word that was no connector, -1 at a line's start, the id of the
 * chain of connectors since then, -1 for none, and how many these are. */
typedef struct {
    int32_t last, chain, connectors;
} wv_pair_place;

/* 0 or -1 (out of memory). `limit` is in bytes, temporary copies included. */
int wv_pairs_init(wv_pair_table *table, uint64_t limit);
/* Begins with the part `part` of 2^bits; the table counts that and what it is split into. */
void wv_pairs_begin_part(wv_pair_table *table, uint64_t part, int bits);
void wv_pairs_free(wv_pair_table *table);

/* Counts the pairs of ids[0, length). `place` is that before ids[0] and is moved on; line ends separate words. 0 or -1
 * (out of memory). */
int wv_pairs_count(wv_pair_table *table, const wv_pair_bound *bounds, wv_chains *chains, const int32_t *ids,
                   int64_t length, wv_pair_place *place);
/* Empties the table and turns to the next part; 0 when there is none. */
int wv_pairs_next_part(wv_pair_table *table);

/* The pairs with value >= least in slots[*from ..]: at most `capacity` of them, written to out. Returns how many; *from moves
 * on, to `capacity` at the end. */
int64_t wv_pairs_select(const wv_pair_table *table, uint64_t *from, int64_t least, wv_pair *out,
                        int64_t capacity);

/* Sets a pair's value. 0 or -1. */
int wv_pairs_set(wv_pair_table *table, uint64_t key, int64_t value);

/* A walk that replaces pairs, and what it carries from call to call. */
#define WV_NO_WORD (-2)
typedef struct {
    const unsigned char *begins; /* per id: 1 when a pair begins with the word */
    int64_t *counts;             /* per id, kept up to date */
    int64_t joined;              /* pairs replaced */
    int32_t pending;             /* the last word; start with WV_NO_WORD */
    int32_t chain;               /* the connectors after it: the id of their chain, -1 for none, -2 for an unknown one */
    int32_t connectors, waiting[WV_MOST_CONNECTORS];
    wv_chains *chains;
} wv_pair_walk;

/* Replaces each pair in `table` (value: the id that stands for it) in one walk from the left; a word that has become the
 * right half of a pair does not begin another. out may be ids in a stream kept in one piece, otherwise it has room for
 * length + 1 + WV_MOST_CONNECTORS. Returns the ids written. */
int64_t wv_pairs_join(const wv_pair_table *table, wv_pair_walk *walk, const int32_t *ids, int64_t length, int32_t *out);

/* Text of an id stream: words with a space between, a newline for each line end. `at_start` (1 at first) carries whether
 * the next word begins a line. First call with out NULL: the bytes needed; state moves on only when writing. */
uint64_t wv_render(const int32_t *ids, int64_t length, const unsigned char *blob, const int64_t *starts,
                   unsigned char *out, int *at_start);

#endif
