/* Words and punctuation marks; see wordtokens.h. */
#include "core/wordtokens.h"

#include <stdlib.h>
#include <string.h>

#include "core/characters.h"

/* A stretch without white space, character by character. */
typedef struct {
    const unsigned char *text;
    const int32_t *place; /* (count + 1) */
    const uint16_t *kind;
    wv_tokens *out;
} stretch;

static int grow(wv_tokens *out) {
    int64_t capacity = 2 * out->capacity + 256;
    wv_token *larger = realloc(out->token, (size_t)capacity * sizeof *larger);
    if (!larger) return -1;
    out->token = larger;
    out->capacity = capacity;
    return 0;
}

static int make_places(wv_tokens *out, int64_t characters) {
    if (characters < out->places) return 0;
    int64_t places = 2 * characters + 64;
    free(out->place);
    free(out->cut);
    free(out->kind);
    out->place = malloc((size_t)places * sizeof *out->place);
    out->cut = malloc((size_t)places * sizeof *out->cut);
    out->kind = malloc((size_t)places * sizeof *out->kind);
    out->places = out->place && out->cut && out->kind ? places : 0;
    return out->places ? 0 : -1;
}

static int add(wv_tokens *out, wv_token token) {
    if (out->count == out->capacity && grow(out)) return -1;
    out->token[out->count++] = token;
    return 0;
}

static int add_part(const stretch *s, int32_t from, int32_t to) {
    if (from >= to) return 0;
    unsigned any = 0, all = UINT16_MAX;
    for (int32_t i = from; i < to; i++) {
        any |= s->kind[i];
        all &= s->kind[i];
    }
    return add(s->out, (wv_token){s->place[from], s->place[to] - s->place[from], to - from, (uint16_t)any, (uint16_t)all});
}

/* The byte of character i if it is ASCII, else 0. */
static unsigned char ascii(const stretch *s, int32_t i) {
    unsigned char c = s->text[s->place[i]];
    return c < 0x80 ? c : 0;
}

static uint32_t code(const stretch *s, int32_t i) {
    const unsigned char *at = s->text + s->place[i];
    return wv_next_character(&at);
}

static int is_digit(const stretch *s, int32_t i) { return ascii(s, i) >= '0' && ascii(s, i) <= '9'; }
static int is_letter(const stretch *s, int32_t i) { return (s->kind[i] & WV_CHAR_LETTER) != 0; }
static int is_upper(const stretch *s, int32_t i) { return (s->kind[i] & WV_CHAR_UPPER) != 0; }
static int is_lower(const stretch *s, int32_t i) { return is_letter(s, i) && !is_upper(s, i); }
static int is_one_of(const stretch *s, int32_t i, const char *characters) {
    unsigned char c = ascii(s, i);
    while (*characters && *characters != (char)c) characters++;
    return *characters != 0;
}
static int is_apostrophe(const stretch *s, int32_t i) { return ascii(s, i) == '\'' || code(s, i) == 0x2019; }

static int32_t dots_from(const stretch *s, int32_t from, int32_t to) {
    int32_t i = from;
    while (i < to && ascii(s, i) == '.') i++;
    return i - from;
}

static int32_t opening(const stretch *s, int32_t from, int32_t to) {
    if (s->kind[from] & WV_CHAR_OPENING) return 1;
    if (ascii(s, from) == '+') return from + 1 == to || !is_digit(s, from + 1);
    int32_t dots = dots_from(s, from, to);
    return dots >= 2 ? dots : 0;
}

/* Whether from .. to is one of the names, each of at most six bytes, with a space on both sides. */
static int is_among(const stretch *s, int32_t from, int32_t to, const char *names) {
    char name[9];
    int32_t length = s->place[to] - s->place[from];
    if (length > 6) return 0;
    name[0] = ' ';
    memcpy(name + 1, s->text + s->place[from], (size_t)length);
    name[length + 1] = ' ';
    name[length + 2] = 0;
    return strstr(names, name) != NULL;
}

