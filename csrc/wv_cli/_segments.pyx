# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Words and sentences of running text by Unicode's rules (core/segments.h)."""

cimport cython
import numpy as np

from libc.stdint cimport int64_t, uint16_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from wv_cli._arguments cimport require


cdef extern from "core/segments.h" nogil:
    enum:
        WV_SEGMENT_CHARACTERS
    uint16_t wv_segment_kind[]
    void wv_segments_prepare()
    ctypedef struct wv_word_rules:
        int blanks
        int drop_punctuation
        int digits
        int sentences
    ctypedef struct wv_segment_scratch:
        unsigned char *cut
    int64_t wv_write_words(const wv_word_rules *rules, const unsigned char *text, int64_t length,
                           wv_segment_scratch *scratch, unsigned char *out)
    int64_t wv_find_boundaries(const unsigned char *text, int64_t length, int sentences, wv_segment_scratch *scratch)
    void wv_segment_scratch_free(wv_segment_scratch *scratch)


wv_segments_prepare()
LONGEST_TEXT = (1 << 30) - 1


@cython.final
cdef class WordWriter:
    """Writes the words of a text with a blank between them. `digits` is 0 to keep them, 1 to make each a 0, 2 to drop
    words of them."""

    cdef wv_word_rules _rules
    cdef wv_segment_scratch _scratch

    def __cinit__(self, *, bint blanks, bint drop_punctuation, int digits, bint sentences):
        require(0 <= digits <= 2, "digits is 0, 1 or 2")
        self._rules.blanks, self._rules.drop_punctuation = blanks, drop_punctuation
        self._rules.digits, self._rules.sentences = digits, sentences

    def __dealloc__(self):
        wv_segment_scratch_free(&self._scratch)

    def write(self, const unsigned char[::1] text):
        """The words of whole lines; a last line without its end may go on in the next text."""
        cdef int64_t length = text.shape[0], written = 0
        require(length <= LONGEST_TEXT, "the text is longer than 1 GB")
        if not length:
            return b""
        cdef unsigned char *out = <unsigned char *>malloc(<size_t>(2 * length + 1))
        if out == NULL:
            raise MemoryError
        try:
            with nogil:
                written = wv_write_words(&self._rules, &text[0], length, &self._scratch, out)
            if written < 0:
                raise MemoryError
            return (<char *>out)[:written]
        finally:
            free(out)


def boundaries(const unsigned char[::1] text not None):
    """(characters,) uint8: whether a word (1) or a sentence (2) begins with each character, or both (3)."""
    cdef wv_segment_scratch scratch
    cdef int64_t count = 0
    require(text.shape[0] <= LONGEST_TEXT, "the text is longer than 1 GB")
    memset(&scratch, 0, sizeof(scratch))
    if text.shape[0]:
        count = wv_find_boundaries(&text[0], text.shape[0], True, &scratch)
    if count < 0:
        raise MemoryError
    found = np.empty(count, np.uint8)
    cdef unsigned char[::1] view = found
    if count:
        memcpy(&view[0], scratch.cut, <size_t>count)
    wv_segment_scratch_free(&scratch)
    return found


def kinds():
    """(0x110000,) uint16: the kind of each character, as in core/segments.h."""
    found = np.empty(WV_SEGMENT_CHARACTERS, np.uint16)
    cdef uint16_t[::1] view = found
    memcpy(&view[0], wv_segment_kind, WV_SEGMENT_CHARACTERS * sizeof(uint16_t))
    return found
