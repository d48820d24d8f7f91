/* word2vec: which rows meet in a tile, position by position. The arithmetic is tile.h, the output layers outputs.h.
 *
 * Two independent axes: the context rule (skip-gram: M context rows; CBOW: one row, their mean or sum) and the output
 * layer. A tile passes through a pipeline, so that nothing waits for memory:
 *   draw     its place and random numbers; the buckets of the alias table are on their way
 *   gather   the list of input and output rows
 *   (an earlier tile is computed and, line by line, asks for the rows just listed)
 *   train    scores, steps, update
 *
 * Departures from word2vec C, all without measurable effect on quality (benchmarks/README.md):
 * - The context rows of one position share one draw of negatives (pWord2Vec, Ji et al. 2016), and all of them move at
 *   once, from the same old values. word2vec draws anew for every (context, centre) pair: share_negatives = 0 does so.
 * - A word drawn twice as a negative enters the tile once, with a weight of two. A context word that stands twice in
 *   the window enters twice, one update after the other.
 * - The sigmoid is exact (outputs.h); the learning rate follows the position in the corpus, not a clock of threads.
 * As in word2vec: the context row is the input and the centre word is predicted; subsampling comes before windowing; a
 * negative equal to the centre is skipped, not redrawn.
 */
#include <stddef.h>

#include "core/rng.h"
#include "kernels/outputs.h"
#include "kernels/tile.h"
#include "kernels/wv_kernels.h"

enum {
    PIPELINE = 4, /* tiles under way: drawn, gathered, fetched, trained */
    BATCH = 512   /* sentences are read until so many words are there: short lines share a pipeline */
};

/* Sentences end to end. `first` and `last` say, for each position, where its sentence begins and ends. */
typedef struct {
    int length;
    int32_t *word, *first, *last;
} sentence_batch;

/* One tile: the context positions first .. last (without `position` itself) and the rows. A weight counts how often an
 * output stands in it; `weighted` says whether any does more than once. `fetch` of the rows in `output` are to be
 * fetched early: one for each output, and behind them the context row that is new in the window. */
typedef struct {
    int live, position, first, last;
    uint64_t *negative_draw;
    int inputs, outputs, fetch, weighted;
    int32_t centre;
    int32_t *output_row;
    float **input, **output;
    float *output_weight, *output_label;
} tile_rows;

typedef struct {
    sentence_batch batch;
    tile_rows rows[PIPELINE];
    float **x;     /* rows of the copy, where the tile needs one */
    float *x_copy; /* (max_inputs, dim); CBOW: the hidden vector and its gradient */
    float *score, *label, *weight;
    vfloat *sums;
} scratch_space;

static int max_inputs(const wv_word2vec_run *run) { return run->context == WV_CBOW ? 1 : 2 * run->window; }

static int max_outputs(const wv_word2vec_run *run) {
    if (run->layer == WV_SOFTMAX) return WV_TILE_OUTPUTS;
    if (run->layer != WV_HIERARCHICAL_SOFTMAX) return 1 + run->negative;
    int64_t longest = 1;
    for (int32_t word = 0; word < run->vocab_size; word++) {
        int64_t length = run->path_start[word + 1] - run->path_start[word];
        if (length > longest) longest = length;
    }
    return (int)longest;
}

static void *carve(char **free_space, size_t bytes) {
    void *piece = *free_space;
    *free_space += (bytes + 63) / 64 * 64;
    return piece;
}

