# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The classifier's kernels for Python: the rows of a labeled corpus and training (kernels/supervised.c).

Every array is checked here, once, before its address goes to C.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memset

from wv_cli cimport _training
from wv_cli._arguments cimport require, require_aligned, require_ids, require_starts, table
from wv_cli._kernels cimport (
    WV_FIRST_LABEL, WV_ROW_FLOATS, fill_wv_supervised_options, wv_alias, wv_block, wv_block_result, wv_kernels,
    wv_line_rules, wv_line_survey, wv_private_outputs, wv_supervised_run,
)
from wv_cli._scratch cimport address, aligned_zeros


cdef class Rules:
    """How the ids of a line become rows; see wv_line_rules in csrc/kernels/wv_supervised.h.

    words: ids below it have the row of their number. end_of_line: the id of `</s>` or -1. word_rows: (starts, rows), the
    rows of every id; None: an id's row is its number. hashes: (ids,) int32, None for no word n-grams. bucket_row:
    (buckets,) int32, written by survey(). labels: the number of labels; line_weights: float32, what the labels from this
    number on weigh their lines.
    """

    cdef wv_line_rules rules
    cdef int64_t ids, weights
    cdef object kept_alive
    cdef readonly object bucket_row, ngram_rows  # NDArray[np.int32] | None

    def __init__(
        self, *, int ids, int words, int end_of_line,
        word_rows: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None, hashes: NDArray[np.int32] | None = None,
        int word_ngrams=1, bucket_row: NDArray[np.int32] | None = None, int labels=0,
        line_weights: NDArray[np.float32] | None = None,
    ):
        cdef const float[::1] weights
        cdef const int64_t[::1] starts
        cdef const int32_t[::1] rows, hash_of
        cdef int32_t[::1] row_of_bucket
        memset(&self.rules, 0, sizeof(self.rules))
        require(0 <= words <= ids and -1 <= end_of_line < ids,
                f"{words} words and </s> {end_of_line} do not fit {ids} ids")
        self.ids = ids
        self.kept_alive = (word_rows, hashes, bucket_row, line_weights)
        self.bucket_row = bucket_row
        self.rules.words, self.rules.end_of_line, self.rules.word_ngrams = words, end_of_line, word_ngrams
        if line_weights is not None:
            weights = line_weights
            require(weights.shape[0] > 0, "line_weights: there are none")
            self.rules.labels, self.rules.line_weight = labels, &weights[0]
            self.weights = weights.shape[0]
        if word_rows is not None:
            starts, rows = word_rows
            require(ids > 0, "word_rows: no ids")
            require_starts(starts, ids, rows.shape[0], "word_rows")
            self.rules.word_start = &starts[0]
            self.rules.word_row = &rows[0] if rows.shape[0] else NULL
        if hashes is not None:
            hash_of, row_of_bucket = hashes, bucket_row
            require(hash_of.shape[0] == ids and row_of_bucket.shape[0] > 0 and word_ngrams >= 2 and end_of_line >= 0,
                    "word n-grams need a hash per id, </s> among them, buckets and a length of 2 or more")
            self.rules.hash, self.rules.bucket_row = &hash_of[0], &row_of_bucket[0]
            self.rules.buckets = <uint32_t>row_of_bucket.shape[0]

    def survey(self, const int32_t[::1] ids, int next_row, isa: str | None = None, *,
               ngram_rows: NDArray[np.int32] | None = None) -> dict[str, int]:
        """Walks over a corpus once and gives its word n-grams rows from `next_row` on, in order of first sight. Writes to
        `ngram_rows`, (ids of the corpus * (word_ngrams - 1),) int32, the rows of the n-grams that begin at each id: from
        there training reads them. Returns a dict: lines, examples (lines with a label and a row), rows, longest_words,
        longest_rows, longest_labels, next_row."""
        cdef const wv_kernels *kernel = table(isa)
        cdef wv_line_rules rules
        cdef int32_t[::1] rows
        cdef wv_line_survey survey
        memset(&survey, 0, sizeof(survey))
        survey.next_row = next_row
        self.check(ids)
        if self.rules.hash != NULL:
            if ngram_rows is None:
                ngram_rows = np.empty(ids.shape[0] * (self.rules.word_ngrams - 1), np.int32)
            rows = ngram_rows
            self.require_ngram_rows(rows, ids)
            self.ngram_rows, self.rules.ngram_row = ngram_rows, &rows[0]
        rules = self.rules
        with nogil:
            kernel.supervised_survey(&rules, &ids[0], ids.shape[0], &survey)
        return dict(survey)

    cdef int require_ngram_rows(self, const int32_t[::1] rows, const int32_t[::1] ids) except -1:
        return require(rows.shape[0] == ids.shape[0] * (self.rules.word_ngrams - 1),
                       f"ngram_rows: {rows.shape[0]} do not fit {ids.shape[0]} ids")

    cdef int require_rows(self, int64_t rows, const int32_t[::1] ids) except -1:
        """Every row that a line of `ids` can have is one of the first `rows` of a matrix. No row is a negative one."""
        if self.kept_alive[0] is not None:
            require_ids(self.kept_alive[0][1], 0, rows, "word_rows")
        if self.rules.hash != NULL:
            require(self.ngram_rows is not None, "word n-grams need a survey first")
            self.require_ngram_rows(self.ngram_rows, ids)
            require_ids(self.ngram_rows, -(2**31), rows, "ngram_rows")
        return 0

    cdef int check(self, const int32_t[::1] ids) except -1:
        cdef int64_t i
        cdef int32_t highest = -1
        for i in range(ids.shape[0]):
            highest = max(highest, ids[i])
        return require(ids.shape[0] > 0 and highest < self.ids,
                       f"the stream is empty or has id {highest}, beyond {self.ids} ids")


