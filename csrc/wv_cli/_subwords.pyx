# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True, auto_pickle=False, autotestdict=False
"""Subwords and the word table of fastText's models: the Python face of core/subwords and core/fasttexttable.

Only pointers, sizes and errors are handled here; the loops are in C and run without the GIL. What a model is stands in
wv_cli.vectors.fasttext, its file in wv_cli.vectors.formats.fasttext_bin.
"""

import numpy as np

from libc.stdint cimport int8_t, int32_t, int64_t, uint32_t

from wv_cli._arguments cimport require, require_ids, require_starts, row_stride
from wv_cli._words cimport letters
from wv_cli.core.fasttexttable cimport wv_table_measure, wv_table_read, wv_table_size, wv_table_write
from wv_cli.core.subwords cimport (
    wv_fasttext_hash, wv_line_ngrams, wv_mean_rows, wv_spread_rows, wv_subword_spans, wv_subwords,
    wv_weighted_means,
)


def word_hash(bytes word) -> int:
    """fastText's hash of a word, an unsigned 32-bit number."""
    return wv_fasttext_hash(word, len(word))


def word_hashes(const unsigned char[::1] blob, const int64_t[::1] starts) -> NDArray[np.uint32]:
    """The hashes (n,) uint32 of a WordList's words."""
    cdef int64_t i
    cdef const char *words = <const char *> letters(blob)
    hashes_array = np.empty(starts.shape[0] - 1, np.uint32)
    cdef uint32_t[::1] hashes = hashes_array
    with nogil:
        for i in range(hashes.shape[0]):
            hashes[i] = wv_fasttext_hash(words + starts[i], starts[i + 1] - starts[i])
    return hashes_array


def of_words(const unsigned char[::1] blob, const int64_t[::1] starts, int minn, int maxn,
             uint32_t buckets) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """(first (n + 1,) int64, buckets int32): the buckets of word i of a WordList are buckets[first[i]:first[i + 1]]."""
    cdef int64_t i, n = starts.shape[0] - 1
    cdef const char *words = <const char *> letters(blob)
    first_array = np.zeros(n + 1, np.int64)
    cdef int64_t[::1] first = first_array
    with nogil:
        for i in range(n):
            first[i + 1] = first[i] + wv_subwords(words + starts[i], starts[i + 1] - starts[i], minn, maxn, buckets,
                                                  NULL, 0)
    out_array = np.empty(first_array[n], np.int32)
    cdef int32_t[::1] out = out_array
    if out.shape[0]:
        with nogil:
            for i in range(n):
                wv_subwords(words + starts[i], starts[i + 1] - starts[i], minn, maxn, buckets, &out[0] + first[i],
                            first[i + 1] - first[i])
    return first_array, out_array


def ngrams(bytes word, int minn, int maxn, uint32_t buckets) -> list[tuple[bytes, int]]:
    """The character n-grams of `<word>` as a list of (n-gram, bucket), in fastText's order."""
    cdef const char *text = word
    cdef int64_t count = wv_subwords(text, len(word), minn, maxn, buckets, NULL, 0)
    if not count:
        return []
    spans_array = np.empty((count, 2), np.int64)
    out_array = np.empty(count, np.int32)
    cdef int64_t[:, ::1] spans = spans_array
    cdef int32_t[::1] out = out_array
    wv_subwords(text, len(word), minn, maxn, buckets, &out[0], count)
    wv_subword_spans(text, len(word), minn, maxn, &spans[0, 0], count)
    bracketed = b"<" + word + b">"
    return [(bracketed[start:end], bucket) for (start, end), bucket in zip(spans_array.tolist(), out_array.tolist())]


def line_ngrams(const uint32_t[::1] hashes, int n, uint32_t buckets) -> NDArray[np.int32]:
    """The buckets, int32, of the word n-grams of 2 .. n words of a line whose words have these hashes."""
    cdef int64_t count = hashes.shape[0]
    cdef const uint32_t *first = &hashes[0] if count else NULL
    cdef int64_t found = wv_line_ngrams(first, count, count, n, buckets, NULL, 0)
    out_array = np.empty(found, np.int32)
    cdef int32_t[::1] out = out_array
    if found:
        with nogil:
            wv_line_ngrams(first, count, count, n, buckets, &out[0], found)
    return out_array


def mean_rows(const unsigned char[:, ::1] matrix: NDArray[np.uint8], const int64_t[::1] starts,
              rows: NDArray[np.int64] | None, float[:, ::1] out) -> None:
    """out[g] = mean of the rows rows[starts[g]:starts[g + 1]] of a float32 matrix given as bytes (n, 4 dim); with
    `rows` None of the rows starts[g] .. starts[g + 1] themselves. Raises ValueError for shapes and rows that do not
    fit."""
    cdef const int64_t[::1] numbers
    cdef const int64_t *number = NULL
    cdef int64_t i, last = matrix.shape[0]
    if matrix.shape[1] != 4 * out.shape[1] or starts.shape[0] != out.shape[0] + 1:
        raise ValueError("the shapes do not fit")
    if rows is not None:
        numbers = rows
        last = numbers.shape[0]
        for i in range(last):
            if not 0 <= numbers[i] < matrix.shape[0]:
                raise ValueError("a row out of range")
        number = &numbers[0] if last else NULL
    for i in range(out.shape[0]):
        if not 0 <= starts[i] <= starts[i + 1] <= last:
            raise ValueError("a group out of range")
    if out.shape[0] == 0 or out.shape[1] == 0:
        return
    with nogil:
        wv_mean_rows(<const char *> &matrix[0, 0] if matrix.shape[0] else NULL, out.shape[1], &starts[0], number,
                     out.shape[0], &out[0, 0])


