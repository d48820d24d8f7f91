# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The pooled text classifier's kernels for Python: scores of texts, and training (kernels/pooled.c).

Every array is checked here before its address goes to C.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from wv_cli._arguments cimport padded, require, require_aligned, require_ids, require_starts, table as kernels_of
from wv_cli._kernels cimport (
    fill_wv_pooled_options, wv_block_result, wv_kernels, wv_pooled_head, wv_pooled_inputs, wv_pooled_model, wv_pooled_run,
    wv_pooled_replicas, wv_pooled_step, wv_pooled_texts,
)
from wv_cli._scratch cimport address, aligned_zeros
from wv_cli.core.tfidf cimport wv_tfidf


def weigh(
    int64_t[::1] starts, int32_t[::1] ids, const float[::1] idf=None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """(starts, features, values): the features of texts, each once, with sublinear term frequencies times `idf`, (features,)
    float32, of length 1. Text t has ids[starts[t]:starts[t + 1]]; both are overwritten. idf None: all are 1."""
    cdef int64_t texts = starts.shape[0] - 1
    cdef float[::1] out
    cdef const float *inverse = NULL
    require_starts(starts, texts, ids.shape[0], "features")
    if idf is not None:
        require_ids(ids, 0, idf.shape[0], "features")
        if idf.shape[0]:
            inverse = &idf[0]
    values = np.empty(ids.shape[0], np.float32)
    if ids.shape[0]:
        out = values
        with nogil:
            wv_tfidf(texts, &starts[0], &ids[0], &out[0], inverse)
    return np.asarray(starts), np.asarray(ids)[:starts[texts]], values[:starts[texts]]


cdef class Texts:
    """Texts as tokens and n-grams, each (starts, ids, values): text t has ids[starts[t]:starts[t + 1]], int32 and int64, each
    once, with float32 values."""

    cdef wv_pooled_texts texts
    cdef object kept_alive
    cdef readonly int64_t count

    def __init__(self, tokens: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]],
                 ngrams: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]):
        self.count = len(tokens[0]) - 1
        self.kept_alive = (tokens, ngrams)
        self.texts.tokens, self.texts.ngrams = self.inputs(tokens, "tokens"), self.inputs(ngrams, "n-grams")

    cdef wv_pooled_inputs inputs(self, given, str what) except *:
        cdef const int64_t[::1] starts = given[0]
        cdef const int32_t[::1] ids = given[1]
        cdef const float[::1] values = given[2]
        require_starts(starts, self.count, ids.shape[0], what)
        require(values.shape[0] == ids.shape[0], f"{what}: each has one value")
        cdef wv_pooled_inputs inputs
        inputs.start, inputs.id, inputs.value = &starts[0], NULL, NULL
        if ids.shape[0]:
            inputs.id, inputs.value = &ids[0], &values[0]
        return inputs

    cdef int require_rows(self, int64_t tokens, int64_t ngrams) except -1:
        require_ids(self.kept_alive[0][1], 0, tokens, "tokens")
        return require_ids(self.kept_alive[1][1], 0, ngrams, "n-grams")


cdef class Model:
    """The matrices of a model, shared, not copied: the rows of `tokens` and `ngrams`, (rows, dim) and (rows, rank), and the
    output weights of each by column, (dim, outputs) and (rank, outputs). All are float32, aligned to 64 bytes, and padded
    with zeros. Question q has the outputs questions[q]:questions[q + 1]."""

    cdef wv_pooled_model model
    cdef const wv_kernels *kernel
    cdef int64_t tokens, ngrams
    cdef object kept_alive

    def __init__(self, *, float[:, ::1] tokens, float[:, ::1] token_output, float[:, ::1] ngrams, float[:, ::1] ngram_output,
                 int dim, int rank, const int32_t[::1] questions, isa: str | None = None):
        self.kernel = kernels_of(isa)
        require(tokens.shape[0] > 0, "there are no tokens")
        require(questions.shape[0] > 1 and questions[0] == 0 and bool((np.diff(questions) > 0).all()),
                "the questions do not divide the labels")
        self.model.outputs = questions[questions.shape[0] - 1]
        self.model.question, self.model.questions = &questions[0], <int32_t>(questions.shape[0] - 1)
        self.model.tokens = self.head(tokens, token_output, dim, "tokens")
        self.model.ngrams = self.head(ngrams, ngram_output, rank, "n-grams")
        self.tokens, self.ngrams = tokens.shape[0], ngrams.shape[0]
        self.kept_alive = (tokens, token_output, ngrams, ngram_output, questions)

    cdef wv_pooled_head head(self, float[:, ::1] rows, float[:, ::1] output, int dim, str what) except *:
        require(dim > 0 and rows.shape[1] == padded(dim), f"{what}: rows do not fit {dim} numbers")
        require(output.shape[0] == dim and output.shape[1] == padded(self.model.outputs),
                f"{what}: the output weights do not fit {dim} numbers and {self.model.outputs} labels")
        require_aligned(&output[0, 0], f"{what}: the output weights")
        cdef wv_pooled_head head
        head.dim, head.stride, head.row, head.column = dim, <int32_t>rows.shape[1], NULL, &output[0, 0]
        if rows.shape[0]:
            require_aligned(&rows[0, 0], f"{what}: the rows")
            head.row = &rows[0, 0]
        return head

    def scores(self, Texts texts) -> NDArray[np.float32]:
        """(texts, outputs): what the softmax is of."""
        cdef float[:, ::1] out
        cdef void *scratch
        texts.require_rows(self.tokens, self.ngrams)
        scores = np.zeros((texts.count, self.model.outputs), np.float32)
        if texts.count == 0:
            return scores
        out = scores
        buffer = aligned_zeros(self.kernel.pooled_scratch_bytes(&self.model))
        scratch = address(buffer)
        with nogil:
            self.kernel.pooled_predict(&self.model, &texts.texts, 0, texts.count, &out[0, 0], scratch)
        return scores


