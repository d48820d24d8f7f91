/* The tokens of a text; see wordtokens.h.
 *
 * A bit for each byte says whether it is white space, a digit, or neither this nor a letter. With these bits words of ASCII
 * are found many at once, and cut where the rules alone say how; wordtokens.c cuts the few other stretches. Words that are
 * exceptions in English are among these in every language. */
#include <stdlib.h>
#include <string.h>

#include "core/tokenparts.h"
#include "core/wordexceptions.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Bits from .. to. */
static inline uint64_t bits_between(int from, int to) { return (UINT64_C(1) << to) - (UINT64_C(1) << from); }

static inline int has_class(unsigned char byte, unsigned classes) {
    return byte < 0x80 && wv_character_class[byte] & classes;
}

/* A stretch of ASCII that the window has: bit i of `others` says that byte i is neither letter nor digit, bit i of `digits`
 * that it is a digit. `rules`: WV_WORDS_*. */
typedef struct {
    const unsigned char *at;
    int length;
    unsigned rules;
    uint64_t others, digits;
} simple;

enum { MOST_PARTS = 8 };

static inline int is_other(const simple *s, int i) { return (int)(s->others >> i & 1); }
static inline int is_number(const simple *s, int i) { return (int)(s->digits >> i & 1); }
static inline int is_capital(const simple *s, int i) { return s->at[i] >= 'A' && s->at[i] <= 'Z'; }
static inline int is_alphabetic(const simple *s, int i) { return !(is_other(s, i) | is_number(s, i)); }

enum { PASSED, DIVIDES, UNSURE };

/* What divider() says of the mark i, which is neither the first nor the last byte; UNSURE where more must be known. */
static int judge_mark(const simple *s, int i) {
    unsigned char c = s->at[i], next = s->at[i + 1];
    int after_word = !is_other(s, i - 1), before_letter = is_alphabetic(s, i + 1);
    switch (c) {
    case '.': return next == '.' || next >= 0x80 || (has_class(next, WV_CHAR_UPPER | WV_CHAR_QUOTE) && !is_capital(s, i - 1)) ? UNSURE : PASSED;
    case ',': return is_alphabetic(s, i - 1) && before_letter ? DIVIDES : PASSED;
    case '+':
    case '*':
    case '^': return is_number(s, i - 1) && (is_number(s, i + 1) || next == '-') ? DIVIDES : PASSED;
    case '-':
        if (next == '-') return UNSURE;
        if (is_number(s, i - 1) && is_number(s, i + 1)) return DIVIDES;
        return after_word && before_letter && !(s->rules & WV_WORDS_KEEP_HYPHENS) ? DIVIDES : PASSED;
    case '\'': return s->rules & WV_WORDS_CUT_APOSTROPHES && before_letter ? UNSURE : PASSED;
    case '~': return after_word && before_letter && !(s->rules & WV_WORDS_KEEP_HYPHENS) ? DIVIDES : PASSED;
    case ':':
    case '<':
    case '>':
    case '=':
    case '/': return after_word && before_letter ? DIVIDES : PASSED;
    case '$': return UNSURE;
    default: return c < 0x80 ? PASSED : UNSURE;
    }
}

/* How many bytes at the end of from .. to are a token, as closing() has it; -1 where more must be known. */
static int simple_closing(const simple *s, int from, int to) {
    unsigned char last = s->at[to - 1], before = to - from >= 2 ? s->at[to - 2] : 0;
    if (is_other(s, to - 1)) {
        if (last != '.') return has_class(last, WV_CHAR_CLOSING) ? 1 : -1;
        if (!is_other(s, to - 2)) return !is_capital(s, to - 2) || (to - from >= 3 && is_capital(s, to - 3));
        return before != '.' && has_class(before, WV_CHAR_CLOSING) ? 1 : -1;
    }
    if (to - from >= 3 && (last | 0x20) == 's' && before == '\'') return 2;
    uint64_t rest = (s->others | s->digits) & bits_between(from, to);
    int word = rest ? 64 - __builtin_clzll(rest) : to; /* where the last letters begin */
    return word < to && is_number(s, word - 1) && wv_is_unit(s->at + word, to - word) ? to - word : 0;
}

/* Where a stretch is cut, if its first and last marks are few and the rules alone say so: the end of each token. Returns how
 * many there are, 0 for other stretches. */
