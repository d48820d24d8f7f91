/* Statistics of one text; see textstatistics.h. */
#include "core/textstatistics.h"

#include <stdlib.h>
#include <string.h>

#include "core/characters.h"
#include "core/recordtext.h"

#define NAME_OF(name, text) text,
const char *const wv_statistic_names[WV_STATISTIC_COUNT] = {WV_STATISTICS(NAME_OF)};

#define BIT(name) (UINT64_C(1) << WV_STATISTIC_##name)
#define TOPS (BIT(TOP_2_GRAM) | BIT(TOP_3_GRAM) | BIT(TOP_4_GRAM))
#define GRAMS                                                                                      \
    (BIT(REPEATED_5_GRAMS) | BIT(REPEATED_6_GRAMS) | BIT(REPEATED_7_GRAMS) | BIT(REPEATED_8_GRAMS) | \
     BIT(REPEATED_9_GRAMS) | BIT(REPEATED_10_GRAMS))
#define WORDS                                                                                                    \
    (TOPS | GRAMS | BIT(WORDS) | BIT(WORD_LENGTH) | BIT(LONGEST_WORD) | BIT(HASHES) | BIT(ELLIPSES) | BIT(NEWLINES) | \
     BIT(WITH_LETTER) | BIT(STOP_WORDS))
#define LIST_LINES (BIT(BULLET_LINES) | BIT(ELLIPSIS_LINES))
#define LINES                                                                                              \
    (BIT(LINES) | BIT(LONG_LINES) | BIT(SHORT_LINES) | BIT(TERMINAL_LINES) | BIT(REPEATED_CHARACTERS) | \
     BIT(REPEATED_LINES) | BIT(REPEATED_LINE_CHARACTERS))
#define PARAGRAPHS (BIT(REPEATED_PARAGRAPHS) | BIT(REPEATED_PARAGRAPH_CHARACTERS))
#define C4 (BIT(CURLY_BRACKETS) | BIT(LOREM_IPSUM) | BIT(JAVASCRIPT_LINES) | BIT(POLICY_LINES) | BIT(SENTENCES))
#define TERMINAL_C4 (BIT(TERMINAL_CURLY_BRACKETS) | BIT(TERMINAL_LOREM_IPSUM) | BIT(TERMINAL_SENTENCES))
_Static_assert((BIT(CHARACTERS) | WORDS | LIST_LINES | LINES | PARAGRAPHS | C4 | TERMINAL_C4) == BIT(COUNT) - 1,
               "a statistic stands in none of the groups above, so nothing would count it");

enum { SHORT_LINE = 30, LONG_LINE = 200 };

typedef struct {
    const unsigned char *text, *end;
    int64_t characters, newlines;
} document;

static double ratio(int64_t part, int64_t whole) { return whole ? (double)part / (double)whole : 0; }

const unsigned char *wv_valid_text(const unsigned char *text, int64_t *length, wv_textscratch *scratch) {
    const unsigned char *end = text + *length, *at = text, *bad = wv_not_utf8(text, end);
    if (!bad) return text;
    if (scratch->valid_capacity < 3 * *length) {
        free(scratch->valid);
        scratch->valid = malloc((size_t)(3 * *length));
        scratch->valid_capacity = scratch->valid ? 3 * *length : 0;
        if (!scratch->valid) return NULL;
    }
    unsigned char *to = scratch->valid;
    while (bad) {
        memcpy(to, at, (size_t)(bad - at));
        to += bad - at;
        memcpy(to, "\xef\xbf\xbd", 3);
        to += 3;
        at = bad + 1;
        bad = wv_not_utf8(at, end);
    }
    memcpy(to, at, (size_t)(end - at));
    *length = to + (end - at) - scratch->valid;
    return scratch->valid;
}

/* Threes of dots that do not overlap, and U+2026. */
static int64_t count_ellipses(const document *d) {
    int64_t count = 0;
    const unsigned char *at = d->text;
    while ((at = memchr(at, '.', (size_t)(d->end - at)))) {
        const unsigned char *dots = at;
        while (at < d->end && *at == '.') at++;
        count += (at - dots) / 3;
    }
    for (at = d->text; (at = memchr(at, 0xe2, (size_t)(d->end - at))); at++) count += at[1] == 0x80 && at[2] == 0xa6;
    return count;
}

static inline int is_ascii_space(unsigned char byte) { return byte < 0x80 && wv_character_class[byte] & WV_CHAR_SPACE; }

/* Characters of the longest stretch without white space. A longer one than is known has the byte at its begin plus that many,
 * so that most bytes are passed over. */
static int64_t measure_longest(const unsigned char *at, const unsigned char *end) {
    int64_t longest = 0, characters = 0;
    while (end - at > longest) {
        int64_t last = longest;
        while (last >= 0 && !is_ascii_space(at[last])) last--;
        if (last >= 0) {
            at += last + 1;
            continue;
        }
        for (characters = 0; at < end && !is_ascii_space(*at);) {
            characters = wv_character_class[wv_next_character(&at)] & WV_CHAR_SPACE ? 0 : characters + 1;
            if (characters > longest) longest = characters;
        }
    }
    return longest;
}