/* Lays the scratch space out from `memory`; returns its size in bytes. With memory NULL it only measures. */
static size_t lay_out(const wv_word2vec_run *run, char *memory, scratch_space *space) {
    char *p = memory;
    size_t inputs = (size_t)max_inputs(run), outputs = (size_t)max_outputs(run);
    size_t row_scores = run->layer == WV_SOFTMAX ? (size_t)run->vocab_size + WV_ROW_FLOATS : outputs;
    size_t cells = inputs * row_scores + WV_ROW_FLOATS;
    size_t words = BATCH + (size_t)run->max_sentence;
    space->batch.word = carve(&p, sizeof(int32_t) * words);
    space->batch.first = carve(&p, sizeof(int32_t) * words);
    space->batch.last = carve(&p, sizeof(int32_t) * words);
    for (int k = 0; k < PIPELINE; k++) {
        space->rows[k].negative_draw = carve(&p, sizeof(uint64_t) * (size_t)run->negative);
        space->rows[k].input = carve(&p, sizeof(float *) * 2 * (size_t)run->window);
        space->rows[k].output = carve(&p, sizeof(float *) * (outputs + 1));
        space->rows[k].output_row = carve(&p, sizeof(int32_t) * outputs);
        space->rows[k].output_weight = carve(&p, sizeof(float) * outputs);
        space->rows[k].output_label = carve(&p, sizeof(float) * outputs);
    }
    space->x = carve(&p, sizeof(float *) * inputs);
    space->x_copy = carve(&p, sizeof(float) * (inputs + 1) * (size_t)run->stride);
    space->score = carve(&p, sizeof(float) * cells);
    space->label = carve(&p, sizeof(float) * (inputs * outputs + WV_ROW_FLOATS));
    space->weight = carve(&p, sizeof(float) * (inputs * outputs + WV_ROW_FLOATS));
    space->sums = carve(&p, sizeof(vfloat) * (inputs * WV_TILE_OUTPUTS + WV_LANES));
    return (size_t)(p - memory);
}

size_t WV_NAME(wv_word2vec_scratch_bytes)(const wv_word2vec_run *run) {
    scratch_space space;
    return lay_out(run, NULL, &space);
}

/* Reads one sentence from ids[*position] on and appends the words that survive subsampling. It ends at a line end, at
 * `end` or after max_sentence words. */
static void read_sentence(const wv_word2vec_run *run, const int32_t *ids, int64_t *position, int64_t end,
                          uint64_t *random, sentence_batch *batch, int64_t *tokens) {
    int begin = batch->length, length = begin;
    int64_t p = *position;
    while (p < end && length - begin < run->max_sentence) {
        int32_t word = ids[p++];
        if (word == WV_END_OF_LINE) break;
        if (word < 0) continue; /* a label */
        ++*tokens;
        batch->word[length] = word;
        length += run->keep == NULL || (uint32_t)(wv_rng_next(random) >> 32) <= run->keep[word];
    }
    for (int k = begin; k < length; k++) batch->first[k] = begin, batch->last[k] = length - 1;
    batch->length = length;
    *position = p;
}

static float *input_row(const wv_word2vec_run *run, const wv_hot_rows *hot, int32_t word) {
    return (word < hot->count ? hot->input : run->input) + (size_t)word * (size_t)run->stride;
}

static float *output_row(const wv_word2vec_run *run, const wv_hot_rows *hot, int32_t row) {
    uint32_t place = (uint32_t)(row - hot->first_output);
    if (place < (uint32_t)hot->count) return hot->output + (size_t)place * (size_t)run->stride;
    return run->output + (size_t)row * (size_t)run->stride;
}

static void add_output(const wv_word2vec_run *run, const wv_hot_rows *hot, tile_rows *rows, int32_t row,
                       float label) {
    for (int j = 0; j < rows->outputs; j++)
        if (rows->output_row[j] == row) {
            rows->output_weight[j] += 1;
            rows->weighted = 1;
            return;
        }
    rows->output_row[rows->outputs] = row;
    rows->output[rows->outputs] = output_row(run, hot, row);
    rows->output_label[rows->outputs] = label;
    rows->output_weight[rows->outputs++] = 1;
}

/* Where the next tile lies: a new position, or the next context word of the current one. */
typedef struct {
    int position, context, last;
} tile_cursor;

