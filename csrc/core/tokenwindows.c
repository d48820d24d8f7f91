/* The tokens of a text; see wordtokens.h.
 *
 * A bit for each byte says whether it is white space, a digit, or neither this nor a letter. Sums of these bits find the
 * stretches that are letters, perhaps with a mark behind them: nine of ten. simplestretches.c cuts most others, wordtokens.c
 * the rest. Words that are exceptions in English are among these in every language. */
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "core/tokenparts.h"
#include "core/wordexceptions.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

/* Two counts are in one number, the second in units of this. */
#define COUNT_ONE (INT64_C(1) << 32)

enum { SIXTEEN = 16, WORD = 64, AFTER = 8, WINDOW = 57 };

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

/* The bits of the bytes from `at` on, WINDOW of them at least, WORD from a multiple of eight on. */
static inline uint64_t bits_from(const uint16_t *bits, int64_t at) {
    return wv_eight((const unsigned char *)bits + at / 8) >> (at % 8);
}

/* Bits of the WORD bytes that are read and the last bits of those before: stretches that begin and end there, and of these
 * ends those of stretches that are plain, perhaps with a mark. */
typedef struct {
    uint64_t starts, ends, plain, marked;
    uint64_t filled, letters, sum, mark, lone; /* carried */
} edges;

/* A stretch is plain that is letters, perhaps with one mark behind them, or a single byte. */
static inline void read_edges(edges *e, const wv_tokens *t, int64_t at) {
    uint64_t space = bits_from(t->space, at), others = bits_from(t->other, at), digits = bits_from(t->digit, at), sum;
    uint64_t filled = ~space, letters = filled & ~(others | digits), after_filled = filled << 1 | e->filled;
    uint64_t before_space = space >> 1 | bits_from(t->space, at + WORD) << 63;
    uint64_t marks = others & (letters << 1 | e->letters) & before_space;
    e->starts = filled & ~after_filled;
    e->ends = space & after_filled;
    /* What a sum carries through the first letters of a stretch comes to the byte behind them. */
    uint64_t carried = (uint64_t)__builtin_add_overflow(letters, e->starts & letters, &sum);
    carried |= (uint64_t)__builtin_add_overflow(sum, e->sum, &sum);
    uint64_t behind = sum & ~letters, mark = behind & marks, lone = e->starts & ~letters;
    e->marked = mark << 1 | e->mark;
    e->plain = (behind & space) | e->marked | ((lone << 1 | e->lone) & space);
    e->filled = filled >> 63;
    e->letters = letters >> 63;
    e->sum = carried;
    e->mark = mark >> 63;
    e->lone = lone >> 63;
}

/* Of a plain stretch that begins with this byte of ASCII: the classes of its first token, in the upper half of a number; what is
 * counted of it beside its length, as in wv_token_counts. And whether the byte may be no token behind letters. */
static struct {
    uint64_t classes;
    int64_t characters, tokens;
    unsigned unsure; /* bits that a letter before it has not: all; those of a capital; none */
} of_byte[256];

void wv_tokens_prepare(void) {
    for (unsigned c = 0; c < sizeof of_byte / sizeof *of_byte; c++) {
        uint64_t kind = wv_character_class[c] & ~(unsigned)WV_CHAR_UPPER;
        int is_word = !(kind & WV_CHAR_SYMBOL), has_letter = (kind & WV_CHAR_LETTER) != 0;
        of_byte[c].classes = (kind << 16 | kind) << 32;
        of_byte[c].characters = is_word ? COUNT_ONE : -1;
        of_byte[c].tokens = 1 + (has_letter ? COUNT_ONE : 0);
        of_byte[c].unsure = c == '.' ? 0x20 : kind & WV_CHAR_CLOSING ? 0 : 0xff;
    }
}

/* In two stores: a compiler makes more of a structure. */
static inline void put_token(wv_token *to, int64_t begin, int64_t length, uint64_t classes) {
    uint64_t place = (uint64_t)(begin | length << 32), kind = (uint64_t)length | classes;
    _Static_assert(sizeof *to == sizeof place + sizeof kind, "a token has no other bytes");
    memcpy(to, &place, sizeof place);
    memcpy((unsigned char *)to + sizeof place, &kind, sizeof kind);
}

