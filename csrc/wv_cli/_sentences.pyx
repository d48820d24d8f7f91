# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Streams of word ids in which -1 ends each sentence, and sums of the scores of their words. Without NumPy."""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t

from wv_cli._buffers cimport new_numbers


def last_end(const int32_t[::1] stream: Buffer) -> int:
    """The place behind the last end of a sentence, 0 where none ends."""
    cdef int64_t n = stream.shape[0]
    while n and stream[n - 1] >= 0:
        n -= 1
    return n


def ends(const int32_t[::1] stream: Buffer) -> list[int]:
    """The places behind all ends."""
    cdef int64_t i
    return [i + 1 for i in range(stream.shape[0]) if stream[i] < 0]


def exchange(const int32_t[::1] ids: Buffer, const int32_t[::1] others: Buffer, int32_t unknown) -> memoryview:
    """(n,) int32: others[id] for each id; `unknown` for what stands behind `others`, ends of sentences as they are."""
    cdef int64_t n = ids.shape[0], size = others.shape[0], i
    found = new_numbers(n, "i", sizeof(int32_t))
    cdef int32_t[::1] out = found
    with nogil:
        for i in range(n):
            out[i] = ids[i] if ids[i] < 0 else others[ids[i]] if ids[i] < size else unknown
    return found


def totals(const int32_t[::1] ids: Buffer, const float[::1] scores: Buffer,
           int32_t unknown) -> tuple[list[float], list[int]]:
    """(sum of the scores, how often `unknown` stands in it) of each sentence that ends. The sums are those of math.fsum,
    digit for digit."""
    cdef int64_t n = ids.shape[0], begin = 0, i, count = 0
    cdef double sum = 0, size = 0, least = INFINITY, each
    if scores.shape[0] != n:
        raise ValueError("the scores do not fit the ids")
    sums, counts = [], []
    for i in range(n):
        each = scores[i]
        sum += each
        size += fabs(each)
        if each and fabs(each) < least:
            least = fabs(each)
        count += ids[i] == unknown
        if ids[i] >= 0:
            continue
        # float64 adds float32 numbers without rounding while their sum stays below 2^29 times the smallest of them.
        sums.append(sum if size <= least * 2.0**28 else _exact_sum(scores[begin:i + 1]))
        counts.append(count)
        begin, count, sum, size, least = i + 1, 0, 0, 0, INFINITY
    return sums, counts


cdef object _exact_sum(const float[::1] scores):
    import math
    return math.fsum(memoryview(scores))
