#include "core/knowntexts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMALLEST = 1024 };

static inline uint64_t home(const wv_known_keys *keys, uint32_t tag) { return (uint64_t)tag * keys->capacity >> 32; }

static inline uint64_t after(const wv_known_keys *keys, uint64_t at) { return at + 1 < keys->capacity ? at + 1 : 0; }

/* A slot is the key's lower half in front of the text's number + 1. */
static inline uint32_t tag_of(uint64_t slot) { return (uint32_t)(slot >> 32); }

static void put(wv_known_keys *keys, uint64_t slot) {
    uint64_t at = home(keys, tag_of(slot));
    while (keys->slot[at]) at = after(keys, at);
    keys->slot[at] = slot;
    keys->used++;
}

static int reserve_keys(wv_known_keys *keys, int64_t more) {
    uint64_t needed = keys->used + (uint64_t)more;
    needed += needed / 3 + 1;
    if (needed <= keys->capacity) return 0;
    uint64_t capacity = keys->capacity + keys->capacity / 2;
    if (capacity < SMALLEST) capacity = SMALLEST;
    if (capacity < needed) capacity = needed;
    wv_known_keys larger = {calloc(capacity, sizeof *larger.slot), capacity, 0};
    if (!larger.slot) return -1;
    for (uint64_t i = 0; i < keys->capacity; i++) {
        if (keys->slot[i]) put(&larger, keys->slot[i]);
    }
    free(keys->slot);
    *keys = larger;
    return 0;
}

int wv_known_init(wv_known *known, int bands, double threshold) {
    memset(known, 0, sizeof *known);
    known->bands = bands;
    known->threshold = threshold;
    known->keys = calloc((size_t)bands, sizeof *known->keys);
    known->candidate = malloc((size_t)bands * WV_KNOWN_OF_KEY * sizeof *known->candidate);
    return known->keys && known->candidate ? 0 : -1;
}

void wv_known_free(wv_known *known) {
    for (int band = 0; known->keys && band < known->bands; band++) free(known->keys[band].slot);
    free(known->keys);
    free(known->text);
    free(known->candidate);
    free(known->asked);
    free(known->read);
    memset(known, 0, sizeof *known);
}

int wv_known_put_at(wv_known_text *text, int file, uint64_t offset) {
    if (file < 0 || file > UINT16_MAX || offset >> 48) return -1;
    text->file = (uint16_t)file;
    text->offset = (uint32_t)offset;
    text->offset_high = (uint16_t)(offset >> 32);
    return 0;
}

int wv_known_reserve(wv_known *known, int64_t more) {
    for (int band = 0; band < known->bands; band++) {
        if (reserve_keys(&known->keys[band], more)) return -1;
    }
    if (known->texts + more <= known->capacity) return 0;
    int64_t capacity = known->texts + more + known->capacity / 2;
    wv_known_text *text = realloc(known->text, (size_t)capacity * sizeof *text);
    if (!text) return -1;
    known->text = text;
    known->capacity = capacity;
    return 0;
}

static inline int is_shared(const unsigned char *shared, int band) { return !shared || shared[band >> 3] >> (band & 7) & 1; }

