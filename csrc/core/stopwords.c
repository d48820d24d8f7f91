/* A set of stop words is made; see stopwords.h. */
#include "core/stopwords.h"

enum { TRIES = 64 };

/* With this factor. Words of which one is not where its bytes say make it slower, not wrong. */
static void place(wv_stop_words *set, const unsigned char *words, const int32_t *starts, int32_t count) {
    memset(set->slot, 0, sizeof set->slot);
    set->probes = set->is_simple = 1;
    for (int32_t i = 0; i < count; i++) {
        const unsigned char *word = words + starts[i];
        int32_t length = starts[i + 1] - starts[i], probes = 1;
        uint64_t first = wv_stop_first(word, length, word + length);
        uint32_t slot = wv_stop_slot_of(set->factor, first, length);
        for (; set->slot[slot].bit; probes++) slot = (slot + 1) % WV_STOP_SLOTS;
        set->slot[slot] = (wv_stop_slot){first, UINT64_C(1) << i, word, length};
        if (probes > set->probes) set->probes = probes;
        if (probes > 1 || length > 8) set->is_simple = 0;
    }
}

void wv_stop_words_make(wv_stop_words *set, const unsigned char *words, const int32_t *starts, int32_t count) {
    uint64_t factor = UINT64_C(0x9e3779b97f4a7c15), best = factor;
    int32_t fewest = INT32_MAX;
    for (int i = 0; i < TRIES && fewest > 1; i++, factor = factor * factor + (factor << 1) + 4) {
        set->factor = factor | 1;
        place(set, words, starts, count);
        if (set->probes >= fewest) continue;
        fewest = set->probes;
        best = set->factor;
    }
    set->factor = best;
    set->has_marks = 0;
    for (int32_t i = 0; i < count; i++) {
        unsigned char letter = words[starts[i]] | 0x20;
        set->has_marks |= starts[i + 1] - starts[i] == 1 && (letter < 'a' || letter > 'z');
    }
    place(set, words, starts, count);
}
