# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The classifier's kernels for Python: the rows of a labelled corpus and training (kernels/supervised.c).

Every array is checked here, once, before its address goes to C.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from wv_cli._cpu cimport kernels, kernels_named
from wv_cli._kernels cimport (
    WV_FIRST_LABEL, WV_ROW_FLOATS, fill_wv_supervised_options, wv_alias, wv_kernels, wv_line_rules, wv_line_survey,
    wv_supervised_result, wv_supervised_run,
)
from wv_cli._scratch cimport address, aligned_zeros


cdef class Rules:
    """How the ids of a line become rows; see wv_line_rules in csrc/kernels/wv_supervised.h.

    words: ids below it have the row of their number. end_of_line: the id of `</s>` or -1. word_rows: (starts, rows), the
    rows of every id; None: an id's row is its number. hashes: (ids,) int32, None for no word n-grams. bucket_row:
    (buckets,) int32, written by survey().
    """

    cdef wv_line_rules rules
    cdef int64_t ids
    cdef object kept_alive
    cdef readonly object bucket_row

    def __init__(self, int ids, *, int words, int end_of_line, word_rows=None, hashes=None, int word_ngrams=1,
                 bucket_row=None):
        cdef const int64_t[::1] starts
        cdef const int32_t[::1] rows, hash_of
        cdef int32_t[::1] table
        memset(&self.rules, 0, sizeof(self.rules))
        if not (0 <= words <= ids and -1 <= end_of_line < ids):
            raise ValueError(f"{words} words and </s> {end_of_line} do not fit {ids} ids")
        self.ids = ids
        self.kept_alive = (word_rows, hashes, bucket_row)
        self.bucket_row = bucket_row
        self.rules.words, self.rules.end_of_line, self.rules.word_ngrams = words, end_of_line, word_ngrams
        if word_rows is not None:
            starts, rows = word_rows
            if starts.shape[0] != ids + 1 or starts[0] != 0 or starts[ids] != rows.shape[0] or ids == 0:
                raise ValueError("word_rows: one start per id and one more, the last the number of rows")
            self.rules.word_start = &starts[0]
            self.rules.word_row = &rows[0] if rows.shape[0] else NULL
        if hashes is not None:
            hash_of, table = hashes, bucket_row
            if hash_of.shape[0] != ids or table.shape[0] == 0 or word_ngrams < 2 or end_of_line < 0:
                raise ValueError("word n-grams need a hash per id, </s> among them, buckets and a length of 2 or more")
            self.rules.hash, self.rules.bucket_row = &hash_of[0], &table[0]
            self.rules.buckets = <uint32_t>table.shape[0]

    def survey(self, const int32_t[::1] ids, int next_row, isa=None):
        """Walks over a corpus once and gives its word n-grams rows from `next_row` on, in order of first sight. Returns
        a dict: lines, examples (lines with a label and a row), longest_words, longest_rows, longest_labels, next_row."""
        cdef const wv_kernels *table = kernels_named(isa) if isa else kernels()
        cdef wv_line_survey survey
        memset(&survey, 0, sizeof(survey))
        survey.next_row = next_row
        self.check(ids)
        with nogil:
            table.supervised_survey(&self.rules, &ids[0], ids.shape[0], &survey)
        return dict(survey)

    def check(self, const int32_t[::1] ids):
        cdef int64_t i
        cdef int32_t highest = -1
        for i in range(ids.shape[0]):
            highest = max(highest, ids[i])
        if ids.shape[0] == 0 or highest >= self.ids:
            raise ValueError(f"the stream is empty or has id {highest}, beyond {self.ids} ids")


