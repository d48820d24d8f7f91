"""The kernel of neural language models for Python. Every array is checked here, once, before its address goes to C."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from wv_cli cimport _training
from wv_cli._arguments cimport padded, require, require_aligned, require_ids, require_starts, table
from wv_cli._kernels cimport (
    WV_CONTEXT_DIAGONAL, WV_END_OF_LINE, WV_NEURAL_IVLBL, WV_NEURAL_NPLM, fill_wv_neural_options, wv_alias,
    wv_block, wv_block_result, wv_neural_run,
)


cdef class Run(_training.Run):
    """One training run: options, tables and matrices, for the workers of all threads.

    `options` has the fields of wv_neural_options as attributes: a NeuralConfig. The matrices are float32 as
    csrc/kernels/wv_neural.h has them, rows padded to a multiple of 16 floats with zeros and aligned to 64 bytes; they
    are shared, not copied. `hidden` is the length of the predicted vector, `bias` (rows of output,) float32.

    Of the tables only those are given that the output layer reads: `sampler` is _word2vec.alias_table(...), log_noise
    (words,) float32, `path` (starts int64, nodes int32, answers
    uint8) or, for several codes a word, (starts, nodes, answers, starts of the codes int64), `classes` (class of each word, class starts),
    both int32.
    """

    cdef wv_neural_run run

    def __init__(
        self, options: object, *, const int32_t[::1] ids, float[:, ::1] input, float[:, ::1] mixing,
        float[:, ::1] output, float[::1] bias, int32_t hidden, float[::1] hidden_bias=None,
        sampler: NDArray[np.uint32] | None = None, log_noise: NDArray[np.float32] | None = None,
        path: tuple[NDArray[np.generic], ...] | None = None,
        classes: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None, isa: str | None = None,
    ):
        memset(&self.run, 0, sizeof(self.run))
        self.kernel = table(isa)
        self.kept_alive = [ids.base, input.base, mixing.base, output.base, bias.base, sampler, log_noise, path, classes]
        fill_wv_neural_options(&self.run.options, options)
        cdef int32_t words = self.run.options.order - 1
        cdef bint linear = self.run.options.model != WV_NEURAL_NPLM
        cdef bint diagonal = self.run.options.model == WV_NEURAL_IVLBL or (
            linear and self.run.options.context_matrices == WV_CONTEXT_DIAGONAL)
        cdef int64_t stride = input.shape[1], hidden_stride = padded(hidden)
        cdef int64_t width = hidden_stride + (words * stride if self.run.options.direct and not linear else 0)
        require(words >= 1 and self.run.options.batch >= 1 and 0 <= self.run.options.dropout < 1, "options out of range")
        require(stride == padded(self.run.options.dim), f"input: expected rows of {padded(self.run.options.dim)} floats")
        require(hidden >= 1 and (not linear or hidden == self.run.options.dim), "hidden: a log-bilinear model has dim")
        require(mixing.shape[0] == (words if diagonal else hidden)
                and mixing.shape[1] == (stride if diagonal else words * stride),
                "mixing: its shape does not fit the options")
        require(output.shape[1] == width, f"output: expected rows of {width} floats, found {output.shape[1]}")
        require(bias.shape[0] == output.shape[0], f"bias: expected {output.shape[0]} numbers, found {bias.shape[0]}")
        for rows, name in ((input, "input"), (mixing, "mixing"), (output, "output")):
            self.expect_aligned(rows, name)
        self.run.vocab_size, self.run.stride = <int32_t>input.shape[0], <int32_t>stride
        self.run.hidden, self.run.hidden_stride = hidden, <int32_t>hidden_stride
        self.run.output_rows, self.run.output_stride = <int32_t>output.shape[0], <int32_t>width
        self.run.input, self.run.mixing, self.run.output = &input[0, 0], &mixing[0, 0], &output[0, 0]
        self.run.bias = &bias[0]
        if not linear:
            require(hidden_bias is not None and hidden_bias.shape[0] == hidden_stride,
                    f"hidden_bias: expected {hidden_stride} numbers")
            require_aligned(&hidden_bias[0], "hidden_bias")
            self.kept_alive.append(hidden_bias.base)
            self.run.hidden_bias = &hidden_bias[0]
        self.ids, self.length = &ids[0], ids.shape[0]
        require_ids(ids, WV_END_OF_LINE, self.run.vocab_size, "words of the corpus")
        require(self.run.vocab_size > 2, "a model has the words <unk>, <s> and </s>")
        self.set_tables(sampler, log_noise)
        if path is not None:
            self.set_path(path)
        elif classes is not None:
            self.set_classes(classes)
        else:
            require(output.shape[0] == input.shape[0], f"output: expected {input.shape[0]} rows")
        require(self.scratch_bytes() > 0,
                f"loss {options.loss}: there is no such output layer, or a table that it reads is missing")

    cdef int expect_aligned(self, float[:, ::1] rows, str name) except -1:
        return require_aligned(&rows[0, 0], name)

    cdef int set_tables(self, sampler, log_noise) except -1:
        """An alias table's words are checked: they are rows of `output`."""
        cdef const unsigned int[:, ::1] alias
        cdef const float[::1] noise
        if sampler is not None:
            alias = sampler
            require(alias.shape[0] == self.run.vocab_size and alias.shape[1] == 2, "sampler: expected a row for each word")
            require(np.max(sampler[:, 1]) < self.run.vocab_size, "sampler: its words are not those of the model")
            self.run.sampler = <const wv_alias *>&alias[0, 0]
        if log_noise is not None:
            noise = log_noise
            require(noise.shape[0] == self.run.vocab_size, "log_noise: expected a number for each word")
            self.run.log_noise = &noise[0]
        return 0

    cdef int set_path(self, path) except -1:
        cdef const int64_t[::1] start, codes
        cdef const int32_t[::1] steps, node
        start, nodes, answers, *several = path
        node = nodes
        lengths = path[0]
        if several:
            codes = several[0]
            require_starts(codes, self.run.vocab_size, start.shape[0] - 1, "codes")
            self.run.code_start = &codes[0]
            lengths = path[0][several[0]]
        require_starts(start, start.shape[0] - 1 if several else self.run.vocab_size, node.shape[0], "path")
        require_ids(node, 0, self.run.output_rows, "nodes of the tree")
        packed = nodes * 2 + (answers != 0).astype(np.int32)
        steps = packed
        self.kept_alive.append(packed)
        self.run.path_start, self.run.path = &start[0], &steps[0]
        self.run.longest_path = np.max(np.diff(lengths))
        return 0

    cdef int set_classes(self, classes) except -1:
        cdef const int32_t[::1] word_class = classes[0], start = classes[1]
        cdef int32_t count = <int32_t>start.shape[0] - 1, words = self.run.vocab_size
        require(word_class.shape[0] == words, "classes: expected a class for each word")
        require_starts(np.asarray(start, np.int64), count, words, "classes")
        require(np.array_equal(classes[0], np.repeat(np.arange(count), np.diff(classes[1]))),
                "classes: the words of a class must follow each other")
        require(self.run.output_rows == words + count, f"output: expected {words + count} rows")
        self.run.word_class, self.run.class_start = &word_class[0], &start[0]
        self.run.classes, self.run.largest_class = count, np.max(np.diff(classes[1]))
        return 0

    cdef size_t scratch_bytes(self) noexcept nogil:
        return self.kernel.neural_scratch_bytes(&self.run)

    cdef void train(self, const wv_block *block, void *scratch, wv_block_result *result) noexcept nogil:
        self.kernel.neural_block(&self.run, block, scratch, result)

    def worker(self) -> Worker:
        """What one thread needs to train blocks; see Worker."""
        return Worker(self)


cdef class Worker(_training.Worker):
    def block(self, int64_t start, int64_t end, int32_t epoch,
              float lr) -> tuple[float, int, int, float]:  # type: ignore[override]
        """Trains on the positions start:end of one epoch without the GIL. Returns (loss, examples, tokens, lr)."""
        return self.trained(wv_block(ids=self.run.ids, start=start, end=end, epoch=epoch, document=0, lr=lr))
