/* Words and punctuation marks of a text as spaCy's English tokenizer has them, by rules and by its list of exceptions.
 *
 * 1. White space (Unicode) separates.
 * 2. Of what stands between, an opening character is a token at the front and a closing one at the end. At the end so are
 *    's, a unit or currency sign behind a digit, and a dot, but not that of an initial (J. U.S.). A run of two dots or more
 *    is one token. Before each of these steps the rest is looked up in the list of exceptions: cannot, e.g., :-)
 * 3. The rest is divided at a run of dots or an icon, and at a dot between a lower and an upper case letter, a comma
 *    between letters, a hyphen or one of :<>=/ before a letter and after a letter or digit, one of +-*^ between digits; not
 *    when it looks like an address (example.com/a-b).
 * 4. Tokens that stand together, and that would be an exception alone, are cut as it is: foo(): has the token ):
 *
 * Other languages have other rules, of which those here are known that many of their words meet.
 */
#ifndef WV_WORDTOKENS_H
#define WV_WORDTOKENS_H

#include <stdint.h>

#include "core/stopwords.h"

enum {
    WV_WORDS_FOREIGN = 1,        /* exceptions that English alone has do not hold */
    WV_WORDS_KEEP_HYPHENS = 2,   /* a hyphen between letters does not divide: Salz-und-Pfeffer */
    WV_WORDS_CUT_APOSTROPHES = 4 /* nor does an apostrophe, but behind it a token begins: l' homme */
};

typedef struct {
    int32_t begin, length; /* bytes of the text */
    int32_t characters;
    uint16_t any, all; /* classes that one of its characters has, and that all have; of ASCII's letters not WV_CHAR_UPPER */
} wv_token;

/* Words are tokens that are not only symbols. */
typedef struct {
    int64_t tokens, words, word_characters, with_letter;
    uint64_t stop_words; /* the bits of those that are among them */
} wv_token_counts;

typedef struct {
    wv_token *token;
    int64_t count, capacity;
    wv_token_counts counted; /* of tokens that are not among these */
    int32_t *place; /* of a stretch that is divided: where each character begins */
    uint16_t *kind; /* the class of each character */
    uint8_t *edge;  /* whether a token begins there */
    int64_t places;
    uint16_t *space, *other, *digit; /* bits of bytes: white space, letter or digit of ASCII, or neither */
    int64_t classes;
    unsigned rules;  /* of the language */
} wv_tokens;

/* Tokens of valid UTF-8 of less than 2 GB, by WV_WORDS_*; empties `out` first. 0, or -1 without memory. */
int wv_tokens_split(const unsigned char *text, int64_t length, unsigned rules, wv_tokens *out);
/* The same, but most are only counted, words of the set among them if there is one, which has no marks. */
int wv_tokens_count(const unsigned char *text, int64_t length, unsigned rules, const wv_stop_words *stop_words, wv_tokens *out);
/* Counts of those that are counted and, but for stop words, of those that are listed. */
wv_token_counts wv_tokens_sum(const wv_tokens *tokens);
/* The same of a text that has been cut into words already: what white space (Unicode) separates. */
int wv_tokens_of_words(const unsigned char *text, int64_t length, wv_tokens *out);
void wv_tokens_free(wv_tokens *tokens);
/* Once, by one thread, behind wv_characters_prepare(). */
void wv_tokens_prepare(void);

#endif
