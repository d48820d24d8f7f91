"""What the processes of a deterministic run tell each other after a round: a message is, for each of some workers, a
heading, then the numbers of the input rows that it has changed, its copies of them without their padding, the same of the
output rows, and its copies of their biases where there are any. In the machine's own order of bytes: processes that are to
compute the same bits have the same kernels."""

from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset
from wv_cli._arguments cimport require
from wv_cli._kernels cimport wv_block_result, wv_round_rows, wv_round_worker


# Whose rows follow, how many there are of each matrix, and what the worker has done so far in this step.
cdef struct Heading:
    int32_t worker, inputs, outputs, unused
    wv_block_result result


cdef inline size_t bytes_after_heading(const wv_round_worker *worker, size_t dim) noexcept nogil:
    cdef size_t inputs = worker.input.listed, outputs = worker.output.listed
    cdef size_t biases = 0 if worker.output_bias == NULL else outputs
    return (inputs + outputs) * (sizeof(int32_t) + dim * sizeof(float)) + biases * sizeof(float)


cdef inline char *written(char *at, const void *piece, size_t bytes) noexcept nogil:
    memcpy(at, piece, bytes)
    return at + bytes


cdef inline const char *taken(void *piece, const char *at, size_t bytes) noexcept nogil:
    memcpy(piece, at, bytes)
    return at + bytes


cdef inline char *rows_written(char *at, const wv_round_rows *rows, size_t dim, size_t stride) noexcept nogil:
    cdef size_t number
    at = written(at, rows.row, rows.listed * sizeof(int32_t))
    for number in range(<size_t>rows.listed):
        at = written(at, rows.copy + number * stride, dim * sizeof(float))
    return at


cdef inline const char *rows_taken(wv_round_rows *rows, const char *at, size_t dim, size_t stride) noexcept nogil:
    cdef size_t number
    at = taken(rows.row, at, rows.listed * sizeof(int32_t))
    for number in range(<size_t>rows.listed):
        at = taken(rows.copy + number * stride, at, dim * sizeof(float))
    return at


cdef inline bint all_below(const wv_round_rows *rows, int32_t end) noexcept nogil:
    cdef int32_t number
    for number in range(rows.listed):
        if not 0 <= rows.row[number] < end:
            return False
    return True


cdef inline char *worker_written(char *at, int32_t number, const wv_round_worker *worker,
                                 const wv_block_result *result, size_t dim, size_t stride) noexcept nogil:
    """Writes worker `number`; returns what is behind it."""
    cdef Heading heading
    memset(&heading, 0, sizeof(heading))
    heading.worker, heading.inputs, heading.outputs = number, worker.input.listed, worker.output.listed
    heading.result = result[0]
    at = written(at, &heading, sizeof(heading))
    at = rows_written(at, &worker.input, dim, stride)
    at = rows_written(at, &worker.output, dim, stride)
    if worker.output_bias != NULL:
        at = written(at, worker.output_bias, worker.output.listed * sizeof(float))
    return at


cdef inline const char *worker_taken(const char *at, size_t left, const Heading *heading, wv_round_worker *worker,
                                     int32_t input_rows, int32_t output_rows, size_t dim, size_t stride) except NULL:
    """Takes a worker's rows, of matrices of so many, from the `left` bytes behind its heading; returns what is behind
    them. Raises ValueError for bytes that worker_written() never leaves."""
    cdef bint known
    worker.input.listed, worker.output.listed = heading.inputs, heading.outputs
    require(left >= bytes_after_heading(worker, dim), "a message ends within its rows")
    with nogil:
        at = rows_taken(&worker.input, at, dim, stride)
        at = rows_taken(&worker.output, at, dim, stride)
        if worker.output_bias != NULL:
            at = taken(worker.output_bias, at, worker.output.listed * sizeof(float))
        known = all_below(&worker.input, input_rows) and all_below(&worker.output, output_rows)
    require(known, "a message has a row that is not there")
    return at
