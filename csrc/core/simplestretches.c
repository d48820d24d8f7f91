/* Tokens of stretches of ASCII that are cut where the rules alone say how; see wordtokens.h. */
#include <string.h>

#include "core/tokenparts.h"
#include "core/wordexceptions.h"

static inline int has_class(unsigned char byte, unsigned classes) {
    return byte < 0x80 && wv_character_class[byte] & classes;
}

typedef wv_simple_stretch simple;

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
        if (has_class(last, WV_CHAR_CLOSING)) return 1;
        if (last == '+') return before && is_number(s, to - 2) ? 1 : 0;
        if (last != '.') return strchr("-/=@\\^|~", last) ? 0 : -1;
        if (!is_other(s, to - 2)) return !is_capital(s, to - 2) || (to - from >= 3 && is_capital(s, to - 3));
        return before == '+' || before == '-' || (before != '.' && has_class(before, WV_CHAR_CLOSING)) ? 1 : -1;
    }
    if (to - from >= 3 && (last | 0x20) == 's' && before == '\'') return 2;
    uint64_t rest = (s->others | s->digits) & wv_bits_between(from, to);
    int word = rest ? 64 - __builtin_clzll(rest) : to; /* where the last letters begin */
    return word < to && is_number(s, word - 1) && wv_is_unit(s->at + word, to - word) ? to - word : 0;
}

/* Where a stretch is cut that is an exception: the end of each token. Returns how many there are; 0: it is none, or no ASCII. */
static int cut_exception(const simple *s, int end[MOST_PARTS]) {
    const wv_exception *found = wv_exception_of(s->at, s->length);
    int parts = 0;
    if (!found || (found->is_english && s->rules & WV_WORDS_FOREIGN)) return 0;
    for (int i = 1; i < s->length; i++) {
        if (s->at[i] >= 0x80) return 0; /* a curly apostrophe has three bytes */
        if (found->cuts >> i & 1) end[parts++] = i;
    }
    end[parts++] = s->length;
    return parts;
}

/* The same of a stretch whose first and last marks are few, if the rules alone say so; 0 for others. */
static int cut_simple(const simple *s, int end[MOST_PARTS]) {
    int parts = 0, from = 0, to = s->length, divides = 0, closing = 0, behind[2], marks = 0;
    if (is_other(s, 0)) {
        if (!has_class(s->at[0], WV_CHAR_OPENING) || is_other(s, 1)) return 0;
        from = end[parts++] = 1;
    }
    while (to - from > 1 && (closing = simple_closing(s, from, to)) > 0 && marks < 2) {
        behind[marks++] = to;
        to -= closing;
    }
    if (closing < 0 || (closing > 0 && to - from > 1) || to <= from || is_other(s, from)) return 0;
    int dots = s->at[to - 1] == '.';
    for (uint64_t inner = s->others & wv_bits_between(from, to - 1); inner; inner &= inner - 1) {
        int mark = __builtin_ctzll(inner), verdict = judge_mark(s, mark);
        dots |= s->at[mark] == '.';
        if (verdict == UNSURE || parts > MOST_PARTS - 5) return 0;
        if (verdict == PASSED) continue;
        divides = 1;
        end[parts++] = mark;
        end[parts++] = mark + 1;
    }
    if (divides & dots) return 0; /* it may be an address */
    end[parts++] = to;
    while (marks) end[parts++] = behind[--marks];
    for (int i = 0, begin = 0; i < parts; begin = end[i++]) {
        const wv_exception *found = wv_exception_of(s->at + begin, end[i] - begin);
        if (found && found->cuts != 1) return 0;
        for (int j = i + 1; j < parts && end[j] - begin <= wv_exception_longest[s->at[begin]]; j++) {
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
    if (!((s->others | s->digits) & wv_bits_between(from, to))) return letters_token(begin + from, to - from);
    for (int i = from; i < to; i++) {
        any |= wv_character_class[s->at[i]];
        all &= wv_character_class[s->at[i]];
    }
    return (wv_token){(int32_t)(begin + from), to - from, to - from, (uint16_t)any, (uint16_t)all};
}

int wv_tokens_of_simple(const wv_simple_stretch *s, int64_t begin, wv_tokens *out) {
    int end[MOST_PARTS], parts = cut_exception(s, end);
    if (!parts) parts = cut_simple(s, end);
    for (int i = 0, from = 0; i < parts; from = end[i++]) {
        if (wv_tokens_add(out, simple_token(s, begin, from, end[i]))) return -1;
    }
    return parts;
}
