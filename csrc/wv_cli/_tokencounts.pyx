# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""How often each token stands in a text (core/tokencounts.h)."""

cimport cython

from libc.stdint cimport int32_t, int64_t, uint16_t
from libc.stdlib cimport free, malloc

from cpython.bytes cimport PyBytes_FromStringAndSize

from wv_cli.core.tokencounts cimport (
    wv_tokencounts, wv_tokencounts_add, wv_tokencounts_define, wv_tokencounts_feed, wv_tokencounts_free,
    wv_tokencounts_init, wv_tokencounts_take,
)


@cython.final
cdef class TokenCounter:
    """Numbers tokens in order of first sight. tokens_of(word) gives those of a word; each is asked for once."""

    cdef wv_tokencounts _counts
    cdef object _tokens_of
    cdef dict _numbers

    def __cinit__(self, tokens_of: Callable[[str], Sequence[str]], numbers: dict[str, int]):
        """`numbers` has the number of each token, and takes new ones."""
        self._tokens_of, self._numbers = tokens_of, numbers
        if wv_tokencounts_init(&self._counts):
            raise MemoryError

    def __dealloc__(self):
        wv_tokencounts_free(&self._counts)

    cdef int32_t _number(self, object token) except -1:
        return self._numbers.setdefault(token, len(self._numbers))

    cdef int _define(self, bytes word) except -1:
        cdef list tokens = [self._number(token) for token in self._tokens_of(word.decode("utf-8", "surrogateescape"))]
        cdef int64_t i, size = len(tokens)
        cdef int failed
        cdef int32_t *numbers = <int32_t *>malloc(<size_t>(size + 1) * sizeof(int32_t))
        if numbers == NULL:
            raise MemoryError
        for i in range(size):
            numbers[i] = tokens[i]
        failed = wv_tokencounts_define(&self._counts, word, len(word), numbers, size)
        free(numbers)
        if failed:
            raise MemoryError
        return 0

    def count(self, bytes words not None, more: Sequence[str] = ()) -> tuple[int, bytes, bytes]:
        """(the tokens of words, divided by blanks and line ends, and `more` tokens; the different ones as int32, in order of
        first sight; how often each stands there as uint16, 65,535 at most)."""
        cdef const unsigned char *text = words
        cdef int64_t size = len(words), at = 0, found, length
        while True:
            with nogil:
                found = wv_tokencounts_feed(&self._counts, text, size, &at)
            if not found:
                break
            self._define(words[at : at + found])
        for token in more:
            if wv_tokencounts_add(&self._counts, self._number(token)):
                raise MemoryError
        length = self._counts.length
        cdef bytes tokens = PyBytes_FromStringAndSize(NULL, self._counts.different * <int64_t>sizeof(int32_t))
        cdef bytes times = PyBytes_FromStringAndSize(NULL, self._counts.different * <int64_t>sizeof(uint16_t))
        wv_tokencounts_take(&self._counts, <int32_t *><char *>tokens, <uint16_t *><char *>times)
        return length, tokens, times
