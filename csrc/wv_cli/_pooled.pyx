# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The pooled text classifier's kernels for Python: scores of texts, and training (kernels/pooled.c).

Every array is checked here before its address goes to C.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from wv_cli._arguments cimport padded, require, require_aligned, require_ids, require_starts, table as kernels_of
from wv_cli._kernels cimport (
    fill_wv_pooled_options, wv_block_result, wv_kernels, wv_pooled_model, wv_pooled_run, wv_pooled_step,
    wv_pooled_texts,
)
from wv_cli._scratch cimport address, aligned_zeros
from wv_cli.core.tfidf cimport wv_tfidf


def weigh(
    int64_t[::1] starts, int32_t[::1] ids, const float[::1] idf,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """(starts, features, values): the features of texts, each once, with sublinear term frequencies times `idf`, (features,)
    float32, of length 1. Text t has ids[starts[t]:starts[t + 1]]; both are overwritten."""
    cdef int64_t texts = starts.shape[0] - 1
    cdef float[::1] out
    require_starts(starts, texts, ids.shape[0], "features")
    require_ids(ids, 0, idf.shape[0], "features")
    values = np.empty(ids.shape[0], np.float32)
    if ids.shape[0]:
        out = values
        with nogil:
            wv_tfidf(texts, &starts[0], &ids[0], &out[0], &idf[0])
    return np.asarray(starts), np.asarray(ids)[:starts[texts]], values[:starts[texts]]


cdef class Texts:
    """Texts as tokens and features: text t has the tokens ids[starts[t]:starts[t + 1]], int32 and int64, and so its features,
    each once, with float32 values."""

    cdef wv_pooled_texts texts
    cdef object kept_alive
    cdef readonly int64_t count, longest

    def __init__(self, const int64_t[::1] starts, const int32_t[::1] ids, const int64_t[::1] feature_starts,
                 const int32_t[::1] features, const float[::1] values):
        cdef int64_t i
        self.count = starts.shape[0] - 1
        require_starts(starts, self.count, ids.shape[0], "tokens")
        require_starts(feature_starts, self.count, features.shape[0], "features")
        require(values.shape[0] == features.shape[0], "a feature has one value")
        for i in range(self.count):
            self.longest = max(self.longest, starts[i + 1] - starts[i])
        require(self.longest < 2**31, "a text is too long")
        self.kept_alive = (starts, ids, feature_starts, features, values)
        self.texts.starts, self.texts.feature_starts = &starts[0], &feature_starts[0]
        self.texts.ids = &ids[0] if ids.shape[0] else NULL
        if features.shape[0]:
            self.texts.feature, self.texts.value = &features[0], &values[0]

    cdef int require_rows(self, int64_t tokens, int64_t features) except -1:
        require_ids(self.kept_alive[1], 0, tokens, "tokens")
        return require_ids(self.kept_alive[3], 0, features, "features")


cdef class Model:
    """The matrices of a model, shared, not copied: table (tokens, stride) and features (features, stride) float32, rows
    aligned to 64 bytes and zero behind dim and rank; dense float32, aligned, as long as weights() says."""

    cdef wv_pooled_model model
    cdef const wv_kernels *kernel
    cdef int64_t tokens, features
    cdef object kept_alive

    def __init__(self, *, float[:, ::1] table, float[:, ::1] features, float[::1] dense, int dim, int rank, int hidden,
                 int outputs, isa: str | None = None):
        self.kernel = kernels_of(isa)
        require(dim > 0 and rank > 0 and hidden > 0 and outputs > 0, "sizes must be positive")
        require(table.shape[0] > 0 and table.shape[1] == padded(dim), f"the table does not fit dim {dim}")
        require(features.shape[1] == padded(rank), f"the features do not fit rank {rank}")
        self.model = wv_pooled_model(dim=dim, stride=<int32_t>table.shape[1], rank=rank,
                                     rank_stride=<int32_t>features.shape[1], hidden=hidden, outputs=outputs,
                                     table=&table[0, 0], features=NULL, dense=&dense[0])
        require(dense.shape[0] == self.kernel.pooled_weights(&self.model), f"dense: {dense.shape[0]} floats do not fit")
        require_aligned(&table[0, 0], "the table")
        require_aligned(&dense[0], "the weights")
        self.tokens, self.features = table.shape[0], features.shape[0]
        if self.features:
            require_aligned(&features[0, 0], "the features")
            self.model.features = &features[0, 0]
        self.kept_alive = (table, features, dense)

    def scores(self, Texts texts) -> NDArray[np.float32]:
        """(texts, outputs): what the softmax is of."""
        cdef float[:, ::1] out
        cdef void *scratch
        texts.require_rows(self.tokens, self.features)
        scores = np.zeros((texts.count, self.model.outputs), np.float32)
        if texts.count == 0:
            return scores
        out = scores
        buffer = aligned_zeros(self.kernel.pooled_predict_scratch_bytes(&self.model))
        scratch = address(buffer)
        with nogil:
            self.kernel.pooled_predict(&self.model, &texts.texts, 0, texts.count, &out[0, 0], scratch)
        return scores


def weights(*, int dim, int rank, int hidden, int outputs) -> int:
    """How many floats the dense weights are."""
    cdef wv_pooled_model model
    memset(&model, 0, sizeof(model))
    model.stride, model.rank_stride = <int32_t>padded(dim), <int32_t>padded(rank)
    model.hidden, model.outputs = hidden, outputs
    return kernels_of(None).pooled_weights(&model)


cdef class Run:
    """Training of a model. `options` has the fields of wv_pooled_options as attributes: a PooledConfig. Text t has the
    labels labels[label_starts[t]:label_starts[t + 1]]; table_sum is (tokens,) float32, mean and square are as the dense
    weights. A step has at most `batch` texts."""

    cdef wv_pooled_run run
    cdef Model model
    cdef Texts texts
    cdef object kept_alive

    def __init__(self, options: object, Model model, Texts texts, const int64_t[::1] label_starts,
                 const int32_t[::1] labels, *, float[::1] table_sum, float[::1] mean,
                 float[::1] square, int batch):
        fill_wv_pooled_options(&self.run.options, options)
        require(0 <= self.run.options.dropout < 1 and 0 <= self.run.options.ngram_dropout < 1
                and 0 <= self.run.options.label_smoothing < 1, "dropout and smoothing are shares below 1")
        require(batch > 0 and texts.count > 0, "there are no texts, or none in a batch")
        texts.require_rows(model.tokens, model.features)
        require_starts(label_starts, texts.count, labels.shape[0], "labels")
        require_ids(labels, 0, model.model.outputs, "labels")
        require(table_sum.shape[0] == model.tokens, "the sums do not fit the table")
        size = model.kernel.pooled_weights(&model.model)
        require(mean.shape[0] == size and square.shape[0] == size, "the moments do not fit the weights")
        self.model, self.texts = model, texts
        self.kept_alive = (label_starts, labels, table_sum, mean, square)
        self.run.model, self.run.texts = model.model, texts.texts
        self.run.label_starts = &label_starts[0]
        self.run.labels = &labels[0] if labels.shape[0] else NULL
        self.run.table_sum = &table_sum[0]
        self.run.mean, self.run.square, self.run.batch = &mean[0], &square[0], batch
        self.run.longest = <int32_t>texts.longest

    @property
    def scratch_bytes(self) -> int:
        """Working memory of a thread."""
        return self.model.kernel.pooled_train_scratch_bytes(&self.run)

    def worker(self) -> Worker:
        """What one thread needs to train."""
        return Worker(self)


cdef class Worker:
    """One thread's scratch space. Not to be shared between threads."""

    cdef Run run
    cdef uint8_t[::1] scratch

    def __init__(self, Run run):
        self.run = run
        self.scratch = aligned_zeros(run.scratch_bytes)

    def train(self, const int64_t[::1] texts, *, int64_t step, double lr, double row_lr,
              double ngram_lr) -> tuple[float, int, int, float]:
        """Trains on the texts with these numbers, without the GIL: step `step`, from 1. Returns (sum of the losses, texts,
        tokens, learning rate)."""
        cdef Run run = self.run
        cdef wv_block_result result
        cdef void *scratch = address(self.scratch)
        cdef int64_t i
        cdef wv_pooled_step now = wv_pooled_step(
            text=&texts[0], texts=<int32_t>texts.shape[0], step=step, lr=<float>lr, row_lr=<float>row_lr,
            ngram_lr=<float>ngram_lr)
        require(0 < texts.shape[0] <= run.run.batch and step >= 1, "a step needs texts, as many as were said at most")
        for i in range(texts.shape[0]):
            require(0 <= texts[i] < run.texts.count, "no such text")
        memset(&result, 0, sizeof(result))
        with nogil:
            run.model.kernel.pooled_train(&run.run, &now, scratch, &result)
        return result.loss, result.examples, result.tokens, result.lr
