# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Deterministic rounds for Python: virtual workers, the threads that do their work, and merging
(kernels/word2vec/deterministic.h).

Every array is checked here, once, before its address goes to C.
"""

from libc.stdint cimport int32_t, int64_t, uint16_t
from libc.string cimport memset

from wv_cli._arguments cimport require, require_ids, require_starts
from wv_cli._kernels cimport (
    WV_ROUND_STAMPS, WV_ROUND_WORKERS, WV_ROWS_DETERMINISTIC, wv_block, wv_block_result, wv_round_merge, wv_round_rows,
    wv_round_worker, wv_word2vec_rows,
)
from wv_cli._scratch cimport address, aligned_zeros
from wv_cli._word2vec cimport Run
from wv_cli.base.scratch cimport wv_scratch, wv_scratch_take
from wv_cli.core.barrier cimport wv_barrier, wv_barrier_wait


# The ids start .. end-1 of the corpus.
cdef struct Block:
    int64_t start, end


def most_in_block(const int32_t[::1] ids, const int64_t[::1] starts, const int64_t[::1] weights) -> int:
    """The largest sum of the weights of the words (ids from 0 on) of a block ids[starts[b]:starts[b + 1]]."""
    cdef int64_t block, position, total, most = 0
    require_starts(starts, starts.shape[0] - 1, ids.shape[0], "blocks")
    require_ids(ids, -(2**31), weights.shape[0], "words of the corpus")
    with nogil:
        for block in range(starts.shape[0] - 1):
            total = 0
            for position in range(starts[block], starts[block + 1]):
                if ids[position] >= 0:
                    total += weights[ids[position]]
            most = max(most, total)
    return most


cdef inline wv_round_rows rows_laid_out(wv_scratch *scratch, size_t most, size_t stride) noexcept:
    cdef wv_round_rows rows
    memset(&rows, 0, sizeof(rows))
    rows.most = <int32_t>most
    rows.row = <int32_t *>wv_scratch_take(scratch, most * sizeof(int32_t))
    rows.next = <int32_t *>wv_scratch_take(scratch, most * sizeof(int32_t))
    rows.copy = <float *>wv_scratch_take(scratch, most * stride * sizeof(float))
    return rows


cdef class Rounds:
    """A deterministic run (csrc/kernels/word2vec/deterministic.h): `workers` virtual workers, whoever does their work, each with a stretch
    of the blocks starts[b]:starts[b + 1] of `run`, one of which it trains in each of the `count` rounds of an epoch.

    input_share and output_share, (rows,) float32, say how much of what the workers change is added to each row. All
    `threads` threads must train the same rounds at once: they wait for each other.
    """

    cdef Run run
    cdef wv_barrier barrier
    cdef wv_round_merge merge
    cdef wv_round_worker *worker
    cdef wv_block_result *results
    # Who uses which rows in even and in odd rounds, (2, rows): while those of one are read the next one's are marked.
    cdef uint16_t *input_users
    cdef uint16_t *output_users
    cdef const int64_t *starts
    cdef int64_t blocks
    cdef readonly int64_t count
    cdef object kept_alive

    def __init__(self, Run run, const int64_t[::1] starts, const float[::1] input_share,
                 const float[::1] output_share, int32_t workers, int32_t threads):
        memset(&self.barrier, 0, sizeof(self.barrier))
        self.run, self.blocks, self.starts = run, starts.shape[0] - 1, &starts[0]
        require_starts(starts, self.blocks, run.length, "blocks")
        require(0 < workers <= WV_ROUND_WORKERS, f"expected 1 to {WV_ROUND_WORKERS} virtual workers, found {workers}")
        require(0 < threads <= workers, f"expected 1 to {workers} threads, found {threads}")
        require(input_share.shape[0] == run.input_rows, f"expected {run.input_rows} shares of input rows")
        require(output_share.shape[0] == run.output_rows, f"expected {run.output_rows} shares of output rows")
        self.count = (self.blocks + workers - 1) // workers
        self.merge.workers, self.merge.threads = workers, threads
        self.merge.input_rows, self.merge.output_rows = run.input_rows, run.output_rows
        self.merge.input_share, self.merge.output_share = &input_share[0], &output_share[0]
        self.kept_alive = [starts.base, input_share.base, output_share.base]
        ids = run.kept_alive[0]
        inputs = min(most_in_block(ids, starts, run.inputs_of_words()), run.input_rows)
        outputs = min(most_in_block(ids, starts, run.outputs_of_words()), run.output_rows)
        require((max(inputs, outputs) + 1) * WV_ROUND_WORKERS < 2**31, "the blocks are too large")
        # All of it in one piece, which gets huge pages: the workers' rows are more than small ones reach.
        self.kept_alive.append(aligned_zeros(self.lay_out(NULL, inputs, outputs)))
        self.lay_out(address(self.kept_alive[3]), inputs, outputs)
        for rows in (run.input_rows, run.output_rows):
            self.kept_alive.append(aligned_zeros(2 * rows * sizeof(uint16_t)))
        self.input_users = <uint16_t *>address(self.kept_alive[4])
        self.output_users = <uint16_t *>address(self.kept_alive[5])

    cdef size_t lay_out(self, void *memory, int64_t inputs, int64_t outputs) noexcept:
        """Lays what the workers need out; returns its size. With memory NULL it only measures."""
        cdef wv_scratch scratch
        cdef wv_round_worker *worker
        cdef wv_block_result *results
        cdef wv_round_rows input, output
        cdef float *bias
        cdef int32_t w, workers = self.merge.workers
        cdef size_t stride = self.run.run.stride
        scratch.memory, scratch.used = <char *>memory, 0
        worker = <wv_round_worker *>wv_scratch_take(&scratch, workers * sizeof(wv_round_worker))
        results = <wv_block_result *>wv_scratch_take(&scratch, workers * sizeof(wv_block_result))
        for w in range(workers):
            input, output = rows_laid_out(&scratch, inputs, stride), rows_laid_out(&scratch, outputs, stride)
            bias = <float *>wv_scratch_take(&scratch, outputs * sizeof(float))
            if memory != NULL:
                worker[w].input, worker[w].output = input, output
                worker[w].output_bias = bias if self.run.run.output_bias != NULL else NULL
        self.worker, self.results = worker, results
        return scratch.used

    cdef Block block(self, int32_t w, int64_t round) noexcept nogil:
        """That of worker w in a round; none is left when its stretch is shorter than others."""
        cdef int64_t number = self.blocks * w // self.merge.workers + round
        if number < self.blocks * (w + 1) // self.merge.workers:
            return Block(self.starts[number], self.starts[number + 1])
        return Block(self.run.length, self.run.length)

    cdef wv_round_merge of_round(self, int32_t stamp) noexcept nogil:
        """What the workers have in common in the round of this stamp."""
        cdef wv_round_merge merge = self.merge
        merge.round = stamp
        merge.input_users = self.input_users + stamp % 2 * <int64_t>merge.input_rows
        merge.output_users = self.output_users + stamp % 2 * <int64_t>merge.output_rows
        return merge

    cdef void forget_users(self, int32_t thread) noexcept nogil:
        """A thread's share of all rows."""
        cdef int64_t rows[2]
        cdef uint16_t *users[2]
        cdef int64_t first, end
        cdef int32_t matrix
        rows[0], rows[1] = 2 * <int64_t>self.merge.input_rows, 2 * <int64_t>self.merge.output_rows
        users[0], users[1] = self.input_users, self.output_users
        for matrix in range(2):
            first, end = rows[matrix] * thread // self.merge.threads, rows[matrix] * (thread + 1) // self.merge.threads
            memset(users[matrix] + first, 0, (end - first) * sizeof(uint16_t))

    def thread(self, int32_t number=0) -> RoundThread:
        """What thread `number` needs to train; see RoundThread."""
        return RoundThread(self, number)

    def totals(self) -> tuple[float, int, int, float]:
        """(loss, examples, tokens, lr) of the rounds trained last, when all threads have: sums in the order of the
        workers."""
        loss, examples, tokens = 0.0, 0, 0
        for w in range(self.merge.workers):
            loss += self.results[w].loss
            examples += self.results[w].examples
            tokens += self.results[w].tokens
        return loss, examples, tokens, self.results[self.merge.workers - 1].lr