/* Finds the next tile and draws what is random about it: the width of the window, the negatives. 0: no more tiles. */
static int draw(const wv_word2vec_run *run, const sentence_batch *batch, uint64_t *random, tile_cursor *at,
                tile_rows *rows) {
    while (at->context > at->last) { /* a position without context (the window is empty) has no tile */
        if (++at->position >= batch->length) return 0;
        int width = run->window;
        if (run->shrink_window) width = 1 + (int)wv_rng_below(wv_rng_next(random), (uint32_t)run->window);
        int first = batch->first[at->position], last = batch->last[at->position];
        at->context = at->position - first > width ? at->position - width : first;
        at->last = last - at->position > width ? at->position + width : last;
        if (at->context == at->position) at->context++; /* first of its sentence */
        if (at->last == at->position) at->last--;       /* last of its sentence */
    }
    rows->position = at->position;
    rows->first = at->context;
    rows->last = run->share_negatives ? at->last : at->context;
    at->context = rows->last + 1;
    if (at->context == at->position) at->context++;
    if (!run->sampler) return 1;
    for (int k = 0; k < run->negative; k++) {
        uint64_t number = rows->negative_draw[k] = wv_rng_next(random);
        __builtin_prefetch(&run->sampler[wv_rng_below(number, (uint32_t)run->vocab_size)], 0, 3);
    }
    return 1;
}

static void gather_outputs(const wv_word2vec_run *run, const wv_hot_rows *hot, tile_rows *rows) {
    int32_t centre = rows->centre;
    if (run->layer == WV_HIERARCHICAL_SOFTMAX) { /* the nodes of a path are distinct rows */
        int64_t start = run->path_start[centre];
        rows->outputs = (int)(run->path_start[centre + 1] - start);
        for (int j = 0; j < rows->outputs; j++) {
            rows->output[j] = output_row(run, hot, run->path_node[start + j]);
            rows->output_label[j] = run->path_label[start + j];
        }
    } else if (run->layer != WV_SOFTMAX) { /* the full softmax takes every row */
        add_output(run, hot, rows, centre, 1);
        for (int k = 0; k < run->negative; k++) {
            uint64_t number = rows->negative_draw[k];
            int32_t word = (int32_t)wv_rng_below(number, (uint32_t)run->vocab_size);
            wv_alias bucket = run->sampler[word];
            if ((uint32_t)number >= bucket.threshold) word = bucket.other;
            if (word != centre) add_output(run, hot, rows, word, 0);
        }
    }
}

/* Lists the rows of a tile. */
static void gather(const wv_word2vec_run *run, const wv_hot_rows *hot, const sentence_batch *batch,
                   tile_rows *rows) {
    rows->inputs = rows->outputs = rows->weighted = 0;
    rows->centre = batch->word[rows->position];
    for (int p = rows->first; p <= rows->last; p++) {
        rows->input[rows->inputs] = input_row(run, hot, batch->word[p]);
        rows->inputs += p != rows->position;
    }
    gather_outputs(run, hot, rows);
    rows->fetch = rows->outputs;
    int ahead = rows->position + run->window;
    if (ahead < batch->length) rows->output[rows->fetch++] = input_row(run, hot, batch->word[ahead]);
}

/* Negative sampling, hierarchical softmax and NCE: x_new += steps from x, outputs updated. x may be x_new when the
 * outputs fit one tile. `fetched` is the tile whose rows are fetched meanwhile. */
