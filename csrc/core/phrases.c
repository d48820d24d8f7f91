/* Pair counting works on batches as the tokenizer does: keys first, prefetching their slots, then the counting. */
#include "core/phrases.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 256, SMALLEST_TABLE = 1 << 12 };

static inline uint64_t pair_key(int32_t first, int32_t second) {
    return ((uint64_t)(uint32_t)(first + 1) << 32) | (uint32_t)(second + 1);
}

/* Upper bits choose the slot, lower bits the part: both must be well mixed. */
static inline uint64_t pair_hash(uint64_t key) {
    unsigned __int128 product = (unsigned __int128)(key ^ 0x9E3779B97F4A7C15u) * 0xD1B54A32D192ED03u;
    uint64_t hash = (uint64_t)product ^ (uint64_t)(product >> 64);
    hash *= 0x8EBC6AF09C88C6E3u;
    return hash ^ (hash >> 32);
}

static inline int in_part(const wv_pair_table *t, uint64_t hash) {
    return (hash & (((uint64_t)1 << t->part_bits) - 1)) == t->part;
}

static inline wv_pair *seek(const wv_pair_table *t, uint64_t key, uint64_t hash) {
    uint64_t index = hash >> t->shift;
    while (t->slots[index].key != key && t->slots[index].key != 0) index = (index + 1) & (t->capacity - 1);
    return &t->slots[index];
}

static int too_full(uint64_t pairs, uint64_t capacity) { return pairs > capacity / 3 * 2; }

static int set_capacity(wv_pair_table *t, uint64_t capacity) {
    wv_pair *slots = calloc(capacity, sizeof *slots);
    if (!slots) return -1;
    free(t->slots);
    t->slots = slots;
    t->capacity = capacity;
    t->shift = 64 - __builtin_ctzll(capacity);
    t->size = 0;
    return 0;
}

int wv_pairs_init(wv_pair_table *t, uint64_t limit) {
    memset(t, 0, sizeof *t);
    t->largest = SMALLEST_TABLE;
    /* Growing holds the old table beside the new one, which is twice as large. */
    while (t->largest * 2 * sizeof *t->slots / 2 * 3 <= limit) t->largest *= 2;
    return set_capacity(t, SMALLEST_TABLE);
}

void wv_pairs_begin_part(wv_pair_table *t, uint64_t part, int bits) {
    t->part = part;
    t->part_bits = bits;
}

void wv_pairs_free(wv_pair_table *t) {
    free(t->slots);
    memset(t, 0, sizeof *t);
}

static int grow(wv_pair_table *t) {
    wv_pair *old = t->slots;
    uint64_t old_capacity = t->capacity;
    t->slots = NULL;
    if (set_capacity(t, old_capacity * 2)) {
        t->slots = old;
        return -1;
    }
    for (uint64_t i = 0; i < old_capacity; i++) {
        if (old[i].key) {
            *seek(t, old[i].key, pair_hash(old[i].key)) = old[i];
            t->size++;
        }
    }
    free(old);
    return 0;
}

/* Keeps the half of the part whose next hash bit is 0 and puts the other half on the waiting list. */
static int split(wv_pair_table *t) {
    t->waiting_parts[t->waiting].bits = t->part_bits + 1;
    t->waiting_parts[t->waiting].part = t->part | (uint64_t)1 << t->part_bits;
    t->waiting++;
    t->part_bits++;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < t->capacity; i++) {
        if (t->slots[i].key && in_part(t, pair_hash(t->slots[i].key))) t->slots[kept++] = t->slots[i];
    }
    wv_pair *copy = malloc((kept ? kept : 1) * sizeof *copy);
    if (!copy) return -1;
    memcpy(copy, t->slots, kept * sizeof *copy);
    memset(t->slots, 0, t->capacity * sizeof *t->slots);
    for (uint64_t i = 0; i < kept; i++) *seek(t, copy[i].key, pair_hash(copy[i].key)) = copy[i];
    t->size = kept;
    free(copy);
    return 0;
}

