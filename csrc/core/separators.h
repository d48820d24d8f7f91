/* What separates, in one place. Two rules that look alike and must not be mixed up:
 *
 *   separator  between the words of a text: space, NUL and \t \n \v \f \r, as in fastText's Dictionary::readWord; \n ends
 *              the line, too. All other bytes belong to words: UTF-8, valid or not, and the no-break space pass through.
 *              In Python: wv_cli._text.SEPARATORS.
 *   blank      between the fields of a row of numbers (vectors, vocabularies): space and \t. A word there may hold the
 *              other separators, as word2vec, fastText and GloVe write whatever their tokenizers let through.
 */
#ifndef WV_SEPARATORS_H
#define WV_SEPARATORS_H

/* \t \n \v \f \r stand side by side. */
#define WV_FIRST_CONTROL '\t'
#define WV_LAST_CONTROL '\r'

static inline int wv_is_separator(unsigned char byte) {
    return byte == ' ' || byte == 0 || (byte >= WV_FIRST_CONTROL && byte <= WV_LAST_CONTROL);
}

static inline int wv_is_blank(unsigned char byte) { return byte == ' ' || byte == '\t'; }

#endif
