# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""sent2vec's kernel for Python: the rows of word n-grams and training (kernels/sent2vec.c).

Every array is checked here, once, before its address goes to C.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memset

from wv_cli cimport _training
from wv_cli._arguments cimport require, require_aligned, require_ids, table
from wv_cli._kernels cimport (
    WV_ROW_FLOATS, fill_wv_sent2vec_options, wv_alias, wv_block, wv_block_result, wv_kernels, wv_sent2vec_run,
    wv_sent2vec_survey,
)


cdef int set_ngrams(wv_sent2vec_run *run, hashes, bucket_row) except -1:
    """Fields of `run` for n-grams: hashes (words,) int32 and bucket_row (buckets,) int32, or None and None."""
    cdef const int32_t[::1] hash_of
    cdef int32_t[::1] row_of_bucket
    require((hashes is None) == (bucket_row is None) == (run.options.word_ngrams == 1),
            "n-grams of two words and more need hashes and buckets, single words have none")
    if hashes is None:
        return 0
    hash_of, row_of_bucket = hashes, bucket_row
    require(hash_of.shape[0] == run.vocab_size and row_of_bucket.shape[0] > 0,
            f"n-grams need {run.vocab_size} hashes and a bucket, found {hash_of.shape[0]} and {row_of_bucket.shape[0]}")
    run.hash, run.bucket_row = &hash_of[0], &row_of_bucket[0]
    run.buckets = <uint32_t>row_of_bucket.shape[0]
    return 0


def survey(options, const int32_t[::1] ids, int32_t words, hashes=None, bucket_row=None, isa=None):
    """Walks over a corpus of ids below `words` once. Returns (words of the longest sentence, rows): the words' rows and,
    from row `words` on, those of the n-grams, whose numbers are written to bucket_row (buckets,) int32, -1 at first."""
    cdef const wv_kernels *kernel = table(isa)
    cdef wv_sent2vec_run run
    cdef wv_sent2vec_survey found
    cdef int32_t[::1] sentence
    memset(&run, 0, sizeof(run))
    memset(&found, 0, sizeof(found))
    fill_wv_sent2vec_options(&run.options, options)
    run.vocab_size = found.next_row = words
    require_ids(ids, -(2**31), words, "words of the corpus")
    set_ngrams(&run, hashes, bucket_row)
    sentence = np.empty(max(1, min(<int64_t>run.options.max_sentence, ids.shape[0])), np.int32)
    if ids.shape[0]:
        with nogil:
            kernel.sent2vec_survey(&run, &ids[0], ids.shape[0], &sentence[0], &found)
    return found.longest, found.next_row


cdef class Run(_training.Run):
    """One training run: options, tables and matrices for the workers of all threads.

    `options` has the fields of wv_sent2vec_options as attributes: a Sent2vecConfig. input, (rows, stride), and output,
    (words, stride), are float32, rows aligned to 64 bytes, stride a multiple of 16, zero beyond dim; shared, not copied.
    `longest`, hashes and bucket_row are survey's; sampler is _word2vec.alias_table(...), keep (words,) uint32.
    """

    cdef wv_sent2vec_run run

    def __init__(self, options, *, const int32_t[::1] ids, int32_t longest, input, output, sampler, keep=None,
                 hashes=None, bucket_row=None, isa=None):
        cdef float[:, ::1] x = input, y = output
        cdef const uint32_t[:, ::1] alias = sampler
        cdef const uint32_t[::1] keeps
        self.kernel = table(isa)
        self.kept_alive = (ids.base, input, output, sampler, keep, hashes, bucket_row)
        memset(&self.run, 0, sizeof(self.run))
        fill_wv_sent2vec_options(&self.run.options, options)
        require(x.shape[1] == y.shape[1] and x.shape[1] % WV_ROW_FLOATS == 0
                and 0 < self.run.options.dim <= x.shape[1],
                f"rows of {x.shape[1]} and {y.shape[1]} floats do not fit dim {self.run.options.dim}")
        require(0 < y.shape[0] <= x.shape[0], f"{x.shape[0]} rows of input do not fit {y.shape[0]} words")
        require_aligned(&x[0, 0], "input")
        require_aligned(&y[0, 0], "output")
        self.run.vocab_size, self.run.stride = <int32_t>y.shape[0], <int32_t>x.shape[1]
        self.run.input, self.run.output = &x[0, 0], &y[0, 0]
        require(alias.shape[0] == y.shape[0], f"sampler: expected {y.shape[0]} rows, found {alias.shape[0]}")
        self.run.sampler = <const wv_alias *>&alias[0, 0]
        if keep is not None:
            keeps = keep
            require(keeps.shape[0] == y.shape[0], f"keep: expected {y.shape[0]} numbers, found {keeps.shape[0]}")
            self.run.keep = &keeps[0]
        require(ids.shape[0] > 0, "the corpus is empty")
        require_ids(ids, -(2**31), y.shape[0], "words of the corpus")
        set_ngrams(&self.run, hashes, bucket_row)
        if bucket_row is not None:
            require_ids(bucket_row, -1, x.shape[0], "bucket_row")
        require(0 < longest <= self.run.options.max_sentence, f"a longest sentence of {longest} words")
        self.run.longest = longest
        self.ids, self.length = &ids[0], ids.shape[0]
        self.run.epoch_ids = self.length

    cdef size_t scratch_bytes(self) noexcept nogil:
        return self.kernel.sent2vec_scratch_bytes(&self.run)

    cdef void train(self, const wv_block *block, void *scratch, wv_block_result *result) noexcept nogil:
        self.kernel.sent2vec_block(&self.run, block, scratch, result)