/* Makes the table take a batch more. Splitting ends: each split halves the pairs, and there are 2^64 parts. */
static int reserve_batch(wv_pair_table *t) {
    while (too_full(t->size + BATCH, t->capacity)) {
        if (t->capacity < t->largest ? grow(t) : split(t)) return -1;
    }
    return 0;
}

int32_t wv_chain_id(wv_chains *chains, int32_t id, int32_t word, int make) {
    uint64_t key = pair_key(id, word);
    const wv_pair *pair = seek(&chains->table, key, pair_hash(key));
    if (pair->key) return (int32_t)pair->value;
    if (!make) return -2;
    if (chains->next == INT32_MAX || wv_pairs_set(&chains->table, key, chains->next)) return -1;
    return chains->next++;
}

/* As wv_pairs_count, of texts with connectors. */
static int count_over_connectors(wv_pair_table *t, const wv_pair_bound *bounds, wv_chains *chains, const int32_t *ids,
                                 int64_t length, wv_pair_place *place) {
    wv_pair_place at = *place;
    for (int64_t i = 0; i < length; i++) {
        int32_t id = ids[i];
        if (i % BATCH == 0 && reserve_batch(t)) return -1;
        if (id >= 0 && chains->connects[id]) {
            if (at.last < 0) continue;
            if (++at.connectors > WV_MOST_CONNECTORS) at.last = -1;
            at.chain = at.chain < 0 ? id : wv_chain_id(chains, at.chain, id, 1);
            if (at.chain < 0) return -1;
            continue;
        }
        if (id >= 0 && at.last >= 0) {
            wv_pair_bound a = bounds[at.last], b = bounds[id];
            if ((a.least > b.least ? a.least : b.least) < (a.most < b.most ? a.most : b.most)) {
                int32_t second = at.chain < 0 ? id : wv_chain_id(chains, at.chain, id, 1);
                if (second < 0) return -1;
                uint64_t key = pair_key(at.last, second), hash = pair_hash(key);
                if (in_part(t, hash)) {
                    wv_pair *pair = seek(t, key, hash);
                    t->size += pair->key == 0;
                    pair->key = key;
                    pair->value++;
                }
            }
        }
        at = (wv_pair_place){id, -1, 0};
    }
    *place = at;
    return 0;
}

int wv_pairs_count(wv_pair_table *t, const wv_pair_bound *bounds, wv_chains *chains, const int32_t *ids, int64_t length,
                   wv_pair_place *place) {
    if (chains->connects) return count_over_connectors(t, bounds, chains, ids, length, place);
    /* Stands for line ends: no pair with it passes the test. */
    const wv_pair_bound never = {1, 0};
    int32_t last = place->last;
    wv_pair_bound last_bound = last >= 0 ? bounds[last] : never;
    uint64_t keys[BATCH], hashes[BATCH];
    for (int64_t from = 0; from < length; from += BATCH) {
        int64_t to = length - from > BATCH ? from + BATCH : length;
        int candidates = 0;
        if (reserve_batch(t)) return -1;
        for (int64_t i = from; i < to; i++) {
            int32_t id = ids[i];
            wv_pair_bound bound = id >= 0 ? bounds[id] : never;
            float least = last_bound.least > bound.least ? last_bound.least : bound.least;
            float most = last_bound.most < bound.most ? last_bound.most : bound.most;
            uint64_t key = pair_key(last, id);
            uint64_t hash = pair_hash(key);
            keys[candidates] = key;
            hashes[candidates] = hash;
            candidates += (least < most) & in_part(t, hash);
            last = id;
            last_bound = bound;
        }
        for (int i = 0; i < candidates; i++) __builtin_prefetch(&t->slots[hashes[i] >> t->shift], 1);
        for (int i = 0; i < candidates; i++) {
            wv_pair *pair = seek(t, keys[i], hashes[i]);
            t->size += pair->key == 0;
            pair->key = keys[i];
            pair->value++;
        }
    }
    place->last = last;
    return 0;
}

int wv_pairs_next_part(wv_pair_table *t) {
    if (!t->waiting) return 0;
    t->waiting--;
    t->part_bits = t->waiting_parts[t->waiting].bits;
    t->part = t->waiting_parts[t->waiting].part;
    memset(t->slots, 0, t->capacity * sizeof *t->slots);
    t->size = 0;
    return 1;
}

