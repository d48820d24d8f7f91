/* The tokenizer works on batches in three steps, so that the waits of one word overlap with the work on others:
 *
 *   1. bytes -> bit masks of separators, 64 bytes at a time; mask edges -> offsets where words start and end;
 *   2. offsets -> keys and hashes, prefetching the slot of each;
 *   3. keys -> slots: compare, count, write the id.
 */
#include "core/tokenizer.h"

#include <stdlib.h>

#include "base/wv_shared.h"
#include "core/separators.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    BLOCK = 64,                   /* bytes per mask */
    BATCH_BYTES = 4096,           /* bytes per batch: all arrays of a batch stay in the first-level cache */
    BATCH = BATCH_BYTES / 2 + 8,  /* words per batch: every second byte may be one; step 1 writes a few beyond */
};

/* ---------------------------------------------------------------- step 1: masks and offsets */

wv_masks wv_block_masks_portable(const unsigned char *block) {
    const uint64_t ones = 0x0101010101010101u, low7 = 0x7F7F7F7F7F7F7F7Fu, high = 0x8080808080808080u;
    wv_masks masks = {0, 0};
    for (int i = 0; i < BLOCK / 8; i++) {
        uint64_t x;
        memcpy(&x, block + 8 * i, sizeof x);
/* High bit of each byte that is zero; exact, no borrow runs from byte to byte. */
#define ZERO_BYTES(v) (~((((v)&low7) + low7) | (v) | low7))
        uint64_t newline = ZERO_BYTES(x ^ ones * '\n');
        uint64_t space = ZERO_BYTES(x ^ ones * ' ');
        uint64_t nul = ZERO_BYTES(x);
        /* WV_FIRST_CONTROL <= byte <= WV_LAST_CONTROL, for bytes below 128. */
        uint64_t from_first = (x & low7) + ones * (128 - WV_FIRST_CONTROL);
        uint64_t behind_last = (x & low7) + ones * (127 - WV_LAST_CONTROL);
        uint64_t range = from_first & ~behind_last & ~x & high;
#undef ZERO_BYTES
        /* Gathers the eight high bits into one byte. */
        masks.separators |= (((newline | space | nul | range) >> 7) * 0x0102040810204080u >> 56) << (8 * i);
        masks.newlines |= ((newline >> 7) * 0x0102040810204080u >> 56) << (8 * i);
    }
    return masks;
}

#if defined(__SSE2__)
static inline wv_masks block_masks(const unsigned char *block) {
    wv_masks masks = {0, 0};
    for (int i = 0; i < BLOCK / 16; i++) {
        __m128i x = _mm_loadu_si128((const __m128i *)(block + 16 * i));
        __m128i newline = _mm_cmpeq_epi8(x, _mm_set1_epi8('\n'));
        __m128i space = _mm_cmpeq_epi8(x, _mm_set1_epi8(' '));
        __m128i nul = _mm_cmpeq_epi8(x, _mm_setzero_si128());
        /* byte - first <= last - first, without sign */
        __m128i from_first = _mm_sub_epi8(x, _mm_set1_epi8(WV_FIRST_CONTROL));
        __m128i span = _mm_set1_epi8(WV_LAST_CONTROL - WV_FIRST_CONTROL);
        __m128i range = _mm_cmpeq_epi8(_mm_min_epu8(from_first, span), from_first);
        __m128i separator = _mm_or_si128(_mm_or_si128(space, nul), range);
        masks.separators |= (uint64_t)(uint32_t)_mm_movemask_epi8(separator) << (16 * i);
        masks.newlines |= (uint64_t)(uint32_t)_mm_movemask_epi8(newline) << (16 * i);
    }
    return masks;
}
#else
static inline wv_masks block_masks(const unsigned char *block) { return wv_block_masks_portable(block); }
#endif

wv_masks wv_block_masks(const unsigned char *block) { return block_masks(block); }

