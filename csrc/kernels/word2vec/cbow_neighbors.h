/* CBOW with negative sampling where neighboring positions share a tile: every context row is taken up once for all their
 * hidden vectors, one draw of negatives serves them all, and every context row moves once.
 *
 * Of a tile with P = 4 positions, M context rows (held[i, n]: row i stands in window n) and N drawn negatives
 *
 *     H = scale * held^T X             (P, dim)  the sums of the windows, or their means
 *     S = H Y^T, s_n = h_n . own_n     (P, N)    against the negatives, and each against its center's row
 *     D = G Y,     Y += G^T H          as in tile.h, a negative j counting share_j, nothing where it is the center itself
 *     d_n += g_n own_n,  own_n += g_n h_n
 *     X += held (share * D)
 *
 * Negatives are drawn once for all P windows; word j, drawn m_j times, counts share_j = m_j * negative / drawn, so that a
 * position meets `negative` negatives in the mean, as when it draws its own. Fewer are drawn than P positions would draw,
 * so the steps of the negatives vary more. Much of that variation is which rows are drawn. A control variate takes it out
 * (Wang, Chen, Smola & Xing 2013): with s the mean sigmoid of the tile and E y the mean of output rows under the noise,
 *
 *     sum_j sigma_nj y_j   becomes   sum_j (sigma_nj - s) y_j + N s E y
 *
 * in the steps of the hidden vectors. The mean of the steps stays the same. E y is the running mean of the rows drawn so
 * far in the block. Without the control variate analogies fall by 2 points, with it not beyond what seeds differ by
 * (benchmarks/notes.md). All scores are made first, from the rows as they were.
 *
 * Sharing between the context words of one position is pWord2Vec's (Ji et al. 2016), between positions that of Rengasamy
 * et al. (2017), here without looking for positions that fit. With skip-gram it cost 2.0 analogy points, and with
 * subwords it was no faster: both are gone.
 */
#ifndef WV_WORD2VEC_CBOW_NEIGHBORS_H
#define WV_WORD2VEC_CBOW_NEIGHBORS_H

#include "kernels/word2vec/neighbor_tiles.h"

typedef int32_t each_position __attribute__((vector_size(4 * WV_SHARING)));

/* A tile as its arithmetic sees it. A position that is not there (at the end of a sentence) holds no row, its steps are
 * zero and `own` is any row of the tile. */
typedef struct {
    int inputs, dim;
    float *const *input;
    const float *held; /* (inputs, WV_SHARING): 1 where window n holds row i */
    float scale[WV_SHARING], share[WV_SHARING];
    float *own[WV_SHARING], *hidden[WV_SHARING], *delta[WV_SHARING];
} cbow_tile;

/* hidden[n] = scale[n] * sum over i of held[i, n] * input[i] in the columns from d on, as many vectors as `columns`, a
 * constant; score[n] += lane-wise partial dot products of hidden[n] and own[n]. */
WV_INLINE void take_columns(const cbow_tile *tile, int columns, int d, vfloat *score) {
    vfloat sum[WV_SHARING][2];
    const float *held = tile->held;
    for (int n = 0; n < WV_SHARING; n++)
        for (int c = 0; c < columns; c++) sum[n][c] = v_splat(0);
    for (int i = 0; i < tile->inputs; i++, held += WV_SHARING) {
        vfloat row[2];
        for (int c = 0; c < columns; c++) row[c] = v_load(tile->input[i] + d + c * WV_LANES);
        for (int n = 0; n < WV_SHARING; n++) {
            vfloat times = v_splat(held[n]);
            for (int c = 0; c < columns; c++) sum[n][c] += times * row[c];
        }
    }
    for (int n = 0; n < WV_SHARING; n++)
        for (int c = 0, at = d; c < columns; c++, at += WV_LANES) {
            sum[n][c] *= tile->scale[n];
            v_store(tile->hidden[n] + at, sum[n][c]);
            score[n] += sum[n][c] * v_load(tile->own[n] + at);
        }
}

/* hidden, and scores[n] = hidden[n] . own[n]; scores may be overrun by WV_LANES - 1. Two columns at a time: one sum would
 * wait for the one before. */
WV_INLINE void take_rows(const cbow_tile *tile, float *scores) {
    vfloat score[WV_SHARING], sums[WV_LANES];
    int d = 0;
    for (int n = 0; n < WV_SHARING; n++) score[n] = v_splat(0);
    for (; d + WV_LANES < tile->dim; d += 2 * WV_LANES) take_columns(tile, 2, d, score);
    if (d < tile->dim) take_columns(tile, 1, d, score);
    for (int n = 0; n < WV_LANES; n++) sums[n] = n < WV_SHARING ? score[n] : v_splat(0);
    v_store_unaligned(scores, v_sums(sums));
}

