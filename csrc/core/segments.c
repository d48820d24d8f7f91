/* Word and sentence boundaries; see segments.h. The numbers of the rules are those of UAX #29. */
#include "core/segments.h"

#include <stdlib.h>
#include <string.h>

#include "core/characters.h"
#include "core/recordtext.h"
#include "core/separators.h"

static inline int bit_of(int value) { return 1 << value; }

enum {
    NEWLINES = 1 << WV_WB_CR | 1 << WV_WB_LF | 1 << WV_WB_NEWLINE,
    IGNORED = 1 << WV_WB_EXTEND | 1 << WV_WB_FORMAT | 1 << WV_WB_ZWJ,
    LETTERS = 1 << WV_WB_ALETTER | 1 << WV_WB_HEBREW,
    MID_LETTERS = 1 << WV_WB_MIDLETTER | 1 << WV_WB_MIDNUMLET | 1 << WV_WB_SINGLE_QUOTE,
    MID_NUMBERS = 1 << WV_WB_MIDNUM | 1 << WV_WB_MIDNUMLET | 1 << WV_WB_SINGLE_QUOTE,
    SEPARATORS = NEWLINES | 1 << WV_WB_OTHER | 1 << WV_WB_SPACE | 1 << WV_WB_EXTENDNUMLET,
    JOINED = LETTERS | 1 << WV_WB_NUMERIC | 1 << WV_WB_KATAKANA,
    PARAGRAPH_ENDS = 1 << WV_SB_SEP | 1 << WV_SB_CR | 1 << WV_SB_LF,
    TERMS = 1 << WV_SB_STERM | 1 << WV_SB_ATERM,
    NOT_BEFORE_LOWER = 1 << WV_SB_OLETTER | 1 << WV_SB_UPPER | PARAGRAPH_ENDS | TERMS
};

static inline int word_break(uint16_t kind) { return kind & WV_SEGMENT_WORD_BREAK; }
static inline int sentence_break(uint16_t kind) { return kind >> WV_SEGMENT_SENTENCE_SHIFT & 15; }

/* The Word_Break of the first character from `at` on that is not ignored (WB4). */
static int next_word_break(const wv_segment_scratch *s, int64_t at, int64_t count) {
    while (at < count && bit_of(word_break(s->kind[at])) & IGNORED) at++;
    return at < count ? word_break(s->kind[at]) : WV_WB_OTHER;
}

/* Whether no boundary is between the words of `before` and `now`, where `first` stands before `before` (WB5 to WB16).
 * `flags`: how many regional indicators `before` ends. */
static int is_joined(const wv_segment_scratch *s, int first, int before, int now, int64_t at, int64_t count,
                     int64_t flags) {
    int first_bit = bit_of(first), before_bit = bit_of(before), now_bit = bit_of(now);
    if (before_bit & LETTERS) {
        if (now_bit & LETTERS || now == WV_WB_NUMERIC || now == WV_WB_EXTENDNUMLET) return 1; /* WB5, 9, 13a */
        if (now_bit & MID_LETTERS) {
            if (before == WV_WB_HEBREW && now == WV_WB_SINGLE_QUOTE) return 1;         /* WB7a */
            return (bit_of(next_word_break(s, at + 1, count)) & LETTERS) != 0;          /* WB6 */
        }
        return before == WV_WB_HEBREW && now == WV_WB_DOUBLE_QUOTE &&
               next_word_break(s, at + 1, count) == WV_WB_HEBREW; /* WB7b */
    }
    if (now_bit & LETTERS) {
        if (before_bit & MID_LETTERS && first_bit & LETTERS) return 1;                                   /* WB7 */
        if (before == WV_WB_DOUBLE_QUOTE && first == WV_WB_HEBREW && now == WV_WB_HEBREW) return 1; /* WB7c */
        return before == WV_WB_NUMERIC || before == WV_WB_EXTENDNUMLET;                                 /* WB10, 13b */
    }
    if (now == WV_WB_NUMERIC) {
        if (before == WV_WB_NUMERIC || before == WV_WB_EXTENDNUMLET) return 1; /* WB8, 13b */
        return before_bit & MID_NUMBERS && first == WV_WB_NUMERIC;             /* WB11 */
    }
    if (before == WV_WB_NUMERIC && now_bit & MID_NUMBERS)
        return next_word_break(s, at + 1, count) == WV_WB_NUMERIC;                             /* WB12 */
    if (now == WV_WB_KATAKANA) return before == WV_WB_KATAKANA || before == WV_WB_EXTENDNUMLET; /* WB13, 13b */
    if (now == WV_WB_EXTENDNUMLET) return before_bit & JOINED || before == WV_WB_EXTENDNUMLET;  /* WB13a */
    return now == WV_WB_REGIONAL && before == WV_WB_REGIONAL && flags % 2;                       /* WB15, 16 */
}