cdef class Run:
    """Training of a model. `options` has the fields of wv_pooled_options as attributes: a PooledConfig. Text t has the
    labels labels[label_starts[t]:label_starts[t + 1]]; token_sum is (tokens,) float32."""

    cdef wv_pooled_run run
    cdef Model model
    cdef Texts texts
    cdef object kept_alive

    def __init__(self, options: object, Model model, Texts texts, const int64_t[::1] label_starts,
                 const int32_t[::1] labels, *, float[::1] token_sum):
        fill_wv_pooled_options(&self.run.options, options)
        require(0 <= self.run.options.dropout < 1 and 0 <= self.run.options.ngram_dropout < 1
                and 0 <= self.run.options.label_smoothing < 1, "dropout and smoothing are shares below 1")
        require(texts.count > 0, "there are no texts")
        texts.require_rows(model.tokens, model.ngrams)
        require_starts(label_starts, texts.count, labels.shape[0], "labels")
        require_ids(labels, 0, model.model.outputs, "labels")
        require(token_sum.shape[0] == model.tokens, "the sums do not fit the tokens")
        self.model, self.texts = model, texts
        self.kept_alive = (label_starts, labels, token_sum)
        self.run.model, self.run.texts = model.model, texts.texts
        self.run.label_starts = &label_starts[0]
        self.run.labels = &labels[0] if labels.shape[0] else NULL
        self.run.token_sum = &token_sum[0]

    def worker(self, interval: int = 0) -> Worker:
        """What one thread needs to train. With an interval it works on replicas of the output weights; after so many steps
        it adds what it has changed to the shared ones, and copies them again."""
        return Worker(self, interval)


cdef class Worker:
    """One thread's scratch space and replicas. Not to be shared between threads."""

    cdef Run run
    cdef wv_pooled_run own
    cdef wv_pooled_replicas replicas
    cdef uint8_t[::1] scratch, copies
    cdef int64_t interval, left

    def __init__(self, Run run, int64_t interval):
        cdef size_t outputs = padded(run.run.model.outputs)
        cdef size_t tokens = outputs * <size_t>run.run.model.tokens.dim, ngrams = outputs * <size_t>run.run.model.ngrams.dim
        cdef float *copies
        self.run, self.own, self.interval = run, run.run, interval
        self.scratch = aligned_zeros(run.model.kernel.pooled_scratch_bytes(&run.run.model))
        require(interval >= 0, "replicas are exchanged after some steps")
        if interval > 0:
            self.copies = aligned_zeros(2 * (tokens + ngrams) * sizeof(float))
            copies = <float *>address(self.copies)
            self.replicas = wv_pooled_replicas(tokens=copies, ngrams=copies + tokens, token_base=copies + tokens + ngrams,
                                               ngram_base=copies + 2 * tokens + ngrams)
            self.own.model.tokens.column, self.own.model.ngrams.column = self.replicas.tokens, self.replicas.ngrams

    def flush(self) -> None:
        """The shared weights have then what this worker has changed; it may go on."""
        self.left = self.interval
        if self.interval == 0:
            return
        with nogil:
            self.run.model.kernel.pooled_exchange(&self.run.run.model, &self.replicas)

    def train(self, const int64_t[::1] texts, *, int64_t step, double lr,
              double row_lr) -> tuple[float, int, int, float]:
        """Trains on the texts with these numbers, without the GIL: step `step`, from 1. Returns (sum of the losses, texts,
        tokens, learning rate)."""
        cdef Run run = self.run
        cdef wv_block_result result
        cdef void *scratch = address(self.scratch)
        cdef int64_t i
        require(texts.shape[0] > 0 and step >= 1, "a step has a number from 1, and texts")
        for i in range(texts.shape[0]):
            require(0 <= texts[i] < run.texts.count, "no such text")
        cdef wv_pooled_step now = wv_pooled_step(
            text=&texts[0], texts=texts.shape[0], step=step, lr=<float>lr, row_lr=<float>row_lr)
        memset(&result, 0, sizeof(result))
        if self.left == 0:
            self.flush()  # the first time it copies the shared weights
        self.left -= 1
        with nogil:
            run.model.kernel.pooled_train(&self.own, &now, scratch, &result)
        return result.loss, result.examples, result.tokens, result.lr