static int cut_simple(const simple *s, int end[MOST_PARTS]) {
    int parts = 0, from = 0, to = s->length, divides = 0, closing = 0, behind[2], marks = 0;
    if (is_other(s, 0)) {
        if (s->length == 1 || !has_class(s->at[0], WV_CHAR_OPENING) || is_other(s, 1)) return 0;
        from = end[parts++] = 1;
    }
    while (to - from > 1 && (closing = simple_closing(s, from, to)) > 0 && marks < 2) {
        behind[marks++] = to;
        to -= closing;
    }
    if (closing < 0 || (closing > 0 && to - from > 1) || to <= from || is_other(s, from)) return 0;
    for (uint64_t inner = s->others & bits_between(from, to - 1); inner; inner &= inner - 1) {
        int mark = __builtin_ctzll(inner), verdict = judge_mark(s, mark);
        if (verdict == UNSURE || parts > MOST_PARTS - 5) return 0;
        if (verdict == PASSED) continue;
        divides = 1;
        end[parts++] = mark;
        end[parts++] = mark + 1;
    }
    for (int i = from; divides && i < to; i++) { /* it may be an address */
        if (s->at[i] == '.') return 0;
    }
    end[parts++] = to;
    while (marks) end[parts++] = behind[--marks];
    for (int i = 0, begin = 0; i < parts; begin = end[i++]) {
        for (int j = i; j < parts; j++) {
            if (wv_exception_of(s->at + begin, end[j] - begin)) return 0;
        }
    }
    return parts;
}

static inline wv_token letters_token(int64_t begin, int length) {
    return (wv_token){(int32_t)begin, length, length, WV_CHAR_LETTER, WV_CHAR_LETTER};
}

/* The token of some bytes of a stretch, which begins at `begin` in the text. */
static inline wv_token simple_token(const simple *s, int64_t begin, int from, int to) {
    unsigned any = 0, all = UINT16_MAX;
    if (!((s->others | s->digits) & bits_between(from, to))) return letters_token(begin + from, to - from);
    for (int i = from; i < to; i++) {
        any |= wv_character_class[s->at[i]];
        all &= wv_character_class[s->at[i]];
    }
    return (wv_token){(int32_t)(begin + from), to - from, to - from, (uint16_t)any, (uint16_t)all};
}

/* Whether a stretch is a word of letters with one mark behind it, as nearly all are that have a mark. */
static inline int has_mark_behind(const simple *s) {
    int last = s->length - 1;
    if (s->digits || s->others != UINT64_C(1) << last || last == 0) return 0;
    if (s->at[last] == '.' ? is_capital(s, last - 1) : !has_class(s->at[last], WV_CHAR_CLOSING)) return 0;
    return !wv_exception_of(s->at, last) && !wv_exception_of(s->at, last + 1);
}

static int add_parts(wv_tokens *out, const simple *s, int64_t begin, int parts, const int end[MOST_PARTS]) {
    for (int i = 0, from = 0; i < parts; from = end[i++]) {
        if (wv_tokens_add(out, simple_token(s, begin, from, end[i]))) return -1;
    }
    return 0;
}

/* Classes of 16 bytes, one bit for each: white space of ASCII; neither this nor a letter or digit of ASCII; digits. */
static void classify(const unsigned char *text, uint16_t *space, uint16_t *other, uint16_t *digit) {
#if defined(__SSE2__)
    __m128i x = _mm_loadu_si128((const __m128i *)text);
    __m128i control = _mm_sub_epi8(x, _mm_set1_epi8('\t')), separator = _mm_sub_epi8(x, _mm_set1_epi8(0x1c));
    __m128i letter = _mm_sub_epi8(_mm_or_si128(x, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
    __m128i number = _mm_sub_epi8(x, _mm_set1_epi8('0'));
    control = _mm_cmpeq_epi8(_mm_min_epu8(control, _mm_set1_epi8('\r' - '\t')), control);
    separator = _mm_cmpeq_epi8(_mm_min_epu8(separator, _mm_set1_epi8(' ' - 0x1c)), separator);
    letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8('z' - 'a')), letter);
    number = _mm_cmpeq_epi8(_mm_min_epu8(number, _mm_set1_epi8('9' - '0')), number);
    *space = (uint16_t)_mm_movemask_epi8(_mm_or_si128(control, separator));
    *digit = (uint16_t)_mm_movemask_epi8(number);
    *other = (uint16_t)~(_mm_movemask_epi8(letter) | *digit | *space);
#else
    unsigned spaces = 0, others = 0, digits = 0;
    for (int i = 0; i < 16; i++) {
        unsigned kind = text[i] < 0x80 ? wv_character_class[text[i]] : 0, bit = 1u << i;
        int is_digit_byte = text[i] >= '0' && text[i] <= '9';
        spaces |= kind & WV_CHAR_SPACE ? bit : 0;
        digits |= is_digit_byte ? bit : 0;
        others |= kind & (WV_CHAR_SPACE | WV_CHAR_LETTER) || is_digit_byte ? 0 : bit;
    }
    *space = (uint16_t)spaces;
    *other = (uint16_t)others;
    *digit = (uint16_t)digits;
#endif
}

