/* word2vec and fastText: the structs of kernels/word2vec/. */
#ifndef WV_WORD2VEC_H
#define WV_WORD2VEC_H

#include <stdint.h>

#include "base/wv_shared.h"

#define WV_ROUND_WORKERS 8  /* virtual workers of a deterministic run, at most */
#define WV_ROUND_STAMPS 255 /* see wv_round_merge */
#define WV_SLICE_ROWS 64    /* neighboring rows that belong to one slice of the noise; a power of two */

typedef enum { WV_MODEL_SKIPGRAM, WV_MODEL_CBOW } wv_word2vec_model;
typedef enum { WV_CBOW_GRADIENT_WORD2VEC, WV_CBOW_GRADIENT_CORRECTED } wv_cbow_gradient;

typedef enum { WV_WINDOW_SIDE_BOTH, WV_WINDOW_SIDE_LEFT, WV_WINDOW_SIDE_RIGHT } wv_window_side;

/* What the user chooses. Every field is the attribute of its name of Word2vecConfig (wv_cli/models/config.py). */
typedef struct {
    wv_word2vec_model model; /* the context rule */
    wv_loss loss;            /* the output layer */
    int32_t dim;
    int32_t window;
    int32_t negative;
    int32_t max_sentence;    /* tokens kept in one training sentence */
    int shrink_window;       /* 1: width uniform in 1..window per position, 0: always `window` */
    wv_window_side window_side; /* which words of the window are context */
    int whole_line;          /* 1: the words of a sentence are put in a random order each time it is read */
    int share_negatives;     /* 1: one draw of negatives for all context words of a position, 0: one for each */
    int share_positions;     /* 1: CBOW with negative sampling: so do neighboring positions (word2vec/cbow_neighbors.h) */
    int cbow_mean;           /* 1: the hidden vector is the mean of the context rows, 0: their sum */
    wv_cbow_gradient cbow_gradient; /* corrected: the context gradient is divided by the context size (koan) */
    float start_lr, least_lr; /* the rate falls linearly with the position in the run, never below least_lr */
    int32_t epochs;
    uint64_t seed;
} wv_word2vec_options;

/* Everything about a training run that does not change while it runs, except the matrices themselves, which all
 * threads update without locks (Hogwild). A table that the output layer does not read is NULL. Filled by
 * wv_cli/_word2vec.pyx. */
typedef struct {
    wv_word2vec_options options;
    int32_t vocab_size;
    int32_t stride;
    float *input;       /* (vocab_size, dim): the word vectors; with subwords (vocab_size + n-grams, dim) */
    float *output;      /* (vocab_size, dim); hierarchical softmax: (vocab_size - 1, dim), one row per inner node; */
    int32_t first_word; /* both at once: first the nodes, then the words, from this row on; otherwise 0 */
    float *output_bias; /* (vocab_size): NCE */
    int64_t epoch_tokens; /* ids in the corpus: with `epochs` the length of the schedule */

    const uint32_t *keep;    /* (vocab_size): a token survives subsampling when its 32-bit draw is <= keep; NULL: all do */
    const wv_alias *sampler; /* (vocab_size): noise distribution, negative sampling and NCE */
    const float *log_noise;  /* (vocab_size): ln(negative * P_noise(word)), NCE */
    const int64_t *path_start; /* (vocab_size + 1): Huffman path of word w is path[path_start[w]] .. path[path_start[w + 1] - 1] */
    const int32_t *path; /* root first: twice the row of `output`, plus the label, 1 - code bit as word2vec has it */
    int32_t longest_path;
    const int64_t *subword_start; /* (vocab_size + 1): word w is the mean of the rows input[subword[subword_start[w]]] ..; */
    const int32_t *subword;       /* at least one each, its own first, repeats allowed; NULL: a word is its row alone */
    int32_t most_subwords;
} wv_word2vec_run;

/* Of one matrix the copies that a virtual worker makes in a round of a deterministic run (word2vec/deterministic.h). */
typedef struct {
    const uint16_t *users; /* (rows of the matrix): which workers may use a row in this round (word2vec/deterministic_users.h) */
    int32_t alone;         /* `users` of a row that is trained where it is; -1: none is */
    int32_t *slot; /* (rows of the matrix), of the thread: 1 + the number of a row's copy, -1 - row: it is trained where
                      it is, 0: not used yet; zeros between blocks */
    int32_t *row;  /* (most): whose copies they are, in the order of first use; from the end on those without a copy */
    int32_t *next; /* (most): while merging, where the next worker's copy of the row is */
    float *copy;   /* (most, dim) */
    int32_t most, listed, copied; /* rows in a block; copies that have a number; those of them that are made */
    int32_t in_place;             /* rows used without a copy */
} wv_round_rows;

typedef struct {
    wv_round_rows input, output;
    float *output_bias; /* (most of `output`): copies of run->output_bias; NULL: there are no biases */
} wv_round_worker;

/* What the workers have in common, and how the copies of all are merged. */
typedef struct {
    int32_t workers, threads;
    int32_t round; /* 1 to WV_ROUND_STAMPS, another one for each round until all `users` are zero again */
    int32_t input_rows, output_rows;
    const float *input_share, *output_share; /* (rows): of the sum of what all workers changed, what is added */
    uint16_t *input_users, *output_users; /* (rows): see wv_round_rows */
} wv_round_merge;

/* One thread's replicas (word2vec/replica.h) of `inputs` rows of `input` and of the rows first_output ..
 * first_output+count-1 of `output`, and what these rows were at the last exchange: (inputs, dim) and (count, dim), all
 * zero before the first block, as are the last two numbers. */
typedef struct {
    int32_t count, first_output, hottest_output; /* replica hottest_output, and what lies nearest to it, is used most */
    int32_t inputs;
    const int32_t *input_row; /* (inputs): whose replicas they are, used most first; NULL: the first rows' */
    const int32_t *subword;   /* run->subword with -1 - replica in the place of a row that has one; NULL: no subword has */
    int32_t hottest, interval; /* so many rows are exchanged after every `interval` words, twice as many every second time */
    float *input, *input_base, *output, *output_base;
    int64_t input_distance, output_distance; /* bytes from where a row lies that has a replica to that */
    const float *input_share, *output_share; /* (inputs), (count): of a change, the share that is added to the shared row */
    int32_t slices, slice; /* a power of two: the noise of the words slice_first .. slice_end-1 is that of one slice (replica.h) */
    int32_t slice_first, slice_end;
    int64_t slice_exchanges; /* after so many exchanges the thread takes the next slice */
    int64_t tokens;     /* words until the next exchange */
    int64_t exchanges;  /* so far */
} wv_replicas;

/* Where the rows lie that a thread trains: word2vec/row_stores.h. */
typedef enum { WV_ROWS_DIRECT, WV_ROWS_REPLICA, WV_ROWS_DETERMINISTIC } wv_row_store;

typedef struct {
    wv_row_store store;
    wv_replicas replicas;    /* of the replica store */
    wv_round_worker *worker; /* of the deterministic store: the copies of all rows that it uses */
} wv_word2vec_rows;

#endif
