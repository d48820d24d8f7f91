/* Neural language models: the words before a position predict the one that stands there.
 *
 *     x = [r(w_1) ... r(w_n-1)]                the context, the nearest word first; <s> before a sentence
 *     a = tanh(d + H x)                        NPLM (Bengio et al. 2003); with direct connections z = [a x], else z = a
 *     z = sum over i of C_i r(w_i) = [C_1 .. C_n-1] x    log-bilinear (Mnih & Hinton 2007); diagonal: sum of c_i * r(w_i)
 *     z = c_i * r(w_i) for each i by itself    inverse log-bilinear (ivLBL, Mnih & Kavukcuoglu 2013)
 *     s(w) = z . y(w) + b(w)                   the output layer: neural_outputs.h
 *
 * The first two are one matrix over the context, with or without tanh and bias. Positions of a block are taken in an order that
 * is drawn, `batch` at a time; a batch moves at once, by the sum of its steps, all of them from the same old values (but
 * those of trees and classes: neural_outputs.h). The arithmetic is tile.h: the batch against rows of a matrix.
 *
 * The inverse model is the diagonal one with all but one of the context's words left out: as many examples a position
 * as a context has words.
 *
 * Dropout (Hinton et al. 2012) leaves out numbers of x and of a, drawn for each position, and divides the others by
 * the share that is kept, so that nothing changes where a model is asked.
 */
#include "core/ngrams.h"
#include "kernels/dropout.h"
#include "kernels/neural_outputs.h"

enum { BLOCK = 2048 }; /* examples whose order is drawn */

/* One thread in one block of the corpus. (batch, ...) each: */
typedef struct {
    const wv_neural_run *run;
    int32_t *example;  /* (BLOCK): see examples_each */
    int32_t *context;  /* (order - 1) words */
    float **x, **dx;   /* C: contexts, and their steps */
    float *a, *keep_a; /* hidden_stride: the hidden layer, what dropout multiplies it with */
    float *keep_x;     /* C: what the context is multiplied with, where some of it is left out */
    neural_batch batch;
} block_state;

WV_INLINE size_t context_length(const wv_neural_run *run) {
    return (size_t)(run->options.order - 1) * (size_t)run->stride;
}

static int is_diagonal(const wv_neural_run *run) {
    return run->options.model == WV_NEURAL_IVLBL ||
           (run->options.model == WV_NEURAL_LBL && run->options.context_matrices == WV_CONTEXT_DIAGONAL);
}

/* Examples of one position: example e is position e / examples_each, seen by the word of place e % examples_each of the
 * context if there are several. */
static int32_t examples_each(const wv_neural_run *run) {
    return run->options.model == WV_NEURAL_IVLBL ? run->options.order - 1 : 1;
}

static int leaves_out(const wv_neural_run *run) { return run->options.dropout > 0 || examples_each(run) > 1; }

static size_t lay_out(const wv_neural_run *run, void *memory, block_state *state) {
    wv_scratch scratch = {memory, 0};
    size_t inputs = (size_t)run->options.batch, length = context_length(run);
    size_t hidden = (size_t)run->hidden_stride, whole = hidden + length;
    *state = (block_state){.run = run};
    if (lay_out_outputs(run, &scratch, &state->batch)) return 0;
    state->example = WV_TAKE(&scratch, int32_t, BLOCK);
    state->context = WV_TAKE(&scratch, int32_t, inputs * (size_t)(run->options.order - 1));
    state->x = WV_TAKE(&scratch, float *, inputs);
    state->dx = WV_TAKE(&scratch, float *, inputs);
    state->batch.z = WV_TAKE(&scratch, float *, inputs);
    state->batch.delta = WV_TAKE(&scratch, float *, inputs);
    float *z = WV_TAKE(&scratch, float, inputs * whole), *delta = WV_TAKE(&scratch, float, inputs * whole);
    state->a = WV_TAKE(&scratch, float, inputs * hidden);
    state->keep_a = WV_TAKE(&scratch, float, inputs * hidden);
    state->keep_x = WV_TAKE(&scratch, float, inputs * length);
    for (size_t i = 0; memory && i < inputs; i++) { /* the context lies behind the hidden layer: direct connections */
        state->batch.z[i] = z + i * whole;
        state->batch.delta[i] = delta + i * whole;
        state->x[i] = z + i * whole + hidden;
        state->dx[i] = delta + i * whole + hidden;
    }
    return scratch.used;
}

size_t WV_NAME(wv_neural_scratch_bytes)(const wv_neural_run *run) {
    block_state state;
    if ((size_t)run->options.loss >= sizeof NEURAL_LAYERS / sizeof *NEURAL_LAYERS) return 0;
    return lay_out(run, NULL, &state);
}

WV_INLINE vfloat v_tanh(vfloat x) { return 1.0f - 2.0f / (1.0f + v_exp(2.0f * x)); }

