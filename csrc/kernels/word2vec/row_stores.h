/* Row stores: where the rows lie that a thread trains. A block has one of three:
 *
 *     direct          the matrices themselves, which all threads change without locks
 *     replica         the thread's own replicas of the frequent rows, the matrices for all others (replica.h)
 *     deterministic   copies that a virtual worker makes of the rows that others may use in the same round
 *                     (deterministic.h)
 *
 * A store is a row of the table at the end, one function for each thing it does. word2vec.c makes a loop of its own of
 * each, so that a row's place is not asked for while a tile is listed. A tile holds pointers: training knows no store.
 */
#ifndef WV_WORD2VEC_ROW_STORES_H
#define WV_WORD2VEC_ROW_STORES_H

#include "kernels/word2vec/block.h"
#include "kernels/word2vec/deterministic.h"
#include "kernels/word2vec/replica.h"

typedef struct {
    /* Where a row lies: of `input` that of a word, of `output` any; where the bias of a word lies whose output row the tile
     * has listed. */
    float *(*input_row)(word2vec_block *block, int32_t word);
    float *(*output_row)(word2vec_block *block, int32_t row);
    float *(*output_bias)(word2vec_block *block, int32_t word);
    /* The numbers of a word's rows of `input` where words have subwords, and where these rows lie: (subword_count). */
    const int32_t *(*subword_numbers)(const word2vec_block *block, int32_t word);
    void (*subword_rows)(word2vec_block *block, int32_t word, int count, float **list);
    /* A random number that chooses a word. */
    uint64_t (*draw_number)(word2vec_block *block);
    /* The word that is trained as noise in the place of a word that was drawn. */
    int32_t (*noise_word)(const word2vec_block *block, int32_t word);
    /* Before a block of so many words. NULL here and below: nothing is done. */
    void (*begin)(word2vec_block *block, int64_t words);
    /* After a block, whose last batch had so many words. */
    void (*end)(word2vec_block *block, int64_t words);
    /* Before a batch, after one of so many words. */
    void (*read)(word2vec_block *block, int64_t words);
    /* What a tile that is listed now needs when it is trained, and makes that; makes all input rows that are listed. */
    row_copies (*copies_listed)(const word2vec_block *block);
    void (*make_copies)(word2vec_block *block, row_copies copies);
    void (*make_inputs)(word2vec_block *block);
    /* Gives the matrices all that has been learnt. */
    void (*flush)(const wv_word2vec_run *run, wv_word2vec_rows *rows);
} row_store;

/* ---------------------------------------------------------------- direct */

WV_INLINE float *direct_input(word2vec_block *block, int32_t word) {
    return block->run->input + (size_t)word * (size_t)block->run->stride;
}

WV_INLINE float *direct_output(word2vec_block *block, int32_t row) {
    return block->run->output + (size_t)row * (size_t)block->run->stride;
}

WV_INLINE float *direct_bias(word2vec_block *block, int32_t word) { return &block->run->output_bias[word]; }

WV_INLINE const int32_t *direct_subword_numbers(const word2vec_block *block, int32_t word) {
    return block->run->subword + block->run->subword_start[word];
}

WV_INLINE void direct_subword_rows(word2vec_block *block, int32_t word, int count, float **list) {
    const int32_t *row = direct_subword_numbers(block, word);
    for (int k = 0; k < count; k++) list[k] = direct_input(block, row[k]);
}

WV_INLINE uint64_t direct_number(word2vec_block *block) { return wv_rng_next(&block->random); }

WV_INLINE int32_t direct_noise(const word2vec_block *block, int32_t word) {
    (void)block;
    return word;
}

/* ---------------------------------------------------------------- replica */

/* `bytes` if `condition`, otherwise 0. Without a branch: which words have replicas is as random as the text, and wrong
 * guesses of a branch took 8 % of a thread's time. */
WV_INLINE uintptr_t bytes_if(int condition, int64_t bytes) { return (uintptr_t)bytes & -(uintptr_t)condition; }

WV_INLINE float *replica_input(word2vec_block *block, int32_t word) {
    const wv_replicas *replicas = &block->rows->replicas;
    return (float *)((uintptr_t)direct_input(block, word) + bytes_if(word < replicas->count, replicas->input_distance));
}

WV_INLINE float *replica_output(word2vec_block *block, int32_t row) {
    const wv_replicas *replicas = &block->rows->replicas;
    int has_replica = (uint32_t)row - (uint32_t)replicas->first_output < (uint32_t)replicas->count;
    return (float *)((uintptr_t)direct_output(block, row) + bytes_if(has_replica, replicas->output_distance));
}

/* Negative: the replica -1 - number. */
WV_INLINE const int32_t *replica_subword_numbers(const word2vec_block *block, int32_t word) {
    const int32_t *marked = block->rows->replicas.subword;
    return (marked ? marked : block->run->subword) + block->run->subword_start[word];
}

WV_INLINE void replica_subword_rows(word2vec_block *block, int32_t word, int count, float **list) {
    const wv_replicas *replicas = &block->rows->replicas;
    if (!replicas->subword) {
        direct_subword_rows(block, word, count, list);
        return;
    }
    const int32_t *row = replica_subword_numbers(block, word);
    for (int k = 0; k < count; k++) {
        /* Of a row that has no replica the matrix begins as far from the replicas as it lies behind that. */
        uintptr_t first = (uintptr_t)replicas->input - bytes_if(row[k] >= 0, replicas->input_distance);
        list[k] = (float *)first + (size_t)(row[k] ^ (row[k] >> 31)) * (size_t)block->run->stride;
    }
}

