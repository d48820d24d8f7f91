"""A run, for the modules that train it; see _word2vec.pyx."""

from libc.stdint cimport int32_t, int64_t
from wv_cli cimport _training
from wv_cli._kernels cimport wv_word2vec_run


cdef class Run(_training.Run):
    cdef wv_word2vec_run run
    cdef int32_t input_rows, output_rows, workers
    cdef object path, subwords

    cdef int set_tables(self, keep, sampler, log_noise, output_bias) except -1
    cdef int set_path(self, path, bint both) except -1
    cdef int expect(self, int64_t found, str name) except -1
    cdef int set_subwords(self, subwords, int32_t input_rows) except -1
    cdef object inputs_of_words(self)
    cdef object outputs_of_words(self)
