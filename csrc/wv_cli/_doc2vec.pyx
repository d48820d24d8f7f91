# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""doc2vec's kernel for Python: training, and inference of documents (kernels/doc2vec.c).

Every array is checked here, once, before its address goes to C.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memset

from wv_cli cimport _training
from wv_cli._arguments cimport require, require_aligned, require_ids, require_starts, table
from wv_cli._kernels cimport (
    WV_DOC2VEC_AROUND, WV_DOC2VEC_DBOW, WV_DOC2VEC_DM_CONCAT, WV_ROW_FLOATS, fill_wv_doc2vec_options, wv_alias,
    wv_block, wv_block_result, wv_doc2vec_run,
)


cdef class Run(_training.Run):
    """One run: options, tables and matrices for the workers of all threads.

    `options` has the fields of wv_doc2vec_options as attributes: a Doc2vecConfig. A document is what stands before each
    -1 of `ids`, which ends with one. documents (documents, stride), output (rows, width), and for DM input (words + 1,
    stride) are float32, rows aligned to 64 bytes, stride a multiple of 16, zero beyond dim; shared, not copied. `frozen`:
    only the documents learn. tags: (starts (documents + 1,) int64, rows int32), the rows of documents that each document
    has, one at least; None: the row of its number. Of `sampler`, _word2vec.alias_table(...), and `path`, _word2vec.huffman(counts), that is
    given which the output layer reads; keep is (words,) uint32.
    """

    cdef wv_doc2vec_run run
    cdef int64_t documents

    def __init__(
        self, options: object, *, const int32_t[::1] ids, int32_t words, documents: NDArray[np.float32],
        output: NDArray[np.float32], input: NDArray[np.float32] | None = None, keep: NDArray[np.uint32] | None = None,
        sampler: NDArray[np.uint32] | None = None,
        path: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]] | None = None,
        tags: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None, bint frozen=False, isa: str | None = None,
    ):
        cdef float[:, ::1] v = documents, y = output
        cdef int32_t dim, places
        self.kernel = table(isa)
        self.kept_alive = [ids.base, documents, output]
        memset(&self.run, 0, sizeof(self.run))
        fill_wv_doc2vec_options(&self.run.options, options)
        dim = self.run.options.dim
        places = self.run.options.window * (2 if self.run.options.context == WV_DOC2VEC_AROUND else 1)
        require(v.shape[1] % WV_ROW_FLOATS == 0 and 0 < dim <= v.shape[1],
                f"rows of {v.shape[1]} floats do not fit dim {dim}")
        self.run.stride, self.run.output_stride = <int32_t>v.shape[1], <int32_t>y.shape[1]
        width = v.shape[1] * (1 + places if self.run.options.algorithm == WV_DOC2VEC_DM_CONCAT else 1)
        require(y.shape[1] == width, f"output: expected rows of {width} floats, found {y.shape[1]}")
        require(words > 0 and y.shape[0] == words - (path is not None) and y.shape[0] > 0,
                f"output: {y.shape[0]} rows do not fit {words} words")
        require(v.shape[0] > 0, "there are no documents")
        require_aligned(&v[0, 0], "documents")
        require_aligned(&y[0, 0], "output")
        self.run.vocab_size, self.run.frozen = words, frozen
        self.run.documents, self.run.output = &v[0, 0], &y[0, 0]
        self.set_tags(tags, v.shape[0])
        self.set_corpus(ids)
        self.set_input(input)
        self.set_tables(keep, sampler, path)
        require(self.scratch_bytes() > 0,
                f"loss {options.loss}: doc2vec has no such output layer, or a table that it reads is missing")

    cdef int set_tags(self, tags, int64_t rows) except -1:
        cdef const int64_t[::1] starts
        cdef const int32_t[::1] each
        self.documents, self.run.most_tags = rows, 1
        if tags is None:
            return 0
        starts, each = tags
        require(starts.shape[0] > 1, "there are no documents")
        self.documents = starts.shape[0] - 1
        require_starts(starts, self.documents, each.shape[0], "tags")
        require_ids(each, 0, rows, "tags")
        sizes = np.diff(starts)
        require(sizes.min() > 0, "a document has no tag")
        require(self.run.options.algorithm != WV_DOC2VEC_DM_CONCAT or sizes.max() == 1,
                "dm_concat: a document has several tags")
        self.kept_alive.append(tags)
        self.run.tag_start, self.run.tag, self.run.most_tags = &starts[0], &each[0], sizes.max()
        return 0

    cdef int set_corpus(self, const int32_t[::1] ids) except -1:
        cdef int64_t i, begin = 0, longest = 0
        require(ids.shape[0] > 0 and ids[ids.shape[0] - 1] == -1, "the corpus is empty, or its last document has no end")
        require_ids(ids, -1, self.run.vocab_size, "words of the corpus")
        require(self.count(&ids[0], ids.shape[0]) == self.documents,
                f"the corpus does not have {self.documents} documents")
        for i in range(ids.shape[0]):
            if ids[i] < 0:
                longest = max(longest, i - begin)
                begin = i + 1
        self.ids = &ids[0]
        self.run.longest = longest
        self.run.epoch_ids = self.length = ids.shape[0]
        return 0

    cdef int64_t count(self, const int32_t *ids, int64_t length) noexcept nogil:
        """Documents that end there."""
        cdef int64_t i, found = 0
        for i in range(length):
            found += ids[i] < 0
        return found

    cdef int set_input(self, input) except -1:
        cdef float[:, ::1] x
        require((input is None) == (self.run.options.algorithm == WV_DOC2VEC_DBOW),
                "context words have vectors where they predict, and only there")
        if input is None:
            return 0
        x = input
        require(x.shape[0] == self.run.vocab_size + 1 and x.shape[1] == self.run.stride,
                f"input: expected {self.run.vocab_size + 1} rows of {self.run.stride} floats, found {x.shape[0]} of "
                f"{x.shape[1]}")
        require_aligned(&x[0, 0], "input")
        self.kept_alive.append(input)
        self.run.input = &x[0, 0]
        return 0

    cdef int set_tables(self, keep, sampler, path) except -1:
        cdef const uint32_t[::1] keeps
        cdef const uint32_t[:, ::1] alias
        cdef const int64_t[::1] path_start
        cdef const int32_t[::1] steps
        cdef int32_t words = self.run.vocab_size
        self.kept_alive += [keep, sampler]
        if keep is not None:
            keeps = keep
            require(keeps.shape[0] == words, f"keep: expected {words} numbers, found {keeps.shape[0]}")
            self.run.keep = &keeps[0]
        if sampler is not None:
            alias = sampler
            require(alias.shape[0] == words, f"sampler: expected {words} rows, found {alias.shape[0]}")
            self.run.sampler = <const wv_alias *>&alias[0, 0]
        if path is not None:
            path_start, node, code = path
            packed = node * 2 + (1 - code.astype(np.int32))
            steps = packed
            self.kept_alive += [path, packed]
            require_starts(path_start, words, steps.shape[0], "path")
            require_ids(steps, 0, 2 * (words - 1), "path")
            self.run.path_start, self.run.path = &path_start[0], &steps[0]
            self.run.longest_path = np.max(np.diff(path_start))
        return 0

    cdef size_t scratch_bytes(self) noexcept nogil:
        return self.kernel.doc2vec_scratch_bytes(&self.run)

    cdef int require_block(self, const wv_block *block) except -1:
        cdef int64_t start = block.start, end = block.end
        _training.Run.require_block(self, block)
        require(start == end or self.ids[end - 1] < 0 and (start == 0 or self.ids[start - 1] < 0),
                f"block {start}:{end} cuts a document")
        return require(0 <= block.document <= self.documents - self.count(self.ids + start, end - start),
                       f"document {block.document} and those behind it are more than there are")

    cdef void train(self, const wv_block *block, void *scratch, wv_block_result *result) noexcept nogil:
        self.kernel.doc2vec_block(&self.run, block, scratch, result)

    def worker(self) -> Worker:
        """What one thread needs to train blocks; see Worker."""
        return Worker(self)


cdef class Worker(_training.Worker):
    def block(self, int64_t start, int64_t end, int32_t epoch,
              int64_t document) -> tuple[float, int, int, float]:  # type: ignore[override]
        """Trains the documents of ids[start:end], whole ones of which the first has the number `document`, in one epoch
        without the GIL. Returns (loss, examples, tokens, lr)."""
        return self.trained(wv_block(ids=self.run.ids, start=start, end=end, epoch=epoch, document=document, lr=0))