/* ---------------------------------------------------------------- forwards */

/* The words before a position; <s> from where the sentence begins. */
static void list_context(const wv_neural_run *run, const int32_t *ids, int64_t position, int32_t *context) {
    int inside = 1;
    for (int j = 0; j < run->options.order - 1; j++) {
        inside = inside && position > j && ids[position - 1 - j] != WV_END_OF_LINE;
        context[j] = inside ? ids[position - 1 - j] : WV_SENTENCE;
    }
}

/* keep (C) of one example, whose context word is that of `place` if it has but one. */
static void choose_kept(const wv_neural_run *run, uint64_t *random, int32_t place, float *keep) {
    size_t stride = (size_t)run->stride, length = context_length(run);
    if (run->options.dropout > 0)
        draw_kept(run->options.dropout, random, length, keep);
    else
        for (size_t k = 0; k < length; k++) keep[k] = 1;
    for (size_t k = 0; examples_each(run) > 1 && k < length; k++)
        if (k / stride != (size_t)place) keep[k] = 0;
}

static void gather(block_state *state, const int32_t *ids, int64_t start, const int32_t *example) {
    const wv_neural_run *run = state->run;
    size_t stride = (size_t)run->stride, words = (size_t)(run->options.order - 1);
    int32_t each = examples_each(run);
    for (int i = 0; i < state->batch.inputs; i++) {
        int64_t at = start + example[i] / each;
        int32_t *context = state->context + (size_t)i * words;
        state->batch.target[i] = ids[at] == WV_END_OF_LINE ? WV_SENTENCE_END : ids[at];
        list_context(run, ids, at, context);
        for (size_t j = 0; j < words; j++)
            memcpy(state->x[i] + j * stride, run->input + (size_t)context[j] * stride, stride * sizeof(float));
        if (leaves_out(run)) {
            float *keep = state->keep_x + (size_t)i * words * stride;
            choose_kept(run, state->batch.random, example[i] % each, keep);
            multiply(words * stride, state->x[i], keep);
        }
    }
}

/* Sets row to the tile of rows of `mixing` from row j on; returns how many. */
static int mixing_rows(const wv_neural_run *run, int j, float **row) {
    int block = rows_from(run->hidden, j);
    for (int k = 0; k < block; k++) row[k] = run->mixing + (size_t)(j + k) * context_length(run);
    return block;
}

static void mix_full(block_state *state) {
    const wv_neural_run *run = state->run;
    int inputs = state->batch.inputs, length = (int)context_length(run);
    float *row[WV_TILE_OUTPUTS], *cells = state->batch.cells;
    for (int j = 0; j < run->hidden; j += WV_TILE_OUTPUTS) {
        int block = mixing_rows(run, j, row);
        tile_scores(inputs, state->x, block, row, length, cells);
        for (int i = 0; i < inputs; i++)
            for (int k = 0; k < block; k++) state->batch.z[i][j + k] = cells[i * block + k];
    }
}

static void mix_diagonal(block_state *state) {
    const wv_neural_run *run = state->run;
    for (int i = 0; i < state->batch.inputs; i++)
        for (int d = 0; d < run->stride; d += WV_LANES) {
            vfloat sum = v_splat(0);
            for (size_t j = 0; j < context_length(run); j += (size_t)run->stride)
                sum += v_load(run->mixing + j + d) * v_load(state->x[i] + j + d);
            v_store(state->batch.z[i] + d, sum);
        }
}

/* The padding stays zero: that of the bias is, and tanh(0) = 0. */
static void activate(block_state *state) {
    const wv_neural_run *run = state->run;
    for (int i = 0; i < state->batch.inputs; i++)
        for (int d = 0; d < run->hidden_stride; d += WV_LANES) {
            vfloat a = v_tanh(v_load(state->batch.z[i] + d) + v_load(run->hidden_bias + d));
            v_store(state->batch.z[i] + d, a);
            v_store(state->a + i * run->hidden_stride + d, a);
        }
}

static void forward(block_state *state) {
    const wv_neural_run *run = state->run;
    if (is_diagonal(run))
        mix_diagonal(state);
    else
        mix_full(state);
    if (run->options.model == WV_NEURAL_NPLM) activate(state);
    for (int i = 0; run->options.dropout > 0 && i < state->batch.inputs; i++) {
        float *keep = state->keep_a + i * run->hidden_stride;
        draw_kept(run->options.dropout, state->batch.random, (size_t)run->hidden_stride, keep);
        multiply((size_t)run->hidden_stride, state->batch.z[i], keep);
    }
}

/* ---------------------------------------------------------------- backwards: steps, which hold the learning rate */