static void train_logistic(const wv_word2vec_run *run, scratch_space *space, const tile_rows *rows,
                           const tile_rows *fetched, int inputs, float **x, float **x_new, float lr,
                           tile_totals *totals) {
    int outputs = rows->outputs, stride = run->stride;
    float **y = rows->output;
    float *score = space->score, *label = space->label, *weight = rows->weighted ? space->weight : NULL;
    for (int j = 0; j < outputs; j += WV_TILE_OUTPUTS) {
        int block = outputs - j < WV_TILE_OUTPUTS ? outputs - j : WV_TILE_OUTPUTS;
        tile_scores(inputs, x, block, y + j, stride, space->sums, score + j * inputs);
    }
    for (int j = 0; j < outputs; j++) /* overlapping stores: each output overwrites the overrun of the one before */
        for (int i = 0; i < inputs; i += WV_LANES)
            v_store_unaligned(label + j * inputs + i, v_splat(rows->output_label[j]));
    for (int j = 0; weight && j < outputs; j++)
        for (int i = 0; i < inputs; i++) weight[j * inputs + i] = rows->output_weight[j];
    if (run->layer == WV_NCE)
        for (int j = 0; j < outputs; j++) {
            int32_t word = rows->output_row[j];
            for (int i = 0; i < inputs; i++) score[j * inputs + i] += run->output_bias[word] - run->log_noise[word];
        }
    logistic_steps(inputs * outputs, score, label, weight, lr, score, totals);
    if (run->layer == WV_NCE)
        for (int j = 0; j < outputs; j++)
            for (int i = 0; i < inputs; i++) run->output_bias[rows->output_row[j]] += score[j * inputs + i];
    for (int j = 0; j < outputs; j += WV_TILE_OUTPUTS) {
        int block = outputs - j < WV_TILE_OUTPUTS ? outputs - j : WV_TILE_OUTPUTS;
        int left = fetched->fetch - j; /* the last block fetches all that is left */
        if (left < 0) left = 0;
        if (left > WV_TILE_OUTPUTS && j + WV_TILE_OUTPUTS < outputs) left = WV_TILE_OUTPUTS;
        tile_ahead ahead = {left, (const float *const *)fetched->output + j};
        tile_update(inputs, x, x_new, block, y + j, stride, score + j * inputs, ahead);
    }
}

/* Full softmax: every word is an output, in blocks; the scores of input i lie in a row of their own. */
static double train_softmax(const wv_word2vec_run *run, scratch_space *space, const tile_rows *rows, int inputs,
                            float **x, float **x_new, float lr, tile_totals *totals) {
    int words = run->vocab_size, stride = run->stride;
    size_t row = (size_t)words + WV_ROW_FLOATS;
    double loss = 0;
    float *y[WV_TILE_OUTPUTS];
    for (int word = 0; word < words; word += WV_TILE_OUTPUTS) {
        int block = words - word < WV_TILE_OUTPUTS ? words - word : WV_TILE_OUTPUTS;
        for (int j = 0; j < block; j++) y[j] = run->output + (size_t)(word + j) * stride;
        tile_scores(inputs, x, block, y, stride, space->sums, space->label);
        for (int i = 0; i < inputs; i++)
            for (int j = 0; j < block; j++) space->score[i * row + word + j] = space->label[j * inputs + i];
    }
    for (int i = 0; i < inputs; i++) loss += softmax_steps(words, space->score + i * row, rows->centre, lr, totals);
    for (int word = 0; word < words; word += WV_TILE_OUTPUTS) {
        int block = words - word < WV_TILE_OUTPUTS ? words - word : WV_TILE_OUTPUTS;
        for (int j = 0; j < block; j++) {
            y[j] = run->output + (size_t)(word + j) * stride;
            for (int i = 0; i < inputs; i++) space->label[j * inputs + i] = space->score[i * row + word + j];
        }
        tile_update(inputs, x, x_new, block, y, stride, space->label, (tile_ahead){0, NULL});
    }
    return loss;
}

static double train_outputs(const wv_word2vec_run *run, scratch_space *space, const tile_rows *rows,
                            const tile_rows *fetched, int inputs, float **x, float **x_new, float lr,
                            tile_totals *totals) {
    if (run->layer == WV_SOFTMAX) return train_softmax(run, space, rows, inputs, x, x_new, lr, totals);
    train_logistic(run, space, rows, fetched, inputs, x, x_new, lr, totals);
    return 0;
}

/* Skip-gram: the context rows are the inputs of the tile. With more outputs than one tile takes, every block of outputs
 * must see the same old inputs: a copy. */
static double train_skipgram(const wv_word2vec_run *run, scratch_space *space, const tile_rows *rows,
                             const tile_rows *fetched, float lr, tile_totals *totals) {
    int stride = run->stride;
    float **x = rows->input;
    if (run->layer == WV_SOFTMAX || rows->outputs > WV_TILE_OUTPUTS) {
        x = space->x;
        for (int i = 0; i < rows->inputs; i++) {
            x[i] = space->x_copy + (size_t)i * stride;
            for (int d = 0; d < stride; d += WV_LANES) v_store(x[i] + d, v_load(rows->input[i] + d));
        }
    }
    return train_outputs(run, space, rows, fetched, rows->inputs, x, rows->input, lr, totals);
}

