/* word2vec and fastText's subwords: which rows meet in a tile, position by position. The arithmetic is tile.h, the output layers outputs.h.
 *
 * Two independent axes: the context rule (skip-gram: M context rows; CBOW: one row, their mean or sum) and the output
 * layer. A tile passes through a pipeline, so that nothing waits for memory:
 *   draw     its place and random numbers; the buckets of the alias table are on their way
 *   gather   the list of input and output rows
 *   (an earlier tile is computed and, line by line, asks for the rows just listed)
 *   train    scores, steps, update
 * With subwords the input rows are those of subwords.h; nothing else differs.
 *
 * Departures from word2vec C; what they do to quality is measured in benchmarks/README.md:
 * - The context rows of one position share one draw of negatives (pWord2Vec, Ji et al. 2016), and all of them move at
 *   once, from the same old values. word2vec draws anew for every (context, centre) pair: share_negatives = 0 does so.
 * - A word drawn twice as a negative enters the tile once, with a weight of two. A context word that stands twice in
 *   the window enters twice, one update after the other.
 * - The sigmoid is exact (outputs.h); the learning rate follows the position in the corpus, not a clock of threads.
 * As in word2vec: the context row is the input and the centre word is predicted; subsampling comes before windowing; a
 * negative equal to the centre is skipped, not redrawn.
 */
#include "kernels/hotrows.h"
#include "kernels/outputs.h"
#include "kernels/positions.h"
#include "kernels/tile.h"
#include "kernels/wv_kernels.h"

enum { PIPELINE = 5 }; /* tiles under way: drawn, gathered, fetched, on their way, trained */

typedef struct {
    sentence_batch batch;
    hidden_ring ring;
    tile_rows rows[PIPELINE];
    float **x;     /* rows of the copy, where the tile needs one */
    float *x_copy; /* (max_inputs, dim); CBOW: the hidden vector and its gradient */
    float *score, *label, *weight;
    vfloat *sums;
} scratch_space;

static int max_inputs(const wv_word2vec_run *run) { return run->context == WV_CBOW ? 1 : 2 * run->window; }

static int max_outputs(const wv_word2vec_run *run) {
    if (run->layer == WV_SOFTMAX) return WV_TILE_OUTPUTS;
    return run->layer == WV_HIERARCHICAL_SOFTMAX ? run->longest_path : 1 + run->negative;
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
    size_t ahead = run->subword ? (size_t)run->most_subwords : 1; /* rows to be fetched for the word new in the window */
    space->batch.word = carve(&p, sizeof(int32_t) * words);
    space->batch.first = carve(&p, sizeof(int32_t) * words);
    space->batch.last = carve(&p, sizeof(int32_t) * words);
    for (int k = 0; k < PIPELINE; k++) {
        space->rows[k].negative_draw = carve(&p, sizeof(uint64_t) * (size_t)run->negative);
        space->rows[k].input = carve(&p, sizeof(float *) * 2 * (size_t)run->window);
        space->rows[k].output = carve(&p, sizeof(float *) * (outputs + ahead));
        space->rows[k].input_weight = carve(&p, sizeof(float) * 2 * (size_t)run->window);
        space->rows[k].output_row = carve(&p, sizeof(int32_t) * outputs);
        space->rows[k].output_weight = carve(&p, sizeof(float) * (outputs + WV_TILE_OUTPUTS));
        space->rows[k].output_label = carve(&p, sizeof(float) * (outputs + WV_TILE_OUTPUTS));
    }
    space->x = carve(&p, sizeof(float *) * inputs);
    space->x_copy = carve(&p, sizeof(float) * (inputs + 1) * (size_t)run->stride);
    space->score = carve(&p, sizeof(float) * cells);
    space->label = carve(&p, sizeof(float) * (inputs * outputs + WV_ROW_FLOATS));
    space->weight = carve(&p, sizeof(float) * (inputs * outputs + WV_ROW_FLOATS));
    space->sums = carve(&p, sizeof(vfloat) * (inputs * WV_TILE_OUTPUTS + WV_LANES));
    if (run->subword) {
        space->ring.places = ring_places(run);
        size_t rows = (size_t)space->ring.places * (size_t)run->stride;
        space->ring.hidden = carve(&p, sizeof(float) * rows);
        space->ring.entry = carve(&p, sizeof(float) * rows);
        space->ring.list = carve(&p, sizeof(float *) * (size_t)run->most_subwords);
    }
    return (size_t)(p - memory);
}

size_t WV_NAME(wv_word2vec_scratch_bytes)(const wv_word2vec_run *run) {
    scratch_space space;
    return lay_out(run, NULL, &space);
}

/* Negative sampling, hierarchical softmax and NCE: x_new += steps from x, outputs updated. x may be x_new when the
 * outputs fit one tile. `fetched` is the tile whose rows are fetched meanwhile. */