int64_t wv_pairs_select(const wv_pair_table *t, uint64_t *from, int64_t least, wv_pair *out,
                        int64_t capacity) {
    int64_t selected = 0;
    for (; *from < t->capacity && selected < capacity; ++*from) {
        out[selected] = t->slots[*from];
        selected += out[selected].key != 0 && out[selected].value >= least;
    }
    return selected;
}

int wv_pairs_set(wv_pair_table *t, uint64_t key, int64_t value) {
    if (too_full(t->size + 1, t->capacity) && grow(t)) return -1;
    wv_pair *pair = seek(t, key, pair_hash(key));
    t->size += pair->key == 0;
    *pair = (wv_pair){key, value};
    return 0;
}

/* Writes the pending word and the connectors after it. */
static int32_t *flush_pending(wv_pair_walk *walk, int32_t *out) {
    if (walk->pending >= 0) *out++ = walk->pending;
    for (int32_t i = 0; i < walk->connectors; i++) *out++ = walk->waiting[i];
    walk->pending = WV_NO_WORD;
    walk->chain = -1;
    walk->connectors = 0;
    return out;
}

/* The id of the phrase that the pending word, the connectors after it and `id` are; -1 for none. */
static int32_t phrase_of(const wv_pair_table *t, wv_pair_walk *walk, int32_t id) {
    if (walk->pending < 0 || !walk->begins[walk->pending] || walk->chain == -2) return -1;
    int32_t second = walk->chain < 0 ? id : wv_chain_id(walk->chains, walk->chain, id, 0);
    if (second < 0) return -1;
    uint64_t key = pair_key(walk->pending, second);
    const wv_pair *pair = seek(t, key, pair_hash(key));
    return pair->key ? (int32_t)pair->value : -1;
}

int64_t wv_pairs_join(const wv_pair_table *t, wv_pair_walk *walk, const int32_t *ids, int64_t length, int32_t *out) {
    const unsigned char *connects = walk->chains->connects;
    int64_t *counts = walk->counts;
    int32_t *first = out;
    for (int64_t i = 0; i < length; i++) {
        int32_t id = ids[i];
        if (connects && id >= 0 && connects[id]) {
            if (walk->pending < 0 || walk->connectors == WV_MOST_CONNECTORS) {
                out = flush_pending(walk, out);
                *out++ = id;
            } else {
                walk->waiting[walk->connectors++] = id;
                if (walk->chain != -2) walk->chain = walk->chain < 0 ? id : wv_chain_id(walk->chains, walk->chain, id, 0);
            }
            continue;
        }
        int32_t phrase = id < 0 ? -1 : phrase_of(t, walk, id);
        if (phrase >= 0) {
            counts[walk->pending]--;
            counts[id]--;
            for (int32_t k = 0; k < walk->connectors; k++) counts[walk->waiting[k]]--;
            counts[phrase]++;
            walk->joined++;
            *out++ = phrase;
            walk->pending = WV_NO_WORD;
            walk->chain = -1;
            walk->connectors = 0;
            continue;
        }
        out = flush_pending(walk, out);
        if (id < 0)
            *out++ = id;
        else
            walk->pending = id;
    }
    return out - first;
}

uint64_t wv_render(const int32_t *ids, int64_t length, const unsigned char *blob, const int64_t *starts,
                   unsigned char *out, int *at_start) {
    uint64_t bytes = 0;
    int start = *at_start;
    for (int64_t i = 0; i < length; i++) {
        int32_t id = ids[i];
        if (id < 0) {
            if (out) out[bytes] = '\n';
            bytes++;
            start = 1;
            continue;
        }
        if (!start) {
            if (out) out[bytes] = ' ';
            bytes++;
        }
        start = 0;
        uint64_t size = (uint64_t)(starts[id + 1] - starts[id]);
        if (out) memcpy(out + bytes, blob + starts[id], size);
        bytes += size;
    }
    if (out) *at_start = start;
    return bytes;
}
