# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Training of static embeddings on pairs of texts for Python: batches, and the threads that share them (kernels/pairs.c).

Every array is checked here before its address goes to C.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from wv_cli._arguments cimport padded, require, require_aligned, require_ids, require_starts, table as kernels_of
from wv_cli._kernels cimport WV_PAIR_BLOCK, WV_PAIR_CHUNK, WV_PAIR_UNIT, wv_kernels, wv_pair_rows, wv_pairs
from wv_cli._scratch cimport address, aligned_zeros
from wv_cli.core.barrier cimport wv_barrier, wv_barrier_wait


cdef inline int64_t rounded(int64_t count, int64_t unit) noexcept nogil:
    return (count + unit - 1) // unit * unit


cdef inline int64_t border(int64_t count, int64_t unit, int32_t thread, int32_t threads) noexcept nogil:
    """Where the share of a thread begins of `count` things that are divided at multiples of `unit`."""
    return min(count, (count + unit - 1) // unit * thread // threads * unit)


cdef class Run:
    """A training on pairs, ready for `threads` threads.

    Text t is ids[starts[t]:starts[t + 1]], int32 and int64; same[t], int32 and not negative, tells texts apart. Pair p is
    the texts p * columns, its anchor, p * columns + 1, its positive, and up to the next pair's its hard negatives. table is
    (rows, padded dim) float32, aligned to 64 bytes, zero behind the first dim; last is (rows,) int32. Adam has moments mean
    and square like the table and `ahead`, (steps + 1,) float64 (see kernels/pairrows.c); row-wise AdaGrad has sum, (rows,)
    float32; without any of them a step is plain gradient descent. `levels` are dimensions in rising order, the last `dim`,
    with the `weights` of their losses.
    """

    cdef wv_pairs run
    cdef wv_pair_rows rows
    cdef wv_barrier barrier
    cdef const wv_kernels *kernel
    cdef int32_t threads, vocabulary, columns, batch
    cdef int64_t pairs, touched
    cdef const int64_t[::1] starts
    cdef const int32_t[::1] ids, same
    cdef int64_t[::1] texts, first
    cdef int32_t[::1] anchor, text, row, where, slot
    cdef list kept_alive
    cdef object work_memory

    def __init__(self, *, const int32_t[::1] ids, const int64_t[::1] starts, const int32_t[::1] same, int columns,
                 float[:, ::1] table, int32_t[::1] last, int dim, levels: Sequence[int], weights: Sequence[float],
                 double scale, bint symmetric, int batch, int threads=1, mean: NDArray[np.float32] | None = None,
                 square: NDArray[np.float32] | None = None, sum: NDArray[np.float32] | None = None,
                 ahead: NDArray[np.float64] | None = None, double decay_mean=0.9, double decay_square=0.999,
                 double epsilon=1e-8, str isa=None):
        cdef int64_t texts = starts.shape[0] - 1
        cdef float[:, ::1] m, v
        cdef float[::1] s
        cdef const double[::1] a
        cdef int32_t[:, ::1] ends
        cdef float[::1] level_weights
        memset(&self.run, 0, sizeof(self.run))
        memset(&self.rows, 0, sizeof(self.rows))
        memset(&self.barrier, 0, sizeof(self.barrier))
        self.kernel = kernels_of(isa)
        require(columns >= 2 and batch >= 1 and threads >= 1 and dim >= 1, "sizes must be positive")
        require(texts > 0 and texts % columns == 0 and same.shape[0] == texts, "the texts are no pairs")
        require(<int64_t>batch * columns < 2**30, "the batch is too large")
        require_starts(starts, texts, ids.shape[0], "texts")
        require(table.shape[0] < 2**31 and table.shape[1] == padded(dim) and last.shape[0] == table.shape[0],
                "the table does not fit the dimension")
        require_ids(ids, 0, table.shape[0], "tokens")
        require_ids(same, 0, 2**31, "numbers of texts")
        require_aligned(&table[0, 0], "the table")
        self.vocabulary, self.columns, self.batch, self.threads = <int32_t>table.shape[0], columns, batch, threads
        self.pairs, self.starts, self.ids, self.same = texts // columns, starts, ids, same
        self.kept_alive = [table, last, mean, square, sum, ahead]

        natural = np.asarray(levels, np.int32)
        require(len(natural) > 0 and natural[0] > 0 and np.all(np.diff(natural) > 0) and natural[-1] == dim
                and len(weights) == len(natural), "levels must rise up to the dimension, and have a weight each")
        widths = np.diff(natural, prepend=0)
        ends = np.stack([natural, np.cumsum(-(-widths // WV_PAIR_UNIT) * WV_PAIR_UNIT)]).astype(np.int32)
        level_weights = np.asarray(weights, np.float32)
        self.kept_alive += [ends, level_weights]
        self.run.levels, self.run.width = <int32_t>len(natural), ends[1, len(natural) - 1]
        self.run.natural_end, self.run.level_end, self.run.level_weight = &ends[0, 0], &ends[1, 0], &level_weights[0]
        self.run.scale, self.run.symmetric, self.run.stride = <float>scale, symmetric, <int32_t>table.shape[1]
        self.run.table, self.run.ids = &table[0, 0], &ids[0] if ids.shape[0] else NULL
        self.run.starts = &starts[0]

        self.rows.table, self.rows.last, self.rows.dim, self.rows.stride = &table[0, 0], &last[0], dim, self.run.stride
        self.rows.decay_mean, self.rows.decay_square = <float>decay_mean, <float>decay_square
        self.rows.epsilon = <float>epsilon
        if mean is not None:
            m, v, a = mean, square, ahead
            require(m.shape[0] == v.shape[0] == table.shape[0] and m.shape[1] == v.shape[1] == table.shape[1],
                    "the moments do not fit the table")
            self.rows.mean, self.rows.square, self.rows.ahead = &m[0, 0], &v[0, 0], &a[0]
        elif sum is not None:
            s = sum
            require(s.shape[0] == table.shape[0], "the sums do not fit the table")
            self.rows.sum = &s[0]
        self._allocate()

    cdef int _allocate(self) except -1:
        cdef int64_t most = min(<int64_t>self.batch, self.pairs)
        self._measure(<int32_t>most)
        size = self.kernel.pairs_lay_out(&self.run, NULL)
        self.work_memory = aligned_zeros(size)
        self.texts = np.empty(most * self.columns, np.int64)
        self.anchor, self.text = np.empty(self.run.columns, np.int32), np.empty(self.run.columns, np.int32)
        self.slot = np.full(self.vocabulary, -1, np.int32)
        self.row, self.first = np.empty(self.vocabulary, np.int32), np.empty(self.vocabulary + 1, np.int64)
        self.where = np.empty(1, np.int32)
        return 0

    cdef void _measure(self, int32_t pairs) noexcept:
        self.run.pairs, self.run.candidates = pairs, pairs * (self.columns - 1)
        self.run.columns = <int32_t>rounded(self.run.candidates, WV_PAIR_UNIT)
        self.run.blocks = (pairs + WV_PAIR_BLOCK - 1) // WV_PAIR_BLOCK

    @property
    def nbytes(self) -> int:
        """Working memory, beside the table and what Adam and AdaGrad keep."""
        return len(self.work_memory)

    def take(self, const int64_t[::1] pairs, int step, double lr) -> int:
        """Makes the pairs with these numbers the batch of a step (from 1) with this learning rate."""
        cdef int32_t n = <int32_t>pairs.shape[0], extra = self.columns - 2, i, k
        cdef int64_t tokens = 0, text
        require(0 < n <= self.batch, "a batch needs pairs, as many as were said at most")
        require(step >= 1 and (self.rows.mean == NULL or step < len(self.kept_alive[5])), "no such step")
        for i in range(n):
            require(0 <= pairs[i] < self.pairs, "no such pair")
        self._measure(n)
        self.kernel.pairs_lay_out(&self.run, address(self.work_memory))
        for i in range(n):
            text = pairs[i] * self.columns
            tokens += self.starts[text + self.columns] - self.starts[text]
            self.texts[i], self.texts[n + i] = text, text + 1
            self.anchor[i], self.text[i] = self.same[text], self.same[text + 1]
            for k in range(extra):
                self.texts[2 * n + i * extra + k] = text + 2 + k
                self.anchor[n + i * extra + k], self.text[n + i * extra + k] = -1, self.same[text + 2 + k]
        for i in range(self.run.candidates, self.run.columns):
            self.anchor[i] = self.text[i] = -1
        self.run.texts, self.run.anchor, self.run.text = &self.texts[0], &self.anchor[0], &self.text[0]
        require(tokens < 2**31, "the texts of a batch are too long")
        if self.where.shape[0] < tokens:
            self.where = np.empty(tokens + tokens // 4, np.int32)
        with nogil:
            self._touch()
        self.rows.step, self.rows.lr = step, <float>lr
        self.rows.row, self.rows.first, self.rows.where = &self.row[0], &self.first[0], &self.where[0]
        return tokens

    cdef void _touch(self) noexcept nogil:
        """Lists the tokens of the batch in the order of their first occurrence, with the texts where they occur."""
        cdef int32_t i, id, texts = self.run.pairs + self.run.candidates, found = 0
        cdef int64_t t, sum = 0, count
        for i in range(texts):
            for t in range(self.starts[self.texts[i]], self.starts[self.texts[i] + 1]):
                id = self.ids[t]
                if self.slot[id] < 0:
                    self.slot[id] = found
                    self.row[found] = id
                    self.first[found] = 0
                    found += 1
                self.first[self.slot[id]] += 1
        for i in range(found):
            count = self.first[i]
            self.first[i] = sum
            sum += count
        for i in range(texts):
            for t in range(self.starts[self.texts[i]], self.starts[self.texts[i] + 1]):
                id = self.slot[self.ids[t]]
                self.where[self.first[id]] = i
                self.first[id] += 1
        for i in range(found, 0, -1):
            self.first[i] = self.first[i - 1]
        self.first[0] = 0
        for i in range(found):
            self.slot[self.row[i]] = -1
        self.touched = found

    def loss(self) -> float:
        """The sum over the pairs of the batch, once all threads have worked."""
        cdef int32_t i
        cdef double sum = 0
        for i in range(self.run.pairs):
            sum += self.run.loss[i]
        return sum

    def work(self, int32_t thread=0) -> None:
        """A thread's share of the batch, without the GIL. All threads must be called at once: they wait for each other."""
        require(0 <= thread < self.threads, "no such thread")
        cdef uint8_t[::1] row = aligned_zeros(self.run.stride * sizeof(float))
        cdef float *spare = <float *>address(row)
        with nogil:
            self._step(thread, spare)

    cdef void _wait(self) noexcept nogil:
        wv_barrier_wait(&self.barrier, self.threads)

    cdef int64_t _first_touched(self, int32_t thread) noexcept nogil:
        """Where the share of a thread begins of the touched rows, by their occurrences."""
        cdef int64_t low = 0, high = self.touched, middle
        cdef int64_t wanted = self.first[self.touched] * thread // self.threads
        while low < high:
            middle = (low + high) // 2
            if self.first[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    cdef void _step(self, int32_t thread, float *spare) noexcept nogil:
        cdef const wv_kernels *kernel = self.kernel
        cdef const wv_pairs *run = &self.run
        cdef int32_t threads = self.threads, block
        cdef int64_t touched = self._first_touched(thread), end_touched = self._first_touched(thread + 1)
        cdef int64_t texts = <int64_t>run.blocks * WV_PAIR_BLOCK + run.columns, all = run.pairs + run.candidates
        cdef int32_t chunks = (run.columns + WV_PAIR_CHUNK - 1) // WV_PAIR_CHUNK
        cdef int32_t start = <int32_t>border(chunks, 1, thread, threads)
        cdef int32_t end = <int32_t>border(chunks, 1, thread + 1, threads)
        cdef int32_t row = <int32_t>border(WV_PAIR_BLOCK, 1, thread, threads)
        cdef int32_t end_row = <int32_t>border(WV_PAIR_BLOCK, 1, thread + 1, threads)
        if thread == threads - 1:
            end_touched = self.touched
        if self.rows.mean != NULL:
            kernel.pairs_catch_up(&self.rows, touched, end_touched)
            self._wait()
        kernel.pairs_encode(run, border(texts, WV_PAIR_UNIT, thread, threads),
                            border(texts, WV_PAIR_UNIT, thread + 1, threads), spare)
        self._wait()
        if run.symmetric:
            for block in range(run.blocks):
                kernel.pairs_scores(run, block, start, end, 1)
            self._wait()
        kernel.pairs_columns(run, <int32_t>border(run.columns, WV_PAIR_UNIT, thread, threads),
                             <int32_t>border(run.columns, WV_PAIR_UNIT, thread + 1, threads))
        self._wait()
        for block in range(run.blocks):
            kernel.pairs_scores(run, block, start, end, 0)
            self._wait()
            kernel.pairs_rows(run, block, row, end_row)
            self._wait()
            kernel.pairs_gradient(run, block, start, end)
            self._wait()
            kernel.pairs_anchors(run, block, <int32_t>border(run.width, WV_PAIR_UNIT, thread, threads),
                                 <int32_t>border(run.width, WV_PAIR_UNIT, thread + 1, threads))
            kernel.pairs_radial(run, block, row, end_row)
            self._wait()
        kernel.pairs_finish(run, border(all, 1, thread, threads), border(all, 1, thread + 1, threads))
        self._wait()
        kernel.pairs_update(run, &self.rows, touched, end_touched, spare)
        self._wait()