/* delta becomes the step of what tanh was given: delta (1 - a^2). */
static void through_tanh(block_state *state) {
    const wv_neural_run *run = state->run;
    for (int i = 0; i < state->batch.inputs; i++)
        for (int d = 0; d < run->hidden_stride; d += WV_LANES) {
            vfloat a = v_load(state->a + i * run->hidden_stride + d);
            vfloat step = v_load(state->batch.delta[i] + d) * (1.0f - a * a);
            v_store(state->batch.delta[i] + d, step);
            v_store(run->hidden_bias + d, v_load(run->hidden_bias + d) + step);
        }
}

static void update_full(block_state *state) {
    const wv_neural_run *run = state->run;
    int inputs = state->batch.inputs, length = (int)context_length(run);
    float *row[WV_TILE_OUTPUTS], *cells = state->batch.cells;
    for (int j = 0; j < run->hidden; j += WV_TILE_OUTPUTS) {
        int block = mixing_rows(run, j, row);
        for (int i = 0; i < inputs; i++)
            for (int k = 0; k < block; k++) cells[i * block + k] = state->batch.delta[i][j + k];
        tile_update(&(tile_step){inputs, block, length, state->x, state->dx, row, cells, NOTHING_AHEAD});
    }
}

static void update_diagonal(block_state *state) {
    const wv_neural_run *run = state->run;
    for (size_t j = 0; j < context_length(run); j += (size_t)run->stride)
        for (int d = 0; d < run->stride; d += WV_LANES) {
            vfloat weight = v_load(run->mixing + j + d), sum = weight;
            for (int i = 0; i < state->batch.inputs; i++) {
                vfloat step = v_load(state->batch.delta[i] + d);
                v_store(state->dx[i] + j + d, v_load(state->dx[i] + j + d) + weight * step);
                sum += step * v_load(state->x[i] + j + d);
            }
            v_store(run->mixing + j + d, sum);
        }
}

static void scatter(block_state *state) {
    const wv_neural_run *run = state->run;
    size_t stride = (size_t)run->stride, words = (size_t)(run->options.order - 1);
    for (int i = 0; i < state->batch.inputs; i++) {
        if (leaves_out(run))
            multiply(words * stride, state->dx[i], state->keep_x + (size_t)i * words * stride);
        for (size_t j = 0; j < words; j++) {
            float *row = run->input + (size_t)state->context[(size_t)i * words + j] * stride;
            const float *step = state->dx[i] + j * stride;
            for (size_t d = 0; d < stride; d += WV_LANES) v_store(row + d, v_load(row + d) + v_load(step + d));
        }
    }
}

static double train_batch(block_state *state) {
    const wv_neural_run *run = state->run;
    size_t whole = (size_t)run->hidden_stride + context_length(run);
    forward(state);
    for (int i = 0; i < state->batch.inputs; i++) memset(state->batch.delta[i], 0, whole * sizeof(float));
    double loss = NEURAL_LAYERS[run->options.loss].train(run, &state->batch);
    for (int i = 0; run->options.dropout > 0 && i < state->batch.inputs; i++)
        multiply((size_t)run->hidden_stride, state->batch.delta[i], state->keep_a + i * run->hidden_stride);
    if (run->options.model == WV_NEURAL_NPLM) through_tanh(state);
    if (is_diagonal(run))
        update_diagonal(state);
    else
        update_full(state);
    scatter(state);
    loss += v_sum(state->batch.totals.loss);
    state->batch.totals.loss = v_splat(0);
    return loss;
}

void WV_NAME(wv_neural_block)(const wv_neural_run *run, const wv_block *block, void *scratch, wv_block_result *result) {
    block_state state;
    lay_out(run, scratch, &state);
    const int32_t *ids = block->ids;
    int64_t start = block->start, end = block->end;
    uint64_t random = wv_rng_stream(run->options.seed, (uint64_t)block->epoch, (uint64_t)start);
    state.batch.random = &random;
    state.batch.lr = block->lr;
    *result = (wv_block_result){.lr = block->lr};
    int32_t each = examples_each(run), most = BLOCK / each;
    for (; start < end; start += most) {
        int32_t positions = end - start < most ? (int32_t)(end - start) : most, length = positions * each;
        for (int32_t k = 0; k < positions; k++) result->tokens += ids[start + k] != WV_END_OF_LINE;
        for (int32_t k = 0; k < length; k++) {
            int32_t other = (int32_t)wv_rng_below(wv_rng_next(&random), (uint32_t)k + 1);
            state.example[k] = state.example[other];
            state.example[other] = k;
        }
        for (int32_t k = 0; k < length; k += run->options.batch) {
            state.batch.inputs = length - k < run->options.batch ? length - k : run->options.batch;
            gather(&state, ids, start, state.example + k);
            result->loss += train_batch(&state);
        }
        result->examples += length;
    }
    result->loss += 0 * (double)v_sum(state.batch.totals.magnitude); /* NaN or infinity in any row shows here */
}
