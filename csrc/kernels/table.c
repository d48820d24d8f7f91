/* The table of kernels of the instruction set this file is compiled for. */
#include "kernels/lanes.h"
#include "kernels/wv_kernels.h"

size_t WV_NAME(wv_word2vec_scratch_bytes)(const wv_word2vec_run *run);
void WV_NAME(wv_word2vec_block)(const wv_word2vec_run *run, const wv_hot_rows *hot, const int32_t *ids, int64_t start,
                                int64_t end, int32_t epoch, void *scratch, wv_word2vec_result *result);

void WV_NAME(wv_search_normalise)(const float *in, int64_t in_stride, float *out, int64_t out_stride, int64_t n,
                                  int32_t dim);
void WV_NAME(wv_search_pack)(const float *x, int64_t stride, int32_t count, int32_t dim, float *panels);
void WV_NAME(wv_search_top_k)(const wv_top_k *run, int64_t start, int64_t end);
size_t WV_NAME(wv_search_analogies_scratch_bytes)(const wv_analogies *run);
void WV_NAME(wv_search_analogies)(const wv_analogies *run, int64_t start, int64_t end, void *scratch);

size_t WV_NAME(wv_glove_scratch_bytes)(int32_t records);
double WV_NAME(wv_glove_chunk)(const wv_glove_run *run, const wv_glove_record *records, int32_t n, int32_t first_row,
                               int32_t first_column, uint64_t seed, uint64_t iteration, uint64_t chunk,
                               void *scratch);

size_t WV_NAME(wv_product_train_scratch_bytes)(int64_t points, int32_t width);
int32_t WV_NAME(wv_product_train)(const wv_product_block *run, void *scratch);
size_t WV_NAME(wv_product_encode_scratch_bytes)(int32_t dim, int32_t dsub);
void WV_NAME(wv_product_encode)(const wv_product_codes *run, int64_t start, int64_t end, void *scratch);

void WV_NAME(wv_supervised_survey)(const wv_line_rules *rules, const int32_t *ids, int64_t length,
                                   wv_line_survey *survey);
size_t WV_NAME(wv_supervised_scratch_bytes)(const wv_supervised_run *run);
void WV_NAME(wv_supervised_block)(const wv_supervised_run *run, const int32_t *ids, int64_t start, int64_t end,
                                  int32_t epoch, void *scratch, wv_supervised_result *result);
size_t WV_NAME(wv_supervised_predict_scratch_bytes)(const wv_prediction_run *run);
void WV_NAME(wv_supervised_predict)(const wv_prediction_run *run, const int64_t *start, const int32_t *row,
                                    int64_t lines, int32_t *label, float *score, int32_t *found, void *scratch);
double WV_NAME(wv_bioword_batch)(wv_bioword_run *run, int64_t start, int64_t end, double rate, int32_t thread,
                                 const wv_bioword_room *room);
int64_t WV_NAME(wv_bioword_activations)(const wv_bioword_run *run, int64_t start, int64_t end, int words_only,
                                        const wv_bioword_room *room, float *out);

size_t WV_NAME(wv_hash_scratch_bytes)(const wv_hasher *hasher);
void WV_NAME(wv_hash_bits)(const wv_hasher *hasher, const float *rows, int64_t stride, int64_t n, uint64_t *out,
                           void *scratch);
void WV_NAME(wv_hash_active)(const wv_hasher *hasher, const float *rows, int64_t stride, int64_t n, int32_t *out,
                             void *scratch);
size_t WV_NAME(wv_biohash_scratch_bytes)(const wv_biohash *run, int32_t batch);
double WV_NAME(wv_biohash_train)(const wv_biohash *run, const float *x, int64_t stride, const int32_t *order, int64_t n,
                                 int32_t batch, float lr, void *scratch);
void WV_NAME(wv_hamming_top_k)(const wv_hamming *run, int64_t start, int64_t end);
void WV_NAME(wv_hamming_distances)(const wv_hamming *run, int64_t start, int64_t end, int32_t *out);
size_t WV_NAME(wv_overlap_scratch_bytes)(const wv_overlap *run);
void WV_NAME(wv_overlap_top_k)(const wv_overlap *run, int64_t start, int64_t end, void *scratch);

const wv_kernels WV_NAME(wv_kernels) = {
    .name = WV_TEXT(WV_ISA),
    .lanes = WV_LANES,
    .word2vec_scratch_bytes = WV_NAME(wv_word2vec_scratch_bytes),
    .word2vec_block = WV_NAME(wv_word2vec_block),

    .search_normalise = WV_NAME(wv_search_normalise),
    .search_pack = WV_NAME(wv_search_pack),
    .search_top_k = WV_NAME(wv_search_top_k),
    .search_analogies_scratch_bytes = WV_NAME(wv_search_analogies_scratch_bytes),
    .search_analogies = WV_NAME(wv_search_analogies),

    .glove_scratch_bytes = WV_NAME(wv_glove_scratch_bytes),
    .glove_chunk = WV_NAME(wv_glove_chunk),

    .product_train_scratch_bytes = WV_NAME(wv_product_train_scratch_bytes),
    .product_train = WV_NAME(wv_product_train),
    .product_encode_scratch_bytes = WV_NAME(wv_product_encode_scratch_bytes),
    .product_encode = WV_NAME(wv_product_encode),

    .supervised_survey = WV_NAME(wv_supervised_survey),
    .supervised_scratch_bytes = WV_NAME(wv_supervised_scratch_bytes),
    .supervised_block = WV_NAME(wv_supervised_block),
    .supervised_predict_scratch_bytes = WV_NAME(wv_supervised_predict_scratch_bytes),
    .supervised_predict = WV_NAME(wv_supervised_predict),
    .bioword_batch = WV_NAME(wv_bioword_batch),
    .bioword_activations = WV_NAME(wv_bioword_activations),

    .hash_scratch_bytes = WV_NAME(wv_hash_scratch_bytes),
    .hash_bits = WV_NAME(wv_hash_bits),
    .hash_active = WV_NAME(wv_hash_active),
    .biohash_scratch_bytes = WV_NAME(wv_biohash_scratch_bytes),
    .biohash_train = WV_NAME(wv_biohash_train),
    .hamming_top_k = WV_NAME(wv_hamming_top_k),
    .hamming_distances = WV_NAME(wv_hamming_distances),
    .overlap_scratch_bytes = WV_NAME(wv_overlap_scratch_bytes),
    .overlap_top_k = WV_NAME(wv_overlap_top_k),
};