static void train_logistic(const wv_word2vec_run *run, scratch_space *space, const tile_rows *rows,
                           const tile_rows *fetched, int inputs, float **x, float **x_new, float lr,
                           tile_totals *totals) {
    int outputs = rows->outputs, stride = run->stride;
    float **y = rows->output;
    float *score = space->score, *label = space->label, *weight = rows->weighted ? space->weight : NULL;
    /* Blocks of outputs one after the other, each (inputs, block). What is stored beyond an input's row of a block is
     * overwritten by the next. */
    for (int j = 0; j < outputs; j += WV_TILE_OUTPUTS) {
        int block = outputs - j < WV_TILE_OUTPUTS ? outputs - j : WV_TILE_OUTPUTS, cell = j * inputs;
        tile_scores(inputs, x, block, y + j, stride, space->sums, score + cell);
        for (int i = 0; i < inputs; i++, cell += block) {
            memcpy(label + cell, rows->output_label + j, sizeof(float) * WV_TILE_OUTPUTS);
            if (weight) memcpy(weight + cell, rows->output_weight + j, sizeof(float) * WV_TILE_OUTPUTS);
            for (int k = 0; run->layer == WV_NCE && k < block; k++) {
                int32_t word = rows->output_row[j + k];
                score[cell + k] += run->output_bias[word] - run->log_noise[word];
            }
        }
    }
    logistic_steps(inputs * outputs, score, label, weight, lr, score, totals);
    for (int j = 0, fetch = fetched->fetch; j < outputs; j += WV_TILE_OUTPUTS) {
        int block = outputs - j < WV_TILE_OUTPUTS ? outputs - j : WV_TILE_OUTPUTS;
        int left = fetched->fetch_end - fetch; /* the last block fetches all that is left */
        if (left > WV_TILE_OUTPUTS && j + WV_TILE_OUTPUTS < outputs) left = WV_TILE_OUTPUTS;
        tile_ahead ahead = {left, (const float *const *)fetched->output + fetch};
        fetch += left;
        const float *step = score + j * inputs;
        for (int k = 0; run->layer == WV_NCE && k < inputs * block; k++)
            run->output_bias[rows->output_row[j + k % block]] += step[k];
        tile_update(inputs, x, x_new, block, y + j, stride, step, ahead);
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
            for (int j = 0; j < block; j++) space->score[i * row + word + j] = space->label[i * block + j];
    }
    for (int i = 0; i < inputs; i++) loss += softmax_steps(words, space->score + i * row, rows->centre, lr, totals);
    for (int word = 0; word < words; word += WV_TILE_OUTPUTS) {
        int block = words - word < WV_TILE_OUTPUTS ? words - word : WV_TILE_OUTPUTS;
        for (int j = 0; j < block; j++) {
            y[j] = run->output + (size_t)(word + j) * stride;
            for (int i = 0; i < inputs; i++) space->label[i * block + j] = space->score[i * row + word + j];
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
 * context row: divided again by their number (the true gradient, Irsoy et al. 2021, "koan") or whole (word2vec).
 * With subwords a context word is the mean of its rows and weighs as many as there are: all rows count alike. */
static double train_cbow(const wv_word2vec_run *run, scratch_space *space, const tile_rows *rows,
                         const tile_rows *fetched, float lr, tile_totals *totals) {
    int stride = run->stride;
    float *hidden = space->x_copy, *delta = space->x_copy + stride;
    float count = (float)rows->inputs;
    if (run->subword)
        for (int i = count = 0; i < rows->inputs; i++) count += rows->input_weight[i];
    float mean = run->cbow_mean ? 1.0f / count : 1.0f;
    float share = run->cbow_divide_gradient ? mean : 1.0f;
    for (int d = 0; d < stride; d += WV_LANES) {
        vfloat sum = v_splat(0);
        for (int i = 0; run->subword && i < rows->inputs; i++) sum += rows->input_weight[i] * v_load(rows->input[i] + d);
        for (int i = 0; !run->subword && i < rows->inputs; i++) sum += v_load(rows->input[i] + d);
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
    int64_t tokens = 0, examples = 0, position = start, exchanged = -HOT_TOKENS;
    float lr = run->lr;

    while (position < end) {
        float left = (float)(1 - ((double)epoch * (double)run->epoch_tokens + (double)position) / schedule);
        lr = run->lr * left > run->lr_floor ? run->lr * left : run->lr_floor;
        if (hot->count && tokens - exchanged >= HOT_TOKENS) {
            exchange_hot_rows(run, hot);
            exchanged = tokens;
        }
        space.batch.length = 0;
        while (position < end && space.batch.length < BATCH)
            read_sentence(run, ids, &position, end, &random, &space.batch, &tokens);
        tile_cursor at = {-1, 0, -1};
        space.ring.left = space.ring.entered = 0;
        for (int k = 0; k < PIPELINE; k++) space.rows[k].live = 0;
        for (int t = 0, rounds = PIPELINE - 1; rounds > 0; t++) {
            tile_rows *drawn = &space.rows[t % PIPELINE], *gathered = &space.rows[(t + PIPELINE - 1) % PIPELINE];
            tile_rows *fetched = &space.rows[(t + PIPELINE - 2) % PIPELINE], *rows = &space.rows[(t + 1) % PIPELINE];
            drawn->live = draw(run, &space.batch, &random, &at, drawn);
            drawn->fetch = drawn->fetch_end = 0;
            rounds -= !drawn->live; /* PIPELINE - 2 more rounds empty the pipeline */
            if (gathered->live) gather(run, hot, &space.batch, &space.ring, gathered);
            if (!rows->live) continue;
            if (run->subword) ring_advance(run, &space.batch, &space.ring, rows->position, rows->last);
            loss += run->context == WV_CBOW ? train_cbow(run, &space, rows, fetched, lr, &totals)
                                            : train_skipgram(run, &space, rows, fetched, lr, &totals);
            examples += run->context == WV_CBOW ? 1 : rows->inputs;
        }
        if (run->subword) ring_flush(run, &space.batch, &space.ring);
        loss += v_sum(totals.loss); /* once a batch: float sums of many thousand terms would lose digits */
        totals.loss = v_splat(0);
    }
    if (hot->count) exchange_hot_rows(run, hot);
    result->loss = loss + 0 * (double)v_sum(totals.magnitude); /* NaN or infinity in any row shows here */
    result->examples = examples;
    result->tokens = tokens;
    result->lr = lr;
}