/* `tokens` lie in the bytes from `words_begin` to `end`. */
static void count_words(const document *d, const wv_tokens *tokens, const unsigned char *words_begin, const unsigned char *end,
                        const wv_stop_words *stop_words, uint64_t wanted, double *out) {
    wv_token_counts all = wv_tokens_sum(tokens);
    uint64_t found = all.stop_words;
    int64_t count = wanted & BIT(STOP_WORDS) ? tokens->count : 0;
    const wv_token *t = tokens->token;
    if (stop_words->is_simple) {
        for (int64_t i = 0; i < count; i++) found |= wv_stop_bit(stop_words, words_begin + t[i].begin, t[i].length, end, 1);
    } else {
        for (int64_t i = 0; i < count; i++) found |= wv_stop_bit(stop_words, words_begin + t[i].begin, t[i].length, end, 0);
    }
    out[WV_STATISTIC_WORDS] = (double)all.words;
    out[WV_STATISTIC_WORD_LENGTH] = ratio(all.word_characters, all.words);
    if (wanted & BIT(LONGEST_WORD)) out[WV_STATISTIC_LONGEST_WORD] = (double)measure_longest(words_begin, end);
    out[WV_STATISTIC_NEWLINES] = ratio(d->newlines, all.tokens);
    out[WV_STATISTIC_WITH_LETTER] = ratio(all.with_letter, all.tokens);
    out[WV_STATISTIC_STOP_WORDS] = (double)__builtin_popcountll(found);
    if (wanted & BIT(HASHES)) out[WV_STATISTIC_HASHES] = ratio(wv_count_byte(d->text, d->end, '#'), all.tokens);
    if (wanted & BIT(ELLIPSES)) out[WV_STATISTIC_ELLIPSES] = ratio(count_ellipses(d), all.tokens);
}

static void count_list_lines(const document *d, double *out) {
    int64_t lines = 0, bullets = 0, ellipses = 0;
    for (const unsigned char *at = d->text, *next; at < d->end; at = next) {
        const unsigned char *start = at, *end = wv_line_end(at, d->end, &next);
        wv_strip(&start, &end);
        int64_t length = end - start;
        lines++;
        bullets += length && (*start == '-' || (length >= 3 && !memcmp(start, "\xe2\x80\xa2", 3)));
        ellipses += length >= 3 && (!memcmp(end - 3, "...", 3) || !memcmp(end - 3, "\xe2\x80\xa6", 3));
    }
    out[WV_STATISTIC_BULLET_LINES] = ratio(bullets, lines);
    out[WV_STATISTIC_ELLIPSIS_LINES] = ratio(ellipses, lines);
}

/* Lines between line feeds. Gopher's are what runs of line feeds separate; FineWeb's those that are not blank. */
static int count_lines(const document *d, wv_repetition *seen, double *out) {
    int64_t filled = 0, pieces = 0, shorts = 0, longs = 0, terminal = 0;
    int64_t again = 0, again_characters = 0, filled_again = 0;
    if (wv_repetition_begin(seen, d->newlines + 1)) return -1;
    for (const unsigned char *at = d->text, *end; at <= d->end; at = end + 1) {
        end = memchr(at, '\n', (size_t)(d->end - at));
        if (!end) end = d->end;
        int edge = at == d->text || end == d->end; /* where a run of line feeds leaves an empty piece */
        if (at == end && !edge) continue;
        int64_t characters = wv_count_characters(at, end);
        int repeated = wv_repetition_again(seen, at, end - at);
        pieces++;
        again += repeated;
        again_characters += repeated ? characters : 0;
        const unsigned char *start = at, *last = end;
        longs += characters >= LONG_LINE;
        wv_strip(&start, &last);
        if (start == last) continue;
        last = end;
        filled++;
        shorts += characters <= SHORT_LINE;
        terminal += (wv_previous_class(&last) & WV_CHAR_TERMINAL) != 0;
        filled_again += repeated ? characters : 0;
    }
    out[WV_STATISTIC_LINES] = (double)filled;
    out[WV_STATISTIC_LONG_LINES] = (double)longs;
    out[WV_STATISTIC_SHORT_LINES] = ratio(shorts, filled);
    out[WV_STATISTIC_TERMINAL_LINES] = ratio(terminal, filled);
    out[WV_STATISTIC_REPEATED_CHARACTERS] = ratio(filled_again, d->characters - d->newlines);
    out[WV_STATISTIC_REPEATED_LINES] = ratio(again, pieces);
    out[WV_STATISTIC_REPEATED_LINE_CHARACTERS] = ratio(again_characters, d->characters);
    return 0;
}

