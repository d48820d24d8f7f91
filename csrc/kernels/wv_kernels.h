/* The contract of the kernels: plain C structs and one table of function pointers per instruction set.
 *
 * Every C file in kernels/ is compiled once per instruction set; each set exports one `wv_kernels` table (table.c) and core/cpu.c
 * lists them. Kernels only compute: no allocation, no I/O, no globals. The caller owns every buffer and every thread.
 *
 * Notation: (n, dim) is a row-major matrix; rows lie `stride` floats apart, stride is a multiple of WV_ROW_FLOATS, the
 * first row is aligned to 64 bytes and the padding is zero (kernels keep it zero).
 */
#ifndef WV_KERNELS_H
#define WV_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/wv_bioword.h"
#include "kernels/wv_glove.h"
#include "kernels/wv_hashing.h"
#include "kernels/wv_product.h"
#include "kernels/wv_search.h"
#include "kernels/wv_shared.h"
#include "kernels/wv_supervised.h"
#include "kernels/wv_word2vec.h"

typedef struct {
    const char *name; /* baseline, avx2, avx512, avx512icl: the values of WV_ISA */
    int lanes;        /* floats per vector register */

    /* Bytes of 64-byte-aligned scratch that one thread needs for this run. */
    size_t (*word2vec_scratch_bytes)(const wv_word2vec_run *run);
    /* Trains on ids[start, end) of one epoch. A pure function of (run, epoch, start): random draws are seeded by them,
     * the learning rate follows from the position, so any thread may run any block and a resumed run draws the same. */
    void (*word2vec_block)(const wv_word2vec_run *run, const wv_hot_rows *hot, const int32_t *ids, int64_t start,
                           int64_t end, int32_t epoch, void *scratch, wv_word2vec_result *result);

    /* out = in / |in|, (n, dim), the norm in double; rows of zeros stay zero, rows with NaN or infinity become NaN. */
    void (*search_normalise)(const float *in, int64_t in_stride, float *out, int64_t out_stride, int64_t n,
                             int32_t dim);
    /* Packs x, (count, dim), into panels. */
    void (*search_pack)(const float *x, int64_t stride, int32_t count, int32_t dim, float *panels);
    /* Offers rows [start, end) to every heap. One thread's ranges must ascend: that is how ties go to the lowest row. */
    void (*search_top_k)(const wv_top_k *run, int64_t start, int64_t end);
    /* The same for analogies; scratch is 64-byte aligned. */
    size_t (*search_analogies_scratch_bytes)(const wv_analogies *run);
    void (*search_analogies)(const wv_analogies *run, int64_t start, int64_t end, void *scratch);

    /* Trains on n records of a tile in an order drawn from (seed, iteration, chunk); returns the sum of their costs. */
    size_t (*glove_scratch_bytes)(int32_t records);
    double (*glove_chunk)(const wv_glove_run *run, const wv_glove_record *records, int32_t n, int32_t first_row,
                          int32_t first_column, uint64_t seed, uint64_t iteration, uint64_t chunk, void *scratch);

    /* Trains one block's centroids; returns how many errors it wrote: iterations, or fewer when the error fell no more. */
    size_t (*product_train_scratch_bytes)(int64_t points, int32_t width);
    int32_t (*product_train)(const wv_product_block *run, void *scratch);
    /* Codes of rows [start, end). Scratch is 64-byte aligned in both. */
    size_t (*product_encode_scratch_bytes)(int32_t dim, int32_t dsub);
    void (*product_encode)(const wv_product_codes *run, int64_t start, int64_t end, void *scratch);

    /* Walks over a corpus once: measures its lines and gives rows to the word n-grams in it, in order of first sight.
     * survey->next_row is the first row to give. */
    void (*supervised_survey)(const wv_line_rules *rules, const int32_t *ids, int64_t length, wv_line_survey *survey);
    size_t (*supervised_scratch_bytes)(const wv_supervised_run *run);
    /* Trains on the lines of ids[start, end) of one epoch; a pure function of (run, epoch, lines). */
    void (*supervised_block)(const wv_supervised_run *run, const int32_t *ids, int64_t start, int64_t end,
                             int32_t epoch, void *scratch, wv_supervised_result *result);
    /* The k best labels of lines [first, last): label and score (lines, k) and found (lines); scores are ln(p + 1e-5) as
     * fastText has it, falling. */
    size_t (*supervised_predict_scratch_bytes)(const wv_prediction_run *run);
    void (*supervised_predict)(const wv_prediction_run *run, const int64_t *start, const int32_t *row, int64_t lines,
                               int32_t *label, float *score, int32_t *found, void *scratch);

    /* Trains on the windows around ids[start, end), called by all threads of the run at once; returns the energy. */
    double (*bioword_batch)(wv_bioword_run *run, int64_t start, int64_t end, double rate, int32_t thread,
                            const wv_bioword_room *room);
    /* out, (words of ids[start, end), cells) = <W, v>, with empty contexts when words_only; returns the words. */
    int64_t (*bioword_activations)(const wv_bioword_run *run, int64_t start, int64_t end, int words_only,
                                   const wv_bioword_room *room, float *out);
    /* Codes of n rows: bits packed in (n, ceil(units / 64)), or for active > 0 ascending positions, (n, active). */
    size_t (*hash_scratch_bytes)(const wv_hasher *hasher);
    void (*hash_bits)(const wv_hasher *hasher, const float *rows, int64_t stride, int64_t n, uint64_t *out,
                      void *scratch);
    void (*hash_active)(const wv_hasher *hasher, const float *rows, int64_t stride, int64_t n, int32_t *out,
                        void *scratch);
    /* Trains on rows x[order[0 .. n)], `batch` at a time; returns the summed energy. scratch is zero at first. */
    size_t (*biohash_scratch_bytes)(const wv_biohash *run, int32_t batch);
    double (*biohash_train)(const wv_biohash *run, const float *x, int64_t stride, const int32_t *order, int64_t n,
                            int32_t batch, float lr, void *scratch);
    /* Offer the codes of rows [start, end) to every heap; start is a multiple of WV_CODE_LANES. */
    void (*hamming_top_k)(const wv_hamming *run, int64_t start, int64_t end);
    /* out[q, i] = distance of query q to row start + i, for all queries. */
    void (*hamming_distances)(const wv_hamming *run, int64_t start, int64_t end, int32_t *out);
    size_t (*overlap_scratch_bytes)(const wv_overlap *run);
    void (*overlap_top_k)(const wv_overlap *run, int64_t start, int64_t end, void *scratch);
} wv_kernels;

/* WV_NAME(f) is f's symbol for the instruction set being compiled: f_baseline, f_avx2, ... */
#define WV_JOIN_(name, isa) name##_##isa
#define WV_JOIN(name, isa) WV_JOIN_(name, isa)
#define WV_NAME(name) WV_JOIN(name, WV_ISA)
#define WV_TEXT_(x) #x
#define WV_TEXT(x) WV_TEXT_(x)

#endif
