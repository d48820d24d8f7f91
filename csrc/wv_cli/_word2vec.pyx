"""word2vec's kernels for Python: tables (negatives, Huffman), first numbers, the block boundaries of a corpus, and the
training of blocks.

Every array is checked here, once, before its address goes to C.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset

from wv_cli cimport _training
from wv_cli._arguments cimport require, require_aligned, require_ids, table
from wv_cli._kernels cimport (
    WV_END_OF_LINE, WV_ROW_FLOATS, WV_ROWS_REPLICA, WV_SLICE_ROWS, fill_wv_word2vec_options, wv_alias, wv_block, wv_block_result,
    wv_replicas, wv_word2vec_rows,
)
from wv_cli._scratch cimport address, aligned_zeros
from wv_cli.core.huffman cimport wv_huffman_build, wv_huffman_paths
from wv_cli.core.sampler cimport wv_alias_build
from wv_cli.core.uniform cimport wv_pcg64, wv_uniform_fill


def fill_uniform(random: np.random.Generator, float[:, ::1] matrix, int64_t dim, *, float factor=1.0,
                 float divisor=1.0) -> None:
    """Fills the first `dim` columns with (u - 0.5) * factor / divisor. The numbers u, uniform in 0 .. 1, are those that
    `random`, a NumPy Generator on PCG64, draws with random((rows, dim), float32); it goes on behind them."""
    cdef int64_t rows = matrix.shape[0], stride = matrix.shape[1]
    cdef wv_pcg64 generator
    require(0 < dim <= stride, f"{dim} columns do not fit rows of {stride} floats")
    found = random.bit_generator.state
    state, low = found["state"], 2**64 - 1
    generator = wv_pcg64(
        state_high=state["state"] >> 64, state_low=state["state"] & low, increment_high=state["inc"] >> 64,
        increment_low=state["inc"] & low, kept=found["uinteger"], has_kept=found["has_uint32"],
    )
    if rows:
        with nogil:
            wv_uniform_fill(&generator, &matrix[0, 0], rows, dim, stride, factor, divisor)
    state["state"] = int(generator.state_high) << 64 | int(generator.state_low)
    random.bit_generator.state = {**found, "has_uint32": generator.has_kept, "uinteger": generator.kept}


def alias_table(weights: ArrayLike) -> NDArray[np.uint32]:
    """Alias table for drawing i with probability weights[i] / sum: (n, 2) uint32, columns threshold and other."""
    cdef double[::1] shares = np.array(weights, np.float64)
    cdef int32_t n = <int32_t>shares.shape[0]
    entries = np.empty((n, 2), np.uint32)
    cdef uint32_t[:, ::1] view = entries
    cdef int32_t[::1] work = np.empty(n, np.int32)
    with nogil:
        wv_alias_build(n, &shares[0], <wv_alias *>&view[0, 0], &work[0])
    return entries


def huffman(counts: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
    """Huffman codes of words with falling counts (n >= 2), as word2vec builds them.

    Returns (start, node, code): word w's path is start[w]:start[w + 1] (int64) into node (int32: rows of the output
    matrix, root first) and code (uint8 bits). Raises ValueError when counts do not fall or are fewer than two.
    """
    given = np.asarray(counts, np.int64)
    cdef int32_t n = <int32_t>len(given)
    if n < 2 or np.any(np.diff(given) > 0):
        raise ValueError("a Huffman tree needs at least two words, sorted by falling count")
    cdef int64_t[::1] weights = np.concatenate([given, np.zeros(n - 1, np.int64)])
    cdef int32_t[::1] parent = np.zeros(2 * n - 1, np.int32)
    cdef uint8_t[::1] bit = np.zeros(2 * n - 1, np.uint8)
    cdef int64_t total
    with nogil:
        total = wv_huffman_build(n, &weights[0], &parent[0], &bit[0])
    start, node, code = np.empty(n + 1, np.int64), np.empty(total, np.int32), np.empty(total, np.uint8)
    cdef int64_t[::1] start_view = start
    cdef int32_t[::1] node_view = node
    cdef uint8_t[::1] code_view = code
    with nogil:
        wv_huffman_paths(n, &parent[0], &bit[0], &start_view[0], &node_view[0], &code_view[0])
    return start, node, code


def block_starts(const int32_t[::1] ids, int64_t target, int32_t max_sentence) -> NDArray[np.int64]:
    """Where a corpus may be cut into blocks of about `target` ids: int64, first 0, last len(ids).

    A cut lies after a line end; in lines longer than `max_sentence` also after every `max_sentence` ids, where training
    would cut a sentence anyway.
    """
    cdef int64_t n = ids.shape[0], position, sentence = 0, block = 0
    cdef int64_t count = 1
    starts = np.empty(n // target + 2, np.int64)
    cdef int64_t[::1] out = starts
    out[0] = 0
    with nogil:
        for position in range(n):
            if ids[position] == WV_END_OF_LINE or position - sentence + 1 >= max_sentence:
                sentence = position + 1
                if sentence - block >= target and sentence < n:
                    out[count] = block = sentence
                    count += 1
        out[count] = n
    return starts[: count + 1].copy()


def subword_rows(const int64_t[::1] starts, const int32_t[::1] buckets,
                 int32_t table_size) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Rows of the input matrix for words whose n-grams have the buckets buckets[starts[w]:starts[w + 1]] (all below
    table_size): the words first, then a row for each bucket in order of first use.

    Returns (starts, rows, used): word w is the mean of rows[starts[w]:starts[w + 1]] (int64; int32), its own row w first;
    row len(words) + k belongs to bucket used[k] (int32). Takes 4 bytes per bucket of the table while it runs.
    """
    cdef int32_t words = <int32_t>(starts.shape[0] - 1), w, count = words, bucket
    cdef int64_t k, filled = 0
    first, rows = np.empty(words + 1, np.int64), np.empty(words + buckets.shape[0], np.int32)
    used = np.empty(min(buckets.shape[0], table_size), np.int32)
    cdef int64_t[::1] first_view = first
    cdef int32_t[::1] rows_view = rows, used_view = used, row_of = np.zeros(table_size, np.int32)
    with nogil:
        for w in range(words):
            first_view[w] = filled
            rows_view[filled] = w
            filled += 1
            for k in range(starts[w], starts[w + 1]):
                bucket = buckets[k]
                if row_of[bucket] == 0:  # no n-gram has row 0, the first word's
                    row_of[bucket] = count
                    used_view[count - words] = bucket
                    count += 1
                rows_view[filled] = row_of[bucket]
                filled += 1
        first_view[words] = filled
    return first, rows, used[: count - words].copy()


