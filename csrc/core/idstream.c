/* Blocks are remapped and fingerprinted while they are in the cache; the lanes of the fingerprint are independent. */
#include "core/idstream.h"

#include <string.h>

#include "base/little_endian.h"
#include "base/wv_shared.h"

enum { BLOCK = 4096, LANES = 4, IDS = 2 * LANES };

static inline uint64_t rotate_left(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

/* Each lane step is invertible in the lane and in the input: two streams that differ in one id never collide. */
static void fingerprint_block(uint64_t *lanes, const int32_t *ids) {
    for (int lane = 0; lane < LANES; lane++) {
        uint64_t pair;
        memcpy(&pair, ids + 2 * lane, sizeof pair);
        lanes[lane] = rotate_left((lanes[lane] ^ pair) * 0x9E3779B97F4A7C15u, 29);
    }
}

void wv_fingerprint_init(wv_fingerprint *f) {
    *f = (wv_fingerprint){.lanes = {0xA0761D6478BD642Fu, 0xE7037ED1A0B428DBu, 0x8EBC6AF09C88C6E3u, 0x589965CC75374CC3u}};
}

void wv_fingerprint_update(wv_fingerprint *f, const int32_t *ids, int64_t length) {
    uint64_t lanes[LANES];
    while (f->length % IDS && length) {
        f->pending[f->length++ % IDS] = *ids++;
        length--;
        if (f->length % IDS == 0) fingerprint_block(f->lanes, f->pending);
    }
    memcpy(lanes, f->lanes, sizeof lanes);
    for (; length >= IDS; length -= IDS) {
        fingerprint_block(lanes, ids);
        ids += IDS;
        f->length += IDS;
    }
    memcpy(f->lanes, lanes, sizeof lanes);
    for (; length > 0; length--) f->pending[f->length++ % IDS] = *ids++;
}

void wv_fingerprint_finish(wv_fingerprint *f) {
    for (uint64_t i = f->length % IDS; i && i < IDS; i++) f->pending[i] = 0;
    if (f->length % IDS) fingerprint_block(f->lanes, f->pending);
}

/* Writes over its own input: `out` is not ahead of `ids`. */
static int64_t remap_block(int32_t *out, const int32_t *ids, int64_t length, const int32_t *lookup,
                           wv_remap_state *state) {
    int64_t kept = 0, lines = 0;
    int32_t last = state->last_id;
    int every_line = state->every_line;
    for (int64_t i = 0; i < length; i++) {
        int32_t id = ids[i];
        if (id < 0) { /* a line end stays after a word, or always; one word in fifty, so the branch is cheap */
            int keep = every_line || last != WV_END_OF_LINE;
            last = WV_END_OF_LINE;
            out[kept] = WV_END_OF_LINE;
            kept += keep;
            lines += keep;
        } else { /* a dropped word never */
            id = lookup[id];
            out[kept] = id;
            kept += id != WV_END_OF_LINE;
            last = id != WV_END_OF_LINE ? id : last;
        }
    }
    state->last_id = last;
    state->lines += lines;
    state->tokens += kept - lines;
    return kept;
}

int64_t wv_remap(int32_t *ids, int64_t length, const int32_t *lookup, wv_remap_state *state,
                 wv_fingerprint *fingerprint) {
    int64_t kept = 0;
    for (int64_t i = 0; i < length; i += BLOCK) {
        int64_t found = remap_block(ids + kept, ids + i, length - i < BLOCK ? length - i : BLOCK, lookup, state);
        wv_fingerprint_update(fingerprint, ids + kept, found);
        kept += found;
    }
    return kept;
}
