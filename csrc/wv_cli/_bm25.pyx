# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""BM25 over the arrays of a search index (core/bm25.h). What the numbers in them say is checked by C where it is used."""

cimport cython
import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t, uint8_t

from wv_cli._arguments cimport require
from wv_cli.core.bm25 cimport (
    WV_BM25_BLOCK, WV_BM25_LENGTHS, WV_BM25_MEMORY, WV_BM25_ORDER, WV_BM25_POSTING_PLACES, WV_BM25_WORD_PLACES, wv_bm25,
    wv_bm25_find, wv_bm25_make_bounds, wv_bm25_top,
)

BLOCK: int = WV_BM25_BLOCK
_PROBLEMS = {
    WV_BM25_WORD_PLACES: "a token lies outside of words",
    WV_BM25_POSTING_PLACES: "the chunks of a token lie outside of documents",
    WV_BM25_ORDER: "the chunks of a token are out of order",
    WV_BM25_LENGTHS: "a chunk has a negative number of tokens",
}


cdef int raise_problem(int problem) except -1:
    if problem == WV_BM25_MEMORY:
        raise MemoryError
    if problem:
        raise ValueError(_PROBLEMS[problem])
    return 0


@cython.final
cdef class Bm25Index:
    """The arrays as wv_cli.vectors.stored_index has them; `mean` is the mean of `lengths`. Every method raises ValueError
    for an index that contradicts itself."""

    cdef wv_bm25 _index
    cdef tuple _kept

    def __cinit__(
        self, const uint8_t[::1] words, const int64_t[::1] word_at, const int64_t[::1] posting_at,
        const int32_t[::1] documents, const uint16_t[::1] found, const int32_t[::1] lengths, *, double mean, double k1,
        double b, const float[::1] bounds=None,
    ):
        cdef int64_t postings = documents.shape[0]
        require(word_at.shape[0] > 0 and posting_at.shape[0] == word_at.shape[0], "the places of the tokens differ")
        require(found.shape[0] == postings, "the postings differ")
        require(bounds is None or bounds.shape[0] == (postings + WV_BM25_BLOCK - 1) // WV_BM25_BLOCK,
                "the bounds are not those of the postings")
        require(lengths.shape[0] < 2**31 and mean > 0, "too many documents, or no mean length")
        self._kept = (words, word_at, posting_at, documents, found, lengths, bounds)
        self._index.words = &words[0] if words.shape[0] else NULL
        self._index.word_at, self._index.posting_at = &word_at[0], &posting_at[0]
        self._index.tokens, self._index.word_bytes = word_at.shape[0] - 1, words.shape[0]
        self._index.postings = postings
        self._index.documents = &documents[0] if postings else NULL
        self._index.found = &found[0] if postings else NULL
        self._index.bounds = &bounds[0] if bounds is not None and postings else NULL
        self._index.lengths, self._index.n = &lengths[0] if lengths.shape[0] else NULL, lengths.shape[0]
        self._index.mean, self._index.k1, self._index.b = mean, k1, b

    def bounds(self) -> NDArray[np.float32]:
        """(postings / BLOCK, rounded up): what no weight of a block of postings passes, without the token's own."""
        made = np.empty((self._index.postings + WV_BM25_BLOCK - 1) // WV_BM25_BLOCK, np.float32)
        cdef float[::1] view = made
        cdef int problem = 0
        if view.shape[0]:
            with nogil:
                problem = wv_bm25_make_bounds(&self._index, &view[0])
            raise_problem(problem)
        return made

    def top(self, tokens: Sequence[bytes], int64_t k) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """(rows, scores) of the k best documents for the tokens of a query, best first, ties to the lowest row."""
        require(self._kept[6] is not None, "the index has no bounds")
        cdef int64_t size = 0, token = -1, count = 0, length
        cdef int problem = 0
        cdef const uint8_t *text
        cdef bytes each
        query, most = np.empty(len(tokens), np.int64), max(0, min(k, self._index.n))
        rows, scores = np.empty(most, np.int32), np.empty(most, np.float64)
        cdef int64_t[::1] asked = query
        cdef int32_t[::1] row = rows
        cdef double[::1] score = scores
        for each in tokens:
            text, length = each, len(each)
            raise_problem(wv_bm25_find(&self._index, text, length, &token))
            if token >= 0:
                asked[size] = token
                size += 1
        if size and row.shape[0]:
            with nogil:
                problem = wv_bm25_top(&self._index, &asked[0], size, row.shape[0], &row[0], &score[0], &count)
            raise_problem(problem)
        return rows[:count], scores[:count]
