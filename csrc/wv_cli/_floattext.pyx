# cython: auto_pickle=False, autotestdict=False
"""Rows of word vectors as text and as word2vec's binary records, parsed and printed without the GIL.

Thin over core/floattext.h, which says what is accepted and written. The buffers' owners are in wv_cli/vectors/formats.
"""

from libc.stdint cimport int32_t, int64_t

from wv_cli.core.floattext cimport (
    WV_BINARY_WORD_LIMIT, WV_FLOAT_CHARS, WV_STOP_BAD_ROW, WV_STOP_LONG_WORD, WV_STOP_NONE, WV_STOP_NOT_FINITE,
    WV_STOP_PARTIAL, WV_TEXT_PADDING, wv_count_fields, wv_count_lines, wv_find_rows, wv_first_not_finite,
    wv_first_unwritable, wv_floattext_start, wv_format_float, wv_format_rows, wv_pack_rows, wv_parse_float,
    wv_parse_rows, wv_row_places, wv_rows_read, wv_unpack_rows, wv_word_rows,
)


cdef int start() except -1:
    cdef int failure = wv_floattext_start()
    if failure:
        import os
        raise OSError(failure, f"no C locale to read numbers in: {os.strerror(failure)}")
    return 0


start()

PADDING = WV_TEXT_PADDING
BINARY_WORD_LIMIT = WV_BINARY_WORD_LIMIT
STOP_NONE = WV_STOP_NONE
STOP_BAD_ROW = WV_STOP_BAD_ROW
STOP_NOT_FINITE = WV_STOP_NOT_FINITE
STOP_PARTIAL = WV_STOP_PARTIAL
STOP_LONG_WORD = WV_STOP_LONG_WORD


def parse_float(bytes text) -> float | None:
    """The whole of `text` as one float32, or None when it is not a number."""
    cdef bytes padded = text + b"\n" * WV_TEXT_PADDING
    cdef float value
    cdef size_t size = len(text)
    if size == 0 or wv_parse_float(padded, size, &value) != size:
        return None
    return value


def read_rows(unsigned char[::1] buffer: bytearray | memoryview, int64_t start, int64_t end, float[:, ::1] matrix,
              int64_t[::1] lengths, bint binary, bint dim_is_known=False) -> tuple[int, int, int, int]:
    """Reads rows from buffer[start:end] into the rows of `matrix`, at most as many as it has. In text whose dim is known
    words may end with a number.

    Text must end with a newline at end - 1 and have PADDING bytes after `end`. The words are packed at the start of
    buffer[start:], their sizes go to `lengths`. Returns (rows, consumed bytes, word bytes, stop reason).
    """
    if not 0 <= start <= end <= buffer.shape[0] - (0 if binary else WV_TEXT_PADDING):
        raise ValueError("the range does not lie in the buffer")
    if lengths.shape[0] < matrix.shape[0] or matrix.shape[1] < 1:
        raise ValueError("matrix and lengths do not fit")
    if not binary and end > start and buffer[end - 1] != 10:
        raise ValueError("the text does not end with a newline")
    if end == start or matrix.shape[0] == 0:
        return 0, 0, 0, STOP_NONE
    cdef wv_rows_read read
    with nogil:
        if binary:
            read = wv_unpack_rows(<char *> &buffer[start], end - start, <int32_t> matrix.shape[1], matrix.shape[0], &matrix[0, 0],
                                  &lengths[0])
        else:
            read = wv_parse_rows(<char *> &buffer[start], end - start, <int32_t> matrix.shape[1], dim_is_known,
                                 matrix.shape[0], &matrix[0, 0], &lengths[0])
    return read.rows, read.consumed, read.word_bytes, read.stop


def find_rows(const unsigned char[::1] data: memoryview, int64_t dim, int64_t[::1] offsets,
              unsigned char[::1] words: NDArray[np.uint8], int64_t[::1] lengths) -> tuple[int, int, int, int]:
    """Finds the binary rows of `data`, at most as many as there are offsets: where the numbers of each begin, the words
    end to end, and their sizes. `words` needs room for all that is not numbers. Returns what read_rows returns."""
    cdef int64_t capacity = offsets.shape[0], size = data.shape[0]
    if dim < 1 or dim > 2**29 or lengths.shape[0] < capacity or words.shape[0] < size - 4 * dim * capacity:
        raise ValueError("offsets, words and lengths do not fit")
    if size == 0 or capacity == 0 or words.shape[0] == 0:
        return 0, 0, 0, STOP_NONE
    cdef wv_rows_read read
    cdef wv_row_places places = wv_row_places(capacity=capacity, offsets=&offsets[0], lengths=&lengths[0],
                                              words=<char *> &words[0], room=words.shape[0])
    with nogil:
        read = wv_find_rows(<const char *> &data[0], size, <int32_t> dim, &places)
    return read.rows, read.consumed, read.word_bytes, read.stop