/* Whether the dot at the end of from .. to is a token; something stands before it. */
static int is_full_stop(const stretch *s, int32_t from, int32_t to) {
    static const char abbreviations[] = " Mr Mrs Ms Dr Prof St Mt Jr Gen Gov Sen Rep Rev Adm Messrs Co Corp Inc Ltd Bros vs "
                                        "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec e.g i.e a.m p.m ";
    int32_t before = to - 2;
    if (is_upper(s, before)) return before > from && is_upper(s, before - 1);
    if (is_letter(s, before)) return !(before == from && ascii(s, before)) && !is_among(s, from, to - 1, abbreviations);
    int mark = !s->kind[before] && code(s, before) >= 0x300; /* a vowel sign, mostly */
    return mark || is_digit(s, before) || is_one_of(s, before, "%-+") || code(s, before) == 0xb2 ||
           (s->kind[before] & WV_CHAR_CLOSING);
}

/* Characters of the unit at the end of from .. to, behind a digit. */
static int32_t unit(const stretch *s, int32_t from, int32_t to) {
    static const char units[] = " % km m dm cm mm ha nm yd in ft kg g mg t lb oz kmh mph hPa Pa mbar mb MB kb KB gb GB tb TB "
                                "T G M K ";
    int32_t start = to;
    while (start > from && to - start < 5 && (is_letter(s, start - 1) || ascii(s, start - 1) == '%')) start--;
    return start > from && start < to && is_digit(s, start - 1) && is_among(s, start, to, units) ? to - start : 0;
}

/* Characters of the contraction at the end of from .. to: n't 'll 're 've 'd 'm 's. */
static int32_t contraction(const stretch *s, int32_t from, int32_t to) {
    if (to - from >= 3 && is_one_of(s, to - 1, "sSdm") && is_apostrophe(s, to - 2)) return 2;
    if (to - from < 4) return 0;
    unsigned char last = ascii(s, to - 1), before = ascii(s, to - 2);
    if (last == 't' && is_apostrophe(s, to - 2) && ascii(s, to - 3) == 'n') return 3;
    int known = (last == 'l' && before == 'l') || (last == 'e' && (before == 'r' || before == 'v'));
    return known && is_apostrophe(s, to - 3) ? 3 : 0;
}

static int32_t closing(const stretch *s, int32_t from, int32_t to) {
    int32_t last = to - 1;
    if (ascii(s, last) == '.') {
        int32_t i = last;
        while (i > from && ascii(s, i - 1) == '.') i--;
        if (to - i >= 2) return to - i;
        return to - from >= 2 && is_full_stop(s, from, to);
    }
    if (s->kind[last] & WV_CHAR_CLOSING) return 1;
    int after_digit = to - from >= 2 && is_digit(s, last - 1);
    if (after_digit && (ascii(s, last) == '+' || (s->kind[last] & WV_CHAR_CURRENCY))) return 1;
    int32_t characters = unit(s, from, to);
    return characters ? characters : contraction(s, from, to);
}

/* A hyphen's characters: - -- --- and the dashes, one or two of them. */
static int32_t hyphen(const stretch *s, int32_t from, int32_t to) {
    int32_t i = from;
    if (ascii(s, i) == '-') {
        while (i < to && i - from < 3 && ascii(s, i) == '-') i++;
        return i - from;
    }
    if (ascii(s, i) == '~') return 1;
    uint32_t c = code(s, i);
    if (c == 0x2013) return 1;
    if (c == 0x2014) return i + 1 < to && code(s, i + 1) == 0x2014 ? 2 : 1;
    return 0;
}

/* Characters of the mark at `at` that divides from .. to; 0: none does. */
static int32_t divider(const stretch *s, int32_t at, int32_t from, int32_t to) {
    if (s->kind[at] & WV_CHAR_ICON) return 1;
    unsigned char c = ascii(s, at);
    if (c == '.') {
        int32_t dots = dots_from(s, at, to);
        if (dots >= 2) return dots;
    } else if (!c && code(s, at) == 0x2026) {
        return 1;
    }
    if (at == from || at + 1 >= to) return 0;
    int left = is_letter(s, at - 1), left_digit = is_digit(s, at - 1);
    if (c == '.') {
        int starts = is_upper(s, at + 1) || (s->kind[at + 1] & WV_CHAR_QUOTE);
        return starts && (is_lower(s, at - 1) || (s->kind[at - 1] & WV_CHAR_QUOTE));
    }
    if (c == ',') return left && is_letter(s, at + 1);
    if (left_digit && is_one_of(s, at, "+-*^") && (is_digit(s, at + 1) || ascii(s, at + 1) == '-')) return 1;
    if (!left && !left_digit) return 0;
    if (is_one_of(s, at, ":<>=/")) return is_letter(s, at + 1);
    int32_t characters = hyphen(s, at, to);
    return characters && at + characters < to && is_letter(s, at + characters) ? characters : 0;
}

