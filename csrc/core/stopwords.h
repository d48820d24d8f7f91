/* A set of at most 64 words, such as the stop words of a language, and which of them a text has. */
#ifndef WV_STOPWORDS_H
#define WV_STOPWORDS_H

#include <stdint.h>
#include <string.h>

#include "core/recordtext.h"

enum { WV_STOP_WORDS = 64, WV_STOP_SLOTS = 256 };

/* `first` are the bytes of a word of up to 8, else the first 8 of them. A slot without a word has no bit. */
typedef struct {
    uint64_t first, bit;
    const unsigned char *word;
    int32_t length;
} wv_stop_slot;

/* A word is in one of `probes` slots from the one on that its bytes name. A set `is_simple` if that is the only one and all
 * words have up to 8 bytes, as those of English. */
typedef struct {
    wv_stop_slot slot[WV_STOP_SLOTS];
    uint64_t factor;
    int32_t probes;
    int is_simple, has_marks; /* a word that is one byte, and no letter */
} wv_stop_words;

/* Of `count` different words, at most WV_STOP_WORDS, of one byte at least; word i is words[starts[i] .. starts[i + 1]). The
 * set reads these bytes as long as it is used. */
void wv_stop_words_make(wv_stop_words *set, const unsigned char *words, const int32_t *starts, int32_t count);

static inline uint32_t wv_stop_slot_of(uint64_t factor, uint64_t first, int32_t length) {
    return (uint32_t)((first + (uint32_t)length) * factor >> 56);
}

static inline uint64_t wv_stop_first(const unsigned char *at, int32_t length, const unsigned char *end) {
    uint64_t eight = 0;
    if (end - at >= 8) {
        eight = wv_eight(at);
    } else {
        memcpy(&eight, at, (size_t)(end - at));
    }
    uint64_t beyond = length < 8 ? UINT64_MAX << (8 * length & 63) : 0;
    return eight & ~beyond;
}

/* The bit of a token of a text that ends at `end`; 0 for one that is not in the set. Short tokens meet no branch: they are too
 * different for a processor to foresee it. `is_simple`: a constant, where the set is so. */
static inline uint64_t wv_stop_bit(const wv_stop_words *set, const unsigned char *at, int32_t length, const unsigned char *end,
                                   int is_simple) {
    uint64_t first = wv_stop_first(at, length, end), found = 0;
    uint32_t slot = wv_stop_slot_of(set->factor, first, length);
    for (int32_t i = 0; i < (is_simple ? 1 : set->probes); i++) {
        const wv_stop_slot *s = &set->slot[(slot + (uint32_t)i) % WV_STOP_SLOTS];
        uint64_t bit = s->bit & -(uint64_t)((s->first == first) & (s->length == length));
        if (!is_simple && (bit != 0) & (length > 8) && memcmp(s->word + 8, at + 8, (size_t)length - 8)) bit = 0;
        found |= bit;
    }
    return found;
}

#endif
