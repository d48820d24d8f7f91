#include "core/simplify.h"

#include <stdlib.h>
#include <string.h>

/* The character at `at`, and how many bytes it has; NULL: `problem` says why there is none. */
typedef struct {
    const wv_characters *characters;
    const unsigned char *end;
    int64_t problem;
} reader;

wv_characters *wv_characters_new(void) { return calloc(1, sizeof(wv_characters)); }

void wv_characters_free(wv_characters *characters) {
    for (int i = 0; characters && i < WV_CHARACTER_PAGES; i++) free(atomic_load(&characters->page[i]));
    free(characters);
}

static int utf8_bytes(int32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

int wv_characters_add(wv_characters *characters, int page, const wv_character *rows) {
    for (int i = 0; i < WV_CHARACTER_PAGE; i++) {
        int most = WV_SIMPLIFY_GROWTH * utf8_bytes(page * WV_CHARACTER_PAGE + i);
        if (rows[i].length > (most < WV_CHARACTER_BYTES ? most : WV_CHARACTER_BYTES)) return -2;
    }
    wv_character *copy = malloc(WV_CHARACTER_PAGE * sizeof *copy), *none = NULL;
    if (!copy) return -1;
    memcpy(copy, rows, WV_CHARACTER_PAGE * sizeof *copy);
    if (!atomic_compare_exchange_strong(&characters->page[page], &none, copy)) free(copy); /* another thread was faster */
    return 0;
}

static inline const wv_character *read_character(reader *r, const unsigned char *at, int *length) {
    return wv_read_character(r->characters, at, r->end, length, &r->problem);
}

/* The end of the digits that begin at `at`; NULL: see the reader's problem. */
static const unsigned char *skip_digits(reader *r, const unsigned char *at) {
    while (at < r->end) {
        int length;
        const wv_character *c = read_character(r, at, &length);
        if (!c) return NULL;
        if ((c->flags & WV_CHARACTER_KIND) != WV_CHARACTER_DIGIT) break;
        at += length;
    }
    return at;
}

/* The end of a number, whose first digits end at `at`: one mark with digits behind it belongs to it. */
static const unsigned char *skip_number(reader *r, const unsigned char *at) {
    at = skip_digits(r, at);
    if (!at || at == r->end) return at;
    int length;
    const wv_character *c = read_character(r, at, &length);
    if (!(c->flags & WV_CHARACTER_MARK)) return at; /* it was read before */
    const unsigned char *end = skip_digits(r, at + length);
    return end == at + length ? at : end;
}

/* Whether a cased character follows, 1 or 0; -1: see the reader's problem. */
static int is_cased_next(reader *r, const unsigned char *at) {
    while (at < r->end) {
        int length;
        const wv_character *c = read_character(r, at, &length);
        if (!c) return -1;
        if (!(c->flags & WV_CHARACTER_IGNORED)) return (c->flags & WV_CHARACTER_CASED) != 0;
        at += length;
    }
    return 0;
}

/* Whether a byte is a letter of ASCII that becomes one: its small letter. */
static inline int is_plain_ascii(const wv_character *ascii, unsigned char byte) {
    return byte < 0x80 && ascii[byte].flags == WV_CHARACTER_CASED && ascii[byte].length == 1;
}

/* How many of eight bytes, from the first on, are letters of ASCII, and these as small letters. */
static inline int read_letters(uint64_t eight, uint64_t *small) {
    uint64_t folded = (eight | WV_BYTES(0x20)) & WV_BYTES(0x7f);
    uint64_t is_letter = (folded + WV_BYTES(0x80 - 'a')) & ~(folded + WV_BYTES(0x7f - 'z')) & ~eight & WV_BYTES(0x80);
    *small = eight | is_letter >> 2;
    return is_letter == WV_BYTES(0x80) ? 8 : __builtin_ctzll(~is_letter & WV_BYTES(0x80)) / 8;
}

int64_t wv_simplify(const wv_characters *characters, const unsigned char *text, int64_t length, unsigned char *out) {
    reader r = {characters, text + length, 0};
    unsigned char *begin = out;
    int separated = 0, after_cased = 0;
    const wv_character *ascii = atomic_load_explicit(&characters->page[0], memory_order_acquire);
    for (const unsigned char *at = text; at < r.end;) {
        int bytes, is_final = 0;
        uint64_t small;
        int letters = ascii && is_plain_ascii(ascii, *at) && r.end - at >= 8 ? read_letters(wv_eight(at), &small) : 0;
        if (letters) { /* most of most texts */
            if (separated && out > begin) *out++ = ' ';
            memcpy(out, &small, sizeof small);
            out += letters;
            at += letters;
            separated = letters < 8 && *at == ' ';
            at += separated;
            after_cased = separated ? 0 : WV_CHARACTER_CASED;
            continue;
        }
        const wv_character *c = read_character(&r, at, &bytes);
        if (!c) return r.problem;
        at += bytes;
        int kind = c->flags & WV_CHARACTER_KIND;
        if (kind == WV_CHARACTER_SPACE) {
            separated = 1;
        } else if (kind == WV_CHARACTER_DIGIT) {
            at = skip_number(&r, at);
            if (!at) return r.problem;
        } else if (kind == WV_CHARACTER_SIGMA) {
            int cased = after_cased ? is_cased_next(&r, at) : 1;
            if (cased < 0) return r.problem;
            is_final = !cased;
        } else if (kind == WV_CHARACTER_HARD) {
            return WV_SIMPLIFY_HARD;
        }
        if (!(c->flags & WV_CHARACTER_IGNORED)) after_cased = c->flags & WV_CHARACTER_CASED;
        if (!c->length) continue;
        if ((separated || kind == WV_CHARACTER_WORD) && out > begin) *out++ = ' ';
        separated = kind == WV_CHARACTER_WORD;
        memcpy(out, c->bytes, WV_CHARACTER_BYTES);
        out[1] = (unsigned char)(out[1] - is_final); /* U+03C3 becomes U+03C2 */
        out += c->length;
    }
    return out - begin;
}

/* ASCII from `at` on, eight bytes at a time, as long as there is no line end; capitals become small with `lowers`. */
static const unsigned char *fold_ascii(const unsigned char *at, const unsigned char *end, uint64_t lowers, unsigned char **out) {
    for (; end - at >= 8; at += 8, *out += 8) {
        uint64_t eight = wv_eight(at);
        if ((eight | wv_zero_bytes(eight ^ WV_BYTES('\n'))) & WV_BYTES(0x80)) break;
        uint64_t from_a = eight + WV_BYTES(0x80 - 'A'), beyond_z = eight + WV_BYTES(0x80 - 'Z' - 1);
        eight |= (from_a & ~beyond_z & lowers) >> 2;
        memcpy(*out, &eight, 8);
    }
    return at;
}

int64_t wv_fold(const wv_characters *characters, const unsigned char *text, int64_t length, unsigned char *out,
                int64_t *read, int64_t *problem) {
    reader r = {characters, text + length, 0};
    const unsigned char *line = text, *at = text;
    unsigned char *begin = out, *line_out = out;
    int after_cased = 0, after_mark = 0, bytes;
    const wv_character *ascii = atomic_load_explicit(&characters->page[0], memory_order_acquire);
    *problem = ascii ? 0 : WV_SIMPLIFY_PAGE;
    *read = 0;
    if (!ascii) return 0;
    uint64_t lowers = ascii['A'].bytes[0] == 'a' ? WV_BYTES(0x80) : 0;
    while (at < r.end) {
        if (*at < 0x80) {
            const unsigned char *first = at;
            at = fold_ascii(at, r.end, lowers, &out);
            for (; at < r.end && *at < 0x80; at++) {
                *out++ = ascii[*at].bytes[0];
                if (*at == '\n') {
                    line = at + 1;
                    line_out = out;
                    at++;
                    break;
                }
            }
            const unsigned char *last = at;
            while (last > first && ascii[last[-1]].flags & WV_CHARACTER_IGNORED) last--;
            if (last > first) after_cased = ascii[last[-1]].flags & WV_CHARACTER_CASED;
            after_mark = 0;
            continue;
        }
        const wv_character *c = read_character(&r, at, &bytes);
        if (!c && r.problem == WV_SIMPLIFY_HARD) {
            *out++ = *at++;
            after_cased = after_mark = 0;
            continue;
        }
        int kind = c ? c->flags & WV_CHARACTER_KIND : 0, is_final = 0;
        if (c && kind == WV_CHARACTER_SIGMA && after_cased) {
            int cased = is_cased_next(&r, at + bytes);
            if (cased < 0 && r.problem != WV_SIMPLIFY_HARD) c = NULL;
            is_final = cased != 1;
        }
        int is_hard = c && (kind == WV_CHARACTER_HARD || (after_mark && c->flags & WV_CHARACTER_BEGINS_MARKED));
        if (!c || is_hard) {
            *problem = is_hard ? WV_SIMPLIFY_HARD : r.problem;
            *read = line - text;
            return line_out - begin;
        }
        at += bytes;
        if (!(c->flags & WV_CHARACTER_IGNORED)) after_cased = c->flags & WV_CHARACTER_CASED;
        after_mark = c->flags & WV_CHARACTER_ENDS_MARKED;
        memcpy(out, c->bytes, WV_CHARACTER_BYTES);
        out[1] = (unsigned char)(out[1] - is_final);
        out += c->length;
    }
    *read = length;
    return out - begin;
}