void wv_known_add(wv_known *known, const uint64_t *keys, const unsigned char *shared, const wv_known_text *text) {
    for (int band = 0; band < known->bands; band++) {
        if (!is_shared(shared, band)) continue;
        wv_known_keys *of_band = &known->keys[band];
        uint32_t tag = (uint32_t)keys[band];
        uint64_t at = home(of_band, tag);
        int same = 0;
        for (; of_band->slot[at] && same < WV_KNOWN_OF_KEY; at = after(of_band, at)) same += tag_of(of_band->slot[at]) == tag;
        if (same == WV_KNOWN_OF_KEY) continue;
        of_band->slot[at] = (uint64_t)tag << 32 | (uint64_t)(known->texts + 1);
        of_band->used++;
    }
    known->text[known->texts++] = *text;
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The texts that share a key, those that share the most first, then earlier ones. */
static int64_t find_candidates(wv_known *known, const uint64_t *keys, const unsigned char *shared) {
    uint64_t *found = known->candidate;
    int64_t n = 0, distinct = 0;
    for (int band = 0; band < known->bands; band++) {
        if (!is_shared(shared, band)) continue;
        const wv_known_keys *of_band = &known->keys[band];
        uint32_t tag = (uint32_t)keys[band];
        if (!of_band->capacity) continue;
        for (uint64_t at = home(of_band, tag); of_band->slot[at]; at = after(of_band, at)) {
            if (tag_of(of_band->slot[at]) == tag) found[n++] = (uint32_t)of_band->slot[at] - 1;
        }
    }
    if (n < 2) return n;
    qsort(found, (size_t)n, sizeof *found, compare);
    for (int64_t i = 0, same; i < n; i += same) {
        for (same = 1; i + same < n && found[i + same] == found[i]; same++) {}
        found[distinct++] = (uint64_t)(known->bands - same) << 32 | found[i];
    }
    qsort(found, (size_t)distinct, sizeof *found, compare);
    return distinct;
}

static int make_table(wv_known *known, const uint32_t *set, int64_t count) {
    int64_t slots = 16;
    while (slots < 2 * count) slots *= 2;
    if (slots > known->asked_slots) {
        free(known->asked);
        known->asked = malloc((size_t)slots * sizeof *known->asked);
        known->asked_slots = known->asked ? slots : 0;
        if (!known->asked) return -1;
    }
    memset(known->asked, 0, (size_t)slots * sizeof *known->asked);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = set[i] & (slots - 1);
        while (known->asked[at]) at = (at + 1) & (slots - 1);
        known->asked[at] = set[i];
    }
    return 0;
}

/* How many of the set are in the table of one of `count` shingles. */
static int64_t count_shared(const wv_known *known, int64_t count, const uint32_t *set, int64_t n) {
    int64_t slots = 16, shared = 0;
    while (slots < 2 * count) slots *= 2;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = set[i] & (slots - 1);
        while (known->asked[at] && known->asked[at] != set[i]) at = (at + 1) & (slots - 1);
        shared += known->asked[at] != 0;
    }
    return shared;
}

/* The set of a text from its file; NULL: *problem. */
static const uint32_t *read_set(wv_known *known, const wv_known_text *text, int64_t *problem) {
    if (text->count > known->read_capacity) {
        free(known->read);
        known->read = malloc((size_t)text->count * sizeof *known->read);
        known->read_capacity = known->read ? text->count : 0;
        *problem = WV_KNOWN_NO_MEMORY;
        if (!known->read) return NULL;
    }
    uint64_t offset = (uint64_t)text->offset_high << 32 | text->offset;
    size_t whole = (size_t)text->count * sizeof *known->read, done = 0;
    *problem = WV_KNOWN_UNREADABLE;
    while (done < whole) {
        errno = 0;
        ssize_t n = pread(text->file, (char *)known->read + done, whole - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return NULL;
        done += (size_t)n;
    }
    return known->read;
}

int64_t wv_known_like(wv_known *known, const uint64_t *keys, const unsigned char *shared, const uint32_t *set, int64_t count,
                      int64_t beside, const uint32_t **memory, double *similarity) {
    int64_t candidates = find_candidates(known, keys, shared), compared = 0;
    for (int64_t i = 0; i < candidates && compared < WV_KNOWN_COMPARED; i++) {
        int64_t number = (uint32_t)known->candidate[i];
        const wv_known_text *text = &known->text[number];
        int64_t smaller = count < text->count ? count : text->count, larger = count + text->count - smaller;
        if ((double)smaller / (double)larger < known->threshold) continue;
        int64_t problem;
        const uint32_t *other = number >= beside ? memory[number - beside] : read_set(known, text, &problem);
        if (!other) return problem;
        if (compared++ == 0 && make_table(known, set, count)) return WV_KNOWN_NO_MEMORY;
        int64_t common = count_shared(known, count, other, text->count);
        *similarity = (double)common / (double)(count + text->count - common);
        if (*similarity >= known->threshold) return number;
    }
    return WV_KNOWN_NONE;
}
