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

#include "kernels/wv_product.h"
#include "kernels/wv_bioword.h"

#define WV_ROW_FLOATS 16 /* rows are padded to 64 bytes: aligned loads, and no two threads share a cache line by chance */

/* In an id stream (see wv_cli/text/corpus.py) a line ends with this id. Ids below it are labels: label = WV_FIRST_LABEL - id. */
#define WV_END_OF_LINE (-1)
#define WV_FIRST_LABEL (-2)

/* ---------------------------------------------------------------- word2vec */

typedef enum { WV_SKIPGRAM, WV_CBOW } wv_context_rule;
typedef enum { WV_NEGATIVE_SAMPLING, WV_HIERARCHICAL_SOFTMAX, WV_SOFTMAX, WV_NCE } wv_output_layer;

/* One bucket of an alias table (core/sampler.h): stay when the coin is below `threshold`, else take `other`. */
typedef struct {
    uint32_t threshold;
    int32_t other;
} wv_alias;

/* Everything about a training run that does not change while it runs, except the matrices themselves, which all
 * threads update without locks (Hogwild). Filled by wv_cli/_word2vec.pyx. */
typedef struct {
    int32_t vocab_size;
    int32_t dim;
    int32_t stride;
    float *input;       /* (vocab_size, dim): the word vectors; with subwords (vocab_size + n-grams, dim) */
    float *output;      /* (vocab_size, dim); hierarchical softmax: (vocab_size - 1, dim), one row per inner node */
    float *output_bias; /* (vocab_size): NCE; else NULL */

    const uint32_t *keep;    /* (vocab_size): a token survives subsampling when its 32-bit draw is <= keep; NULL: all do */
    const wv_alias *sampler; /* (vocab_size): noise distribution, negative sampling and NCE */
    const float *log_noise;  /* (vocab_size): ln(negative * P_noise(word)), NCE */
    const int64_t *path_start; /* (vocab_size + 1): Huffman path of word w is path[path_start[w]] .. path[path_start[w + 1] - 1] */
    const int32_t *path; /* root first: twice the row of `output`, plus the label, 1 - code bit as word2vec has it */
    int32_t longest_path;
    const int64_t *subword_start; /* (vocab_size + 1): word w is the mean of the rows input[subword[subword_start[w]]] ..; */
    const int32_t *subword;       /* at least one each, its own first, repeats allowed; NULL: a word is its row alone */
    int32_t most_subwords;

    wv_context_rule context;
    wv_output_layer layer;
    int32_t window;
    int32_t negative;
    int32_t max_sentence;      /* tokens kept in one training sentence */
    int shrink_window;         /* 1: width uniform in 1..window per position, 0: always `window` */
    int share_negatives;       /* 1: one draw of negatives for all context words of a position, 0: one for each */
    int cbow_mean;             /* 1: the hidden vector is the mean of the context rows, 0: their sum */
    int cbow_divide_gradient;  /* 1: divide the context gradient by the context size (koan); 0: word2vec's */

    float lr, lr_floor;        /* lr falls linearly with the position in the run, never below lr_floor */
    int64_t epoch_tokens;      /* ids in the corpus: with `epochs` the length of the schedule */
    int32_t epochs;
    uint64_t seed;
} wv_word2vec_run;

/* One thread's private copies (hotrows.h) of the rows 0 .. count-1 of `input` and first_output ..
 * first_output+count-1 of `output`, and what these rows were at the last exchange. All (count, dim), all zero before the
 * first block. count 0: none. */
typedef struct {
    int32_t count, first_output;
    float *input, *input_base, *output, *output_base;
} wv_hot_rows;

/* What one block did: sums, so that blocks and threads add up. */
typedef struct {
    double loss;      /* summed negative log likelihood, natural log; NaN or infinite once a row has diverged */
    int64_t examples; /* terms in `loss`: (input, predicted word) pairs; CBOW: predicted words */
    int64_t tokens;   /* ids of words read, before subsampling */
    float lr;         /* at the end of the block */
} wv_word2vec_result;

/* ---------------------------------------------------------------- search */

/* Vectors stand side by side in panels so that one register holds the same coordinate of `lanes` of them:
 * panels is (ceil(count / lanes), dim, lanes), the lanes after the last vector zero, aligned to 64 bytes. */

/* One thread's scan for the k best rows of every query. Each query owns a heap of k slots, worst first (lowest score,
 * then highest row); the caller fills them with score -inf. NaN is never selected. */
typedef struct {
    const float *rows; /* (n, dim), rows `stride` floats apart; any alignment */
    int64_t stride;
    int32_t dim;
    int32_t queries;
    int32_t k;
    const float *panels;          /* the queries */
    float *threshold;             /* (queries rounded up to lanes): the worst score in the heap; +inf after the last */
    float *scores;                /* (queries, k) */
    int32_t *hits;                /* (queries, k): row numbers */
    const int64_t *exclude_start; /* (queries + 1): query q never returns exclude[exclude_start[q] .. [q + 1]); or NULL */
    const int32_t *exclude;       /* row numbers, ascending within a query */
} wv_top_k;

typedef enum { WV_3COSADD, WV_3COSMUL } wv_analogy_method;

/* One thread's scan for the k best answers to `a is to b as c is to ?`. Questions share words, so the scores of the
 * distinct words against a block of rows are made once and combined per question. */
typedef struct {
    const float *rows; /* (n, dim) unit vectors */
    int64_t stride;
    int32_t dim;
    int32_t questions;
    int32_t k;
    wv_analogy_method method;
    const float *words; /* (distinct, dim) unit vectors, rows `dim` floats apart */
    int32_t distinct;
    const int32_t *question; /* (questions, 3): a, b, c as rows of `words` */
    const int32_t *word_row; /* (distinct): the row each word must not be answered with */
    float *threshold;        /* (questions) */
    float *scores;           /* (questions, k) */
    int32_t *hits;           /* (questions, k) */
} wv_analogies;

/* ---------------------------------------------------------------- GloVe */

/* A co-occurrence count in a tile: row and column are relative to the tile's first word and first context. */
typedef struct {
    uint16_t row, column;
    float count;
} wv_glove_record;

/* Rows are 2 * half floats: the vector with its bias, then the squared gradients (see kernels/glove.c). */
typedef struct {
    float *words;    /* (vocab_size, 2 * half) */
    float *contexts; /* (vocab_size, 2 * half) */
    int32_t half;    /* dim + 2 rounded up to WV_ROW_FLOATS */
    float eta, clip, log_x_max, alpha;
} wv_glove_run;

/* ---------------------------------------------------------------- the classifier */

#include "kernels/wv_supervised.h"

/* ---------------------------------------------------------------- codes */

#include "kernels/wv_hashing.h"

/* ---------------------------------------------------------------- the table */

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
