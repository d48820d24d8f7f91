/* Words and punctuation marks of any stretch without white space; see wordtokens.h. tokenwindows.c finds most. */
#include "core/wordtokens.h"

#include <stdlib.h>
#include <string.h>

#include "core/characters.h"
#include "core/tokenparts.h"
#include "core/wordexceptions.h"

/* EDGE: a token begins here; FIRST_EDGE: so it did before exceptions were put together; it is part of such a run. */
enum { EDGE = 1, FIRST_EDGE = 2, SEEN = 4, EDGES = EDGE | FIRST_EDGE };

enum { LONGEST_UNIT = 4 };

/* A stretch without white space, character by character. */
typedef struct {
    const unsigned char *text;
    const int32_t *place; /* (count + 1) */
    const uint16_t *kind;
    unsigned any; /* classes */
    wv_tokens *out;
} stretch;

int wv_tokens_grow(wv_tokens *out) {
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
    free(out->kind);
    free(out->edge);
    out->place = malloc((size_t)places * sizeof *out->place);
    out->kind = malloc((size_t)places * sizeof *out->kind);
    out->edge = malloc((size_t)places);
    out->places = out->place && out->kind && out->edge ? places : 0;
    return out->places ? 0 : -1;
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

/* Characters of US$ C$ A$ at `from`. */
static int32_t dollars(const stretch *s, int32_t from, int32_t to) {
    int32_t sign = from + 1 + (from + 1 < to && ascii(s, from) == 'U' && ascii(s, from + 1) == 'S');
    int known = sign < to && ascii(s, sign) == '$' && is_one_of(s, from, sign - from == 2 ? "U" : "CA");
    return known ? sign + 1 - from : 0;
}

static int32_t opening(const stretch *s, int32_t from, int32_t to) {
    if (!((s->kind[from] & WV_CHAR_DIVIDING) | (s->any & WV_CHAR_CURRENCY))) return 0;
    if (s->kind[from] & WV_CHAR_OPENING) return 1;
    if (ascii(s, from) == '+') return from + 1 == to || !is_digit(s, from + 1);
    int32_t sign = s->any & WV_CHAR_CURRENCY ? dollars(s, from, to) : 0;
    if (sign) return sign;
    int32_t dots = dots_from(s, from, to);
    return dots >= 2 ? dots : 0;
}

int wv_is_unit(const unsigned char *at, int32_t length) {
    static const char units[] = " % km m dm cm mm ha nm yd in ft kg g mg t lb oz kmh mph hPa Pa mbar mb MB kb KB gb GB tb "
                                "TB T G M K ";
    char name[LONGEST_UNIT + 3] = " ";
    if (length > LONGEST_UNIT) return 0;
    memcpy(name + 1, at, (size_t)length);
    memcpy(name + 1 + length, " ", 2);
    return strstr(units, name) != NULL;
}

/* Whether the dot at the end of from .. to is a token; something stands before it. */
static int is_full_stop(const stretch *s, int32_t from, int32_t to) {
    int32_t before = to - 2;
    if (is_upper(s, before)) return before > from && is_upper(s, before - 1);
    if (is_letter(s, before)) return 1;
    int mark = !s->kind[before] && code(s, before) >= 0x300; /* a vowel sign, mostly */
    return mark || is_digit(s, before) || is_one_of(s, before, "%-+") || code(s, before) == 0xb2 ||
           (s->kind[before] & (WV_CHAR_CLOSING | WV_CHAR_ICON)) == WV_CHAR_CLOSING;
}

/* Characters of the unit at the end of from .. to, behind a digit. */
static int32_t unit(const stretch *s, int32_t from, int32_t to) {
    int32_t start = to;
    while (start > from && to - start < 5 && (is_letter(s, start - 1) || ascii(s, start - 1) == '%')) start--;
    return start > from && start < to && is_digit(s, start - 1) && wv_is_unit(s->text + s->place[start], s->place[to] - s->place[start]) ? to - start : 0;
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
    for (int32_t start = to - 3; start < to - 1 && ascii(s, last) == '$'; start++) {
        if (start > from && is_digit(s, start - 1) && dollars(s, start, to) == to - start) return to - start;
    }
    if (to - from >= 3 && is_one_of(s, last, "sS") && is_apostrophe(s, last - 1)) return 2;
    return unit(s, from, to);
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
    int32_t characters = s->out->rules & WV_WORDS_KEEP_HYPHENS ? 0 : hyphen(s, at, to);
    return characters && at + characters < to && is_letter(s, at + characters) ? characters : 0;
}

/* LABEL. ... .tld [:PORT] [/ ? # ...]; labels of letters, digits, - and _. */
static int is_host(const stretch *s, int32_t from, int32_t to) {
    int32_t label = from, end = from;
    for (; end < to && !is_one_of(s, end, ":/?#"); end++) {
        if (ascii(s, end) == '.') {
            if (end == label) return 0;
            label = end + 1;
        } else if (!is_letter(s, end) && !is_digit(s, end) && !is_one_of(s, end, "-_") && ascii(s, end)) {
            return 0;
        }
    }
    if (label == from || end - label < 2) return 0;
    for (int32_t i = label; i < end; i++) {
        if (!is_lower(s, i)) return 0;
    }
    if (end == to || ascii(s, end) != ':') return 1;
    int32_t port = end + 1;
    while (port < to && is_digit(s, port)) port++;
    return port - end >= 3 && port - end <= 6 && (port == to || is_one_of(s, port, "/?#"));
}

/* [SCHEME://] [USER@] HOST */
static int is_address(const stretch *s, int32_t from, int32_t to) {
    int32_t start = from;
    for (int32_t i = from; i + 2 < to; i++) {
        if (ascii(s, i) == ':' && ascii(s, i + 1) == '/' && ascii(s, i + 2) == '/') {
            start = i + 3;
            break;
        }
        if (!is_letter(s, i) && !is_digit(s, i) && !is_one_of(s, i, "_+-.")) break;
    }
    if (is_host(s, start, to)) return 1;
    for (int32_t i = start + 1; i < to; i++) {
        if (ascii(s, i) == '@' && is_host(s, i + 1, to)) return 1;
    }
    return 0;
}

/* Whether a token begins behind the apostrophe at `at`. */
static int is_elision(const stretch *s, int32_t at, int32_t from, int32_t to) {
    if (!(s->out->rules & WV_WORDS_CUT_APOSTROPHES) || at == from || at + 1 >= to) return 0;
    return is_letter(s, at - 1) && is_letter(s, at + 1) && is_apostrophe(s, at);
}

/* Returns how often it divides. */
static int32_t divide(const stretch *s, int32_t from, int32_t to) {
    int known = -1; /* whether it is an address */
    int32_t marks = 0;
    for (int32_t at = from; at < to;) {
        int32_t characters = s->kind[at] & WV_CHAR_DIVIDING ? divider(s, at, from, to) : 0;
        int elision = !characters && is_elision(s, at, from, to);
        if ((characters || elision) && known < 0 && (known = is_address(s, from, to))) break;
        if (elision) {
            s->out->edge[at + 1] = EDGES;
            marks++;
        }
        if (characters && at > from) {
            s->out->edge[at] = s->out->edge[at + characters] = EDGES;
            marks++;
        }
        at += characters ? characters : 1;
    }
    return marks;
}

/* The exception that these bytes are by the rules of the language. */
static const wv_exception *exception_by(unsigned rules, const unsigned char *at, int32_t length) {
    const wv_exception *found = wv_exception_of(at, length);
    return found && found->is_english && rules & WV_WORDS_FOREIGN ? NULL : found;
}

static const wv_exception *exception(const stretch *s, int32_t from, int32_t to) {
    return exception_by(s->out->rules, s->text + s->place[from], s->place[to] - s->place[from]);
}

/* Returns how many tokens there are, or more. */
static int32_t find_edges(const stretch *s, int32_t characters) {
    uint8_t *edge = s->out->edge;
    int32_t from = 0, to = characters, tokens = 1;
    const wv_exception *found = exception(s, from, to);
    memset(edge, 0, (size_t)characters + 1);
    while (!found && from < to) {
        int32_t before = opening(s, from, to), behind = 0;
        tokens += before > 0;
        if (before) edge[from + before] = EDGES;
        if (from + before == to || (before && (found = exception(s, from + before, to)))) {
            from += before;
            break;
        }
        behind = closing(s, from + before, to);
        if (!before && !behind) break;
        tokens += behind > 0;
        edge[to - behind] = EDGES;
        if (behind && (found = exception(s, from, to - behind))) {
            if (before) edge[from + before] = 0;
            to -= behind;
            break;
        }
        from += before;
        to -= behind;
        if (before && behind && from < to) found = exception(s, from, to);
    }
    edge[0] = edge[characters] = EDGES;
    if (!found) return tokens + 2 * divide(s, from, to);
    for (int32_t i = from; i < to; i++) {
        if (found->cuts >> (s->place[i] - s->place[from]) & 1) edge[i] = EDGES;
    }
    return tokens + to - from;
}

/* The exception that the tokens between two edges are together. */
static const wv_exception *run_exception(const stretch *s, int32_t from, int32_t to) {
    const wv_exception *found = exception(s, from, to);
    for (int32_t i = from; found && i < to; i++) {
        int begins = (found->plain >> (s->place[i] - s->place[from]) & 1) != 0;
        if (begins != ((s->out->edge[i] & FIRST_EDGE) != 0)) found = NULL;
    }
    return found;
}

/* The edge so many tokens behind the one at `at`; -1 when there is none up to the last edge, `to`. */
static int32_t edge_behind(const stretch *s, int32_t at, int32_t to, int32_t tokens) {
    while (tokens && ++at <= to) tokens -= (s->out->edge[at] & FIRST_EDGE) != 0;
    return tokens ? -1 : at;
}

/* Runs of tokens that are exceptions together, the longest and then the first ones first. As spaCy has it, a run that
 * overlaps another one is left as it is, and none is made of its tokens either. */
static void join_exceptions(const stretch *s, int32_t characters, int32_t most) {
    uint8_t *edge = s->out->edge;
    for (int32_t tokens = most; tokens >= 2; tokens--) {
        int32_t from = 0, to;
        for (; (to = edge_behind(s, from, characters, tokens)) >= 0; from = edge_behind(s, from, characters, 1)) {
            const wv_exception *found = run_exception(s, from, to);
            if (!found) continue;
            int32_t last = to - 1;
            while (!(edge[last] & FIRST_EDGE)) last--;
            int is_free = !((edge[from] | edge[last]) & SEEN);
            for (int32_t i = from; i < to; i++) {
                unsigned cut = is_free ? found->cuts >> (s->place[i] - s->place[from]) : edge[i];
                edge[i] = (uint8_t)((edge[i] & FIRST_EDGE) | SEEN | (cut & EDGE));
            }
        }
    }
}

static void find_joined(const stretch *s, int32_t characters) {
    const uint8_t *edge = s->out->edge;
    int32_t most = 0;
    for (int32_t from = 0; from < characters; from++) {
        int32_t longest = edge[from] ? wv_exception_longest[s->text[s->place[from]]] : 0, tokens = 0;
        for (int32_t to = from + 1; to <= characters && s->place[to] - s->place[from] <= longest; to++) {
            if (edge[to] && ++tokens > most && tokens > 1 && run_exception(s, from, to)) most = tokens;
        }
    }
    join_exceptions(s, characters, most);
}

static int split_stretch(const stretch *s, int32_t characters) {
    const uint8_t *edge = s->out->edge;
    if (find_edges(s, characters) >= 3) find_joined(s, characters); /* all tokens together were looked up before */
    for (int32_t from = 0, to; from < characters; from = to) {
        unsigned any = 0, all = UINT16_MAX;
        for (to = from; to == from || !(edge[to] & EDGE); to++) {
            any |= s->kind[to];
            all &= s->kind[to];
        }
        int32_t begin = s->place[from];
        if (wv_tokens_add(s->out, (wv_token){begin, s->place[to] - begin, to - from, (uint16_t)any, (uint16_t)all})) return -1;
    }
    return 0;
}

static int add_stretch(stretch *s, const unsigned char *begin, const unsigned char *end, int32_t characters) {
    wv_tokens *out = s->out;
    if (make_places(out, characters)) return -1;
    const unsigned char *each = begin;
    for (int32_t i = 0; i < characters; i++) {
        out->place[i] = (int32_t)(each - s->text);
        out->kind[i] = wv_character_class[wv_next_character(&each)];
    }
    out->place[characters] = (int32_t)(end - s->text);
    s->place = out->place;
    s->kind = out->kind;
    return split_stretch(s, characters);
}

/* The characters up to the next white space, as if they were one token. */
static wv_token read_stretch(const unsigned char *text, const unsigned char *at, const unsigned char *end) {
    const unsigned char *begin = at, *next = at;
    unsigned any = 0, all = UINT16_MAX, kind;
    int32_t characters = 0;
    while (at < end && !((kind = wv_character_class[wv_next_character(&next)]) & WV_CHAR_SPACE)) {
        any |= kind;
        all &= kind;
        characters++;
        at = next;
    }
    return (wv_token){(int32_t)(begin - text), (int32_t)(at - begin), characters, (uint16_t)any, (uint16_t)all};
}

int64_t wv_tokens_of_stretch(const unsigned char *text, const unsigned char *end, int64_t at, wv_tokens *out) {
    const unsigned char *begin = text + at;
    wv_token whole = read_stretch(text, begin, end);
    if (!whole.characters) {
        wv_next_character(&begin);
        return begin - text;
    }
    int plain = !(whole.any & WV_CHAR_DIVIDING) && !exception_by(out->rules, begin, whole.length);
    stretch s = {text, NULL, NULL, whole.any, out};
    int failed = plain || (whole.characters == 1 && *begin < 0x80)
                     ? wv_tokens_add(out, whole)
                     : add_stretch(&s, begin, begin + whole.length, whole.characters);
    return failed ? -1 : at + whole.length;
}

int wv_tokens_of_words(const unsigned char *text, int64_t length, wv_tokens *out) {
    const unsigned char *at = text, *end = text + length;
    out->count = 0;
    out->counted = (wv_token_counts){0};
    while (at < end) {
        wv_token token = read_stretch(text, at, end);
        if (token.characters && wv_tokens_add(out, token)) return -1;
        at += token.length;
        if (at < end) wv_next_character(&at);
    }
    return 0;
}

wv_token_counts wv_tokens_sum(const wv_tokens *tokens) {
    wv_token_counts found = tokens->counted;
    found.tokens += tokens->count;
    for (const wv_token *t = tokens->token; t < tokens->token + tokens->count; t++) {
        int64_t is_word = !(t->all & WV_CHAR_SYMBOL);
        found.words += is_word;
        found.word_characters += t->characters & -is_word;
        found.with_letter += t->any / WV_CHAR_LETTER & 1;
    }
    return found;
}

void wv_tokens_free(wv_tokens *tokens) {
    free(tokens->token);
    free(tokens->place);
    free(tokens->kind);
    free(tokens->edge);
    free(tokens->space);
    *tokens = (wv_tokens){0};
}
