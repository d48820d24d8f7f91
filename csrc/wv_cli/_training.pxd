"""A run and its workers; see _training.pyx."""

from libc.stdint cimport int32_t, int64_t
from wv_cli._kernels cimport wv_block, wv_block_result, wv_kernels


cdef class Run:
    cdef const wv_kernels *kernel
    cdef const int32_t *ids
    cdef readonly int64_t length
    cdef object kept_alive

    cdef size_t scratch_bytes(self) noexcept nogil
    cdef int require_block(self, const wv_block *block) except -1
    cdef void train(self, const wv_block *block, void *scratch, wv_block_result *result) noexcept nogil


cdef class Worker:
    cdef Run run
    cdef void *scratch
    cdef object kept_alive

    cdef void train(self, const wv_block *block, wv_block_result *result) noexcept nogil
    cdef tuple trained(self, wv_block block)