/* Whether a plain stretch, with a mark behind its letters or without one, may be cut otherwise than that says. */
static inline int is_special(const unsigned char *word, int64_t length, unsigned has_mark) {
    unsigned unsure = of_byte[word[length - 1 + has_mark]].unsure & ~(unsigned)word[length - 1] & (0u - has_mark);
    if (!(unsure | (wv_exception_bits(word, length) & (WV_EXCEPTION + has_mark * WV_EXCEPTION_BUT_LAST)))) return 0;
    return unsure || wv_exception_of(word, length) || wv_exception_of(word, length + has_mark);
}

static int add_other(const unsigned char *text, int64_t begin, int64_t stop, wv_tokens *out) {
    int parts = 0;
    if (stop - begin < WINDOW) {
        int length = (int)(stop - begin);
        uint64_t inside = wv_bits_between(0, length), others = bits_from(out->other, begin) & inside;
        wv_simple_stretch s = {text + begin, length, out->rules, others, bits_from(out->digit, begin) & inside};
        parts = wv_tokens_of_simple(&s, begin, out);
    }
    while (parts == 0 && begin < stop) { /* once, or again behind white space beyond ASCII */
        begin = wv_tokens_of_stretch(text, text + stop, begin, out);
        if (begin < 0) return -1;
    }
    return parts < 0 ? -1 : 0;
}

/* Lists all tokens, or counts those of plain stretches, with stop words among them. A plain stretch takes the same instructions
 * whatever it is: no processor foresees which is next. */
static inline int split_words(const unsigned char *text, int64_t length, int is_list, const wv_stop_words *stop_words,
                              wv_tokens *out) {
    edges e = {0};
    uint64_t found = 0;
    int64_t begin = 0, characters = 0, counts = 0;
    for (int64_t at = 0; at <= length; at += WORD) {
        int is_begun = (int)e.filled;
        read_edges(&e, out, at);
        uint64_t starts = e.starts;
        if (!is_begun) {
            begin = at + __builtin_ctzll(starts | (uint64_t)INT64_MIN);
            starts &= starts - 1;
        }
        if (is_list && out->capacity - out->count <= WORD && wv_tokens_grow(out)) return -1;
        for (uint64_t ends = e.ends; ends; ends &= ends - 1) {
            int bit = __builtin_ctzll(ends);
            int64_t stop = at + bit;
            unsigned has_mark = (unsigned)(e.marked >> bit & 1);
            const unsigned char *word = text + begin;
            int64_t letters = stop - begin - has_mark;
            if (!(e.plain >> bit & 1) || is_special(word, letters, has_mark)) {
                if (add_other(text, begin, stop, out)) return -1;
                if (is_list && out->capacity - out->count <= WORD && wv_tokens_grow(out)) return -1;
            } else if (is_list) {
                wv_token *to = out->token + out->count;
                put_token(to, begin, letters, of_byte[word[0]].classes);
                put_token(to + 1, stop - 1, 1, of_byte[word[letters - 1 + has_mark]].classes); /* or the next one comes here */
                out->count += 1 + has_mark;
            } else {
                characters += letters + of_byte[word[0]].characters;
                counts += has_mark + of_byte[word[0]].tokens;
                if (stop_words) found |= wv_stop_bit(stop_words, word, (int32_t)letters, text + length, stop_words->is_simple);
            }
            begin = at + __builtin_ctzll(starts | (uint64_t)INT64_MIN);
            starts &= starts - 1;
        }
    }
    int64_t words = characters / COUNT_ONE, with_letter = counts / COUNT_ONE;
    out->counted = (wv_token_counts){counts % COUNT_ONE, words, characters % COUNT_ONE, with_letter, found};
    return 0;
}

static int begin_tokens(const unsigned char *text, int64_t length, unsigned rules, wv_tokens *out) {
    out->count = 0;
    out->rules = rules;
    return classify_text(text, length, out);
}

int wv_tokens_split(const unsigned char *text, int64_t length, unsigned rules, wv_tokens *out) {
    return begin_tokens(text, length, rules, out) ? -1 : split_words(text, length, 1, NULL, out);
}

int wv_tokens_count(const unsigned char *text, int64_t length, unsigned rules, const wv_stop_words *stop_words, wv_tokens *out) {
    if (begin_tokens(text, length, rules, out)) return -1;
    return stop_words ? split_words(text, length, 0, stop_words, out) : split_words(text, length, 0, NULL, out);
}