enum { SIXTEEN = 16, AFTER = 4, WINDOW = 57 };

/* The classes of a text, behind which white space stands. */
static int classify_text(const unsigned char *text, int64_t length, wv_tokens *out) {
    int64_t count = length / SIXTEEN + 1, needed = 3 * (count + AFTER);
    if (needed > out->classes) {
        free(out->space);
        out->space = malloc((size_t)needed * 2 * sizeof *out->space);
        out->classes = out->space ? 2 * needed : 0;
        if (!out->space) return -1;
    }
    out->other = out->space + count + AFTER;
    out->digit = out->other + count + AFTER;
    for (int64_t i = 0; i < count - 1; i++) {
        classify(text + SIXTEEN * i, &out->space[i], &out->other[i], &out->digit[i]);
    }
    unsigned char last[SIXTEEN];
    memset(last, ' ', sizeof last);
    memcpy(last, text + SIXTEEN * (count - 1), (size_t)(length % SIXTEEN));
    classify(last, &out->space[count - 1], &out->other[count - 1], &out->digit[count - 1]);
    for (int64_t i = count; i < count + AFTER; i++) {
        out->space[i] = UINT16_MAX;
        out->other[i] = out->digit[i] = 0;
    }
    return 0;
}

/* The bits of the bytes from `at` on, WINDOW of them; zeros follow. */
static inline uint64_t bits_from(const uint16_t *bits, int64_t at) {
    return wv_eight((const unsigned char *)bits + at / 8) >> (at % 8);
}

/* The stretches of a text that end within the WINDOW bytes from `at` on, where one begins. Returns where to go on, -1 without
 * memory. */
static int64_t split_window(const unsigned char *text, const unsigned char *end, int64_t at, wv_tokens *out) {
    uint64_t space = bits_from(out->space, at) | ~bits_between(0, WINDOW), filled = ~space;
    uint64_t others = bits_from(out->other, at), digits = bits_from(out->digit, at);
    unsigned rules = out->rules;
    uint64_t starts = filled & ~(filled << 1), ends = space & filled << 1 & bits_between(0, WINDOW);
    if (!ends) return wv_tokens_of_stretch(text, end, at, out);
    for (; ends; starts &= starts - 1, ends &= ends - 1) {
        int begin = __builtin_ctzll(starts), length = __builtin_ctzll(ends) - begin;
        uint64_t inside = bits_between(0, length);
        simple word = {text + at + begin, length, rules, others >> begin & inside, digits >> begin & inside};
        if (!(word.others | word.digits) && !wv_exception_of(word.at, length)) {
            if (wv_tokens_add(out, letters_token(at + begin, length))) return -1;
        } else {
            int end_of[MOST_PARTS] = {length - 1, length}, parts = has_mark_behind(&word) ? 2 : cut_simple(&word, end_of);
            if (parts == 0) {
                int64_t next = wv_tokens_of_stretch(text, end, at + begin, out);
                if (next != at + begin + length) return next; /* white space beyond ASCII in it */
                continue;
            }
            if (add_parts(out, &word, at + begin, parts, end_of)) return -1;
        }
        if (length > out->longest) out->longest = length;
    }
    return at + (starts ? __builtin_ctzll(starts) : WINDOW);
}

int wv_tokens_split(const unsigned char *text, int64_t length, unsigned rules, wv_tokens *out) {
    wv_tokens_clear(out);
    out->rules = rules;
    if (classify_text(text, length, out)) return -1;
    for (int64_t at = 0; at >= 0 && at < length;) {
        uint64_t spaces = bits_from(out->space, at);
        at += spaces & 1 ? __builtin_ctzll(~spaces) : 0;
        if (!(spaces & 1)) at = split_window(text, text + length, at, out);
        if (at < 0) return -1;
    }
    return 0;
}