cdef class Run(_training.Run):
    """One training run: the options, the tables and the matrices, for the workers of all threads.

    `options` has the fields of wv_word2vec_options as attributes: a Word2vecConfig. input and output are (rows, stride)
    float32, rows aligned to 64 bytes, stride a multiple of 16, zero beyond dim. The arrays are shared, not copied, and
    must not be resized while the Run lives.

    Of the tables only those are given that the output layer reads (csrc/kernels/wv_word2vec.h): `sampler` is
    alias_table(...), `path` is huffman(counts), log_noise and output_bias are (words,) float32.

    subwords, (starts, rows): word w is the mean of the rows rows[starts[w]:starts[w + 1]] (int64, int32) of `input`, its
    own row w first; `input` then has more rows than there are words.
    """

    def __init__(
        self, options: object, *, const int32_t[::1] ids, input: NDArray[np.float32], output: NDArray[np.float32],
        keep: NDArray[np.uint32] | None = None, sampler: NDArray[np.uint32] | None = None,
        log_noise: NDArray[np.float32] | None = None, output_bias: NDArray[np.float32] | None = None,
        path: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]] | None = None,
        subwords: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None, isa: str | None = None,
    ):
        cdef float[:, ::1] x = input
        cdef float[:, ::1] y = output
        memset(&self.run, 0, sizeof(self.run))
        self.kernel = table(isa)
        self.kept_alive = [ids.base, input, output]
        fill_wv_word2vec_options(&self.run.options, options)
        require(x.shape[1] == y.shape[1] and x.shape[1] % WV_ROW_FLOATS == 0 and x.shape[1] >= self.run.options.dim,
                f"rows of {x.shape[1]} and {y.shape[1]} floats do not fit dim {self.run.options.dim}")
        require_aligned(&x[0, 0], "input")
        require_aligned(&y[0, 0], "output")
        self.run.stride = <int32_t>x.shape[1]
        self.run.input, self.run.output = &x[0, 0], &y[0, 0]
        self.run.epoch_tokens = self.length = ids.shape[0]
        self.ids = &ids[0]
        self.input_rows, self.output_rows = <int32_t>x.shape[0], <int32_t>y.shape[0]
        self.path, self.subwords = path, subwords
        self.run.vocab_size = <int32_t>(y.shape[0] if path is None else path[0].shape[0] - 1)
        require_ids(ids, -(2**31), self.run.vocab_size, "words of the corpus")  # negative: line ends and labels
        if subwords is None:
            self.expect(x.shape[0], "input")
        else:
            self.set_subwords(subwords, <int32_t>x.shape[0])
        if path is not None:
            self.set_path(path, sampler is not None)
        self.set_tables(keep, sampler, log_noise, output_bias)
        require(self.scratch_bytes() > 0,
                f"loss {options.loss}: word2vec has no such output layer, or a table that it reads is missing")

    cdef int set_tables(self, keep, sampler, log_noise, output_bias) except -1:
        cdef const uint32_t[::1] keeps
        cdef const uint32_t[:, ::1] alias
        cdef const float[::1] noise
        cdef float[::1] bias
        self.kept_alive += [keep, sampler, log_noise, output_bias]
        if keep is not None:
            keeps = keep
            self.expect(keeps.shape[0], "keep")
            self.run.keep = &keeps[0]
        if sampler is not None:
            alias = sampler
            self.expect(alias.shape[0], "sampler")
            self.run.sampler = <const wv_alias *>&alias[0, 0]
        if log_noise is not None:
            noise = log_noise
            self.expect(noise.shape[0], "log_noise")
            self.run.log_noise = &noise[0]
        if output_bias is not None:
            bias = output_bias
            self.expect(bias.shape[0], "output_bias")
            self.run.output_bias = &bias[0]
        return 0

    cdef int set_path(self, path, bint both) except -1:
        """`both`: the words follow the nodes."""
        cdef const int64_t[::1] path_start
        cdef const int32_t[::1] steps
        path_start, node, code = path
        packed = node * 2 + (1 - code.astype(np.int32))
        steps = packed
        self.kept_alive += [path, packed]
        nodes = np.max(node) + 1
        expected = nodes + self.run.vocab_size if both else nodes
        require(self.output_rows == expected, f"output: expected {expected} rows, found {self.output_rows}")
        self.run.first_word = nodes if both else 0
        self.run.path_start, self.run.path = &path_start[0], &steps[0]
        self.run.longest_path = np.max(np.diff(path_start))
        return 0

    cdef int expect(self, int64_t found, str name) except -1:
        return require(found == self.run.vocab_size, f"{name}: expected {self.run.vocab_size} rows, found {found}")

    cdef int set_subwords(self, subwords, int32_t input_rows) except -1:
        starts, rows = subwords
        cdef const int64_t[::1] start = starts
        cdef const int32_t[::1] row = rows
        cdef int32_t words = self.run.vocab_size
        self.kept_alive.append(subwords)
        require(start.shape[0] == words + 1, f"subword starts: expected {words + 1} rows, found {start.shape[0]}")
        counts = np.diff(starts)
        require(starts[0] == 0 and starts[words] == row.shape[0] and np.min(counts) >= 1,
                "subwords: every word needs at least its own row, and starts must cover all rows")
        require(np.min(rows) >= 0 and np.max(rows) < input_rows, f"subwords: rows must be below {input_rows}")
        self.run.subword_start, self.run.subword = &start[0], &row[0]
        self.run.most_subwords = np.max(counts)
        return 0

    cdef size_t scratch_bytes(self) noexcept nogil:
        return self.kernel.word2vec_scratch_bytes(&self.run)

    def worker(self, hot: object = None) -> Worker:
        """What one thread needs to train blocks; see Worker. With several threads `hot`, a wv_cli.models.replicas.Replicas,
        says of which rows each has replicas."""
        return Worker(self, hot)

    cdef object inputs_of_words(self):
        """How many input rows each word has, (words,) int64."""
        return np.ones(self.run.vocab_size, np.int64) if self.subwords is None else np.diff(self.subwords[0])

    cdef object outputs_of_words(self):
        """How many output rows each word of the text changes at most, (words,) int64."""
        cdef const wv_word2vec_run *run = &self.run
        sizes = np.zeros(run.vocab_size, np.int64) if self.path is None else np.diff(self.path[0])
        draws = run.options.negative * (1 if run.options.share_negatives else 2 * run.options.window)
        return sizes + (1 + draws + (run.options.negative + 4) // 5 if run.sampler else 0)


cdef class Worker(_training.Worker):
    """One thread's scratch space and replicas. Not to be shared between threads."""

    cdef wv_word2vec_rows rows
    cdef object hot_alive

    def __init__(self, Run run, hot: object):
        super().__init__(run)
        if hot is not None:
            self.set_replicas(run, hot)

    cdef int set_replicas(self, Run run, hot) except -1:
        cdef wv_replicas *replicas = &self.rows.replicas
        cdef int32_t count = hot.count, words = run.run.vocab_size
        cdef const float[::1] input_share = hot.input_share, output_share = hot.output_share
        cdef int32_t inputs = <int32_t>input_share.shape[0]
        cdef size_t in_floats = inputs * <size_t>run.run.stride, out_floats = count * <size_t>run.run.stride
        cdef const int32_t[::1] numbers, subword
        cdef float *copies
        require(0 < count <= words, f"hot rows: expected 1 to {words}, found {count}")
        require(0 <= hot.first_output <= run.output_rows - count, "hot rows: more than `output` has")
        require(0 <= hot.hottest_output <= count, "hot rows: the hottest is none of them")
        require(hot.hottest > 0 and hot.interval > 0, "hot rows: some must be exchanged now and then")
        require(output_share.shape[0] == count, f"hot rows: expected {count} shares")
        self.rows.store = WV_ROWS_REPLICA
        replicas.count, replicas.first_output, replicas.hottest_output = count, hot.first_output, hot.hottest_output
        replicas.hottest, replicas.interval = hot.hottest, hot.interval
        replicas.output_share = &output_share[0]
        if inputs:
            replicas.input_share = &input_share[0]
        replicas.inputs = inputs
        self.set_slice(run, hot.noise_slices)
        if hot.subword is None:
            require(inputs == (count if run.subwords is None else 0), "hot rows: shares of other input rows")
        else:
            require(run.subwords is not None, "hot rows: the run has no subwords")
            numbers, subword = hot.input_row, hot.subword
            require(numbers.shape[0] == inputs and 0 <= np.min(hot.input_row) and np.max(hot.input_row) < run.input_rows,
                    f"hot rows: expected {inputs} rows of `input`")
            require(subword.shape[0] == run.subwords[1].shape[0] and np.min(hot.subword) >= -inputs
                    and np.max(hot.subword) < run.input_rows, "hot rows: other subwords than the run's")
            replicas.input_row, replicas.subword = &numbers[0], &subword[0]
        self.hot_alive = [hot, aligned_zeros(2 * (in_floats + out_floats) * sizeof(float))]
        copies = <float *>address(self.hot_alive[1])
        replicas.input, replicas.input_base = copies, copies + in_floats
        copies += 2 * in_floats
        replicas.output, replicas.output_base = copies, copies + out_floats
        replicas.input_distance = <int64_t>replicas.input - <int64_t>run.run.input
        replicas.output_distance = (<int64_t>replicas.output - <int64_t>run.run.output
                                    - <int64_t>sizeof(float) * hot.first_output * run.run.stride)
        return 0

    cdef int set_slice(self, Run run, slices) except -1:
        """Workers that are made one after the other have different slices."""
        cdef wv_replicas *replicas = &self.rows.replicas
        cdef int32_t group
        replicas.slices = replicas.slice_exchanges = 1
        if slices is None:
            return 0
        require(0 < slices.count <= 2**16 and not slices.count & (slices.count - 1), "noise: slices are a power of two")
        require(slices.exchanges > 0, "noise: a slice ends after exchanges")
        group = slices.count * WV_SLICE_ROWS
        require(0 <= slices.first and slices.first % group == 0, f"noise: slices begin at a multiple of {group}")
        replicas.slices, replicas.slice_exchanges = slices.count, slices.exchanges
        replicas.slice_first = slices.first
        replicas.slice_end = max(slices.first, run.run.vocab_size // group * group)
        replicas.slice = run.workers % slices.count
        run.workers += 1
        return 0

    cdef void train(self, const wv_block *block, wv_block_result *result) noexcept nogil:
        """The shared matrices hold all that it has changed after flush()."""
        self.run.kernel.word2vec_block(&(<Run>self.run).run, &self.rows, block, block.start, self.scratch, result)

    def flush(self) -> None:
        """Adds what the replicas have changed to the shared matrices. Afterwards the worker may go on."""
        cdef Run run = <Run>self.run
        with nogil:
            run.kernel.word2vec_flush(&run.run, &self.rows)
