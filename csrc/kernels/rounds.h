/* Deterministic rounds: the same bytes from any number of threads.
 *
 * A fixed number of virtual workers each train a block of the text in every round. Rows that several of them may use are
 * frozen meanwhile: at first use a worker copies such a row, from then on it works on its copy. Then the copies are
 * merged, row by row,
 *
 *     shared += share * sum over workers (copy - shared)
 *
 * in the order of the workers. A row that no other worker may use is trained where it is: most rows of a round are such. Which
 * those are is known before (round_users.h). Which thread does the work of which worker, or merges which rows, changes no
 * bit of the result. The shares are decided in wv_cli/models/rounds.py.
 *
 * A row's number among the copies is known when a tile lists it, the copy is made before the tile is trained, some tiles
 * later, when the row has come from memory.
 *
 * Copying and merging a row takes longer than training it, and most shared rows are negatives, each drawn once. A
 * worker therefore draws the negatives of a block from a pool of random numbers that is new for every block: a pair meets
 * each word as often as before in the mean, and the block has far fewer rows.
 */
#ifndef WV_ROUNDS_H
#define WV_ROUNDS_H

#include "base/lanes.h"
#include "base/rng.h"
#include "kernels/wv_kernels.h"

enum {
    AHEAD = 4,      /* rows that are on their way while one is merged */
    POOL_WORDS = 8, /* of the text, for every number that the pool has for each negative; by trial (benchmarks/README.md) */
};

/* The `size` random numbers mix(seed), mix(seed + 1) .. that choose the words of a block; size 0: each a new one. */
typedef struct {
    uint64_t seed;
    uint32_t size;
} random_pool;

WV_INLINE random_pool pool_of_block(int32_t negative, int64_t words, uint64_t *random) {
    return (random_pool){wv_rng_next(random), (uint32_t)(1 + negative * words / POOL_WORDS)};
}

/* Takes one number of `random`, whatever the pool. */
WV_INLINE uint64_t draw_from(random_pool pool, uint64_t *random) {
    uint64_t number = wv_rng_next(random);
    return pool.size ? wv_rng_mix(pool.seed + wv_rng_below(number, pool.size)) : number;
}

WV_INLINE void fetch_row(const float *row, int stride) {
    for (int d = 0; d < stride; d += WV_ROW_FLOATS) __builtin_prefetch(row + d, 0, 3);
}

/* Of all `users` of a row, as round_users.h marks them. */
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
WV_INLINE float *round_row(wv_round_rows *rows, float *shared, int stride, int32_t row) {
    int32_t slot = rows->slot[row];
    if (!slot) {
        slot = rows->slot[row] = first_slot(rows, row);
        fetch_row(shared + (size_t)row * (size_t)stride, stride);
    }
    return slot_row(slot, shared, rows->copy, (size_t)stride);
}

/* Of an output row that a tile has listed. */
WV_INLINE float *round_bias(const wv_round_worker *worker, float *shared, int32_t row) {
    return slot_row(worker->output.slot[row], shared, worker->output_bias, 1);
}

/* Makes the first `listed` copies. */
WV_INLINE void copy_listed(wv_round_rows *rows, const float *shared, const float *shared_bias, float *bias, int stride,
                           int32_t listed) {
    for (int32_t number = rows->copied; number < listed; number++) {
        const float *row = shared + (size_t)rows->row[number] * (size_t)stride;
        float *copy = rows->copy + (size_t)number * (size_t)stride;
        for (int d = 0; d < stride; d += WV_LANES) v_store(copy + d, v_load(row + d));
        if (bias) bias[number] = shared_bias[rows->row[number]];
    }
    if (listed > rows->copied) rows->copied = listed;
}

WV_INLINE void copy_inputs(const wv_word2vec_run *run, wv_round_worker *worker, int32_t listed) {
    copy_listed(&worker->input, run->input, NULL, NULL, run->stride, listed);
}

WV_INLINE void copy_outputs(const wv_word2vec_run *run, wv_round_worker *worker, int32_t listed) {
    copy_listed(&worker->output, run->output, run->output_bias, worker->output_bias, run->stride, listed);
}

/* How many copies there must be before a tile is trained. */
typedef struct {
    int32_t input, output;
} round_copies;

WV_INLINE round_copies copies_listed(const wv_round_worker *worker) {
    return (round_copies){worker->input.listed, worker->output.listed};
}

WV_INLINE void make_copies(const wv_word2vec_run *run, wv_round_worker *worker, round_copies copies) {
    copy_inputs(run, worker, copies.input);
    copy_outputs(run, worker, copies.output);
}

/* Before a block. */
WV_INLINE void begin_round(wv_round_worker *worker) {
    worker->input.listed = worker->input.copied = worker->input.in_place = 0;
    worker->output.listed = worker->output.copied = worker->output.in_place = 0;
}

