from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from "kernels/wv_kernels.h" nogil:
    ctypedef enum wv_context_rule:
        WV_SKIPGRAM, WV_CBOW
    ctypedef enum wv_output_layer:
        WV_NEGATIVE_SAMPLING, WV_HIERARCHICAL_SOFTMAX, WV_SOFTMAX, WV_NCE
    enum:
        WV_ROW_FLOATS
        WV_END_OF_LINE
        WV_FIRST_LABEL

    ctypedef struct wv_alias:
        uint32_t threshold
        int32_t other

    ctypedef struct wv_word2vec_run:
        int32_t vocab_size, dim, stride
        float *input
        float *output
        float *output_bias
        const uint32_t *keep
        const wv_alias *sampler
        const float *log_noise
        const int64_t *path_start
        const int32_t *path
        int32_t longest_path
        const int64_t *subword_start
        const int32_t *subword
        int32_t most_subwords
        wv_context_rule context
        wv_output_layer layer
        int32_t window, negative, max_sentence
        int shrink_window, share_negatives, cbow_mean, cbow_divide_gradient
        float lr, lr_floor
        int64_t epoch_tokens
        int32_t epochs
        uint64_t seed

    ctypedef struct wv_hot_rows:
        int32_t count, first_output
        float *input
        float *input_base
        float *output
        float *output_base

    ctypedef struct wv_word2vec_result:
        double loss
        int64_t examples, tokens
        float lr

    ctypedef enum wv_analogy_method:
        WV_3COSADD, WV_3COSMUL

    ctypedef struct wv_top_k:
        const float *rows
        int64_t stride
        int32_t dim, queries, k
        const float *panels
        float *threshold
        float *scores
        int32_t *hits
        const int64_t *exclude_start
        const int32_t *exclude

    ctypedef struct wv_analogies:
        const float *rows
        int64_t stride
        int32_t dim, questions, k
        wv_analogy_method method
        const float *words
        int32_t distinct
        const int32_t *question
        const int32_t *word_row
        float *threshold
        float *scores
        int32_t *hits

    ctypedef struct wv_glove_record:
        uint16_t row, column
        float count

    ctypedef struct wv_glove_run:
        float *words
        float *contexts
        int32_t half
        float eta, clip, log_x_max, alpha

    ctypedef struct wv_bioword_entry:
        double signal, weight
        int32_t row

    ctypedef struct wv_bioword_run:
        int32_t words, cells, stride, window, threads
        float *raw
        double *scale
        double *norm2
        float *largest
        const double *inverse
        const int32_t *ids
        int64_t length
        int32_t *winner
        double *xx
        double *signal2
        double *touched
        int32_t *first
        int32_t *last

    ctypedef struct wv_bioword_room:
        float *scores
        float *scales
        const float **rows
        int32_t *inputs
        int32_t *order
        int32_t *starts
        int32_t *active
        wv_bioword_entry *entries
    enum:
        WV_CENTROIDS

    ctypedef struct wv_product_block:
        const float *x
        int64_t stride
        const int64_t *sample
        int64_t points
        int32_t first, width
        int32_t iterations
        uint64_t seed
        float *centroids
        double *errors

    ctypedef struct wv_product_codes:
        const float *x
        int64_t stride
        int32_t dim, dsub
        const float *centroids
        uint8_t *codes

    ctypedef enum wv_supervised_layer:
        WV_SUP_SOFTMAX, WV_SUP_HS, WV_SUP_NS, WV_SUP_OVA

    ctypedef struct wv_line_rules:
        int32_t words, end_of_line
        const int64_t *word_start
        const int32_t *word_row
        const int32_t *hash
        int32_t word_ngrams
        uint32_t buckets
        int32_t *bucket_row

    ctypedef struct wv_line_survey:
        int64_t lines, examples, rows, longest_words, longest_rows, longest_labels
        int32_t next_row

    ctypedef struct wv_supervised_run:
        wv_line_rules rules
        int64_t longest_words, longest_rows, longest_labels
        int32_t labels, dim, stride
        float *input
        float *output
        wv_supervised_layer layer
        int32_t negative
        const wv_alias *sampler
        const int64_t *path_start
        const int32_t *path
        int32_t longest_path
        float lr
        int64_t epoch_ids
        int32_t epochs
        uint64_t seed

    ctypedef struct wv_supervised_result:
        double loss
        int64_t examples, tokens
        float lr

    ctypedef struct wv_prediction_run:
        int32_t labels, dim, stride, input_stride
        const char *input
        const float *output
        wv_supervised_layer layer
        const int32_t *left
        const int32_t *right
        const float *sigmoid
        int32_t k
        float threshold
        int32_t zero_row

    enum:
        WV_CODE_LANES

    ctypedef struct wv_hasher:
        int32_t dim, units, active
        const float *panels
        const float *threshold

    ctypedef struct wv_biohash:
        int32_t dim, stride, units, rank
        float delta, p
        int normalise
        float *weights
        float *effective

    ctypedef struct wv_hamming:
        const uint64_t *panels
        int64_t n
        int32_t words, queries, k
        const uint64_t *query
        float *scores
        int32_t *hits
        const int64_t *exclude_start
        const int32_t *exclude

    ctypedef struct wv_overlap:
        const int64_t *start
        const int32_t *row
        int64_t n
        int32_t active, queries, k
        const int32_t *query
        float *scores
        int32_t *hits
        const int64_t *exclude_start
        const int32_t *exclude

    # Function pointers must be `noexcept nogil`, or every call would take the GIL.
    ctypedef struct wv_kernels:
        const char *name
        int lanes
        size_t (*word2vec_scratch_bytes)(const wv_word2vec_run *run) noexcept nogil
        void (*word2vec_block)(const wv_word2vec_run *run, const wv_hot_rows *hot, const int32_t *ids, int64_t start,
                               int64_t end, int32_t epoch, void *scratch, wv_word2vec_result *result) noexcept nogil

        void (*search_normalise)(const float *source, int64_t source_stride, float *out, int64_t out_stride,
                                 int64_t n, int32_t dim) noexcept nogil
        void (*search_pack)(const float *x, int64_t stride, int32_t count, int32_t dim, float *panels) noexcept nogil
        void (*search_top_k)(const wv_top_k *run, int64_t start, int64_t end) noexcept nogil
        size_t (*search_analogies_scratch_bytes)(const wv_analogies *run) noexcept nogil
        void (*search_analogies)(const wv_analogies *run, int64_t start, int64_t end, void *scratch) noexcept nogil

        size_t (*glove_scratch_bytes)(int32_t records) noexcept nogil
        double (*glove_chunk)(const wv_glove_run *run, const wv_glove_record *records, int32_t n, int32_t first_row,
                              int32_t first_column, uint64_t seed, uint64_t iteration, uint64_t chunk,
                              void *scratch) noexcept nogil

        size_t (*product_train_scratch_bytes)(int64_t points, int32_t width) noexcept nogil
        int32_t (*product_train)(const wv_product_block *run, void *scratch) noexcept nogil
        size_t (*product_encode_scratch_bytes)(int32_t dim, int32_t dsub) noexcept nogil
        void (*product_encode)(const wv_product_codes *run, int64_t start, int64_t end, void *scratch) noexcept nogil

        void (*supervised_survey)(const wv_line_rules *rules, const int32_t *ids, int64_t length,
                                  wv_line_survey *survey) noexcept nogil
        size_t (*supervised_scratch_bytes)(const wv_supervised_run *run) noexcept nogil
        void (*supervised_block)(const wv_supervised_run *run, const int32_t *ids, int64_t start, int64_t end,
                                 int32_t epoch, void *scratch, wv_supervised_result *result) noexcept nogil
        size_t (*supervised_predict_scratch_bytes)(const wv_prediction_run *run) noexcept nogil
        void (*supervised_predict)(const wv_prediction_run *run, const int64_t *start, const int32_t *row,
                                   int64_t lines, int32_t *label, float *score, int32_t *found,
                                   void *scratch) noexcept nogil

        double (*bioword_batch)(wv_bioword_run *run, int64_t start, int64_t end, double rate, int32_t thread,
                                const wv_bioword_room *room) noexcept nogil
        int64_t (*bioword_activations)(const wv_bioword_run *run, int64_t start, int64_t end, int words_only,
                                       const wv_bioword_room *room, float *out) noexcept nogil
        size_t (*hash_scratch_bytes)(const wv_hasher *hasher) noexcept nogil
        void (*hash_bits)(const wv_hasher *hasher, const float *rows, int64_t stride, int64_t n, uint64_t *out,
                          void *scratch) noexcept nogil
        void (*hash_active)(const wv_hasher *hasher, const float *rows, int64_t stride, int64_t n, int32_t *out,
                            void *scratch) noexcept nogil
        size_t (*biohash_scratch_bytes)(const wv_biohash *run, int32_t batch) noexcept nogil
        double (*biohash_train)(const wv_biohash *run, const float *x, int64_t stride, const int32_t *order, int64_t n,
                                int32_t batch, float lr, void *scratch) noexcept nogil
        void (*hamming_top_k)(const wv_hamming *run, int64_t start, int64_t end) noexcept nogil
        void (*hamming_distances)(const wv_hamming *run, int64_t start, int64_t end, int32_t *out) noexcept nogil
        size_t (*overlap_scratch_bytes)(const wv_overlap *run) noexcept nogil
        void (*overlap_top_k)(const wv_overlap *run, int64_t start, int64_t end, void *scratch) noexcept nogil


# The table chosen at import (WV_ISA, else the best this machine runs).
cdef const wv_kernels *kernels() noexcept nogil
# A table by name, for tests that compare instruction sets; raises UsageError for an unknown or unusable one.
cdef const wv_kernels *kernels_named(str name) except NULL