/* CBOW: one input, h = sum of the context rows, divided by their number for the mean. The gradient of h goes to every
 * context row: divided again by their number (the true gradient, Irsoy et al. 2021, "koan") or whole (word2vec). */
static double train_cbow(const wv_word2vec_run *run, scratch_space *space, const tile_rows *rows,
                         const tile_rows *fetched, float lr, tile_totals *totals) {
    int stride = run->stride;
    float *hidden = space->x_copy, *delta = space->x_copy + stride;
    float mean = run->cbow_mean ? 1.0f / (float)rows->inputs : 1.0f;
    float share = run->cbow_divide_gradient ? mean : 1.0f;
    for (int d = 0; d < stride; d += WV_LANES) {
        vfloat sum = v_splat(0);
        for (int i = 0; i < rows->inputs; i++) sum += v_load(rows->input[i] + d);
        v_store(hidden + d, sum * mean);
        v_store(delta + d, v_splat(0));
    }
    double loss = train_outputs(run, space, rows, fetched, 1, &hidden, &delta, lr, totals);
    for (int i = 0; i < rows->inputs; i++) {
        float *row = rows->input[i];
        for (int d = 0; d < stride; d += WV_LANES) v_store(row + d, v_load(row + d) + share * v_load(delta + d));
    }
    return loss;
}

void WV_NAME(wv_word2vec_block)(const wv_word2vec_run *run, const wv_hot_rows *hot, const int32_t *ids, int64_t start,
                                int64_t end, int32_t epoch, void *scratch, wv_word2vec_result *result) {
    scratch_space space;
    lay_out(run, scratch, &space);
    uint64_t random = wv_rng_stream(run->seed, (uint64_t)epoch, (uint64_t)start);
    double schedule = (double)run->epoch_tokens * run->epochs;
    double loss = 0;
    tile_totals totals = {v_splat(0), v_splat(0)};
    int64_t tokens = 0, examples = 0, position = start;
    float lr = run->lr;

    while (position < end) {
        float left = (float)(1 - ((double)epoch * (double)run->epoch_tokens + (double)position) / schedule);
        lr = run->lr * left > run->lr_floor ? run->lr * left : run->lr_floor;
        space.batch.length = 0;
        while (position < end && space.batch.length < BATCH)
            read_sentence(run, ids, &position, end, &random, &space.batch, &tokens);
        tile_cursor at = {-1, 0, -1};
        for (int k = 0; k < PIPELINE; k++) space.rows[k].live = 0;
        for (int t = 0, rounds = PIPELINE - 1; rounds > 0; t++) {
            tile_rows *drawn = &space.rows[t % PIPELINE], *gathered = &space.rows[(t + 3) % PIPELINE];
            tile_rows *fetched = &space.rows[(t + 2) % PIPELINE], *rows = &space.rows[(t + 1) % PIPELINE];
            drawn->live = draw(run, &space.batch, &random, &at, drawn);
            drawn->fetch = 0;
            rounds -= !drawn->live; /* three more rounds empty the pipeline */
            if (gathered->live) gather(run, hot, &space.batch, gathered);
            if (!rows->live) continue;
            loss += run->context == WV_CBOW ? train_cbow(run, &space, rows, fetched, lr, &totals)
                                            : train_skipgram(run, &space, rows, fetched, lr, &totals);
            examples += run->context == WV_CBOW ? 1 : rows->inputs;
        }
        loss += v_sum(totals.loss); /* once a batch: float sums of many thousand terms would lose digits */
        totals.loss = v_splat(0);
    }
    result->loss = loss + 0 * (double)v_sum(totals.magnitude); /* NaN or infinity in any row shows here */
    result->examples = examples;
    result->tokens = tokens;
    result->lr = lr;
}