/* input[i] += sum over n of held[i, n] * delta[n] in the columns from d on, as many vectors as `columns`, a constant. */
WV_INLINE void give_columns_back(const cbow_tile *tile, int columns, int d) {
    vfloat step[WV_SHARING][2];
    const float *held = tile->held;
    for (int n = 0; n < WV_SHARING; n++)
        for (int c = 0; c < columns; c++) step[n][c] = v_load(tile->delta[n] + d + c * WV_LANES);
    for (int i = 0; i < tile->inputs; i++, held += WV_SHARING) {
        float *row = tile->input[i] + d;
        vfloat sum[2];
        for (int c = 0; c < columns; c++) sum[c] = v_load(row + c * WV_LANES);
        for (int n = 0; n < WV_SHARING; n++) {
            vfloat times = v_splat(held[n]);
            for (int c = 0; c < columns; c++) sum[c] += times * step[n][c];
        }
        for (int c = 0; c < columns; c++) v_store(row + c * WV_LANES, sum[c]);
    }
}

WV_INLINE void give_rows(const cbow_tile *tile) {
    int d = 0;
    for (; d + WV_LANES < tile->dim; d += 2 * WV_LANES) give_columns_back(tile, 2, d);
    if (d < tile->dim) give_columns_back(tile, 1, d);
}

/* A block of negatives and what is to be done with it. */
typedef struct {
    float *const *y;
    const float *step, *own_step; /* (WV_SHARING, outputs), (WV_SHARING) */
    const float *share;
    float *mean;      /* of the drawn rows, and the rate at which it follows them */
    float rate, pull; /* pull: lr * s of the control variate, less what the drawn rows themselves are of the mean */
    int first, last;  /* the first block begins `delta`, the last one gives it to the rows */
} cbow_negatives;

WV_INLINE void update_columns(const cbow_tile *tile, int outputs, const cbow_negatives *some, tile_ahead ahead) {
    float total = 0;
    for (int j = 0; j < outputs; j++) total += some->share[j];
    for (int d = 0; d < tile->dim; d += WV_LANES) {
        for (int k = 0; d % 16 == 0 && k < ahead.count; k++) __builtin_prefetch(ahead.rows[k] + d, 1, 3);
        vfloat row[WV_TILE_OUTPUTS], delta[WV_TILE_OUTPUTS], step[WV_SHARING];
        vfloat mean = v_load(some->mean + d), off = -total * mean;
        for (int j = 0; j < outputs; j++) {
            row[j] = v_load(some->y[j] + d);
            delta[j] = v_splat(0);
            off += some->share[j] * row[j];
        }
        v_store(some->mean + d, mean + some->rate * off);
        off *= some->pull;
        for (int n = 0; n < WV_SHARING; n++) {
            vfloat hidden = v_load(tile->hidden[n] + d);
            step[n] = off;
            for (int j = 0; j < outputs; j++) {
                vfloat g = v_splat(some->step[n * outputs + j]);
                step[n] += g * row[j];
                delta[j] += g * hidden;
            }
        }
        for (int j = 0; j < outputs; j++) v_store(some->y[j] + d, row[j] + delta[j]);
        if (!some->first)
            for (int n = 0; n < WV_SHARING; n++) step[n] += v_load(tile->delta[n] + d);
        for (int n = 0; some->last && n < WV_SHARING; n++) {
            vfloat own = v_load(tile->own[n] + d), g = v_splat(some->own_step[n]);
            v_store(tile->own[n] + d, own + g * v_load(tile->hidden[n] + d));
            step[n] = tile->share[n] * (step[n] + g * own);
        }
        for (int n = 0; n < WV_SHARING; n++) v_store(tile->delta[n] + d, step[n]);
    }
}

/* gcc adds the shares of `total` in another order where it inlines this. These are the orders of the bytes promised: with
 * registers of four lanes it is inlined, with wider ones it is not. */
#if WV_LANES == 4
WV_INLINE
#else
__attribute__((noinline)) static
#endif
void update_negatives(const cbow_tile *tile, int outputs, const cbow_negatives *some, tile_ahead ahead) {
    switch (outputs) {
    case 6: update_columns(tile, 6, some, ahead); break;
    case 5: update_columns(tile, 5, some, ahead); break;
    case 4: update_columns(tile, 4, some, ahead); break;
    case 3: update_columns(tile, 3, some, ahead); break;
    case 2: update_columns(tile, 2, some, ahead); break;
    default: update_columns(tile, 1, some, ahead);
    }
}

/* ---------------------------------------------------------------- weights */