WV_INLINE int32_t replica_noise(const word2vec_block *block, int32_t word) {
    return replica_noise_of_slice(&block->rows->replicas, word);
}

static void replica_read(word2vec_block *block, int64_t words) {
    replica_exchange_due(block->run, &block->rows->replicas, words);
}

static void replica_end(word2vec_block *block, int64_t words) { block->rows->replicas.tokens -= words; }

static void replica_flush(const wv_word2vec_run *run, wv_word2vec_rows *rows) {
    replica_exchange(run, &rows->replicas, rows->replicas.count);
}

/* ---------------------------------------------------------------- deterministic */

WV_INLINE float *deterministic_input(word2vec_block *block, int32_t word) {
    return deterministic_row(&block->rows->worker->input, block->run->input, block->run->stride, word);
}

WV_INLINE float *deterministic_output(word2vec_block *block, int32_t row) {
    return deterministic_row(&block->rows->worker->output, block->run->output, block->run->stride, row);
}

WV_INLINE float *deterministic_bias(word2vec_block *block, int32_t word) {
    const wv_round_worker *worker = block->rows->worker;
    return slot_row(worker->output.slot[word], block->run->output_bias, worker->output_bias, 1);
}

WV_INLINE void deterministic_subword_rows(word2vec_block *block, int32_t word, int count, float **list) {
    const int32_t *row = direct_subword_numbers(block, word);
    for (int k = 0; k < count; k++) list[k] = deterministic_input(block, row[k]);
}

WV_INLINE uint64_t deterministic_number(word2vec_block *block) {
    return pool_number(block->pool, wv_rng_next(&block->random));
}

static void deterministic_begin(word2vec_block *block, int64_t words) {
    const wv_word2vec_run *run = block->run;
    deterministic_use_none(block->rows->worker);
    if (run->sampler) block->pool = pool_of_block(run->options.negative, words, &block->random);
}

static void deterministic_end(word2vec_block *block, int64_t words) {
    (void)words;
    deterministic_forget(&block->rows->worker->input);
    deterministic_forget(&block->rows->worker->output);
}

WV_INLINE row_copies deterministic_listed(const word2vec_block *block) {
    const wv_round_worker *worker = block->rows->worker;
    return (row_copies){worker->input.listed, worker->output.listed};
}

WV_INLINE void deterministic_copy(word2vec_block *block, row_copies copies) {
    const wv_word2vec_run *run = block->run;
    wv_round_worker *worker = block->rows->worker;
    deterministic_copy_rows(&worker->input, run->input, run->stride, NULL, NULL, copies.input);
    deterministic_copy_rows(&worker->output, run->output, run->stride, run->output_bias, worker->output_bias,
                            copies.output);
}

WV_INLINE void deterministic_copy_inputs(word2vec_block *block) {
    wv_round_rows *input = &block->rows->worker->input;
    deterministic_copy_rows(input, block->run->input, block->run->stride, NULL, NULL, input->listed);
}

/* ---------------------------------------------------------------- the table */

/* ROW(the constant's name, the functions): word2vec.c makes loops of its own of each row. */
#define ROW_STORE_ROWS(ROW)                                                                                           \
    ROW(DIRECT, direct_input, direct_output, direct_bias, direct_subword_numbers, direct_subword_rows, direct_number, \
        direct_noise, NULL, NULL, NULL, NULL, NULL, NULL, NULL)                                                       \
    ROW(REPLICA, replica_input, replica_output, direct_bias, replica_subword_numbers, replica_subword_rows,           \
        direct_number, replica_noise, NULL, replica_end, replica_read, NULL, NULL, NULL, replica_flush)               \
    ROW(DETERMINISTIC, deterministic_input, deterministic_output, deterministic_bias, direct_subword_numbers,         \
        deterministic_subword_rows, deterministic_number, direct_noise, deterministic_begin, deterministic_end, NULL, \
        deterministic_listed, deterministic_copy, deterministic_copy_inputs, NULL)

#define ROW(name, ...) [WV_ROWS_##name] = {__VA_ARGS__},
static const row_store ROW_STORES[] = {ROW_STORE_ROWS(ROW)};
#undef ROW

/* Functions of a store that a tile calls for every output, by cases. GCC learns the pointers of `store`, a constant, too
 * late to inline the functions behind them: a call for every output cost CBOW 2 to 5 % (GCC 12). */
#define ROW(name, ...) case WV_ROWS_##name: return ROW_STORES[WV_ROWS_##name].CALL;
WV_INLINE float *output_row_of(const row_store *store, word2vec_block *block, int32_t row) {
    switch (store - ROW_STORES) {
#define CALL output_row(block, row)
        ROW_STORE_ROWS(ROW)
#undef CALL
    default: return NULL;
    }
}

WV_INLINE float *output_bias_of(const row_store *store, word2vec_block *block, int32_t word) {
    switch (store - ROW_STORES) {
#define CALL output_bias(block, word)
        ROW_STORE_ROWS(ROW)
#undef CALL
    default: return NULL;
    }
}

WV_INLINE uint64_t drawn_number(const row_store *store, word2vec_block *block) {
    switch (store - ROW_STORES) {
#define CALL draw_number(block)
        ROW_STORE_ROWS(ROW)
#undef CALL
    default: return 0;
    }
}

WV_INLINE int32_t noise_word_of(const row_store *store, const word2vec_block *block, int32_t word) {
    switch (store - ROW_STORES) {
#define CALL noise_word(block, word)
        ROW_STORE_ROWS(ROW)
#undef CALL
    default: return word;
    }
}
#undef ROW

#endif
