# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Statistics of texts for the heuristics of `wv filter` (core/textstatistics.h)."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from wv_cli._arguments cimport require
from wv_cli._texts cimport free_texts, point_to_list, point_to_spans, texts_at
from wv_cli.core.characters cimport WV_CHARACTERS, wv_character_class, wv_characters_prepare
from wv_cli.core.stopwords cimport WV_STOP_WORDS, wv_stop_words_make
from wv_cli.core.textstatistics cimport (
    WV_STATISTIC_COUNT, wv_c4, wv_c4_lines, wv_statistic_names, wv_text_language, wv_textscratch,
    wv_textscratch_free, wv_textstatistics, wv_valid_text,
)
from wv_cli.core.wordexceptions cimport wv_exception_at, wv_exceptions_count, wv_exceptions_prepare
from wv_cli.core.wordtokens cimport (
    WV_WORDS_CUT_APOSTROPHES, WV_WORDS_FOREIGN, WV_WORDS_KEEP_HYPHENS, wv_tokens_split,
)


wv_characters_prepare()
if wv_exceptions_prepare():
    raise MemoryError
NAMES: tuple[str, ...] = tuple((<bytes>wv_statistic_names[i]).decode() for i in range(WV_STATISTIC_COUNT))
LONGEST_TEXT = (1 << 29) - 1
# How words of a language are cut otherwise than in English: sums of these.
FOREIGN, KEEP_HYPHENS, CUT_APOSTROPHES = WV_WORDS_FOREIGN, WV_WORDS_KEEP_HYPHENS, WV_WORDS_CUT_APOSTROPHES


cdef class Language:
    """What a statistic must know of a text's language: at most 64 `stop_words`, and the rules that cut words: a sum
    of FOREIGN, KEEP_HYPHENS, CUT_APOSTROPHES; 0: English. Threads may share it."""

    cdef wv_text_language of_text
    cdef bytes words

    def __init__(self, list stop_words: list[bytes], unsigned int rules: int):
        require(len(stop_words) <= WV_STOP_WORDS, "more than 64 stop words")
        require(len(set(stop_words)) == len(stop_words) and b"" not in stop_words, "expected different stop words")
        self.words = b"".join(stop_words)
        starts = np.cumsum([0, *map(len, stop_words)], dtype=np.int32)
        cdef const int32_t[::1] start = starts
        wv_stop_words_make(&self.of_text.stop_words, self.words, &start[0], <int32_t>len(stop_words))
        self.of_text.rules = rules


cdef object compute(const texts_at *texts, const texts_at *words, list columns, Language language):
    """(len(columns), n) the statistics of n texts, each cut into these words, or NULL."""
    cdef int64_t n_columns = len(columns), n = texts.count, i, j
    cdef uint64_t wanted = 0
    cdef int failed = 0
    cdef const wv_text_language *of_text = &language.of_text
    for column in columns:
        require(0 <= column < WV_STATISTIC_COUNT, "unknown statistic")
        wanted |= <uint64_t>1 << <int>column
    found = np.empty((n_columns, n))
    row = np.empty(WV_STATISTIC_COUNT)
    numbers = np.array(columns, np.int64)
    cdef double[:, ::1] out = found
    cdef double[::1] one = row
    cdef int64_t[::1] number = numbers
    for i in range(n):
        require(texts.length[i] <= LONGEST_TEXT, "a text is longer than 512 MB")
        require(words == NULL or words.length[i] <= LONGEST_TEXT, "a text is longer than 512 MB")
    cdef wv_textscratch *scratch = <wv_textscratch *>calloc(1, sizeof(wv_textscratch))
    if scratch == NULL:
        raise MemoryError
    try:
        with nogil:
            for i in range(n):
                failed = wv_textstatistics(texts.text[i], texts.length[i], words.text[i] if words != NULL else NULL,
                                           words.length[i] if words != NULL else 0, of_text, wanted, scratch,
                                           &one[0])
                if failed:
                    break
                for j in range(n_columns):
                    out[j, i] = one[number[j]]
        if failed:
            raise MemoryError
    finally:
        wv_textscratch_free(scratch)
        free(scratch)
    return found