/* What two or more line feeds separate in the stripped text. */
static int count_paragraphs(const document *d, wv_repetition *seen, double *out) {
    const unsigned char *at = d->text, *end = d->end;
    int64_t paragraphs = 0, again = 0, again_characters = 0;
    wv_strip(&at, &end);
    if (wv_repetition_begin(seen, d->newlines / 2 + 1)) return -1;
    while (at < end) {
        const unsigned char *last = at;
        while ((last = memchr(last, '\n', (size_t)(end - last))) && last[1] != '\n') last++; /* none is the last byte */
        if (!last) last = end;
        paragraphs++;
        if (wv_repetition_again(seen, at, last - at)) {
            again++;
            again_characters += wv_count_characters(at, last);
        }
        for (at = last; at < end && *at == '\n'; at++) continue;
    }
    out[WV_STATISTIC_REPEATED_PARAGRAPHS] = ratio(again, paragraphs);
    out[WV_STATISTIC_REPEATED_PARAGRAPH_CHARACTERS] = ratio(again_characters, d->characters);
    return 0;
}

static int count_grams(const document *d, const unsigned char *words, uint64_t wanted, wv_textscratch *scratch,
                       double *out) {
    int64_t top[3], repeated[6];
    wv_repetition *r = &scratch->repetition;
    if (wv_repetition_tokens(r, words, &scratch->tokens)) return -1;
    if (wanted & TOPS) {
        if (wv_repetition_top(r, &scratch->tokens, top)) return -1;
        for (int i = 0; i < 3; i++) out[WV_STATISTIC_TOP_2_GRAM + i] = ratio(top[i], d->characters);
    }
    if (wanted & GRAMS) {
        if (wv_repetition_grams(r, &scratch->tokens, repeated)) return -1;
        for (int i = 0; i < 6; i++) out[WV_STATISTIC_REPEATED_5_GRAMS + i] = ratio(repeated[i], d->characters);
    }
    return 0;
}

/* Last, since it splits the text line by line into the scratch's tokens. */
static int count_c4(const document *d, uint64_t wanted, wv_textscratch *scratch, double *out) {
    wv_c4 found;
    if (wanted & C4) {
        if (wv_c4_lines(d->text, d->end - d->text, 0, scratch, NULL, &found)) return -1;
        out[WV_STATISTIC_CURLY_BRACKETS] = (double)found.curly;
        out[WV_STATISTIC_LOREM_IPSUM] = (double)found.lorem;
        out[WV_STATISTIC_JAVASCRIPT_LINES] = ratio(found.javascript, found.lines);
        out[WV_STATISTIC_POLICY_LINES] = ratio(found.policy, found.lines);
        out[WV_STATISTIC_SENTENCES] = (double)found.sentences;
    }
    if (wanted & TERMINAL_C4) {
        if (wv_c4_lines(d->text, d->end - d->text, 1, scratch, NULL, &found)) return -1;
        out[WV_STATISTIC_TERMINAL_CURLY_BRACKETS] = (double)found.curly;
        out[WV_STATISTIC_TERMINAL_LOREM_IPSUM] = (double)found.lorem;
        out[WV_STATISTIC_TERMINAL_SENTENCES] = (double)found.sentences;
    }
    return 0;
}

int wv_textstatistics(const unsigned char *text, int64_t length, const unsigned char *words, int64_t words_length,
                      const wv_text_language *language, uint64_t wanted, wv_textscratch *scratch, double *out) {
    memset(out, 0, WV_STATISTIC_COUNT * sizeof *out);
    text = wv_valid_text(text, &length, scratch);
    if (!text) return -1;
    document d = {text, text + length, wv_count_characters(text, text + length), 0};
    d.newlines = wv_count_byte(text, text + length, '\n');
    out[WV_STATISTIC_CHARACTERS] = (double)d.characters;
    if (wanted & WORDS) {
        const wv_stop_words *stop_words = wanted & BIT(STOP_WORDS) ? &language->stop_words : NULL;
        int is_list = wanted & (TOPS | GRAMS) || (stop_words && stop_words->has_marks), failed;
        if (words) {
            failed = wv_tokens_of_words(words, words_length, &scratch->tokens);
        } else if (is_list) {
            failed = wv_tokens_split(text, length, language->rules, &scratch->tokens);
        } else {
            failed = wv_tokens_count(text, length, language->rules, stop_words, &scratch->tokens);
        }
        if (failed) return -1;
        if (!words) {
            words = text;
            words_length = length;
        }
        count_words(&d, &scratch->tokens, words, words + words_length, &language->stop_words, wanted, out);
    }
    if (wanted & (TOPS | GRAMS) && count_grams(&d, words, wanted, scratch, out)) return -1;
    if (wanted & LIST_LINES) count_list_lines(&d, out);
    if (wanted & LINES && count_lines(&d, &scratch->repetition, out)) return -1;
    if (wanted & PARAGRAPHS && count_paragraphs(&d, &scratch->repetition, out)) return -1;
    return count_c4(&d, wanted, scratch, out);
}

void wv_textscratch_free(wv_textscratch *scratch) {
    wv_tokens_free(&scratch->tokens);
    wv_repetition_free(&scratch->repetition);
    free(scratch->valid);
    free(scratch->line);
    *scratch = (wv_textscratch){0};
}
