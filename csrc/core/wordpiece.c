#include "core/wordpiece.h"

#include <stdlib.h>
#include <string.h>

/* A word being read: word[:length]. */
typedef struct {
    unsigned char *word;
    int64_t length, characters;
    int64_t left; /* tokens that may still come */
} state;

int64_t wv_wordpiece_word_bytes(const wv_wordpiece *m) { return 4 * m->most_characters + 2 * WV_CHARACTER_BYTES; }

/* 0, 1 when there is no more room for a token of the text, or WV_PIECES_NO_MEMORY. */
static inline int put(const wv_wordpiece *m, state *s, int32_t number, wv_pieces *out) {
    if (!s->left) return 1;
    s->left--;
    if (number == m->dropped) return 0;
    if (out->count == out->capacity) {
        int64_t capacity = 2 * out->capacity + 1024;
        int32_t *larger = realloc(out->ids, (size_t)capacity * sizeof *larger);
        if (!larger) return WV_PIECES_NO_MEMORY;
        out->ids = larger;
        out->capacity = capacity;
    }
    out->ids[out->count++] = number;
    return 0;
}

static inline const wv_slot *find(const wv_wordmap *map, const unsigned char *piece, int64_t length) {
    return wv_wordmap_find((wv_wordmap *)(uintptr_t)map, piece, (size_t)length);
}

/* The end of the longest piece at word[from:], whose slot is *found; `from` when there is none. */
static int64_t longest_piece(const wv_wordpiece *m, const state *s, int64_t from, const wv_slot **found) {
    const wv_wordmap *map = from ? &m->rest : &m->first;
    int64_t end = s->length;
    if (end - from > m->longest_piece) {
        end = from + m->longest_piece;
        while (end > from && (s->word[end] & 0xc0) == 0x80) end--;
    }
    while (end > from) {
        *found = find(map, s->word + from, end - from);
        if (*found) return end;
        do end--;
        while (end > from && (s->word[end] & 0xc0) == 0x80);
    }
    return from;
}

/* Appends the tokens of the word that was read, if one was. */
static int end_word(const wv_wordpiece *m, state *s, wv_pieces *out) {
    if (!s->characters) return 0;
    int result = 0;
    if (s->characters > m->most_characters) {
        result = put(m, s, m->unknown, out);
    } else {
        const wv_slot *slot = find(&m->first, s->word, s->length);
        if (slot || m->is_whole) {
            result = put(m, s, slot ? (int32_t)slot->count : m->unknown, out);
        } else {
            int64_t count = out->count, left = s->left, at = 0;
            while (at < s->length) {
                int64_t end = longest_piece(m, s, at, &slot);
                if (end == at) { /* the whole word is unknown */
                    out->count = count;
                    s->left = left;
                    result = put(m, s, m->unknown, out);
                    break;
                }
                int full = put(m, s, (int32_t)slot->count, out);
                if (full < 0) return full;
                result |= full;
                at = end;
            }
        }
    }
    s->length = s->characters = 0;
    return result;
}

static inline void add(const wv_wordpiece *m, state *s, const wv_character *c) {
    if (s->characters > m->most_characters) return;
    memcpy(s->word + s->length, c->bytes, WV_CHARACTER_BYTES);
    s->length += c->length;
    for (int i = 0; i < c->length; i++) s->characters += (c->bytes[i] & 0xc0) != 0x80;
}

/* The longest added token at `at`, or -1. */
static int added_at(const wv_wordpiece *m, const unsigned char *at, const unsigned char *end) {
    for (int i = 0; i < m->added_count; i++) {
        int64_t length = m->added_starts[i + 1] - m->added_starts[i];
        if (end - at >= length && !memcmp(at, m->added + m->added_starts[i], (size_t)length)) return i;
    }
    return -1;
}

int64_t wv_wordpiece_read(const wv_wordpiece *m, const unsigned char *text, int64_t length, int64_t most, int is_ordered,
                          wv_pieces *out) {
    state s = {out->word, 0, 0, most ? most : INT64_MAX};
    const unsigned char *end = text + length;
    int before = WV_PIECE_SPACE, full = 0;
    int64_t problem = 0;
    for (const unsigned char *at = text; at < end && !full;) {
        if (m->begins[*at]) {
            int token = added_at(m, at, end);
            if (token >= 0) {
                full = end_word(m, &s, out);
                if (!full) full = put(m, &s, m->added_numbers[token], out);
                before = WV_PIECE_SPACE;
                at += m->added_starts[token + 1] - m->added_starts[token];
                continue;
            }
        }
        int bytes;
        const wv_character *c = wv_read_character(m->characters, at, end, &bytes, &problem);
        if (!c) return problem;
        at += bytes;
        int kind = c->flags & WV_CHARACTER_KIND;
        if (kind == WV_PIECE_HARD) {
            if (!is_ordered) return WV_SIMPLIFY_HARD;
            kind = WV_PIECE_LETTER;
        }
        if (kind != WV_PIECE_SPACE && !c->length) continue;
        if (kind != before || kind == WV_PIECE_ALONE) {
            full = end_word(m, &s, out);
            before = kind;
        }
        if (kind != WV_PIECE_SPACE) add(m, &s, c);
    }
    if (!full) full = end_word(m, &s, out);
    return full;
}
