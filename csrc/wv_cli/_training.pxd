"""A run and its workers; see _training.pyx."""

from libc.stdint cimport int32_t, int64_t
from wv_cli._kernels cimport wv_block_result, wv_kernels


cdef struct Block:
    int64_t start, end
    int32_t epoch
    int64_t document  # doc2vec: the number of the first one
    float lr  # language models: the rate, which the others take from the position


cdef class Run:
    cdef const wv_kernels *kernel
    cdef const int32_t *ids
    cdef readonly int64_t length
    cdef object kept_alive

    cdef size_t scratch_bytes(self) noexcept nogil
    cdef int require_block(self, const Block *block) except -1
    cdef void train(self, const Block *block, void *scratch, wv_block_result *result) noexcept nogil


cdef class Worker:
    cdef Run run
    cdef void *scratch
    cdef object kept_alive

    cdef void train(self, const Block *block, wv_block_result *result) noexcept nogil
    cdef tuple trained(self, Block block)
