# cython: cdivision=True
"""BioWord's kernels for Python: minibatches on several threads, and the cells' activations (kernels/bioword.c).

Every array is checked here before its address goes to C.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from wv_cli._arguments cimport padded, require, require_aligned, require_ids, table
from wv_cli._kernels cimport wv_bioword_run, wv_bioword_survey, wv_kernels
from wv_cli._scratch cimport address, aligned_zeros
from wv_cli.core.barrier cimport wv_barrier, wv_barrier_wait


def batch_starts(const int32_t[::1] ids, int64_t windows) -> NDArray[np.int64]:
    """Where batches of `windows` words begin in a corpus: int64, first 0, last len(ids); the last batch may be smaller.

    A line end belongs to the batch of the word before it."""
    cdef int64_t n = ids.shape[0], at, words = 0, count = 1
    if windows < 1:
        raise ValueError("a batch needs at least one window")
    starts = np.empty(n // windows + 2, np.int64)
    cdef int64_t[::1] out = starts
    out[0] = 0
    with nogil:
        for at in range(n):
            if ids[at] >= 0:
                if words == windows:
                    out[count] = at
                    count += 1
                    words = 0
                words += 1
    out[count] = n
    return starts[: count + 1].copy()


cdef class Run:
    """Weights and what goes with them, for one corpus; see kernels/wv_bioword.h.

    raw is (2 * words, stride) float32, aligned to 64 bytes, the first `cells` columns used and the others zero; scale
    and norm2 (cells,) float64, largest (cells,) float32, inverse (words,) float64, ids int32 with -1 at line ends.
    `starts` are the borders of the batches: all that training may be given.
    """

    cdef wv_bioword_run run
    cdef wv_barrier barrier
    cdef int32_t threads
    cdef const wv_kernels *kernel
    cdef object kept_alive

    def __init__(self, *, raw: NDArray[np.float32], scale: NDArray[np.float64], norm2: NDArray[np.float64],
                 largest: NDArray[np.float32], inverse: NDArray[np.float64], ids: NDArray[np.int32],
                 starts: NDArray[np.int64], int32_t cells, int32_t window, int32_t threads=1, bint bag=False,
                 isa: str | None = None):
        cdef float[:, ::1] weights = raw
        cdef double[::1] scales = scale, norms = norm2
        cdef float[::1] bounds = largest
        cdef const double[::1] inverses = inverse
        cdef const int32_t[::1] text = ids
        memset(&self.run, 0, sizeof(self.run))
        memset(&self.barrier, 0, sizeof(self.barrier))
        self.kernel = table(isa)
        words = len(inverse)
        require(cells > 0 and window > 0 and threads > 0 and words > 0, "sizes must be positive")
        require(weights.shape[0] == 2 * words and weights.shape[1] == padded(cells),
                "the weights do not fit the words and cells")
        require_aligned(&weights[0, 0], "raw")
        require(len(scale) == len(norm2) == len(largest) == cells, "scale, norm2 and largest need one number per cell")
        require(starts[0] == 0 and starts[-1] == len(ids) and np.all(np.diff(starts) >= 0),
                "the batches do not cover the text")
        require_ids(text, -1, words, "an id lies beyond the words")
        self.run.longest_batch = max(int(np.max(np.diff(starts))), 1)
        winner = np.empty(self.run.longest_batch, np.int32)
        sums = np.zeros((3, cells), np.float64)
        ends = np.zeros((2, cells), np.int32)
        cdef int32_t[::1] winners = winner
        cdef double[:, ::1] sum_view = sums
        cdef int32_t[:, ::1] end_view = ends
        self.kept_alive = (raw, scale, norm2, largest, inverse, ids, winner, sums, ends)
        self.run.words, self.run.cells, self.run.stride = <int32_t>words, cells, <int32_t>weights.shape[1]
        self.run.window, self.run.bag, self.threads = window, bag, threads
        self.run.raw, self.run.scale, self.run.norm2 = &weights[0, 0], &scales[0], &norms[0]
        self.run.largest, self.run.inverse = &bounds[0], &inverses[0]
        self.run.ids, self.run.length = &text[0] if text.shape[0] else NULL, text.shape[0]
        self.run.winner = &winners[0]
        self.run.xx, self.run.signal2, self.run.touched = &sum_view[0, 0], &sum_view[1, 0], &sum_view[2, 0]
        self.run.first, self.run.last = &end_view[0, 0], &end_view[1, 0]

    def worker(self, int32_t thread=0) -> Worker:
        """What thread number `thread` of the run needs; see Worker."""
        return Worker(self, thread)


cdef class Worker:
    """One thread's number and scratch space. Not to be shared between threads."""

    cdef Run run
    cdef int32_t thread
    cdef object kept_alive
    cdef void *scratch

    def __init__(self, Run run, int32_t thread):
        require(0 <= thread < run.threads, "no such thread")
        self.run, self.thread = run, thread
        self.kept_alive = aligned_zeros(run.kernel.bioword_scratch_bytes(&run.run))
        self.scratch = address(self.kept_alive)

    def train(self, const int64_t[::1] starts, double rate) -> float:
        """Trains batch after batch, starts[i]:starts[i + 1], without the GIL; the sum of the energies. The workers of all
        threads of the run must be called at once with the same batches: they wait for each other between the stages."""
        cdef const wv_bioword_run *run = &self.run.run
        cdef int64_t k
        cdef double energy = 0
        for k in range(starts.shape[0]):
            if not 0 <= starts[k] <= run.length or (k and not 0 <= starts[k] - starts[k - 1] <= run.longest_batch):
                raise ValueError("a batch lies beyond the text or is too large")
        with nogil:
            for k in range(starts.shape[0] - 1):
                energy += self.batch(starts[k], starts[k + 1], rate)
        return energy

    cdef double batch(self, int64_t start, int64_t end, double rate) noexcept nogil:
        """One minibatch, stage by stage; its energy."""
        cdef const wv_kernels *kernel = self.run.kernel
        cdef const wv_bioword_run *run = &self.run.run
        cdef wv_barrier *barrier = &self.run.barrier
        cdef int32_t thread = self.thread, threads = self.run.threads
        cdef int64_t n = end - start
        cdef wv_bioword_survey survey
        kernel.bioword_winners(run, start, start + n * thread / threads, start + n * (thread + 1) / threads, self.scratch)
        wv_barrier_wait(barrier, threads)
        kernel.bioword_gather(run, start, end, thread, threads, self.scratch)
        wv_barrier_wait(barrier, threads)
        kernel.bioword_survey(run, &survey)
        wv_barrier_wait(barrier, threads)
        if survey.scans:
            kernel.bioword_scan(run, survey.most, thread, threads, self.scratch)
            wv_barrier_wait(barrier, threads)
        kernel.bioword_update(run, rate, thread, threads, self.scratch)
        wv_barrier_wait(barrier, threads)
        return survey.energy

    def activations(self, int64_t start, int64_t end, bint words_only) -> NDArray[np.float32]:
        """<W, v> of the windows around ids[start:end], (words in it, cells) float32; with `words_only` the contexts
        count as empty."""
        cdef const wv_kernels *kernel = self.run.kernel
        cdef const wv_bioword_run *run = &self.run.run
        cdef int64_t count
        require(0 <= start <= end <= run.length, "the words lie beyond the text")
        out = np.empty((max(end - start, 1), run.cells), np.float32)
        cdef float[:, ::1] view = out
        with nogil:
            count = kernel.bioword_activations(run, start, end, words_only, self.scratch, &view[0, 0])
        return out[:count]