static void find_words(wv_segment_scratch *s, int64_t count) {
    int first = WV_WB_OTHER, before = word_break(s->kind[0]);
    int64_t flags = before == WV_WB_REGIONAL;
    s->cut[0] = WV_CUT_WORD;
    for (int64_t i = 1; i < count; i++) {
        int raw = word_break(s->kind[i - 1]), now = word_break(s->kind[i]), cut;
        if (now == WV_WB_ALETTER && before == WV_WB_ALETTER && raw == WV_WB_ALETTER) { /* most of a text */
            s->cut[i] = 0;
            first = before;
            continue;
        }
        if (bit_of(raw) & NEWLINES) {
            cut = !(raw == WV_WB_CR && now == WV_WB_LF); /* WB3, 3a */
        } else if (bit_of(now) & NEWLINES) {
            cut = 1; /* WB3b */
        } else if (raw == WV_WB_ZWJ && s->kind[i] & WV_SEGMENT_PICTOGRAPH) {
            cut = 0; /* WB3c */
        } else if (raw == WV_WB_SPACE && now == WV_WB_SPACE) {
            cut = 0; /* WB3d */
        } else if (bit_of(now) & IGNORED) {
            s->cut[i] = 0; /* WB4 */
            continue;
        } else {
            cut = !is_joined(s, first, before, now, i, count, flags);
        }
        s->cut[i] = (unsigned char)(cut ? WV_CUT_WORD : 0);
        flags = now == WV_WB_REGIONAL ? (before == WV_WB_REGIONAL ? flags + 1 : 1) : 0;
        first = before;
        before = now;
    }
}

/* Whether a lower case letter is the first character that counts from `at` on (SB8). */
static int is_lower_next(const wv_segment_scratch *s, int64_t at, int64_t count) {
    while (at < count && !(bit_of(sentence_break(s->kind[at])) & (NOT_BEFORE_LOWER | 1 << WV_SB_LOWER))) at++;
    return at < count && sentence_break(s->kind[at]) == WV_SB_LOWER;
}

static void find_sentences(wv_segment_scratch *s, int64_t count) {
    enum { NONE, TERM, CLOSED, SPACED } state = NONE; /* behind STerm or ATerm, Close*, Sp* */
    int is_aterm = 0, first = WV_SB_OTHER, before = WV_SB_OTHER, is_new = 0;
    for (int64_t i = 0; i < count; i++) {
        int now = sentence_break(s->kind[i]), now_bit = bit_of(now);
        int cut = is_new && !(before == WV_SB_CR && now == WV_SB_LF); /* SB3, 4 */
        if (cut) {
            s->cut[i] |= WV_CUT_SENTENCE;
            state = NONE;
            before = WV_SB_OTHER;
        } else if (i && now_bit & (1 << WV_SB_EXTEND | 1 << WV_SB_FORMAT)) {
            continue; /* SB5 */
        } else if (state != NONE) {
            int stays;
            if (state == TERM && is_aterm && now == WV_SB_NUMERIC) {
                stays = 1; /* SB6 */
            } else if (state == TERM && is_aterm && now == WV_SB_UPPER &&
                       bit_of(first) & (1 << WV_SB_UPPER | 1 << WV_SB_LOWER)) {
                stays = 1; /* SB7 */
            } else if (now_bit & (1 << WV_SB_SCONTINUE | TERMS)) {
                stays = 1; /* SB8a */
            } else if (now_bit & (1 << WV_SB_SP | PARAGRAPH_ENDS) || (now == WV_SB_CLOSE && state != SPACED)) {
                stays = 1; /* SB9, 10 */
            } else {
                stays = is_aterm && is_lower_next(s, i, count); /* SB8 */
            }
            if (!stays) s->cut[i] |= WV_CUT_SENTENCE; /* SB11 */
        }
        if (now_bit & TERMS) {
            state = TERM;
            is_aterm = now == WV_SB_ATERM;
        } else if ((state == TERM || state == CLOSED) && now == WV_SB_CLOSE) {
            state = CLOSED;
        } else if (state != NONE && now == WV_SB_SP) {
            state = SPACED;
        } else if (!(state != NONE && now_bit & PARAGRAPH_ENDS)) {
            state = NONE;
        }
        is_new = (now_bit & PARAGRAPH_ENDS) != 0;
        first = before;
        before = now;
    }
}