def weighted_means(const unsigned char[:, ::1] matrix: NDArray[np.uint8], const int64_t[::1] starts,
                   const int32_t[::1] rows, const float[::1] weights: NDArray[np.float32] | None,
                   double[:, ::1] out) -> None:
    """out[g] = mean of the rows rows[i] of a float32 matrix given as bytes (n, 4 dim), each times weights[i], for i from
    starts[g] to starts[g + 1]; `weights` may be None. Raises ValueError for shapes and rows that do not fit."""
    cdef int64_t count = rows.shape[0]
    require(matrix.shape[1] == 4 * out.shape[1], "the shapes do not fit")
    require(weights is None or weights.shape[0] == count, "expected a weight for every row")
    require_starts(starts, out.shape[0], count, "groups")
    require_ids(rows, 0, matrix.shape[0], "rows")
    if out.shape[0] == 0 or out.shape[1] == 0 or count == 0:
        out[:, :] = 0
        return
    with nogil:
        wv_weighted_means(<const char *> &matrix[0, 0], out.shape[1], &starts[0], &rows[0],
                          NULL if weights is None else &weights[0], out.shape[0], &out[0, 0])


def spread_rows(const float[:, :] values, const int64_t[::1] kept, source: NDArray[np.int32] | None, int64_t begin,
                unsigned char[::1] out) -> None:
    """out = bytes begin, begin + 1, ... of a matrix of float32 whose row kept[i] is row source[i] of `values`, with
    `source` None row i, and whose other rows are zero. `kept` ascends: rows that have a byte there. Raises ValueError for
    shapes and rows that do not fit."""
    cdef const int32_t[::1] numbers
    cdef const int32_t *number = NULL
    cdef int64_t i, count = kept.shape[0], stride = row_stride(values), row_bytes = 4 * values.shape[1]
    cdef int64_t last, end
    require(row_bytes > 0 and begin >= 0, "rows without numbers, or bytes before them")
    last, end = begin // row_bytes - 1, (begin + out.shape[0] + row_bytes - 1) // row_bytes
    if source is None:
        require(count <= values.shape[0], "rows: a number out of range")
    else:
        numbers = np.ascontiguousarray(source)
        require(numbers.shape[0] == count, "expected a source for every row")
        require_ids(numbers, 0, values.shape[0], "rows")
        number = &numbers[0] if count else NULL
    for i in range(count):
        require(last < kept[i] < end, "rows do not ascend, or are others")
        last = kept[i]
    with nogil:
        wv_spread_rows(&values[0, 0] if count else NULL, stride, number, &kept[0] if count else NULL,
                       count, values.shape[1], begin, out.shape[0], <char *>&out[0] if out.shape[0] else NULL)


def read_table(const unsigned char[::1] data, int64_t start,
               int64_t entries) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64], NDArray[np.int8], int]:
    """The word table that begins at data[start]: (blob, starts (n + 1,), counts (n,), types (n,) int8, end). When the data
    ends before the table, n is less than `entries` and `end` is where the incomplete entry begins."""
    if not 0 <= start <= data.shape[0]:
        raise ValueError("the range does not lie in the data")
    cdef const char *table = <const char *> letters(data) + start
    cdef wv_table_size size
    with nogil:
        size = wv_table_measure(table, data.shape[0] - start, entries)
    cdef unsigned char[::1] blob
    cdef int64_t[::1] starts, counts
    cdef int8_t[::1] types
    words = bytearray(size.word_bytes)
    starts_array, counts_array = np.zeros(size.entries + 1, np.int64), np.empty(size.entries, np.int64)
    types_array = np.empty(size.entries, np.int8)
    blob, starts, counts, types = words, starts_array, counts_array, types_array
    if size.entries:
        with nogil:
            wv_table_read(table, size.entries, <char *> letters(blob), &starts[0], &counts[0],
                          &types[0])
    return bytes(words), starts_array, counts_array, types_array, start + size.consumed


def write_table(const unsigned char[::1] blob, const int64_t[::1] starts, const int64_t[::1] counts, int type,
                int64_t first, int64_t last) -> bytes:
    """The entries first .. last of a word table as bytes; words are a WordList's and hold no NUL."""
    if not 0 <= first <= last < starts.shape[0] or last > counts.shape[0]:
        raise ValueError("entries out of range")
    cdef const char *words = <const char *> letters(blob)
    out = bytearray(starts[last] - starts[first] + 10 * (last - first))
    cdef unsigned char[::1] bytes_out = out
    if last > first:
        with nogil:
            wv_table_write(words, &starts[0], &counts[0], <int8_t> type, first, last, <char *> &bytes_out[0])
    return bytes(out)
