/* Deterministic runs: the same bytes from any number of threads.
 *
 * A fixed number of virtual workers each train a block of the text in every round. Rows that several of them may use are
 * frozen meanwhile: at first use a worker copies such a row, from then on it works on its copy. Then the copies are
 * merged, row by row,
 *
 *     shared += share * sum over workers (copy - shared)
 *
 * in the order of the workers. A row that no other worker may use is trained where it is: most rows of a round are such.
 * Which those are is known before (deterministic_users.h). Which thread does the work of which worker, or merges which
 * rows, changes no bit of the result. The shares are decided in wv_cli/models/deterministic.py.
 *
 * A row's number among the copies is known when a tile lists it, the copy is made before the tile is trained, some tiles
 * later, when the row has come from memory.
 *
 * Copying and merging a row takes longer than training it, and most shared rows are negatives, each drawn once. A
 * worker therefore draws the negatives of a block from a pool of random numbers that is new for every block: a pair meets
 * each word as often as before in the mean, and the block has far fewer rows.
 */
#ifndef WV_WORD2VEC_DETERMINISTIC_H
#define WV_WORD2VEC_DETERMINISTIC_H

#include "base/lanes.h"
#include "base/rng.h"
#include "kernels/word2vec/block.h"

enum { POOL_WORDS = 8 }; /* of the text, for every number that the pool has for each negative (benchmarks/notes.md) */

WV_INLINE random_pool pool_of_block(int32_t negative, int64_t words, uint64_t *random) {
    return (random_pool){wv_rng_next(random), (uint32_t)(1 + negative * words / POOL_WORDS)};
}

/* The number of the pool that a random number chooses. */
WV_INLINE uint64_t pool_number(random_pool pool, uint64_t number) {
    return wv_rng_mix(pool.seed + wv_rng_below(number, pool.size));
}

WV_INLINE void fetch_row(const float *row, int stride) {
    for (int d = 0; d < stride; d += WV_ROW_FLOATS) __builtin_prefetch(row + d, 0, 3);
}

/* Of all `users` of a row, as deterministic_users.h marks them. */
WV_INLINE int has_one_user(uint16_t users) {
    uint8_t workers = (uint8_t)users;
    return !(workers & (workers - 1));
}

/* One of two arrays of rows and the row, as a slot says. Without a branch, which would be guessed wrong too often. */
WV_INLINE float *slot_row(int32_t slot, float *shared, float *copy, size_t stride) {
    int64_t in_place = slot >> 31; /* all bits, or none */
    int64_t number = (slot ^ in_place) + ~in_place;
    uintptr_t base = (uintptr_t)copy ^ (((uintptr_t)copy ^ (uintptr_t)shared) & (uintptr_t)in_place);
    return (float *)base + (size_t)number * stride;
}

/* The slot of a row that the block uses for the first time. */
WV_INLINE int32_t first_slot(wv_round_rows *rows, int32_t row) {
    if (rows->users[row] == rows->alone) {
        rows->row[rows->most - ++rows->in_place] = row;
        return -1 - row;
    }
    rows->row[rows->listed] = row;
    return ++rows->listed;
}

/* Where a row is trained: where its copy lies, or will, or where it is. */
WV_INLINE float *deterministic_row(wv_round_rows *rows, float *shared, int stride, int32_t row) {
    int32_t slot = rows->slot[row];
    if (!slot) {
        slot = rows->slot[row] = first_slot(rows, row);
        fetch_row(shared + (size_t)row * (size_t)stride, stride);
    }
    return slot_row(slot, shared, rows->copy, (size_t)stride);
}

/* Makes the first `listed` copies. */
WV_INLINE void deterministic_copy_rows(wv_round_rows *rows, const float *shared, int stride, const float *shared_bias,
                                       float *bias, int32_t listed) {
    for (int32_t number = rows->copied; number < listed; number++) {
        const float *row = shared + (size_t)rows->row[number] * (size_t)stride;
        float *copy = rows->copy + (size_t)number * (size_t)stride;
        for (int d = 0; d < stride; d += WV_LANES) v_store(copy + d, v_load(row + d));
        if (bias) bias[number] = shared_bias[rows->row[number]];
    }
    if (listed > rows->copied) rows->copied = listed;
}

/* Before a block. */
WV_INLINE void deterministic_use_none(wv_round_worker *worker) {
    worker->input.listed = worker->input.copied = worker->input.in_place = 0;
    worker->output.listed = worker->output.copied = worker->output.in_place = 0;
}

/* After a block: no row has a slot that the thread's next block could find. */
WV_INLINE void deterministic_forget(wv_round_rows *rows) {
    for (int32_t number = 0; number < rows->listed; number++) rows->slot[rows->row[number]] = 0;
    for (int32_t number = 1; number <= rows->in_place; number++) rows->slot[rows->row[rows->most - number]] = 0;
}

#endif