/* held, scale and share, and where hidden and delta lie. */
WV_INLINE void hold_rows(const word2vec_block *block, const neighbor_tile *tile, cbow_tile *of) {
    const wv_word2vec_run *run = block->run;
    const neighbor_training *shared = &block->shared;
    each_position first, last, center;
    float count[WV_SHARING];
    for (int n = 0; n < WV_SHARING; n++) {
        int there = n < tile->positions;
        first[n] = there ? tile->window_first[n] - tile->first : 1;
        last[n] = there ? tile->window_last[n] - tile->first : 0;
        center[n] = tile->position + n - tile->first;
        count[n] = there ? (float)(last[n] - first[n]) : 1;
    }
    each_position row = {0}, one = row + 0x3f800000; /* the bits of 1.0f */
    for (int i = 0; i < tile->inputs; i++, row += 1) {
        each_position bits = (row >= first) & (row <= last) & (row != center) & one;
        memcpy(shared->held + i * WV_SHARING, &bits, sizeof bits);
    }
    for (int n = 0; n < WV_SHARING; n++) {
        of->scale[n] = run->options.cbow_mean ? 1.0f / count[n] : 1.0f;
        of->share[n] = run->options.cbow_gradient == WV_CBOW_GRADIENT_CORRECTED ? of->scale[n] : 1.0f;
        of->hidden[n] = shared->hidden + (size_t)n * (size_t)run->stride;
        of->delta[n] = shared->delta + (size_t)n * (size_t)run->stride;
    }
    of->held = shared->held;
}

/* weight (WV_SHARING, outputs) of a block of negatives; overrun by WV_TILE_OUTPUTS. */
WV_INLINE void weigh_block(const neighbor_tile *tile, const int32_t *center, int first, int outputs, float *weight) {
    for (int n = 0; n < WV_SHARING; n++)
        memcpy(weight + n * outputs, tile->share + first, sizeof(float) * WV_TILE_OUTPUTS);
    for (int n = 0; n < tile->positions; n++)
        for (int j = 0; j < outputs; j++)
            if (tile->word[first + j] == center[n]) weight[n * outputs + j] = 0;
    for (int k = tile->positions * outputs; k < WV_SHARING * outputs; k++) weight[k] = 0;
}

/* lr * s: the mean step of all negatives, each as its weight says, downwards. */
WV_INLINE float mean_negative_step(int cells, const float *step, const float *weight) {
    float steps = 0, weights = 0;
    for (int k = 0; k < cells; k++) {
        steps += step[k];
        weights += weight[k];
    }
    return weights > 0 ? -steps / weights : 0;
}

/* ---------------------------------------------------------------- training */

/* Trains a tile; meanwhile it fetches rows of the tile `fetched`. */
static void train_cbow_neighbors(word2vec_block *block, const neighbor_tile *tile, const neighbor_tile *fetched) {
    const wv_word2vec_run *run = block->run;
    tile_training *training = &block->training;
    neighbor_training *shared = &block->shared;
    int dim = block->width, negatives = tile->negatives;
    int noise = WV_SHARING * negatives, cells = noise + WV_SHARING; /* the cells of the centers stand last */
    const int32_t *center = block->batch.word + tile->position;
    float *score = shared->score, *weight = shared->weight, *label = shared->label, *const *y = tile->output;
    cbow_tile rows;
    rows.inputs = tile->inputs;
    rows.dim = dim;
    rows.input = tile->input;
    hold_rows(block, tile, &rows);
    for (int n = 0; n < WV_SHARING; n++) rows.own[n] = y[negatives + (n < tile->positions ? n : 0)];
    float own_score[WV_SHARING + WV_LANES];
    take_rows(&rows, own_score);
    for (int j = 0; j < negatives; j += WV_TILE_OUTPUTS) {
        int some = outputs_from(j, negatives);
        tile_scores(WV_SHARING, rows.hidden, some, y + j, dim, score + j * WV_SHARING);
        weigh_block(tile, center, j, some, weight + j * WV_SHARING);
    }
    memcpy(score + noise, own_score, sizeof(float) * WV_SHARING);
    for (int n = 0; n < WV_SHARING; n++) weight[noise + n] = n < tile->positions;
    for (int n = 0; n < WV_SHARING; n++) label[noise + n] = 1;
    logistic_steps(cells, score, label, weight, training->lr, score, &training->totals);
    for (int n = 0; n < WV_SHARING; n++) label[noise + n] = 0;
    training->examples += tile->positions;
    shared->tiles += shared->tiles < MEAN_TILES;
    float part = 1.0f / (float)shared->tiles;
    cbow_negatives some = {.own_step = score + noise, .mean = shared->mean, .rate = part / (float)run->options.negative,
                           .pull = (1 - part) * mean_negative_step(noise, score, weight), .first = 1};
    int fetch = 0, updates = (negatives + WV_TILE_OUTPUTS - 1) / WV_TILE_OUTPUTS;
    for (int j = 0; j < negatives; j += WV_TILE_OUTPUTS, updates--, some.first = 0) {
        some.y = y + j;
        some.step = score + j * WV_SHARING;
        some.share = tile->share + j;
        some.last = updates == 1;
        update_negatives(&rows, outputs_from(j, negatives), &some, part_of(fetched, &fetch, updates));
    }
    give_rows(&rows);
}

#endif
