/* See wordspill.h. */
#include "core/wordspill.h"

#include <stdlib.h>

enum {
    PART_BITS = 6,       /* WV_SPILL_PARTS is 2 to their power */
    AT_ONCE = 64,        /* records whose slots are fetched together */
    LEAST_WORDS = 16,    /* of a map, however little memory it has: every level gets somewhere */
    MOST_NUMBER = 10,    /* bytes of a 64-bit number, 7 bits each */
    LEAST_SEGMENT = 256, /* bytes */
};

void wv_spill_init(wv_spill *spill, int level, uint64_t most_bytes) {
    memset(spill, 0, sizeof *spill);
    spill->level = level;
    spill->most_bytes = most_bytes;
}

void wv_spill_empty(wv_spill *spill) {
    for (int part = 0; part < WV_SPILL_PARTS; part++) free(spill->segments[part].bytes);
    memset(spill->segments, 0, sizeof spill->segments);
    spill->bytes = 0;
}

int wv_spill_reserve(wv_spill *spill, wv_wordmap *map, int64_t more) {
    if (!spill->is_closed && map->size >= LEAST_WORDS)
        spill->is_closed = wv_wordmap_bytes_with(map, more) > spill->most_bytes;
    return spill->is_closed ? 0 : wv_wordmap_reserve(map, more);
}

/* By bits of another hash for every level, and none that choose the slot in a map: the words of one part would crowd
 * into a part of its table. */
static wv_segment *segment_of(wv_spill *spill, const unsigned char *word, size_t length) {
    const int64_t starts[2] = {0, (int64_t)length};
    uint64_t hash;
    wv_hash_words(word, starts, 1, &hash);
    uint64_t mixed = wv_fold_product(hash ^ 0xA0761D6478BD642Fu, 0xE7037ED1A0B428DBu + 2 * (uint64_t)spill->level);
    return &spill->segments[mixed >> (64 - PART_BITS)];
}

static unsigned char *put_number(unsigned char *out, uint64_t number) {
    for (; number > 127; number >>= 7) *out++ = (unsigned char)(number | 128);
    *out++ = (unsigned char)number;
    return out;
}

int wv_spill_put(wv_spill *spill, const unsigned char *word, size_t length, int64_t place) {
    wv_segment *segment = segment_of(spill, word, length);
    uint64_t needed = segment->length + length + 2 * MOST_NUMBER;
    if (needed > segment->capacity) {
        uint64_t capacity = needed + segment->capacity / 2 + LEAST_SEGMENT;
        unsigned char *bytes = realloc(segment->bytes, capacity);
        if (!bytes) return WV_NO_MEMORY;
        segment->bytes = bytes;
        segment->capacity = capacity;
    }
    unsigned char *begin = segment->bytes + segment->length;
    unsigned char *out = put_number(begin, length);
    out = put_number(out, (uint64_t)(place - segment->place));
    memcpy(out, word, length);
    segment->place = place;
    segment->length += (uint64_t)(out - begin) + length;
    spill->bytes += (uint64_t)(out - begin) + length;
    return 0;
}

int wv_stream_counts_init(wv_stream_counts *counts) {
    memset(counts, 0, sizeof *counts);
    return wv_wordmap_init(&counts->map, 0);
}

void wv_stream_counts_free(wv_stream_counts *counts) {
    wv_wordmap_free(&counts->map);
    free(counts->firsts);
    memset(counts, 0, sizeof *counts);
}

/* NULL: the number does not end before `end`. */
static const unsigned char *read_number(const unsigned char *at, const unsigned char *end, uint64_t *number) {
    *number = 0;
    for (int shift = 0; at < end && shift < 7 * MOST_NUMBER; shift += 7) {
        *number |= (uint64_t)(*at & 127) << shift;
        if (!(*at++ & 128)) return at;
    }
    return NULL;
}

static int reserve_firsts(wv_stream_counts *counts, int64_t more) {
    int64_t needed = counts->map.size + more;
    if (needed <= counts->capacity) return 0;
    int64_t capacity = needed + needed / 2;
    int64_t *firsts = realloc(counts->firsts, (size_t)capacity * sizeof *firsts);
    if (!firsts) return WV_NO_MEMORY;
    counts->firsts = firsts;
    counts->capacity = capacity;
    return 0;
}

typedef struct {
    const unsigned char *word;
    uint64_t length;
    int64_t place;
    wv_word_key key; /* {0, length} of one that is longer than a key */
    wv_slot *home;
} record;

/* Reads up to AT_ONCE records from *at on and moves *at behind them. How many, or WV_BAD_RECORD. */
static int read_records(const unsigned char **at, const unsigned char *end, int64_t *place, record *records) {
    int n = 0;
    while (n < AT_ONCE && *at < end) {
        record *r = &records[n++];
        uint64_t distance;
        const unsigned char *p = read_number(*at, end, &r->length);
        if (p) p = read_number(p, end, &distance);
        if (!p || r->length == 0 || r->length > (uint64_t)(end - p)) return WV_BAD_RECORD;
        r->place = *place += (int64_t)distance;
        r->word = p;
        r->key = wv_word_key_at(p, r->length, end);
        *at = p + r->length;
    }
    return n;
}

static int count_record(wv_stream_counts *counts, wv_spill *deeper, const record *r) {
    wv_wordmap *map = &counts->map;
    int32_t words = map->size;
    int known_only = deeper->is_closed;
    wv_slot *slot = r->key.low   ? wv_wordmap_seek(map, r->key, r->home, known_only)
                    : known_only ? wv_wordmap_find(map, r->word, r->length)
                                 : wv_wordmap_add(map, r->word, r->length);
    if (!slot) return known_only ? wv_spill_put(deeper, r->word, r->length, r->place) : WV_NO_MEMORY;
    slot->count++;
    if (slot->id == words) counts->firsts[words] = r->place;
    return 0;
}

int wv_stream_counts_add(wv_stream_counts *counts, wv_spill *deeper, const unsigned char *bytes, uint64_t length) {
    const unsigned char *end = bytes + length;
    record records[AT_ONCE];
    int64_t place = 0;
    while (bytes < end) {
        int n = read_records(&bytes, end, &place, records);
        if (n < 0) return n;
        int failure = wv_spill_reserve(deeper, &counts->map, n);
        if (!failure) failure = reserve_firsts(counts, n);
        for (int i = 0; i < n && !failure; i++) {
            records[i].home = wv_home_slot(&counts->map, wv_hash_key(records[i].key));
            __builtin_prefetch(records[i].home, 1);
        }
        for (int i = 0; i < n && !failure; i++) failure = count_record(counts, deeper, &records[i]);
        if (failure) return failure;
    }
    return 0;
}
