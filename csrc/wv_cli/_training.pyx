"""What the modules that train on blocks of a corpus have in common: a run, from which each derives its own, and the
workers of its threads."""

from libc.stdint cimport int32_t, int64_t
from wv_cli._arguments cimport require
from wv_cli._kernels cimport wv_block, wv_block_result
from wv_cli._scratch cimport address, aligned_zeros


cdef class Run:
    """The kernels, the corpus ids[:length], and the arrays that must live as long as they are read. A module adds the
    size of a worker's scratch, 0 when there is nothing to train with, and its kernel's call."""

    cdef size_t scratch_bytes(self) noexcept nogil:
        return 0

    cdef int require_block(self, const wv_block *block) except -1:
        return require(0 <= block.start <= block.end <= self.length,
                       f"block {block.start}:{block.end} lies outside the corpus of {self.length} ids")

    cdef void train(self, const wv_block *block, void *scratch, wv_block_result *result) noexcept nogil:
        result[0] = wv_block_result(loss=0, examples=0, tokens=0, lr=block.lr)

    def worker(self) -> Worker:
        """What one thread needs to train blocks; see Worker."""
        return Worker(self)


cdef class Worker:
    """One thread's scratch space, zero at first. Not to be shared between threads."""

    def __init__(self, Run run):
        self.run = run
        self.kept_alive = aligned_zeros(run.scratch_bytes())
        self.scratch = address(self.kept_alive)

    def block(self, int64_t start, int64_t end, int32_t epoch) -> tuple[float, int, int, float]:
        """Trains on ids[start:end] of one epoch without the GIL. Returns (loss, examples, tokens, lr): see wv_shared.h.
        Raises ValueError for ids outside the corpus."""
        return self.trained(wv_block(ids=self.run.ids, start=start, end=end, epoch=epoch, document=0, lr=0))

    cdef void train(self, const wv_block *block, wv_block_result *result) noexcept nogil:
        self.run.train(block, self.scratch, result)

    cdef tuple trained(self, wv_block block):
        cdef wv_block_result result
        self.run.require_block(&block)
        with nogil:
            self.train(&block, &result)
        return result.loss, result.examples, result.tokens, result.lr