/* Software popcount: the baseline instruction set has no other. */
static inline int bits_set(uint64_t x) {
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    return (int)(((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
}

/* Appends the positions of the set bits, four at a time: up to three entries beyond the result are scribbled on. */
static inline uint32_t *append_positions(uint32_t *out, uint64_t bits, int count, uint32_t base) {
    for (int i = 0; i < count; i += 4) {
        for (int j = 0; j < 4; j++) {
            out[i + j] = base + (uint32_t)__builtin_ctzll(bits | (uint64_t)1 << 63);
            bits &= bits - 1;
        }
    }
    return out + count;
}

typedef struct {
    uint32_t starts[BATCH + BLOCK], ends[BATCH + BLOCK]; /* offsets of words in the chunk */
    uint32_t line_ends[BATCH_BYTES];                     /* words of this batch that stand before each \n */
    uint32_t words, lines;
    uint32_t open_start; /* start of the word that reaches the end of the batch, if any */
    int open;
    wv_word_key keys[BATCH];
    wv_slot *slots[BATCH]; /* where to look first */
} batch;

/* Splits bytes[from, to) where to - from <= BATCH_BYTES. */
static void split(batch *b, const unsigned char *bytes, uint32_t from, uint32_t to) {
    uint32_t *starts = b->starts, *ends = b->ends, *lines = b->line_ends;
    uint64_t open = (uint64_t)b->open;
    if (open) *starts++ = b->open_start;
    unsigned char padded[BLOCK];
    for (uint32_t base = from; base < to; base += BLOCK) {
        wv_masks masks;
        if (to - base >= BLOCK) {
            masks = block_masks(bytes + base);
        } else {
            /* Behind the last byte: more of the same, so that nothing starts or ends there. */
            memset(padded, wv_is_separator(bytes[to - 1]) ? ' ' : 'x', sizeof padded);
            memcpy(padded, bytes + base, to - base);
            masks = block_masks(padded);
        }
        uint64_t word = ~masks.separators;
        uint64_t before = word << 1 | open;
        uint64_t start = word & ~before;
        uint64_t end = ~word & before;
        if (masks.newlines) {
            uint32_t done = (uint32_t)(ends - b->ends);
            for (uint64_t rest = masks.newlines; rest; rest &= rest - 1) {
                uint64_t up_to = rest ^ (rest - 1); /* the bits up to and with the lowest set one */
                *lines++ = done + (uint32_t)bits_set(end & up_to);
            }
        }
        starts = append_positions(starts, start, bits_set(start), base);
        ends = append_positions(ends, end, bits_set(end), base);
        open = word >> 63;
    }
    b->words = (uint32_t)(ends - b->ends);
    b->lines = (uint32_t)(lines - b->line_ends);
    b->open = (int)open;
    if (open) b->open_start = starts[-1];
}

/* ---------------------------------------------------------------- step 2: keys and hashes */

/* Makes the keys; a word longer than a key gets {0, its length}. `readable` is the end of the readable bytes. */
static void make_keys(batch *b, const wv_wordmap *map, const unsigned char *bytes, const unsigned char *readable) {
    for (uint32_t i = 0; i < b->words; i++) {
        const unsigned char *word = bytes + b->starts[i];
        wv_word_key key = wv_word_key_at(word, b->ends[i] - b->starts[i], readable);
        b->keys[i] = key;
        b->slots[i] = wv_home_slot(map, wv_hash_key(key));
        __builtin_prefetch(b->slots[i], 1);
    }
}

/* ---------------------------------------------------------------- step 3: ids */

/* What is not a short word in its home slot. NULL: unknown (known_only), or out of memory. */
static __attribute__((noinline)) wv_slot *seek(wv_encoder *e, wv_word_key key, wv_slot *home, const unsigned char *word) {
    if (key.low) return wv_wordmap_seek(&e->map, key, home, e->known_only);
    return e->known_only ? wv_wordmap_find(&e->map, word, key.high) : wv_wordmap_add(&e->map, word, key.high);
}

/* Grows the map for `more` words. */
static int reserve_words(wv_encoder *e, int64_t more) {
    int failure = 0;
    if (e->spill) {
        failure = wv_spill_reserve(e->spill, &e->map, more);
        e->known_only = e->spill->is_closed;
    } else if (!e->known_only) {
        failure = wv_wordmap_reserve(&e->map, more);
    }
    return failure;
}

/* Grows the stream for `more` ids. */
static int reserve_ids(wv_encoder *e, int64_t more) {
    if (!e->keep_ids) e->stream.length = 0;
    return wv_idbuffer_reserve(&e->stream, more) ? WV_NO_MEMORY : 0;
}

static inline void end_line(wv_encoder *e) {
    if (e->last_id >= 0 || e->every_line) e->stream.ids[e->stream.length++] = WV_END_OF_LINE;
    e->last_id = WV_END_OF_LINE;
    e->lines++;
}

static int put_words(wv_encoder *e, const batch *b, const unsigned char *bytes, uint32_t from, uint32_t to) {
    int32_t *first = e->stream.ids + e->stream.length;
    int32_t *out = first;
    for (uint32_t i = from; i < to; i++) {
        wv_word_key key = b->keys[i];
        wv_slot *slot = b->slots[i];
        /* A long word's key {0, length} matches no slot: an empty one is {0, 0}. */
        if (__builtin_expect(slot->key.low != key.low || slot->key.high != key.high, 0)) {
            slot = seek(e, key, slot, bytes + b->starts[i]);
            if (!slot) {
                if (!e->known_only) return WV_NO_MEMORY;
                if (e->spill && wv_spill_put(e->spill, bytes + b->starts[i], b->ends[i] - b->starts[i], e->tokens + i))
                    return WV_NO_MEMORY;
                continue;
            }
        }
        slot->count++;
        *out++ = slot->id;
    }
    if (out != first) e->last_id = out[-1];
    e->stream.length += out - first;
    return 0;
}

static int put_batch(wv_encoder *e, batch *b, const unsigned char *bytes, const unsigned char *readable) {
    int failure = reserve_ids(e, (int64_t)b->words + b->lines);
    if (!failure) failure = reserve_words(e, b->words);
    if (failure) return failure;
    make_keys(b, &e->map, bytes, readable);
    uint32_t done = 0;
    for (uint32_t line = 0; line < b->lines && !failure; line++) {
        failure = put_words(e, b, bytes, done, b->line_ends[line]);
        done = b->line_ends[line];
        end_line(e);
    }
    if (!failure) failure = put_words(e, b, bytes, done, b->words);
    e->tokens += b->words;
    return failure;
}

/* ---------------------------------------------------------------- words cut by the end of a chunk */

static int append_carry(wv_encoder *e, const unsigned char *bytes, size_t length) {
    if (e->carry_length + length > e->carry_capacity) {
        size_t capacity = (e->carry_length + length) * 2;
        unsigned char *carry = realloc(e->carry, capacity);
        if (!carry) return WV_NO_MEMORY;
        e->carry = carry;
        e->carry_capacity = capacity;
    }
    memcpy(e->carry + e->carry_length, bytes, length);
    e->carry_length += length;
    return 0;
}

static int put_carry(wv_encoder *e) {
    if (e->carry_length == 0) return 0;
    int failure = reserve_ids(e, 1);
    if (!failure) failure = reserve_words(e, 1);
    if (failure) return failure;
    wv_slot *slot = e->known_only ? wv_wordmap_find(&e->map, e->carry, e->carry_length)
                                  : wv_wordmap_add(&e->map, e->carry, e->carry_length);
    if (!slot && !e->known_only) return WV_NO_MEMORY;
    if (slot) {
        slot->count++;
        e->last_id = slot->id;
        e->stream.ids[e->stream.length++] = slot->id;
    } else if (e->spill && wv_spill_put(e->spill, e->carry, e->carry_length, e->tokens)) {
        return WV_NO_MEMORY;
    }
    e->tokens++;
    e->carry_length = 0;
    return 0;
}

/* length < 2^32 */
static int feed_part(wv_encoder *e, const unsigned char *bytes, uint32_t length, batch *b) {
    uint32_t from = 0;
    int failure;
    if (e->carry_length) {
        while (from < length && !wv_is_separator(bytes[from])) from++;
        failure = append_carry(e, bytes, from);
        if (failure || from == length) return failure;
        failure = put_carry(e);
        if (failure) return failure;
    }
    b->open = 0;
    while (from < length) {
        uint32_t to = length - from > BATCH_BYTES ? from + BATCH_BYTES : length;
        split(b, bytes, from, to);
        failure = put_batch(e, b, bytes, bytes + length);
        if (failure) return failure;
        from = to;
    }
    return b->open ? append_carry(e, bytes + b->open_start, length - b->open_start) : 0;
}

int wv_encoder_feed(wv_encoder *e, const unsigned char *bytes, size_t length) {
    if (length == 0) return 0;
    batch *b = malloc(sizeof *b);
    if (!b) return WV_NO_MEMORY;
    int failure = 0;
    e->line_is_open = bytes[length - 1] != '\n';
    for (size_t done = 0; done < length && !failure;) {
        uint32_t part = length - done > 1u << 30 ? 1u << 30 : (uint32_t)(length - done);
        failure = feed_part(e, bytes + done, part, b);
        done += part;
    }
    free(b);
    return failure;
}

int wv_encoder_finish(wv_encoder *e) {
    int failure = put_carry(e);
    if (!failure) failure = reserve_ids(e, 1);
    if (!failure && e->line_is_open) end_line(e);
    e->line_is_open = 0;
    return failure;
}

int wv_encoder_init(wv_encoder *e, int known_only, int keep_ids, int every_line, int64_t expected_words) {
    memset(e, 0, sizeof *e);
    e->known_only = known_only;
    e->keep_ids = keep_ids;
    e->every_line = every_line;
    e->last_id = WV_END_OF_LINE;
    return wv_wordmap_init(&e->map, expected_words);
}

void wv_encoder_free(wv_encoder *e) {
    wv_wordmap_free(&e->map);
    wv_idbuffer_free(&e->stream);
    free(e->carry);
    memset(e, 0, sizeof *e);
}
