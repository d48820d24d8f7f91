# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""ARPA files of n-grams for Python: their lines, and the order of their n-grams (core/arpa.h).

Every array is checked here before its address goes to C.
"""

cimport cython
import numpy as np

from libc.stdint cimport int32_t, int64_t

from wv_cli._arguments cimport require, require_ids
from wv_cli.core.arpa cimport (
    WV_ARPA_ALL, WV_ARPA_DUPLICATE, WV_ARPA_FIELDS, WV_ARPA_MEMORY, WV_ARPA_NUMBER, WV_ARPA_POSITIVE,
    WV_ARPA_SECTION, WV_ARPA_UNKNOWN_WORD, wv_arpa_format, wv_arpa_ngrams, wv_arpa_order, wv_arpa_parents,
    wv_arpa_parse, wv_arpa_read, wv_arpa_rules,
)
from wv_cli.core.floattext cimport WV_FLOAT_CHARS, WV_TEXT_PADDING, wv_floattext_start
from wv_cli.core.ngrams cimport WV_LARGEST_ORDER
from wv_cli.core.wordmap cimport (
    wv_wordmap, wv_wordmap_add, wv_wordmap_blob_bytes, wv_wordmap_dump, wv_wordmap_free, wv_wordmap_init,
    wv_wordmap_reserve,
)


require(wv_floattext_start() == 0, "there is no C locale to read numbers in")
STOP_ALL, STOP_SECTION, STOP_FIELDS, STOP_NUMBER = WV_ARPA_ALL, WV_ARPA_SECTION, WV_ARPA_FIELDS, WV_ARPA_NUMBER
STOP_POSITIVE, STOP_UNKNOWN_WORD, STOP_DUPLICATE = WV_ARPA_POSITIVE, WV_ARPA_UNKNOWN_WORD, WV_ARPA_DUPLICATE


@cython.final
cdef class Reader:
    """Lines of n-grams as ids, those of the words given first: blob and starts as of a WordList."""

    cdef wv_wordmap words

    def __cinit__(self, const unsigned char[::1] blob, const int64_t[::1] starts):
        cdef int64_t i
        if wv_wordmap_init(&self.words, starts.shape[0]) or wv_wordmap_reserve(&self.words, starts.shape[0]):
            raise MemoryError
        for i in range(starts.shape[0] - 1):
            if wv_wordmap_add(&self.words, &blob[starts[i]], starts[i + 1] - starts[i]) is NULL:
                raise MemoryError

    def __dealloc__(self):
        wv_wordmap_free(&self.words)

    def parse(self, buffer: Buffer, int64_t begin, int64_t end, bint has_backoff, float zero, int32_t[:, ::1] rows,
              float[::1] prob, float[::1] backoff) -> tuple[int, int, int, int]:
        """Reads lines of buffer[begin:end], which ends in a newline and is followed by padding, to the arrays, see
        wv_arpa_parse: (lines read, where the rest begins, numbers that were -inf, why it stopped)."""
        cdef const unsigned char[::1] text = buffer
        cdef wv_arpa_read read
        require(0 <= begin < end and end + WV_TEXT_PADDING <= text.shape[0] and text[end - 1] == 10,
                "the text ends in no newline with padding behind it")
        require(prob.shape[0] >= rows.shape[0] and backoff.shape[0] >= rows.shape[0] and rows.shape[0] > 0
                and 1 <= rows.shape[1] <= WV_LARGEST_ORDER, "the arrays do not fit each other")
        cdef wv_arpa_rules rules = wv_arpa_rules(words=&self.words, has_backoff=has_backoff, zero=zero)
        cdef wv_arpa_ngrams ngrams = wv_arpa_ngrams(n=rows.shape[0], length=<int32_t>rows.shape[1], rows=&rows[0, 0],
                                                    prob=&prob[0], backoff=&backoff[0])
        with nogil:
            read = wv_arpa_parse(<const char *>&text[begin], end - begin, &rules, &ngrams)
        if read.stop == WV_ARPA_MEMORY:
            raise MemoryError
        return read.lines, begin + read.consumed, read.infinite, read.stop

    def vocabulary(self) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]:
        """(blob, starts, more than 0 for each word that was read and 0 for others) of the words in order of id."""
        cdef int64_t[::1] starts_view, counts_view
        cdef unsigned char[::1] out
        blob = bytearray(wv_wordmap_blob_bytes(&self.words, 0))
        starts, counts = np.zeros(self.words.size + 1, np.int64), np.zeros(self.words.size, np.int64)
        starts_view, counts_view, out = starts, counts, blob
        with nogil:
            wv_wordmap_dump(&self.words, 0, &out[0], &starts_view[0], &counts_view[0])
        return bytes(blob), starts, counts


def format_lines(const int32_t[:, ::1] rows, const unsigned char[::1] blob, const int64_t[::1] starts,
               const float[::1] prob, const float[::1] backoff=None) -> memoryview:
    """The lines of n-grams (n, length) as bytes, with back-offs where they are given."""
    cdef int64_t n = rows.shape[0], i, j, size
    cdef int32_t length = <int32_t>rows.shape[1]
    require(length >= 1 and prob.shape[0] == n and (backoff is None or backoff.shape[0] == n), "the arrays do not fit")
    if n == 0:
        return b""
    require_ids(np.asarray(rows).reshape(-1), 0, starts.shape[0] - 1, "words")
    size = n * (length + 2 * (WV_FLOAT_CHARS + 1))
    with nogil:
        for i in range(n):
            for j in range(length):
                size += starts[rows[i, j] + 1] - starts[rows[i, j]]
    out = bytearray(size)
    cdef unsigned char[::1] target = out
    cdef wv_arpa_ngrams ngrams = wv_arpa_ngrams(n=n, length=length, rows=<int32_t *>&rows[0, 0], prob=<float *>&prob[0],
                                                backoff=NULL)
    if backoff is not None:
        ngrams.backoff = <float *>&backoff[0]
    with nogil:
        size = wv_arpa_format(&ngrams, <const char *>&blob[0], &starts[0], <char *>&target[0])
    del target
    return memoryview(out)[:size]


def ascending(const int32_t[:, ::1] rows, int32_t words) -> NDArray[np.int32]:
    """positions (n,) int32 such that rows[positions] ascend."""
    cdef int64_t n = rows.shape[0]
    positions = np.empty(n, np.int32)
    cdef int32_t[::1] out = positions, spare = np.empty(n, np.int32)
    cdef int64_t[::1] counts = np.empty(words + 1, np.int64)
    require_ids(np.asarray(rows).reshape(-1), 0, words, "words")
    if n:
        with nogil:
            wv_arpa_order(&rows[0, 0], n, <int32_t>rows.shape[1], words, &out[0], &spare[0], &counts[0])
    return positions


def parents(const int32_t[:, ::1] contexts, const int32_t[:, ::1] rows) -> tuple[NDArray[np.int32], int]:
    """(places (n,) int32 of each row's context, -1 where it lacks, the first row that stands twice or -1); both
    ascend."""
    cdef int64_t n = rows.shape[0], twice = -1
    places = np.empty(n, np.int32)
    cdef int32_t[::1] out = places
    require(rows.shape[1] == contexts.shape[1] + 1 and contexts.shape[1] > 0, "the rows do not fit the contexts")
    if n:
        with nogil:
            twice = wv_arpa_parents(&contexts[0, 0] if contexts.shape[0] else NULL, contexts.shape[0], &rows[0, 0], n,
                                    <int32_t>rows.shape[1], &out[0])
    return places, twice
