"""BioWord's kernel for Python: minibatches on several threads, and the cells' activations (kernels/bioword.c).

Every array is checked here before its address goes to C.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t, uintptr_t
from libc.string cimport memset

from wv_cli._cpu cimport kernels, kernels_named
from wv_cli._kernels cimport WV_ROW_FLOATS, wv_bioword_entry, wv_bioword_room, wv_bioword_run, wv_kernels


cdef int32_t _padded(int32_t cells) noexcept:
    return (cells + WV_ROW_FLOATS - 1) // WV_ROW_FLOATS * WV_ROW_FLOATS


def batch_starts(const int32_t[::1] ids, int64_t windows):
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


cdef class Room:
    """One thread's working memory; made by Run.room()."""

    cdef wv_bioword_room room
    cdef object kept_alive


cdef class Run:
    """Weights and what goes with them, for one corpus; see kernels/wv_bioword.h.

    raw is (2 * words, stride) float32, aligned to 64 bytes, the first `cells` columns used and the others zero; scale
    and norm2 (cells,) float64, largest (cells,) float32, inverse (words,) float64, ids int32 with -1 at line ends.
    `starts` are the borders of the batches: all that `train` may be given.
    """

    cdef wv_bioword_run run
    cdef const wv_kernels *table
    cdef object kept_alive
    cdef int64_t largest_ids, largest_words

    def __init__(self, *, raw, scale, norm2, largest, inverse, ids, starts, int32_t cells, int32_t window,
                 int32_t threads=1, isa=None):
        cdef float[:, ::1] weights = raw
        cdef double[::1] scales = scale, norms = norm2
        cdef float[::1] bounds = largest
        cdef const double[::1] inverses = inverse
        cdef const int32_t[::1] text = ids
        cdef int64_t k
        memset(&self.run, 0, sizeof(self.run))
        self.table = kernels() if isa is None else kernels_named(isa)
        words = len(inverse)
        if cells < 1 or window < 1 or threads < 1 or words < 1:
            raise ValueError("sizes must be positive")
        if weights.shape[0] != 2 * words or weights.shape[1] != _padded(cells) or <uint64_t>&weights[0, 0] % 64:
            raise ValueError("the weights do not fit the words and cells, or are not aligned to 64 bytes")
        if not len(scale) == len(norm2) == len(largest) == cells:
            raise ValueError("scale, norm2 and largest need one number per cell")
        if starts[0] != 0 or starts[-1] != len(ids) or np.any(np.diff(starts) < 0):
            raise ValueError("the batches do not cover the text")
        for k in range(text.shape[0]):
            if text[k] >= words:
                raise ValueError("an id lies beyond the words")
        self.largest_ids = max(int(np.max(np.diff(starts))), 1)
        winner = np.empty(self.largest_ids, np.int32)
        sums = np.zeros((3, cells), np.float64)
        ends = np.zeros((2, cells), np.int32)
        cdef int32_t[::1] winners = winner
        cdef double[:, ::1] sum_view = sums
        cdef int32_t[:, ::1] end_view = ends
        self.kept_alive = (raw, scale, norm2, largest, inverse, ids, winner, sums, ends)
        self.run.words, self.run.cells, self.run.stride = <int32_t>words, cells, <int32_t>weights.shape[1]
        self.run.window, self.run.threads = window, threads
        self.run.raw, self.run.scale, self.run.norm2 = &weights[0, 0], &scales[0], &norms[0]
        self.run.largest, self.run.inverse = &bounds[0], &inverses[0]
        self.run.ids, self.run.length = &text[0] if text.shape[0] else NULL, text.shape[0]
        self.run.winner = &winners[0]
        self.run.xx, self.run.signal2, self.run.touched = &sum_view[0, 0], &sum_view[1, 0], &sum_view[2, 0]
        self.run.first, self.run.last = &end_view[0, 0], &end_view[1, 0]

    def room(self):
        """Working memory for one thread."""
        cdef Room made = Room()
        cdef int64_t inputs = 2 * <int64_t>self.run.window + 1
        floats = np.zeros(2 * self.run.stride + WV_ROW_FLOATS, np.float32)
        pointers = np.zeros(inputs, np.uintp)
        numbers = np.zeros(inputs + self.largest_ids + self.run.cells + 1, np.int32)
        active = np.zeros(2 * <int64_t>self.run.words, np.int32)
        entries = np.zeros(self.largest_ids * inputs * sizeof(wv_bioword_entry) // 8, np.float64)
        cdef float[::1] float_view = floats
        cdef uintptr_t[::1] pointer_view = pointers
        cdef int32_t[::1] number_view = numbers, active_view = active
        cdef double[::1] entry_view = entries
        cdef int64_t first = <int64_t>((64 - <uint64_t>&float_view[0] % 64) % 64) // 4  # of 64 aligned bytes
        made.room.scores, made.room.scales = &float_view[first], &float_view[first + self.run.stride]
        made.room.rows = <const float **>&pointer_view[0]
        made.room.inputs, made.room.order = &number_view[0], &number_view[inputs]
        made.room.starts = &number_view[inputs + self.largest_ids]
        made.room.active = &active_view[0]
        made.room.entries = <wv_bioword_entry *>&entry_view[0]
        made.kept_alive = (floats, pointers, numbers, active, entries)
        return made

    def train(self, const int64_t[::1] starts, double rate, int32_t thread, Room room):
        """Trains batch after batch, starts[i]:starts[i + 1], without the GIL; the sum of the energies. All threads of
        the run must call it at once with the same batches, each with its number and room."""
        cdef int64_t k
        cdef double energy = 0
        if not 0 <= thread < self.run.threads:
            raise ValueError("no such thread")
        for k in range(starts.shape[0]):
            if not 0 <= starts[k] <= self.run.length or (k and not 0 <= starts[k] - starts[k - 1] <= self.largest_ids):
                raise ValueError("a batch lies beyond the text or is too large")
        with nogil:
            for k in range(starts.shape[0] - 1):
                energy += self.table.bioword_batch(&self.run, starts[k], starts[k + 1], rate, thread, &room.room)
        return energy

    def activations(self, int64_t start, int64_t end, bint words_only, Room room):
        """<W, v> of the windows around ids[start:end], (words in it, cells) float32; with `words_only` the contexts
        count as empty."""
        cdef int64_t count
        if not 0 <= start <= end <= self.run.length:
            raise ValueError("the words lie beyond the text")
        out = np.empty((max(end - start, 1), self.run.cells), np.float32)
        cdef float[:, ::1] place = out
        with nogil:
            count = self.table.bioword_activations(&self.run, start, end, words_only, &room.room, &place[0, 0])
        return out[:count]