/* [SCHEME://] [USER@] LABEL. ... .tld [: / ? # ...]; labels of letters, digits, - and _. */
static int is_address(const stretch *s, int32_t from, int32_t to) {
    int32_t start = from;
    for (int32_t i = from; i + 2 < to; i++) {
        if (ascii(s, i) == ':' && ascii(s, i + 1) == '/' && ascii(s, i + 2) == '/') {
            start = i + 3;
            break;
        }
        if (!is_letter(s, i) && !is_digit(s, i) && !is_one_of(s, i, "_+-.")) break;
    }
    int32_t end = start;
    while (end < to && !is_one_of(s, end, ":/?#")) end++;
    int32_t label = start;
    for (int32_t i = start; i < end; i++) {
        if (ascii(s, i) == '@') label = i + 1;
    }
    int32_t host = label;
    for (int32_t i = host; i < end; i++) {
        if (ascii(s, i) == '.') {
            if (i == label) return 0;
            label = i + 1;
        } else if (!is_letter(s, i) && !is_digit(s, i) && !is_one_of(s, i, "-_") && ascii(s, i)) {
            return 0;
        }
    }
    if (label == host || end - label < 2) return 0;
    for (int32_t i = label; i < end; i++) {
        if (!is_lower(s, i)) return 0;
    }
    return 1;
}

static int divide(const stretch *s, int32_t from, int32_t to) {
    int32_t start = from;
    int known = -1; /* whether it is an address */
    for (int32_t at = from; at < to;) {
        int32_t characters = s->kind[at] & WV_CHAR_DIVIDING ? divider(s, at, from, to) : 0;
        if (characters && known < 0 && (known = is_address(s, from, to))) break;
        if (!characters || at == start) {
            at++;
            continue;
        }
        if (add_part(s, start, at) || add_part(s, at, at + characters)) return -1;
        start = at += characters;
    }
    return add_part(s, start, to);
}

static int split_stretch(const stretch *s, int32_t characters) {
    int32_t from = 0, to = characters, taken, cuts = 0;
    while (from < to && (taken = opening(s, from, to)) > 0) {
        if (add_part(s, from, from + taken)) return -1;
        from += taken;
    }
    while (from < to && (taken = closing(s, from, to)) > 0) {
        s->out->cut[cuts++] = to;
        to -= taken;
    }
    if (divide(s, from, to)) return -1;
    while (cuts) {
        int32_t next = s->out->cut[--cuts];
        if (add_part(s, to, next)) return -1;
        to = next;
    }
    return 0;
}

int wv_tokens_split(const unsigned char *text, int64_t length, wv_tokens *out) {
    const unsigned char *at = text, *end = text + length;
    out->count = out->longest = 0;
    while (at < end) {
        const unsigned char *begin = at, *next = at;
        unsigned any = 0, all = UINT16_MAX, kind;
        int32_t characters = 0;
        while (at < end && !((kind = wv_character_class[wv_next_character(&next)]) & WV_CHAR_SPACE)) {
            any |= kind;
            all &= kind;
            characters++;
            at = next;
        }
        if (characters > out->longest) out->longest = characters;
        if (characters && (!(any & WV_CHAR_DIVIDING) || (characters == 1 && *begin < 0x80))) {
            wv_token token = {(int32_t)(begin - text), (int32_t)(at - begin), characters, (uint16_t)any, (uint16_t)all};
            if (add(out, token)) return -1;
        } else if (characters) {
            if (make_places(out, characters)) return -1;
            const unsigned char *each = begin;
            for (int32_t i = 0; i < characters; i++) {
                out->place[i] = (int32_t)(each - text);
                out->kind[i] = wv_character_class[wv_next_character(&each)];
            }
            out->place[characters] = (int32_t)(at - text);
            stretch s = {text, out->place, out->kind, out};
            if (split_stretch(&s, characters)) return -1;
        }
        at = next;
    }
    return 0;
}

void wv_tokens_free(wv_tokens *tokens) {
    free(tokens->token);
    free(tokens->place);
    free(tokens->cut);
    free(tokens->kind);
    *tokens = (wv_tokens){0};
}
