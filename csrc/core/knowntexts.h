/* Texts that stayed, each with the set of its shingles, and which of them another text is like.
 *
 * A text is compared with those that share a key of some band with it: by the Jaccard similarity of the two sets. Memory holds
 * a slot of eight bytes for each key, 32 bits of it and the number of the text, and where the text's set lies in a file. So
 * two keys may be taken for one; the comparison decides.
 *
 * A key is remembered of the first WV_KNOWN_OF_KEY texts that have it, and a text is compared with WV_KNOWN_COMPARED at most,
 * those that share the most keys first: the time stays bounded where thousands of texts share a part. */
#ifndef WV_KNOWNTEXTS_H
#define WV_KNOWNTEXTS_H

#include <stdint.h>

enum {
    WV_KNOWN_OF_KEY = 16,
    WV_KNOWN_COMPARED = 64,
    WV_KNOWN_NONE = -1,
    WV_KNOWN_NO_MEMORY = -2,
    WV_KNOWN_UNREADABLE = -3 /* errno says why; 0: the file ends */
};

/* 20 bytes, of which every text that stays takes as many. */
typedef struct {
    uint32_t offset;      /* of its set in the file */
    uint16_t offset_high; /* bits 32 to 47 */
    uint16_t file;        /* its descriptor */
    uint32_t count;       /* of its shingles */
    uint32_t place[2];
} wv_known_text;

/* Says where the set of a text lies. 0, or -1 for a descriptor or offset that is too large. */
int wv_known_put_at(wv_known_text *text, int file, uint64_t offset);

typedef struct {
    uint64_t *slot, capacity, used;
} wv_known_keys;

typedef struct {
    int bands;
    double threshold;
    wv_known_keys *keys; /* of each band */
    wv_known_text *text;
    int64_t texts, capacity;
    uint64_t *candidate;
    uint32_t *asked, *read; /* the set of the text that is asked about, as a table; a set from a file */
    int64_t asked_slots, read_capacity;
} wv_known;

/* 0, or -1 without memory; wv_known_free() is for both. */
int wv_known_init(wv_known *known, int bands, double threshold);
void wv_known_free(wv_known *known);

/* Makes room for `more` texts. 0, or -1 without memory. */
int wv_known_reserve(wv_known *known, int64_t more);

/* Adds a text with these keys; there is room for it. `shared` has a bit for each band, set where another text of the corpus
 * has this key, too: the other keys are neither kept nor looked for. NULL: all are. */
void wv_known_add(wv_known *known, const uint64_t *keys, const unsigned char *shared, const wv_known_text *text);

/* The known text that a text with these keys and this set is like, and how similar they are: the first that is similar
 * enough, those that share the most keys first, then earlier ones. WV_KNOWN_NONE, or what failed. The sets of the texts from
 * `beside` on are not in their files yet; they are at memory[number - beside]. */
int64_t wv_known_like(wv_known *known, const uint64_t *keys, const unsigned char *shared, const uint32_t *set, int64_t count,
                      int64_t beside, const uint32_t **memory, double *similarity);

#endif