cdef ptrdiff_t row_stride(const float[:, :] matrix) except -1:
    """In floats. Raises ValueError."""
    if matrix.shape[1] > 1 and matrix.strides[1] != sizeof(float) or matrix.strides[0] % sizeof(float):
        raise ValueError("the values of a row must lie side by side")
    return matrix.strides[0] // <ptrdiff_t> sizeof(float)


cdef int require_rows(const float[:, :] matrix, const int64_t[::1] starts, int64_t first, int64_t last,
                      int64_t row_bytes, const unsigned char[::1] out) except -1:
    """Raises ValueError unless rows first .. last are there and `out` holds their words and `row_bytes` each."""
    if not 0 <= first < last <= matrix.shape[0] or last >= starts.shape[0] or matrix.shape[1] < 1:
        raise ValueError("rows out of range")
    if out.shape[0] < starts[last] - starts[first] + (last - first) * row_bytes:
        raise ValueError("the output buffer is too small")
    return 0


cdef int require_decimals(int decimals) except -1:
    if not -6 <= decimals <= 9:
        raise ValueError("decimals out of range")
    return 0


def row_capacity(int64_t dim) -> int:
    """Bytes a row of `dim` numbers can take, without its word."""
    return 2 + dim * (WV_FLOAT_CHARS + 1)


def format_rows(const float[:, :] matrix, bytes blob, const int64_t[::1] starts, int64_t first, int64_t last,
                int decimals, bint trailing_space, unsigned char[::1] out: bytearray | memoryview) -> int:
    """Prints rows first .. last of (blob, starts, matrix) to `out` as text and returns the bytes written.
    decimals 1 .. 9 is fixed, 0 the shortest text that reads back to the same float32, -1 .. -6 so many significant
    digits."""
    cdef ptrdiff_t stride = row_stride(matrix)
    cdef const char *words = blob
    cdef size_t written
    if first == last:
        return 0
    require_rows(matrix, starts, first, last, row_capacity(matrix.shape[1]), out)
    require_decimals(decimals)
    cdef wv_word_rows rows = wv_word_rows(matrix=&matrix[first, 0], stride=stride, rows=last - first,
                                          dim=<int32_t> matrix.shape[1], blob=words, starts=&starts[first])
    with nogil:
        written = wv_format_rows(&rows, decimals, trailing_space, <char *> &out[0])
    return written


def pack_rows(const float[:, :] matrix, bytes blob, const int64_t[::1] starts, int64_t first, int64_t last,
              unsigned char[::1] out: bytearray | memoryview) -> int:
    """Packs rows first .. last to `out` as word2vec's binary records and returns the bytes written."""
    cdef ptrdiff_t stride = row_stride(matrix)
    cdef const char *words = blob
    cdef size_t written
    if first == last:
        return 0
    require_rows(matrix, starts, first, last, 2 + 4 * matrix.shape[1], out)
    cdef wv_word_rows rows = wv_word_rows(matrix=&matrix[first, 0], stride=stride, rows=last - first,
                                          dim=<int32_t> matrix.shape[1], blob=words, starts=&starts[first])
    with nogil:
        written = wv_pack_rows(&rows, <char *> &out[0])
    return written


def format_float(float value, int decimals) -> bytes:
    """One number as bytes, as format_rows prints it."""
    cdef char out[WV_FLOAT_CHARS]
    require_decimals(decimals)
    cdef size_t size = wv_format_float(value, decimals, out)
    return out[:size]


def first_not_finite(const float[:, :] matrix) -> tuple[int, int] | None:
    """(row, column) of the first nan or infinity; None when all values are finite."""
    if matrix.shape[0] == 0 or matrix.shape[1] == 0:
        return None
    cdef ptrdiff_t stride = row_stride(matrix)
    cdef int64_t found
    with nogil:
        found = wv_first_not_finite(&matrix[0, 0], stride, <int32_t> matrix.shape[1], matrix.shape[0])
    return None if found < 0 else (found // matrix.shape[1], found % matrix.shape[1])


def first_unwritable(bytes blob, const int64_t[::1] starts) -> int:
    """Index of the first word that is empty or holds a space, tab, newline or NUL; -1 when there is none."""
    cdef const char *words = blob
    cdef int64_t found
    with nogil:
        found = wv_first_unwritable(words, &starts[0], starts.shape[0] - 1)
    return found


def count_lines(const unsigned char[::1] buffer: bytes | bytearray | memoryview, int64_t start, int64_t end) -> int:
    """Newlines in buffer[start:end]."""
    if not 0 <= start <= end <= buffer.shape[0]:
        raise ValueError("the range does not lie in the buffer")
    if start == end:
        return 0
    cdef int64_t lines
    with nogil:
        lines = wv_count_lines(<char *> &buffer[start], end - start)
    return lines


def count_fields(bytes text) -> int:
    """Fields of `text`, separated by spaces or tabs."""
    return wv_count_fields(text, len(text))
