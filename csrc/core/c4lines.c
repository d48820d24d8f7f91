/* C4's rules for lines; see textstatistics.h. The order is that of datatrove's C4QualityFilter. */
#include <stdlib.h>
#include <string.h>

#include "core/characters.h"
#include "core/textstatistics.h"

enum { LONGEST_WORD = 1000, FEWEST_WORDS = 3 };

/* Whether `phrase`, in lower case and longer than three bytes, stands in the bytes, in any case. */
static int has_phrase(const unsigned char *at, const unsigned char *end, const char *phrase) {
    const unsigned char *wanted = (const unsigned char *)phrase;
    int64_t length = (int64_t)strlen(phrase), maybe = 0;
    for (const unsigned char *p = at; p + 2 < end; p++) { /* in vectors: its first three bytes, or what looks like them */
        maybe += ((p[0] | 0x20) == wanted[0]) & ((p[1] | 0x20) == wanted[1]) & ((p[2] | 0x20) == wanted[2]);
    }
    for (; maybe && end - at >= length; at++) {
        int64_t i = 0;
        while (i < length && (at[i] >= 'A' && at[i] <= 'Z' ? at[i] | 0x20 : at[i]) == wanted[i]) i++;
        if (i == length) return 1;
    }
    return 0;
}

static int has_policy(const unsigned char *at, const unsigned char *end) {
    static const char *const phrases[] = {"terms of use", "privacy policy", "cookie policy",
                                          "uses cookies", "use of cookies", "use cookies"};
    for (unsigned i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        if (has_phrase(at, end, phrases[i])) return 1;
    }
    return 0;
}

/* Whether javascript, lorem ipsum or a phrase about policies may stand in the bytes: each has one of these three letters in a row, which are rare. */
static int may_have_phrases(const unsigned char *at, const unsigned char *end) {
    static const char rare[][4] = {"jav", "ips", "rms", "icy", "kie"};
    unsigned char found = 0;
    for (unsigned i = 0; i < sizeof rare / sizeof *rare; i++) {
        unsigned char first = (unsigned char)rare[i][0], second = (unsigned char)rare[i][1], third = (unsigned char)rare[i][2];
        for (const unsigned char *p = at; p + 2 < end; p++) {
            unsigned char a = (p[0] | 0x20) == first, b = (p[1] | 0x20) == second, c = (p[2] | 0x20) == third;
            found |= a & b & c;
        }
    }
    return found;
}

/* Whether there are fewer than FEWEST_WORDS words between white space, and one of more than LONGEST_WORD characters. */
static void measure_words(const unsigned char *at, const unsigned char *end, int *is_short, int *has_long) {
    int64_t words = 0, characters = 0;
    int may_be_long = end - at > LONGEST_WORD;
    *has_long = 0;
    while (at < end && (may_be_long || words < FEWEST_WORDS)) {
        if (wv_character_class[wv_next_character(&at)] & WV_CHAR_SPACE) {
            characters = 0;
        } else {
            words += characters++ == 0;
            if (characters > LONGEST_WORD) *has_long = 1;
        }
    }
    *is_short = words < FEWEST_WORDS;
}

/* Bytes of the citation at `at`: [] [12] [edit] [citation needed]; 0 when it is none. Digits are those of Unicode to Python,
 * those of ASCII here. */
static int64_t citation(const unsigned char *at, const unsigned char *end) {
    static const char *const fixed[] = {"[edit]", "[citation needed]"};
    const unsigned char *p = at + 1;
    while (p < end && *p >= '0' && *p <= '9') p++;
    if (p < end && *p == ']') return p + 1 - at;
    for (int i = 0; i < 2; i++) {
        int64_t length = (int64_t)strlen(fixed[i]);
        if (end - at >= length && !memcmp(at, fixed[i], (size_t)length)) return length;
    }
    return 0;
}

/* The line without its citations: itself, or a copy in the scratch. NULL without memory. */
static const unsigned char *without_citations(const unsigned char *at, const unsigned char **end,
                                              wv_textscratch *scratch) {
    const unsigned char *mark = memchr(at, '[', (size_t)(*end - at));
    if (!mark) return at;
    int64_t length = *end - at;
    if (scratch->line_capacity < length) {
        free(scratch->line);
        scratch->line = malloc((size_t)length);
        scratch->line_capacity = scratch->line ? length : 0;
        if (!scratch->line) return NULL;
    }
    unsigned char *to = scratch->line;
    while (at < *end) {
        int64_t skipped = *at == '[' ? citation(at, *end) : 0;
        if (skipped) {
            at += skipped;
        } else {
            *to++ = *at++;
        }
    }
    *end = to;
    return scratch->line;
}

static int is_terminal(const unsigned char *at, const unsigned char *end) {
    if (at == end || !memchr(".?!\"'", end[-1], 5)) return 0;
    return end - at < 3 || memcmp(end - 3, "...", 3);
}

/* As spaCy's sentencizer has it: a sentence ends with a mark and the punctuation behind it. */
static int64_t count_sentences(const wv_tokens *tokens) {
    int64_t sentences = 1;
    int ended = 0;
    for (int64_t i = 0; i < tokens->count; i++) {
        const wv_token *token = &tokens->token[i];
        int mark = token->characters == 1 && token->any & WV_CHAR_TERMINAL;
        if (ended && !mark && !(token->all & WV_CHAR_PUNCTUATION)) {
            sentences++;
            ended = 0;
        } else if (mark) {
            ended = 1;
        }
    }
    return sentences;
}

int wv_c4_lines(const unsigned char *text, int64_t length, int terminal, wv_textscratch *scratch, unsigned char *kept,
                wv_c4 *out) {
    const unsigned char *text_end = text + length, *next;
    unsigned char *to = kept;
    int any_phrases = may_have_phrases(text, text_end);
    *out = (wv_c4){0};
    for (const unsigned char *at = text; at < text_end; at = next) {
        const unsigned char *line = at, *end = wv_line_end(at, text_end, &next);
        int is_short, has_long;
        wv_strip(&line, &end);
        measure_words(line, end, &is_short, &has_long);
        int phrases = any_phrases && may_have_phrases(line, end);
        int javascript = phrases && has_phrase(line, end, "javascript"), policy = phrases && has_policy(line, end);
        out->lines++;
        out->javascript += javascript;
        out->policy += policy;
        if (has_long) continue;
        line = without_citations(line, &end, scratch);
        if (!line) return -1;
        if ((terminal && !is_terminal(line, end)) || is_short) continue;
        if (phrases && has_phrase(line, end, "lorem ipsum")) out->lorem++;
        if (javascript) continue;
        if (memchr(line, '{', (size_t)(end - line))) out->curly++;
        if (policy) continue;
        if (wv_tokens_split(line, end - line, 0, &scratch->tokens)) return -1;
        out->sentences += count_sentences(&scratch->tokens);
        if (kept) {
            memcpy(to, line, (size_t)(end - line));
            to += end - line;
            *to++ = '\n';
        }
    }
    if (kept) {
        const unsigned char *start = kept, *end = to;
        wv_strip(&start, &end);
        out->length = end - start;
        memmove(kept, start, (size_t)out->length);
    }
    return 0;
}