cdef class Run(_training.Run):
    """One training run: options, tables and matrices for the workers of all threads.

    `options` has the fields of wv_supervised_options as attributes: a SupervisedConfig. input and output are (rows,
    stride) float32, rows aligned to 64 bytes, stride a multiple of 16, zero beyond dim; shared, not copied. Of `path`,
    _word2vec.huffman(label counts), and `sampler`, _word2vec.alias_table(...), that is given which the output layer reads. class_weights: (labels,) float32.
    """

    cdef wv_supervised_run run
    cdef int64_t output_rows

    def __init__(
        self, options: object, *, Rules rules, survey: dict[str, int], const int32_t[::1] ids,
        input: NDArray[np.float32], output: NDArray[np.float32], int labels, sampler: NDArray[np.uint32] | None = None,
        path: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]] | None = None,
        class_weights: NDArray[np.float32] | None = None, isa: str | None = None,
    ):
        cdef const float[::1] weights
        cdef float[:, ::1] x = input, y = output
        cdef const uint32_t[:, ::1] alias
        cdef int64_t i
        cdef int32_t lowest = 0, dim
        self.kernel = table(isa)
        self.kept_alive = [rules, ids, input, output, sampler]
        memset(&self.run, 0, sizeof(self.run))
        fill_wv_supervised_options(&self.run.options, options)
        require(0 <= self.run.options.dropout < 1, f"dropout {options.dropout} is no share below 1")
        dim = self.run.options.dim
        require(x.shape[1] == y.shape[1] and x.shape[1] % WV_ROW_FLOATS == 0 and 0 < dim <= x.shape[1],
                f"rows of {x.shape[1]} and {y.shape[1]} floats do not fit dim {dim}")
        require(x.shape[0] >= survey["next_row"] and x.shape[0] >= rules.rules.words,
                f"input: expected {survey['next_row']} rows, found {x.shape[0]}")
        require(y.shape[0] == labels - (path is not None) and y.shape[0] > 0,
                f"output: {y.shape[0]} rows do not fit {labels} labels")
        rules.require_rows(x.shape[0], ids)
        require_aligned(&x[0, 0], "input")
        require_aligned(&y[0, 0], "output")
        rules.check(ids)
        for i in range(ids.shape[0]):
            lowest = min(lowest, ids[i])
        require(rules.rules.line_weight == NULL or rules.rules.labels == labels,
                f"line_weights: made for {rules.rules.labels} labels, not {labels}")
        require(WV_FIRST_LABEL - lowest < labels + rules.weights,
                f"the stream has label {WV_FIRST_LABEL - lowest}, beyond {labels} labels")
        self.ids, self.length = &ids[0], ids.shape[0]
        self.run.rules = rules.rules
        self.run.longest_rows, self.run.longest_labels = survey["longest_rows"], survey["longest_labels"]
        self.run.labels, self.run.stride = labels, <int32_t>x.shape[1]
        self.run.input, self.run.output, self.output_rows = &x[0, 0], &y[0, 0], y.shape[0]
        self.run.epoch_ids = self.length
        if sampler is not None:
            alias = sampler
            require(alias.shape[0] == labels, f"sampler: expected {labels} rows, found {alias.shape[0]}")
            self.run.sampler = <const wv_alias *>&alias[0, 0]
        if path is not None:
            self.set_path(path)
        if class_weights is not None:
            weights = class_weights
            self.kept_alive.append(class_weights)
            require(weights.shape[0] == labels, f"class_weights: expected {labels}, found {weights.shape[0]}")
            self.run.class_weight = &weights[0]
        require(self.scratch_bytes() > 0,
                f"loss {options.loss}: the classifier has no such output layer, or a table that it reads is missing")

    cdef int set_path(self, path) except -1:
        cdef const int64_t[::1] path_start
        cdef const int32_t[::1] steps
        # fastText asks a node for the bit itself; word2vec for its opposite.
        path_start, node, code = path
        packed = node * 2 + code.astype(np.int32)
        steps = packed
        self.kept_alive += [path, packed]
        require(path_start.shape[0] == self.run.labels + 1,
                f"path: expected {self.run.labels + 1} starts, found {path_start.shape[0]}")
        self.run.path_start, self.run.path = &path_start[0], &steps[0]
        self.run.longest_path = np.max(np.diff(path_start))
        return 0

    cdef size_t scratch_bytes(self) noexcept nogil:
        return self.kernel.supervised_scratch_bytes(&self.run)

    def worker(self, private: object = None) -> Worker:
        """What one thread needs to train lines; see Worker. `private`, a wv_cli.models.replicas.OutputReplicas: the
        thread works on copies of the output rows."""
        return Worker(self, private)