cdef class Run:
    """One training run: options, tables and matrices for the workers of all threads.

    `options` has the fields of wv_supervised_options as attributes: a SupervisedConfig. input and output are (rows,
    stride) float32, rows aligned to 64 bytes, stride a multiple of 16, zero beyond dim; shared, not copied. Of `path`,
    _word2vec.huffman(label counts), and `sampler`, _word2vec.alias_table(...), that is given which the output layer reads.
    """

    cdef wv_supervised_run run
    cdef const wv_kernels *table
    cdef const int32_t *ids
    cdef int64_t length
    cdef object kept_alive

    def __init__(self, options, *, Rules rules, survey, const int32_t[::1] ids, input, output, int labels, sampler=None,
                 path=None, isa=None):
        cdef float[:, ::1] x = input, y = output
        cdef const uint32_t[:, ::1] alias
        cdef int64_t i
        cdef int32_t lowest = 0, dim
        self.table = kernels_named(isa) if isa else kernels()
        self.kept_alive = [rules, ids, input, output, sampler]
        memset(&self.run, 0, sizeof(self.run))
        fill_wv_supervised_options(&self.run.options, options)
        dim = self.run.options.dim
        if x.shape[1] != y.shape[1] or x.shape[1] % WV_ROW_FLOATS or not 0 < dim <= x.shape[1]:
            raise ValueError(f"rows of {x.shape[1]} and {y.shape[1]} floats do not fit dim {dim}")
        if <uint64_t>&x[0, 0] % 64 or <uint64_t>&y[0, 0] % 64:
            raise ValueError("matrices must begin on a multiple of 64 bytes")
        if x.shape[0] < survey["next_row"] or x.shape[0] < rules.rules.words:
            raise ValueError(f"input: expected {survey['next_row']} rows, found {x.shape[0]}")
        if y.shape[0] != labels - (path is not None) or y.shape[0] < 1:
            raise ValueError(f"output: {y.shape[0]} rows do not fit {labels} labels")
        rules.check(ids)
        for i in range(ids.shape[0]):
            lowest = min(lowest, ids[i])
        if WV_FIRST_LABEL - lowest >= labels:
            raise ValueError(f"the stream has label {WV_FIRST_LABEL - lowest}, beyond {labels} labels")
        self.ids, self.length = &ids[0], ids.shape[0]
        self.run.rules = rules.rules
        self.run.longest_words, self.run.longest_rows = survey["longest_words"], survey["longest_rows"]
        self.run.longest_labels = survey["longest_labels"]
        self.run.labels, self.run.stride = labels, <int32_t>x.shape[1]
        self.run.input, self.run.output = &x[0, 0], &y[0, 0]
        self.run.epoch_ids = self.length
        if sampler is not None:
            alias = sampler
            if alias.shape[0] != labels:
                raise ValueError(f"sampler: expected {labels} rows, found {alias.shape[0]}")
            self.run.sampler = <const wv_alias *>&alias[0, 0]
        if path is not None:
            self._set_path(path)
        if self.table.supervised_scratch_bytes(&self.run) == 0:
            raise ValueError(
                f"loss {options.loss}: the classifier has no such output layer, or a table that it reads is missing"
            )

    def _set_path(self, path):
        cdef const int64_t[::1] path_start
        cdef const int32_t[::1] steps
        # fastText asks a node for the bit itself; word2vec for its opposite.
        path_start, node, code = path
        packed = node * 2 + code.astype(np.int32)
        steps = packed
        self.kept_alive += [path, packed]
        if path_start.shape[0] != self.run.labels + 1:
            raise ValueError(f"path: expected {self.run.labels + 1} starts, found {path_start.shape[0]}")
        self.run.path_start, self.run.path = &path_start[0], &steps[0]
        self.run.longest_path = np.max(np.diff(path_start))

    def worker(self):
        """What one thread needs to train blocks."""
        return Worker(self)


cdef class Worker:
    """One thread's scratch space. Not to be shared between threads."""

    cdef Run run
    cdef object kept_alive
    cdef void *scratch

    def __init__(self, Run run):
        self.run = run
        self.kept_alive = aligned_zeros(run.table.supervised_scratch_bytes(&run.run))
        self.scratch = address(self.kept_alive)

    def block(self, int64_t start, int64_t end, int32_t epoch):
        """Trains on the lines of ids[start:end] of one epoch without the GIL. Returns (loss, examples, tokens, lr)."""
        cdef wv_supervised_result result
        cdef Run run = self.run
        if not 0 <= start <= end <= run.length:
            raise ValueError(f"block {start}:{end} lies outside the corpus of {run.length} ids")
        with nogil:
            run.table.supervised_block(&run.run, run.ids, start, end, epoch, self.scratch, &result)
        return result.loss, result.examples, result.tokens, result.lr