cdef class RoundThread:
    """One thread's number, scratch space, and where its worker's copies are. Not to be shared between threads."""

    cdef Rounds rounds
    cdef int32_t number, stamp  # stamp: of the last round, the same of all threads
    cdef wv_word2vec_rows rows
    cdef void *scratch
    cdef int32_t *input_slot
    cdef int32_t *output_slot
    cdef object kept_alive

    def __init__(self, Rounds rounds, int32_t number):
        cdef Run run = rounds.run
        require(0 <= number < rounds.merge.threads, "no such thread")
        self.rounds, self.number = rounds, number
        self.rows.store = WV_ROWS_DETERMINISTIC
        self.kept_alive = [aligned_zeros(run.kernel.word2vec_scratch_bytes(&run.run)),
                           aligned_zeros(run.input_rows * sizeof(int32_t)),
                           aligned_zeros(run.output_rows * sizeof(int32_t))]
        self.scratch = address(self.kept_alive[0])
        self.input_slot = <int32_t *>address(self.kept_alive[1])
        self.output_slot = <int32_t *>address(self.kept_alive[2])

    def train(self, int64_t first, int64_t end, int32_t epoch) -> None:
        """Trains the rounds first .. end-1 of an epoch without the GIL, together with all other threads; what they did is
        Rounds.totals()'s."""
        cdef Rounds rounds = self.rounds
        cdef Run run = rounds.run
        cdef wv_round_merge merge
        cdef int64_t round
        cdef int32_t w
        require(0 <= first <= end <= rounds.count, f"rounds {first} to {end} lie beyond the {rounds.count} of an epoch")
        require(end - first <= WV_ROUND_STAMPS, f"expected {WV_ROUND_STAMPS} rounds or fewer, found {end - first}")
        with nogil:
            for w in range(rounds.merge.workers):
                if w % rounds.merge.threads == self.number:
                    memset(&rounds.results[w], 0, sizeof(wv_block_result))
            # The marks of threads before these would be taken for ours.
            if self.stamp == 0 or self.stamp + end - first > WV_ROUND_STAMPS:
                rounds.forget_users(self.number)
                self.stamp = 0
                wv_barrier_wait(&rounds.barrier, rounds.merge.threads)
            self.mark(rounds, run, first, epoch, self.stamp + 1)
            wv_barrier_wait(&rounds.barrier, rounds.merge.threads)
            for round in range(first, end):
                self.stamp += 1
                merge = rounds.of_round(self.stamp)
                for w in range(rounds.merge.workers):
                    if w % rounds.merge.threads == self.number:
                        self.block(rounds, run, w, round, epoch, &merge)
                wv_barrier_wait(&rounds.barrier, rounds.merge.threads)
                run.kernel.word2vec_merge(&run.run, rounds.worker, &merge, self.number, self.input_slot,
                                          self.output_slot)
                if round + 1 < end:
                    self.mark(rounds, run, round + 1, epoch, self.stamp + 1)
                wv_barrier_wait(&rounds.barrier, rounds.merge.threads)

    cdef void mark(self, Rounds rounds, Run run, int64_t round, int32_t epoch, int32_t stamp) noexcept nogil:
        """Marks which rows workers use in a round: this thread's share of all workers."""
        cdef wv_round_merge merge = rounds.of_round(stamp)
        cdef wv_block ids
        cdef Block block
        cdef int32_t w
        for w in range(merge.workers):
            if w % merge.threads == self.number:
                block = rounds.block(w, round)
                ids = wv_block(run.ids, block.start, block.end, epoch, 0, 0)
                run.kernel.word2vec_users(&run.run, &ids, &merge, w)

    cdef void block(self, Rounds rounds, Run run, int32_t w, int64_t round, int32_t epoch,
                    const wv_round_merge *merge) noexcept nogil:
        """Worker w trains its block of the round."""
        cdef wv_block_result result
        cdef wv_block ids
        cdef wv_round_worker *worker = &rounds.worker[w]
        cdef Block block = rounds.block(w, round)
        worker.input.slot, worker.output.slot = self.input_slot, self.output_slot
        worker.input.users, worker.output.users = merge.input_users, merge.output_users
        worker.input.alone = worker.output.alone = merge.round << 8 | 1 << w
        self.rows.worker = worker
        ids = wv_block(run.ids, block.start, block.end, epoch, 0, 0)
        run.kernel.word2vec_block(&run.run, &self.rows, &ids, run.length * round // rounds.count, self.scratch, &result)
        rounds.results[w].loss += result.loss
        rounds.results[w].examples += result.examples
        rounds.results[w].tokens += result.tokens
        if block.start < block.end:
            rounds.results[w].lr = result.lr