static int make_room(wv_segment_scratch *s, int64_t characters) {
    if (characters < s->capacity) return 0;
    int64_t capacity = characters + characters / 2 + 256;
    wv_segment_scratch_free(s);
    s->kind = malloc((size_t)capacity * sizeof *s->kind);
    s->place = malloc((size_t)capacity * sizeof *s->place);
    s->cut = malloc((size_t)capacity);
    s->capacity = s->kind && s->place && s->cut ? capacity : 0;
    return s->capacity ? 0 : -1;
}

static int64_t read_characters(const unsigned char *text, int64_t length, wv_segment_scratch *s) {
    if (make_room(s, length)) return -1;
    const unsigned char *at = text, *end = text + length;
    int64_t count = 0;
    while (at < end) {
        s->place[count] = (int32_t)(at - text);
        if (*at < 0x80) {
            s->kind[count++] = wv_segment_kind[*at++];
        } else if (wv_utf8_length(at, end)) {
            s->kind[count++] = wv_segment_kind[wv_next_character(&at)];
        } else {
            s->kind[count++] = WV_WB_OTHER;
            at++;
        }
    }
    s->place[count] = (int32_t)length;
    return count;
}

int64_t wv_find_boundaries(const unsigned char *text, int64_t length, int sentences, wv_segment_scratch *scratch) {
    int64_t count = read_characters(text, length, scratch);
    if (count > 0) {
        find_words(scratch, count);
        if (sentences) find_sentences(scratch, count);
    }
    return count;
}

/* White space or a control; a joiner or another format character inside a word is none. */
static inline int is_separator(uint16_t kind) {
    return kind & WV_SEGMENT_INVISIBLE && bit_of(word_break(kind)) & SEPARATORS;
}

/* A blank that joins what stands around it: U+202F between the digits of a number. */
static inline int is_joining_blank(uint16_t kind) {
    return kind & WV_SEGMENT_INVISIBLE && word_break(kind) == WV_WB_EXTENDNUMLET;
}

static void cut_at_blanks(wv_segment_scratch *s, int64_t count) {
    int was_separator = 1;
    for (int64_t i = 0; i < count; i++) {
        int separates = is_separator(s->kind[i]);
        s->cut[i] = (unsigned char)((s->cut[i] & WV_CUT_SENTENCE) | (separates || was_separator ? WV_CUT_WORD : 0));
        was_separator = separates;
    }
}

static unsigned char *put_word(const wv_word_rules *rules, const unsigned char *text, const wv_segment_scratch *s,
                               int64_t from, int64_t to, unsigned char *out) {
    int32_t begin = s->place[from], end = s->place[to];
    unsigned any = 0;
    for (int64_t i = from; i < to && rules->digits == WV_DIGITS_ZERO; i++) any |= s->kind[i];
    if (!(any & WV_SEGMENT_DIGIT)) {
        memcpy(out, text + begin, (size_t)(end - begin));
        return out + (end - begin);
    }
    for (int64_t i = from; i < to; i++) {
        if (s->kind[i] & WV_SEGMENT_DIGIT) {
            *out++ = '0';
        } else {
            for (int32_t at = s->place[i]; at < s->place[i + 1]; at++) *out++ = text[at];
        }
    }
    return out;
}

