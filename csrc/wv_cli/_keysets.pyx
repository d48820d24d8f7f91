# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Sets of 64-bit keys for Python (core/keysets.h)."""

cimport cython
import numpy as np

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free

from wv_cli._arguments cimport require
from wv_cli.core.keysets cimport (
    wv_keyset, wv_keyset_free, wv_keyset_insert, wv_keyset_list, wv_keyset_reserve, wv_keysets_clusters,
    wv_keysets_first,
)


@cython.final
cdef class KeySets:
    """A set for each column of the keys. Key 0 is none: it is never added. One thread at a time uses it."""

    cdef wv_keyset *_sets
    cdef readonly int64_t columns

    def __cinit__(self, int64_t columns):
        require(0 < columns <= 1 << 20, "expected a column at least")
        self.columns = columns
        self._sets = <wv_keyset *>calloc(<size_t>columns, sizeof(wv_keyset))
        if self._sets == NULL:
            raise MemoryError

    def __dealloc__(self):
        cdef int64_t column
        if self._sets != NULL:
            for column in range(self.columns):
                wv_keyset_free(&self._sets[column])
        free(self._sets)

    cdef int _reserve(self, int64_t first, int64_t beyond, int64_t more) except -1:
        cdef int64_t column
        for column in range(first, beyond):
            if wv_keyset_reserve(&self._sets[column], more):
                raise MemoryError
        return 0

    def first(self, const uint64_t[:, ::1] keys) -> NDArray[np.bool_]:
        """(n,) whether each row of the keys (n, columns) shares none with a row that was new before it, in its column.
        New rows are added. A row that begins with 0 is new."""
        require(keys.shape[1] == self.columns, "the keys have other columns")
        cdef int64_t n = keys.shape[0]
        new = np.empty(n, np.bool_)
        cdef unsigned char[::1] view = new.view(np.uint8)
        if n:
            self._reserve(0, self.columns, n)
            with nogil:
                wv_keysets_first(self._sets, self.columns, &keys[0, 0], n, &view[0])
        return new

    def insert(self, int64_t column, const uint64_t[:] keys) -> None:
        """Adds keys (n,) to one column, with strides of any kind."""
        require(0 <= column < self.columns and keys.strides[0] % <int64_t>sizeof(uint64_t) == 0, "expected a column")
        cdef int64_t n = keys.shape[0]
        if n:
            self._reserve(column, column + 1, n)
            with nogil:
                wv_keyset_insert(&self._sets[column], &keys[0], n, keys.strides[0] // <int64_t>sizeof(uint64_t))

    def count(self, int64_t column) -> int:
        require(0 <= column < self.columns, "expected a column")
        return self._sets[column].count

    def keys(self, int64_t column) -> NDArray[np.uint64]:
        """(count,) the keys of one column, nearly ascending."""
        found = np.empty(self.count(column), np.uint64)
        cdef uint64_t[::1] view = found
        if view.shape[0]:
            wv_keyset_list(&self._sets[column], &view[0])
        return found

    @property
    def memory(self) -> int:
        """Bytes of the tables."""
        cdef int64_t column
        cdef uint64_t slots = 0
        for column in range(self.columns):
            slots += self._sets[column].capacity
        return slots * sizeof(uint64_t)


def clusters(const uint64_t[:, ::1] keys) -> NDArray[np.int64]:
    """(n,) the row that stands for each row's cluster: rows that share a key of one column, directly or through others."""
    cdef int64_t n = keys.shape[0]
    stays = np.empty(n, np.int64)
    cdef int64_t[::1] view = stays
    cdef int failed = 0
    require(keys.shape[1] > 0, "expected a column at least")
    if n:
        with nogil:
            failed = wv_keysets_clusters(keys.shape[1], &keys[0, 0], n, &view[0])
    if failed:
        raise MemoryError
    return stays