def statistics(list texts: list[bytes], list columns: list[int], Language language not None: Language,
               list words: list[bytes] | None = None) -> NDArray[np.float64]:
    """(len(columns), len(texts)) float64: the statistics with these numbers (places in NAMES) of each text, whose tokens
    are its `words`, UTF-8 with white space between two, or those of the rules. No two threads share anything; the GIL is
    not held."""
    require(words is None or len(words) == len(texts), "expected the words of each text")
    cdef texts_at at, of_words
    memset(&at, 0, sizeof(at))
    memset(&of_words, 0, sizeof(of_words))
    try:
        point_to_list(&at, texts)
        if words is None:
            return compute(&at, NULL, columns, language)
        point_to_list(&of_words, words)
        return compute(&at, &of_words, columns, language)
    finally:
        free_texts(&at)
        free_texts(&of_words)


def statistics_of_spans(bytes blob, const int64_t[::1] begins, const int64_t[::1] ends,
                        list columns: list[int], Language language not None: Language) -> NDArray[np.float64]:
    """The same of the texts blob[begins[i]:ends[i]]."""
    cdef texts_at at
    memset(&at, 0, sizeof(at))
    try:
        point_to_spans(&at, blob, begins, ends)
        return compute(&at, NULL, columns, language)
    finally:
        free_texts(&at)


def c4_lines(bytes text, bint terminal) -> bytes:
    """The lines of a text that C4's rules keep, joined by line feeds."""
    cdef int64_t length = len(text)
    cdef int failed
    cdef const unsigned char *valid
    cdef const unsigned char *given = text
    cdef wv_c4 found
    cdef wv_textscratch *scratch = <wv_textscratch *>calloc(1, sizeof(wv_textscratch))
    cdef unsigned char *kept = NULL
    require(length <= LONGEST_TEXT, "a text is longer than 512 MB")
    try:
        valid = wv_valid_text(given, &length, scratch) if scratch != NULL else NULL
        kept = <unsigned char *>calloc(length + 1, 1)
        if valid == NULL or kept == NULL:
            raise MemoryError
        with nogil:
            failed = wv_c4_lines(valid, length, terminal, scratch, kept, &found)
        if failed:
            raise MemoryError
        return (<char *>kept)[:found.length]
    finally:
        if scratch != NULL:
            wv_textscratch_free(scratch)
        free(scratch)
        free(kept)


def tokens(bytes text, unsigned int rules: int = 0) -> list[bytes]:
    """The tokens of a text that is UTF-8."""
    cdef wv_textscratch *scratch = <wv_textscratch *>calloc(1, sizeof(wv_textscratch))
    cdef const unsigned char *given = text
    cdef int64_t i
    require(len(text) <= LONGEST_TEXT, "a text is longer than 512 MB")
    try:
        if scratch == NULL:
            raise MemoryError
        if wv_tokens_split(given, len(text), rules, &scratch.tokens):
            raise MemoryError
        return [(<char *>given)[scratch.tokens.token[i].begin:scratch.tokens.token[i].begin + scratch.tokens.token[i].length]
                for i in range(scratch.tokens.count)]
    finally:
        if scratch != NULL:
            wv_textscratch_free(scratch)
        free(scratch)


def character_classes() -> NDArray[np.uint16]:
    """The class of every code point, for tests."""
    return np.asarray(<uint16_t[:WV_CHARACTERS]>&wv_character_class[0]).copy()


def exceptions(bint is_english=True) -> list[list[str]]:
    """The tokens of each exception, for tests; of those of all languages unless `is_english`."""
    cdef const unsigned char *text
    cdef int32_t i, j
    found = []
    for i in range(wv_exceptions_count()):
        each = wv_exception_at(i, &text)
        if each.is_english and not is_english:
            continue
        edges = [j for j in range(each.length) if each.cuts >> j & 1] + [each.length]
        found.append([(<const char *>text)[begin:end].decode() for begin, end in zip(edges, edges[1:])])
    return found
