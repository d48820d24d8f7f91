/* Merging what the workers of a deterministic run have changed in a round (deterministic.h), row by row. */
#ifndef WV_WORD2VEC_DETERMINISTIC_MERGE_H
#define WV_WORD2VEC_DETERMINISTIC_MERGE_H

#include "kernels/word2vec/deterministic.h"

enum { MERGE_AHEAD = 4 }; /* rows that are on their way while one is merged */

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

/* The rows first .. end-1 of a matrix, `input` or `output`. */
typedef struct {
    wv_round_worker *worker; /* (workers) */
    int32_t workers, first, end;
    int output, stride;
    float *shared, *bias; /* bias: (rows) or NULL */
    const float *share;
    const uint16_t *users;
    int32_t *head; /* (rows): zero before and after */
} merged_rows;

WV_INLINE void merge_matrix(merged_rows of) {
    wv_round_worker *worker = of.worker;
    int32_t workers = of.workers, first = of.first, end = of.end, *head = of.head;
    int output = of.output, stride = of.stride;
    float *shared = of.shared, *bias = of.bias;
    chain_copies(worker, workers, output, first, end, head);
    for (int32_t w = 0; w < workers; w++) {
        wv_round_rows *rows = matrix_of(&worker[w], output);
        for (int32_t number = -MERGE_AHEAD; number < rows->listed; number++) {
            int32_t later = number + MERGE_AHEAD;
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
            if (has_one_user(of.users[row])) {
                take_copy(&copies, stride, old, bias ? bias + row : NULL);
            } else {
                merge_row(&copies, stride, old, of.share[row]);
                if (bias) merge_bias(&copies, bias + row, of.share[row]);
            }
            head[row] = 0;
        }
    }
}

#endif