/* After a block: no row has a slot that the thread's next block could find. */
WV_INLINE void forget_slots(wv_round_rows *rows) {
    for (int32_t number = 0; number < rows->listed; number++) rows->slot[rows->row[number]] = 0;
    for (int32_t number = 1; number <= rows->in_place; number++) rows->slot[rows->row[rows->most - number]] = 0;
}

/* ---------------------------------------------------------------- merging */

WV_INLINE wv_round_rows *matrix_of(wv_round_worker *worker, int output) {
    return output ? &worker->output : &worker->input;
}

/* All copies of the rows first .. end-1, worker after worker: `head` says where the first copy of a row is, 0 nowhere,
 * `next` where the following one is, both as 1 + number * WV_ROUND_WORKERS + worker. */
WV_INLINE void chain_copies(wv_round_worker *worker, int32_t workers, int output, int32_t first, int32_t end,
                            int32_t *head) {
    for (int32_t w = workers - 1; w >= 0; w--) {
        wv_round_rows *rows = matrix_of(&worker[w], output);
        for (int32_t number = 0; number < rows->listed; number++) {
            int32_t row = rows->row[number];
            if (row < first || row >= end) continue;
            rows->next[number] = head[row];
            head[row] = 1 + number * WV_ROUND_WORKERS + w;
        }
    }
}

/* The copies of one row. */
typedef struct {
    int count;
    const float *row[WV_ROUND_WORKERS], *bias[WV_ROUND_WORKERS];
} chained_copies;

/* Those of the chain that begins at `place`. */
WV_INLINE chained_copies copies_of(wv_round_worker *worker, int output, int stride, int32_t place) {
    chained_copies copies = {0};
    for (; place; copies.count++) {
        wv_round_worker *each = &worker[(place - 1) % WV_ROUND_WORKERS];
        wv_round_rows *rows = matrix_of(each, output);
        int32_t number = (place - 1) / WV_ROUND_WORKERS;
        copies.row[copies.count] = rows->copy + (size_t)number * (size_t)stride;
        copies.bias[copies.count] = each->output_bias + number;
        place = rows->next[number];
    }
    return copies;
}

/* `count`, a constant, is that of the copies. */
WV_INLINE void merge_copies(int count, const float *const *copy, int stride, float *shared, float share) {
    for (int d = 0; d < stride; d += WV_LANES) {
        vfloat old = v_load(shared + d), sum = v_load(copy[0] + d) - old;
        for (int c = 1; c < count; c++) sum += v_load(copy[c] + d) - old;
        v_store(shared + d, old + share * sum);
    }
}

/* A row of one user, and its bias, if any. */
WV_INLINE void take_copy(const chained_copies *copies, int stride, float *shared, float *bias) {
    for (int d = 0; d < stride; d += WV_LANES) v_store(shared + d, v_load(copies->row[0] + d));
    if (bias) *bias = *copies->bias[0];
}

WV_INLINE void merge_row(const chained_copies *copies, int stride, float *shared, float share) {
    switch (copies->count) {
#define CASE(n) case n: merge_copies(n, copies->row, stride, shared, share); break;
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#undef CASE
    }
}

WV_INLINE void merge_bias(const chained_copies *copies, float *shared, float share) {
    float sum = 0;
    for (int c = 0; c < copies->count; c++) sum += *copies->bias[c] - *shared;
    *shared += share * sum;
}

/* The rows first .. end-1 of a matrix. `head`, (rows), is zero before and after. */
WV_INLINE void merge_matrix(wv_round_worker *worker, int32_t workers, int output, int stride, int32_t first, int32_t end,
                            float *shared, float *bias, const float *share, const uint16_t *users, int32_t *head) {
    chain_copies(worker, workers, output, first, end, head);
    for (int32_t w = 0; w < workers; w++) {
        wv_round_rows *rows = matrix_of(&worker[w], output);
        for (int32_t number = -AHEAD; number < rows->listed; number++) {
            int32_t later = number + AHEAD;
            if (later < rows->listed) {
                int32_t row = rows->row[later];
                if (row >= first && row < end && head[row] == 1 + later * WV_ROUND_WORKERS + w) {
                    chained_copies copies = copies_of(worker, output, stride, head[row]);
                    fetch_row(shared + (size_t)row * (size_t)stride, stride);
                    for (int c = 0; c < copies.count; c++) fetch_row(copies.row[c], stride);
                }
            }
            if (number < 0) continue;
            int32_t row = rows->row[number];
            if (row < first || row >= end || head[row] != 1 + number * WV_ROUND_WORKERS + w) continue;
            chained_copies copies = copies_of(worker, output, stride, head[row]);
            float *old = shared + (size_t)row * (size_t)stride;
            if (has_one_user(users[row])) {
                take_copy(&copies, stride, old, bias ? bias + row : NULL);
            } else {
                merge_row(&copies, stride, old, share[row]);
                if (bias) merge_bias(&copies, bias + row, share[row]);
            }
            head[row] = 0;
        }
    }
}

#endif
