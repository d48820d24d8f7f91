# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""MinHash keys of texts for Python (core/minhash.h), and the words that they are made of (core/simplify.h)."""

cimport cython
import numpy as np

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from wv_cli._arguments cimport require, table
from wv_cli._characters cimport add_page, new_characters
from wv_cli._texts cimport free_texts, point_to_list, texts_at
from wv_cli.core.minhash cimport (
    WV_MINHASH_MOST, WV_MINHASH_NO_MEMORY, wv_minhash, wv_minhash_free, wv_minhash_scratch, wv_minhash_text,
    wv_xxhash64,
)
from wv_cli.core.simplify cimport (
    WV_CHARACTER_BYTES, WV_CHARACTER_CASED, WV_CHARACTER_DIGIT, WV_CHARACTER_HARD, WV_CHARACTER_IGNORED,
    WV_CHARACTER_LETTER, WV_CHARACTER_MARK, WV_CHARACTER_PAGE, WV_CHARACTER_SIGMA, WV_CHARACTER_SPACE, WV_CHARACTER_WORD,
    WV_SIMPLIFY_GROWTH, WV_SIMPLIFY_HARD, WV_SIMPLIFY_PAGE, wv_characters, wv_characters_free, wv_simplify,
)


LETTER, SPACE, DIGIT, SIGMA, HARD, WORD = (
    WV_CHARACTER_LETTER, WV_CHARACTER_SPACE, WV_CHARACTER_DIGIT, WV_CHARACTER_SIGMA, WV_CHARACTER_HARD,
    WV_CHARACTER_WORD)
MARK, CASED, IGNORED = WV_CHARACTER_MARK, WV_CHARACTER_CASED, WV_CHARACTER_IGNORED
BYTES, PAGE, GROWTH, MOST_HASHES = WV_CHARACTER_BYTES, WV_CHARACTER_PAGE, WV_SIMPLIFY_GROWTH, WV_MINHASH_MOST


def xxhash64(const unsigned char[::1] data, uint64_t seed=0) -> int:
    return wv_xxhash64(&data[0] if data.shape[0] else NULL, data.shape[0], seed)


@cython.final
cdef class Signer:
    """Makes the keys of texts; any number of threads may use one.

    `page(number)` is asked for the rows of the characters from PAGE * number on, when the first of them comes: for each
    flags, a length and BYTES bytes. `words(text)` is asked for the words of a text that has a character of the kind HARD,
    or is no UTF-8: bytes with a space between two words."""

    cdef wv_characters *_characters
    cdef wv_minhash _rules
    cdef object _page
    cdef object _words

    def __cinit__(self, page: Callable[[int], bytes], words: Callable[[bytes], bytes], int shingle, int bands, int rows,
                  const uint64_t[::1] a, const uint64_t[::1] b, str isa=None):
        cdef int i
        require(shingle > 0 and 0 < bands <= WV_MINHASH_MOST and 0 < rows <= WV_MINHASH_MOST, "expected bands and rows")
        require(bands * rows <= WV_MINHASH_MOST, "too many bands and rows")
        require(a.shape[0] == bands * rows and b.shape[0] == bands * rows, "expected a and b for every row")
        self._page, self._words = page, words
        self._rules.least = table(isa).minhash_least
        self._rules.shingle, self._rules.bands, self._rules.rows = shingle, bands, rows
        for i in range(bands * rows):
            self._rules.a[i], self._rules.b[i] = a[i], b[i]
        self._characters = new_characters()

    def __dealloc__(self):
        wv_characters_free(self._characters)

    def words(self, const unsigned char[::1] text) -> bytes:
        """The words of a text, with a space between two."""
        cdef int64_t length = text.shape[0], done = 0
        cdef unsigned char *out = <unsigned char *>malloc(<size_t>(WV_SIMPLIFY_GROWTH * length + WV_CHARACTER_BYTES))
        if out == NULL:
            raise MemoryError
        try:
            while length:
                with nogil:
                    done = wv_simplify(self._characters, &text[0], length, out)
                if done == WV_SIMPLIFY_HARD:
                    return self._words(bytes(text))
                if done >= 0:
                    break
                add_page(self._characters, self._page, done)
            return (<char *>out)[:done]
        finally:
            free(out)

    def keys(self, list texts: list[bytes]) -> NDArray[np.uint64]:
        """(n, bands) the keys of the bands of each text; zeros for one with fewer words than a shingle has."""
        keys = np.empty((len(texts), self._rules.bands), np.uint64)
        self._sign(texts, keys, None)
        return keys

    def numbers(self, list texts: list[bytes]) -> NDArray[np.uint64]:
        """(n, bands * rows) the numbers that the keys are made of."""
        keys = np.empty((len(texts), self._rules.bands), np.uint64)
        numbers = np.empty((len(texts), self._rules.bands * self._rules.rows), np.uint64)
        self._sign(texts, keys, numbers)
        return numbers

    cdef int _sign(self, list texts, uint64_t[:, ::1] keys, uint64_t[:, ::1] numbers) except -1:
        cdef int64_t n = len(texts), i = 0, status = 0, hashes = self._rules.bands * self._rules.rows
        cdef uint64_t *key = &keys[0, 0] if n else NULL
        cdef uint64_t *number = &numbers[0, 0] if n and numbers is not None else NULL
        cdef wv_minhash_scratch scratch
        cdef texts_at at
        cdef bytes each
        memset(&scratch, 0, sizeof(scratch))
        memset(&at, 0, sizeof(at))
        try:
            point_to_list(&at, texts)
            while i < n:
                with nogil:
                    while i < n:
                        status = wv_minhash_text(&self._rules, self._characters, at.text[i], at.length[i], &scratch,
                                                 key + i * self._rules.bands, number + i * hashes if number else NULL)
                        if status:
                            break
                        i += 1
                if status <= WV_SIMPLIFY_PAGE:
                    add_page(self._characters, self._page, status)
                elif status == WV_SIMPLIFY_HARD:
                    each = self._words(texts[i])
                    status = wv_minhash_text(&self._rules, NULL, each, len(each), &scratch,
                                             key + i * self._rules.bands, number + i * hashes if number else NULL)
                    i += 1
                if status == WV_MINHASH_NO_MEMORY:
                    raise MemoryError
        finally:
            wv_minhash_free(&scratch)
            free_texts(&at)
        return 0