static int goes(const wv_word_rules *rules, const wv_segment_scratch *s, int64_t from, int64_t to) {
    if (from == to || is_separator(s->kind[from])) return 1;
    if (s->kind[from] & WV_SEGMENT_INVISIBLE) {
        int64_t seen = from;
        while (seen < to && s->kind[seen] & WV_SEGMENT_INVISIBLE) seen++;
        if (seen == to) return 1;
    }
    if (!rules->drop_punctuation && rules->digits != WV_DIGITS_DROP) return 0;
    unsigned any = 0, numbers = 0, letters = 0;
    for (int64_t i = from; i < to; i++) {
        any |= s->kind[i];
        int is_letter = s->kind[i] & WV_SEGMENT_WORD && !(s->kind[i] & WV_SEGMENT_DIGIT);
        letters |= (unsigned)is_letter;
        numbers |= s->kind[i] & WV_SEGMENT_DIGIT;
    }
    if (rules->digits == WV_DIGITS_DROP && numbers && !letters) return 1;
    return rules->drop_punctuation && !(any & (WV_SEGMENT_WORD | WV_SEGMENT_PICTOGRAPH | WV_SEGMENT_EMOJI));
}

/* Where the label or the weight of a line ends that begins here; `from` where none does. */
static int64_t label_end(const unsigned char *text, const wv_segment_scratch *s, int64_t from, int64_t count) {
    static const char *const prefixes[] = {"__label__", "__weight__"};
    const unsigned char *at = text + s->place[from];
    int64_t left = s->place[count] - s->place[from];
    if (*at != '_' || (from && !wv_is_separator(at[-1]))) return from;
    for (int i = 0; i < 2; i++) {
        int64_t length = (int64_t)strlen(prefixes[i]);
        if (left < length || memcmp(at, prefixes[i], (size_t)length)) continue;
        while (from < count && !wv_is_separator(text[s->place[from]])) from++;
        return from;
    }
    return from;
}

int64_t wv_write_words(const wv_word_rules *rules, const unsigned char *text, int64_t length,
                       wv_segment_scratch *scratch, unsigned char *out) {
    unsigned char *begin = out;
    for (const unsigned char *at = text, *end = text + length; at < end;) {
        const unsigned char *newline = memchr(at, '\n', (size_t)(end - at));
        const unsigned char *line_end = newline ? newline : end;
        int64_t count = wv_find_boundaries(at, line_end - at, rules->sentences, scratch);
        if (count < 0) return -1;
        if (rules->blanks) cut_at_blanks(scratch, count);
        int is_first = 1, begins = 0; /* whether the next word begins a sentence */
        for (int64_t from = 0, to; from < count; from = to) {
            int ends = 0;
            begins |= scratch->cut[from] & WV_CUT_SENTENCE;
            int64_t label = label_end(at, scratch, from, count);
            if (label > from) {
                if (!is_first) *out++ = begins ? '\n' : ' ';
                memcpy(out, at + scratch->place[from], (size_t)(scratch->place[label] - scratch->place[from]));
                out += scratch->place[label] - scratch->place[from];
                is_first = begins = 0;
                to = label;
                continue;
            }
            for (to = from + 1; to < count && !(scratch->cut[to] & WV_CUT_WORD); to++)
                ends |= scratch->cut[to] & WV_CUT_SENTENCE;
            int64_t first = from, last = to;
            while (first < last && is_joining_blank(scratch->kind[first])) first++;
            while (first < last && is_joining_blank(scratch->kind[last - 1])) last--;
            if (!goes(rules, scratch, first, last)) {
                if (!is_first) *out++ = begins ? '\n' : ' ';
                out = put_word(rules, at, scratch, first, last, out);
                is_first = begins = 0;
            }
            begins |= ends;
        }
        if (newline) {
            *out++ = '\n';
        } else if (!is_first) {
            *out++ = ' ';
        }
        at = line_end + (newline != NULL);
    }
    return out - begin;
}

void wv_segment_scratch_free(wv_segment_scratch *scratch) {
    free(scratch->kind);
    free(scratch->place);
    free(scratch->cut);
    *scratch = (wv_segment_scratch){0};
}