cdef class Worker(_training.Worker):
    """One thread's scratch space and private rows. Not to be shared between threads."""

    cdef wv_private_outputs private
    cdef object private_alive

    def __init__(self, Run run, private: object):
        super().__init__(run)
        if private is not None:
            self.set_private(run, private.share, private.interval)

    cdef int set_private(self, Run run, const float[::1] share, int interval) except -1:
        cdef int64_t rows = run.output_rows
        cdef size_t floats = rows * <size_t>run.run.stride
        cdef float *copies
        require(share.shape[0] == rows, f"private rows: expected {rows} shares, found {share.shape[0]}")
        require(interval > 0, "private rows must be exchanged now and then")
        self.private_alive = [share, aligned_zeros(2 * floats * sizeof(float))]
        copies = <float *>address(self.private_alive[1])
        self.private = wv_private_outputs(
            rows=<int32_t>rows, interval=interval, left=0, output=copies, base=copies + floats, share=&share[0]
        )
        return 0

    cdef void train(self, const wv_block *block, wv_block_result *result) noexcept nogil:
        """The shared matrices hold all that it has changed after flush()."""
        self.run.kernel.supervised_block(&(<Run>self.run).run, &self.private, block, self.scratch, result)

    def flush(self) -> None:
        """Adds what the private rows have changed to the shared matrix. Afterwards the worker may go on."""
        cdef Run run = <Run>self.run
        with nogil:
            run.kernel.supervised_settle(&run.run, &self.private)
