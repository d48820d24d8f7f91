# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Words and sentences of running text by Unicode's rules (core/segments.h)."""

cimport cython

from libc.stdint cimport int64_t, uint16_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from wv_cli._arguments cimport require
from wv_cli._characters cimport add_page, new_characters
from wv_cli.core.segments cimport (
    WV_SEGMENT_CHARACTERS, wv_find_boundaries, wv_segment_kind, wv_segment_scratch, wv_segment_scratch_free,
    wv_segments_prepare, wv_word_rules, wv_write_words,
)
from wv_cli.core.simplify cimport (
    WV_CHARACTER_BEGINS_MARKED, WV_CHARACTER_BYTES, WV_CHARACTER_CASED, WV_CHARACTER_ENDS_MARKED, WV_CHARACTER_HARD,
    WV_CHARACTER_IGNORED, WV_CHARACTER_LETTER, WV_CHARACTER_PAGE, WV_CHARACTER_SIGMA, WV_SIMPLIFY_GROWTH,
    WV_SIMPLIFY_HARD, wv_characters, wv_characters_free, wv_fold,
)


LETTER, SIGMA, HARD = WV_CHARACTER_LETTER, WV_CHARACTER_SIGMA, WV_CHARACTER_HARD
CASED, IGNORED = WV_CHARACTER_CASED, WV_CHARACTER_IGNORED
BEGINS_MARKED, ENDS_MARKED = WV_CHARACTER_BEGINS_MARKED, WV_CHARACTER_ENDS_MARKED
BYTES, PAGE, GROWTH = WV_CHARACTER_BYTES, WV_CHARACTER_PAGE, WV_SIMPLIFY_GROWTH
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

    def write(self, const unsigned char[::1] text) -> bytes:
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


@cython.final
cdef class Folder:
    """Replaces the characters of lines. `page(number)` is asked for the rows of the characters from PAGE * number on, when
    the first of them comes: for each flags, a length and BYTES bytes. `line(text)` is asked for a line with a character of
    the kind HARD."""

    cdef wv_characters *_characters
    cdef object _page
    cdef object _line

    def __cinit__(self, page: Callable[[int], bytes], line: Callable[[bytes], bytes]):
        self._page, self._line = page, line
        self._characters = new_characters()

    def __dealloc__(self):
        wv_characters_free(self._characters)

    def fold(self, bytes text not None) -> bytes:
        """The text with each character replaced."""
        cdef const unsigned char *at = <const unsigned char *>text
        cdef int64_t length = len(text), begin = 0, end = 0, written = 0, done = 0, problem = 0
        cdef list parts = []
        cdef unsigned char *out = <unsigned char *>malloc(<size_t>(WV_SIMPLIFY_GROWTH * length + WV_CHARACTER_BYTES))
        if out == NULL:
            raise MemoryError
        try:
            while begin < length:
                with nogil:
                    written = wv_fold(self._characters, at + begin, length - begin, out, &done, &problem)
                parts.append((<char *>out)[:written])
                begin += done
                if problem == WV_SIMPLIFY_HARD:
                    end = text.find(b"\n", begin) + 1 or length
                    parts.append(self._line(text[begin:end]))
                    begin = end
                elif problem:
                    add_page(self._characters, self._page, problem)
            return b"".join(parts)
        finally:
            free(out)


def boundaries(const unsigned char[::1] text not None) -> NDArray[np.uint8]:
    """(characters,) uint8: whether a word (1) or a sentence (2) begins with each character, or both (3)."""
    cdef wv_segment_scratch scratch
    cdef int64_t count = 0
    require(text.shape[0] <= LONGEST_TEXT, "the text is longer than 1 GB")
    memset(&scratch, 0, sizeof(scratch))
    if text.shape[0]:
        count = wv_find_boundaries(&text[0], text.shape[0], True, &scratch)
    if count < 0:
        raise MemoryError
    import numpy as np
    found = np.empty(count, np.uint8)
    cdef unsigned char[::1] view = found
    if count:
        memcpy(&view[0], scratch.cut, <size_t>count)
    wv_segment_scratch_free(&scratch)
    return found


def kinds() -> NDArray[np.uint16]:
    """(0x110000,) uint16: the kind of each character, as in core/segments.h."""
    import numpy as np
    found = np.empty(WV_SEGMENT_CHARACTERS, np.uint16)
    cdef uint16_t[::1] view = found
    memcpy(&view[0], wv_segment_kind, WV_SEGMENT_CHARACTERS * sizeof(uint16_t))
    return found
