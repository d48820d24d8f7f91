"""Memory for the kernels' scratch space (csrc/base/scratch.h), which the caller owns."""

from libc.stdint cimport uint8_t, uint64_t
from wv_cli._kernels cimport WV_CACHE_LINE


cdef inline void *address(uint8_t[::1] buffer) noexcept:
    return &buffer[0]


cdef inline object aligned_zeros(size_t size):
    """(size,) uint8 zeros, at least one, on a cache line. Pages that are never written cost nothing."""
    import numpy as np

    buffer = np.zeros(size + WV_CACHE_LINE + 1, np.uint8)
    cdef uint64_t start = (WV_CACHE_LINE - <uint64_t>address(buffer) % WV_CACHE_LINE) % WV_CACHE_LINE
    return buffer[start : start + size + 1]
