/* Statistics of one text that Gopher's, C4's and FineWeb's heuristics ask for, as datatrove defines them.
 *
 * Characters are code points; each byte that is not UTF-8 counts as U+FFFD. Tokens are those of wordtokens.h. A ratio without
 * anything below its line is 0.
 */
#ifndef WV_TEXTSTATISTICS_H
#define WV_TEXTSTATISTICS_H

#include <stdint.h>

#include "core/repetition.h"
#include "core/stopwords.h"
#include "core/wordtokens.h"

#define WV_STATISTICS(ROW)                                                                                     \
    ROW(CHARACTERS, "characters")                                                                              \
    ROW(WORDS, "words")                                                                                        \
    ROW(WORD_LENGTH, "mean-word-length")                                                                       \
    ROW(LONGEST_WORD, "longest-word")                                                                          \
    ROW(HASHES, "hashes-per-word")                                                                             \
    ROW(ELLIPSES, "ellipses-per-word")                                                                         \
    ROW(NEWLINES, "newlines-per-word")                                                                         \
    ROW(WITH_LETTER, "words-with-letter")                                                                      \
    ROW(STOP_WORDS, "stop-words")                                                                              \
    ROW(BULLET_LINES, "bullet-lines")                                                                          \
    ROW(ELLIPSIS_LINES, "ellipsis-lines")                                                                      \
    ROW(LINES, "lines")                                                                                        \
    ROW(LONG_LINES, "long-lines")                                                                              \
    ROW(SHORT_LINES, "short-lines")                                                                            \
    ROW(TERMINAL_LINES, "terminal-lines")                                                                      \
    ROW(REPEATED_CHARACTERS, "repeated-characters")                                                            \
    ROW(REPEATED_LINES, "repeated-lines")                                                                      \
    ROW(REPEATED_LINE_CHARACTERS, "repeated-line-characters")                                                  \
    ROW(REPEATED_PARAGRAPHS, "repeated-paragraphs")                                                            \
    ROW(REPEATED_PARAGRAPH_CHARACTERS, "repeated-paragraph-characters")                                        \
    ROW(TOP_2_GRAM, "top-2-gram")                                                                              \
    ROW(TOP_3_GRAM, "top-3-gram")                                                                              \
    ROW(TOP_4_GRAM, "top-4-gram")                                                                              \
    ROW(REPEATED_5_GRAMS, "repeated-5-grams")                                                                  \
    ROW(REPEATED_6_GRAMS, "repeated-6-grams")                                                                  \
    ROW(REPEATED_7_GRAMS, "repeated-7-grams")                                                                  \
    ROW(REPEATED_8_GRAMS, "repeated-8-grams")                                                                  \
    ROW(REPEATED_9_GRAMS, "repeated-9-grams")                                                                  \
    ROW(REPEATED_10_GRAMS, "repeated-10-grams")                                                                \
    ROW(CURLY_BRACKETS, "curly-brackets")                                                                      \
    ROW(LOREM_IPSUM, "lorem-ipsum")                                                                            \
    ROW(JAVASCRIPT_LINES, "javascript-lines")                                                                  \
    ROW(POLICY_LINES, "policy-lines")                                                                          \
    ROW(SENTENCES, "sentences")                                                                                \
    ROW(TERMINAL_CURLY_BRACKETS, "terminal-curly-brackets")                                                    \
    ROW(TERMINAL_LOREM_IPSUM, "terminal-lorem-ipsum")                                                          \
    ROW(TERMINAL_SENTENCES, "terminal-sentences")

#define WV_STATISTIC_ENUM(name, text) WV_STATISTIC_##name,
enum { WV_STATISTICS(WV_STATISTIC_ENUM) WV_STATISTIC_COUNT };
#undef WV_STATISTIC_ENUM

extern const char *const wv_statistic_names[WV_STATISTIC_COUNT];

/* Memory of one thread; begins as zeros. */
typedef struct {
    wv_tokens tokens;
    wv_repetition repetition;
    unsigned char *valid, *line; /* the text as UTF-8; a line without its citations */
    int64_t valid_capacity, line_capacity;
} wv_textscratch;

/* What is asked of a text's words, and the rules that cut them: WV_WORDS_*. */
typedef struct {
    wv_stop_words stop_words;
    unsigned rules;
} wv_text_language;

/* Those statistics of which the bit is set in `wanted`, and perhaps others, to out (WV_STATISTIC_COUNT). `words` is the same
 * text cut into words, valid UTF-8; NULL: its tokens are those of wordtokens.h. Lengths below 2^29. 0, or -1 without memory. */
int wv_textstatistics(const unsigned char *text, int64_t length, const unsigned char *words, int64_t words_length,
                      const wv_text_language *language, uint64_t wanted, wv_textscratch *scratch, double *out);
void wv_textscratch_free(wv_textscratch *scratch);

/* Lines of valid UTF-8 that C4 keeps, in datatrove's order of rules. `kept` has room for `length` + 1 bytes, or is NULL; they
 * are joined by line feeds. `terminal`: only lines that end with one of . ? ! " ' but not with ... are kept. */
typedef struct {
    int64_t lines, javascript, policy; /* of the whole text; in how many the word or one of the phrases stands */
    int64_t curly, lorem;              /* lines that have passed the rules on words */
    int64_t sentences;                 /* in the lines that are kept */
    int64_t length;                    /* of what is kept, in bytes, stripped */
} wv_c4;
int wv_c4_lines(const unsigned char *text, int64_t length, int terminal, wv_textscratch *scratch, unsigned char *kept,
                wv_c4 *out);

/* `text` itself when it is UTF-8, else a copy in which each other byte is U+FFFD; NULL without memory. Sets its length. */
const unsigned char *wv_valid_text(const unsigned char *text, int64_t *length, wv_textscratch *scratch);

#endif
