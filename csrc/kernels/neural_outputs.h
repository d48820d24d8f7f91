/* The output layers of the neural language models: the predicted vectors of a batch against the rows that tell words
 * apart. outputs.h has the formulas of softmax, ns, hs and nce; besides
 *
 *   importance (Bengio & Senecal 2003): the softmax's negative part from words drawn for the batch, word j with
 *       r_j = m_j exp(s_j) / (k P_noise(j)),  divided by their sum; m_j: how often it was drawn
 *     The target takes part with exp(s) itself, drawn or not (Jean et al. 2015): without it nothing holds back a word
 *     that is seldom drawn, and the scores run away.
 *   hs with several codes a word (Mnih & Hinton 2008): p(word) = sum over its codes c of p(c), each the product of the
 *       answers on its path; a node's step is (answer - sigmoid(s)) for each code, times p(c) / p(word)
 *   class (Goodman 2001): p(word) = p(class) p(word | class), a softmax over the classes and one within the class
 *
 * Every row has a bias, s = z . y + b. The noise of a batch is drawn once for all its positions (as Ji et al. 2016 for
 * word2vec): the rows are then a tile.
 */
#ifndef WV_NEURAL_OUTPUTS_H
#define WV_NEURAL_OUTPUTS_H

#include "core/rng.h"
#include "kernels/outputs.h"
#include "kernels/scratch.h"
#include "kernels/tile.h"
#include "kernels/wv_kernels.h"

/* A batch as the output layers see it, and their buffers. */
typedef struct {
    int inputs;             /* positions */
    int32_t *target;        /* (inputs): the words to predict */
    float **z, **delta;     /* (inputs, output_stride): predicted vectors; steps for them are added to delta */
    float lr;
    uint64_t *random;
    vfloat *sums;           /* (batch, WV_TILE_OUTPUTS) */
    float *cells;           /* (batch, WV_TILE_OUTPUTS) */
    float *score;           /* (batch, scores of one input) */
    float *label, *weight;  /* as score; sampled layers */
    float **row;            /* rows of a tile */
    int32_t *word, *times;  /* sampled layers: the words of the tile, how often they were drawn; codes: the nodes, and the
                               place in `word` of each step of the paths */
    int32_t *choice;        /* (batch): which of the rows is the target */
    int32_t *slot;          /* (output_rows): 1 + place in `word`, 0 for those that are not there */
    tile_totals totals;
} neural_batch;

typedef struct {
    /* Scores of one input at most; -1 when a table is missing. */
    int (*most_scores)(const wv_neural_run *run);
    /* Trains the rows and adds the inputs' steps to delta. Returns the loss that is not in batch->totals. */
    double (*train)(const wv_neural_run *run, neural_batch *batch);
} neural_layer;

WV_INLINE int rows_from(int rows, int first) {
    return rows - first < WV_TILE_OUTPUTS ? rows - first : WV_TILE_OUTPUTS;
}

WV_INLINE void point_at(const wv_neural_run *run, int first, int count, float **row) {
    for (int j = 0; j < count; j++) row[j] = run->output + (size_t)(first + j) * (size_t)run->output_stride;
}

static const tile_ahead NOTHING_AHEAD = {0, NULL};

/* ---------------------------------------------------------------- softmax over rows that follow each other */

/* A softmax over rows first .. first + rows - 1 for the inputs z[0 .. inputs), of which choice[i] is the right one. */
static double train_softmax_of(const wv_neural_run *run, neural_batch *batch, int inputs, float **z, float **delta,
                               const int32_t *choice, int first, int rows) {
    size_t width = (size_t)rows + WV_ROW_FLOATS;
    float *y[WV_TILE_OUTPUTS], *cells = batch->cells;
    double loss = 0;
    for (int j = 0; j < rows; j += WV_TILE_OUTPUTS) {
        int block = rows_from(rows, j);
        point_at(run, first + j, block, y);
        tile_scores(inputs, z, block, y, run->output_stride, batch->sums, cells);
        for (int i = 0; i < inputs; i++)
            for (int k = 0; k < block; k++)
                batch->score[(size_t)i * width + (size_t)(j + k)] = cells[i * block + k] + run->bias[first + j + k];
    }
    for (int i = 0; i < inputs; i++)
        loss += softmax_steps(rows, batch->score + (size_t)i * width, choice[i], batch->lr, &batch->totals);
    for (int j = 0; j < rows; j += WV_TILE_OUTPUTS) {
        int block = rows_from(rows, j);
        point_at(run, first + j, block, y);
        for (int i = 0; i < inputs; i++)
            for (int k = 0; k < block; k++) {
                float step = batch->score[(size_t)i * width + (size_t)(j + k)];
                cells[i * block + k] = step;
                run->bias[first + j + k] += step;
            }
        tile_update(inputs, z, delta, block, y, run->output_stride, cells, NOTHING_AHEAD);
    }
    return loss;
}

static int every_word(const wv_neural_run *run) { return run->vocab_size + WV_ROW_FLOATS; }

static double train_every_word(const wv_neural_run *run, neural_batch *batch) {
    return train_softmax_of(run, batch, batch->inputs, batch->z, batch->delta, batch->target, 0, run->vocab_size);
}

/* ---------------------------------------------------------------- two softmaxes: the class, the word in it */

static int class_scores(const wv_neural_run *run) {
    if (!run->word_class || !run->class_start) return -1;
    return (run->classes > run->largest_class ? run->classes : run->largest_class) + WV_ROW_FLOATS;
}

static double train_class(const wv_neural_run *run, neural_batch *batch) {
    for (int i = 0; i < batch->inputs; i++) batch->choice[i] = run->word_class[batch->target[i]];
    double loss = train_softmax_of(run, batch, batch->inputs, batch->z, batch->delta, batch->choice, run->vocab_size,
                                   run->classes);
    for (int i = 0; i < batch->inputs; i++) {
        int32_t class = run->word_class[batch->target[i]], first = run->class_start[class];
        int32_t choice = batch->target[i] - first;
        loss += train_softmax_of(run, batch, 1, batch->z + i, batch->delta + i, &choice, first,
                                 run->class_start[class + 1] - first);
    }
    return loss;
}

/* ---------------------------------------------------------------- the path to the word in a tree */

static int path_scores(const wv_neural_run *run) {
    return run->path && run->path_start ? run->longest_path + WV_ROW_FLOATS : -1;
}

/* The nodes listed for one position: their scores, or the update with the steps that have taken their place. */
static void score_nodes(const wv_neural_run *run, neural_batch *batch, int i, int nodes) {
    for (int j = 0; j < nodes; j += WV_TILE_OUTPUTS)
        tile_scores(1, batch->z + i, rows_from(nodes, j), batch->row + j, run->output_stride, batch->sums,
                    batch->score + j);
}

static void update_nodes(const wv_neural_run *run, neural_batch *batch, int i, int nodes) {
    for (int j = 0; j < nodes; j += WV_TILE_OUTPUTS)
        tile_update_one(batch->z[i], batch->delta[i], rows_from(nodes, j), batch->row + j, run->output_stride,
                        batch->score + j, NOTHING_AHEAD);
}

static int32_t list_row(const wv_neural_run *run, neural_batch *batch, int32_t row, int *count) {
    if (!batch->slot[row]) {
        batch->word[*count] = row;
        point_at(run, row, 1, batch->row + *count);
        batch->slot[row] = ++*count;
    }
    return batch->slot[row] - 1;
}

/* ln sigmoid(s) */
WV_INLINE float log_sigmoid(float s) {
    return s < 0 ? s - __builtin_log1pf(__builtin_expf(s)) : -__builtin_log1pf(__builtin_expf(-s));
}

/* One position of which the target has several codes; they may share nodes, each of which is listed once. */
static double train_codes(const wv_neural_run *run, neural_batch *batch, int i) {
    const int64_t *start = run->path_start;
    int64_t first = run->code_start[batch->target[i]], end = run->code_start[batch->target[i] + 1];
    int64_t base = start[first];
    float highest = -1e30f, sum = 0;
    int count = 0;
    for (int64_t k = base; k < start[end]; k++)
        batch->times[k - base] = list_row(run, batch, run->path[k] >> 1, &count);
    score_nodes(run, batch, i, count);
    for (int j = 0; j < count; j++) {
        batch->score[j] += run->bias[batch->word[j]];
        batch->label[j] = 0;
        batch->slot[batch->word[j]] = 0;
    }
    for (int64_t code = first; code < end; code++) {
        float log_p = 0;
        for (int64_t k = start[code]; k < start[code + 1]; k++) {
            float s = batch->score[batch->times[k - base]];
            log_p += log_sigmoid(run->path[k] & 1 ? s : -s);
        }
        batch->weight[code - first] = log_p;
        highest = log_p > highest ? log_p : highest;
    }
    for (int64_t code = first; code < end; code++)
        sum += batch->weight[code - first] = __builtin_expf(batch->weight[code - first] - highest);
    for (int64_t code = first; code < end; code++)
        for (int64_t k = start[code]; k < start[code + 1]; k++) {
            int32_t place = batch->times[k - base];
            float right = (float)(run->path[k] & 1) - 1 / (1 + __builtin_expf(-batch->score[place]));
            batch->label[place] += batch->weight[code - first] / sum * right;
        }
    for (int j = 0; j < count; j++) {
        batch->score[j] = batch->lr * batch->label[j];
        run->bias[batch->word[j]] += batch->score[j];
    }
    update_nodes(run, batch, i, count);
    return -(double)(highest + __builtin_logf(sum));
}

/* One position after the other: the paths of a batch share the nodes at the top. */
static double train_path(const wv_neural_run *run, neural_batch *batch) {
    double loss = 0;
    for (int i = 0; i < batch->inputs; i++) {
        if (run->code_start) {
            loss += train_codes(run, batch, i);
            continue;
        }
        const int32_t *path = run->path + run->path_start[batch->target[i]];
        int nodes = (int)(run->path_start[batch->target[i] + 1] - run->path_start[batch->target[i]]);
        for (int j = 0; j < nodes; j++) point_at(run, path[j] >> 1, 1, batch->row + j);
        score_nodes(run, batch, i, nodes);
        for (int j = 0; j < nodes; j++) {
            batch->score[j] += run->bias[path[j] >> 1];
            batch->label[j] = (float)(path[j] & 1);
        }
        logistic_steps(nodes, batch->score, batch->label, NULL, batch->lr, batch->score, &batch->totals);
        update_nodes(run, batch, i, nodes);
        for (int j = 0; j < nodes; j++) run->bias[path[j] >> 1] += batch->score[j];
    }
    return loss;
}

/* ---------------------------------------------------------------- words drawn for the batch: nce, ns, importance */

static int sampled_scores(const wv_neural_run *run) {
    return run->sampler ? run->options.batch + run->options.negative + WV_ROW_FLOATS : -1;
}

static int corrected_scores(const wv_neural_run *run) { return run->log_noise ? sampled_scores(run) : -1; }

WV_INLINE int32_t list_word(const wv_neural_run *run, neural_batch *batch, int32_t word, int *count) {
    if (!batch->slot[word]) batch->times[*count] = 0;
    return list_row(run, batch, word, count);
}

/* The targets and the words drawn, each once; returns how many there are. */
static int list_sample(const wv_neural_run *run, neural_batch *batch) {
    int count = 0;
    for (int i = 0; i < batch->inputs; i++) batch->choice[i] = list_word(run, batch, batch->target[i], &count);
    for (int k = 0; k < run->options.negative; k++) {
        uint64_t number = wv_rng_next(batch->random);
        int32_t word = (int32_t)wv_rng_below(number, (uint32_t)run->vocab_size);
        wv_alias bucket = run->sampler[word];
        if ((uint32_t)number >= bucket.threshold) word = bucket.other;
        batch->times[list_word(run, batch, word, &count)]++;
    }
    for (int j = 0; j < count; j++) batch->slot[batch->word[j]] = 0;
    return count;
}

/* Scores of all inputs and listed words, block after block, each (inputs, block); `corrected`, a constant: less
 * ln(k P_noise). */
WV_INLINE void score_sample(const wv_neural_run *run, neural_batch *batch, int count, int corrected) {
    int inputs = batch->inputs;
    for (int j = 0; j < count; j += WV_TILE_OUTPUTS) {
        int block = rows_from(count, j);
        float *score = batch->score + (size_t)j * (size_t)inputs;
        tile_scores(inputs, batch->z, block, batch->row + j, run->output_stride, batch->sums, score);
        for (int k = 0; k < block; k++) {
            int32_t word = batch->word[j + k];
            float shift = run->bias[word] - (corrected ? run->log_noise[word] : 0);
            for (int i = 0; i < inputs; i++) score[i * block + k] += shift;
        }
    }
}

static void update_sample(const wv_neural_run *run, neural_batch *batch, int count) {
    int inputs = batch->inputs;
    for (int j = 0; j < count; j += WV_TILE_OUTPUTS) {
        int block = rows_from(count, j);
        const float *step = batch->score + (size_t)j * (size_t)inputs;
        tile_update(inputs, batch->z, batch->delta, block, batch->row + j, run->output_stride, step, NOTHING_AHEAD);
        for (int i = 0; i < inputs; i++)
            for (int k = 0; k < block; k++) run->bias[batch->word[j + k]] += step[i * block + k];
    }
}

/* One score of a sample: that of input i and the listed word j, which is at `cell`. */
typedef struct {
    int i, j;
    size_t cell;
    int right; /* the word is the input's target */
} sample_cell;

/* What the walk over a sample reads and leaves for the next: `sum` of the weights of each input, `loss`. */
typedef struct {
    const wv_neural_run *run;
    neural_batch *batch;
    float *sum;
    double loss;
} sample_walk;

/* Calls `visit`, a constant, for every cell, in the order in which they lie. */
WV_INLINE void walk_sample(sample_walk *walk, int count, void (*visit)(sample_walk *walk, sample_cell at)) {
    int inputs = walk->batch->inputs;
    for (int j = 0; j < count; j += WV_TILE_OUTPUTS) {
        int block = rows_from(count, j);
        for (int i = 0; i < inputs; i++)
            for (int k = 0; k < block; k++) {
                size_t cell = (size_t)j * (size_t)inputs + (size_t)(i * block + k);
                visit(walk, (sample_cell){i, j + k, cell, walk->batch->choice[i] == j + k});
            }
    }
}

/* A target that was drawn is noise, too. */
WV_INLINE void weigh_noise(sample_walk *walk, sample_cell at) {
    neural_batch *batch = walk->batch;
    batch->weight[at.cell] = (float)batch->times[at.j] + (at.right ? 1 : 0);
    batch->label[at.cell] = at.right ? 1 / batch->weight[at.cell] : 0;
}

/* A target that was drawn is left out of the noise. */
WV_INLINE void weigh_negative(sample_walk *walk, sample_cell at) {
    neural_batch *batch = walk->batch;
    batch->weight[at.cell] = at.right ? 1 : (float)batch->times[at.j];
    batch->label[at.cell] = at.right ? 1 : 0;
}

/* `weigh`, a constant. */
WV_INLINE double train_questions(const wv_neural_run *run, neural_batch *batch, int corrected,
                                 void (*weigh)(sample_walk *walk, sample_cell at)) {
    int count = list_sample(run, batch);
    sample_walk walk = {.run = run, .batch = batch};
    score_sample(run, batch, count, corrected);
    walk_sample(&walk, count, weigh);
    logistic_steps(batch->inputs * count, batch->score, batch->label, batch->weight, batch->lr, batch->score,
                   &batch->totals);
    update_sample(run, batch, count);
    return 0;
}

static double train_noise_contrast(const wv_neural_run *run, neural_batch *batch) {
    return train_questions(run, batch, 1, weigh_noise);
}

static double train_negatives(const wv_neural_run *run, neural_batch *batch) {
    return train_questions(run, batch, 0, weigh_negative);
}

/* A cell's part of the estimated normaliser. */
WV_INLINE void add_part(sample_walk *walk, sample_cell at) {
    neural_batch *batch = walk->batch;
    batch->weight[at.cell] *= at.right ? __builtin_expf(walk->run->log_noise[batch->word[at.j]])
                                       : (float)batch->times[at.j];
    walk->sum[at.i] += batch->weight[at.cell];
}

/* A cell's step, in the place of its score. */
WV_INLINE void step_by_part(sample_walk *walk, sample_cell at) {
    neural_batch *batch = walk->batch;
    float sum = walk->sum[at.i];
    if (at.right) /* the score without its correction */
        walk->loss += __builtin_logf(sum) - (batch->score[at.cell] + walk->run->log_noise[batch->word[at.j]]);
    batch->score[at.cell] = batch->lr * ((float)at.right - batch->weight[at.cell] / sum);
}

/* The loss is that of the estimated normaliser. */
static double train_importance(const wv_neural_run *run, neural_batch *batch) {
    int count = list_sample(run, batch);
    size_t cells = (size_t)batch->inputs * (size_t)count;
    sample_walk walk = {.run = run, .batch = batch, .sum = batch->cells};
    score_sample(run, batch, count, 1);
    for (size_t cell = 0; cell < cells; cell += WV_LANES)
        v_store_unaligned(batch->weight + cell, v_exp(v_load_unaligned(batch->score + cell)));
    for (int i = 0; i < batch->inputs; i++) walk.sum[i] = 0;
    walk_sample(&walk, count, add_part);
    walk_sample(&walk, count, step_by_part);
    update_sample(run, batch, count);
    return walk.loss;
}

/* ---------------------------------------------------------------- the table */

#define ROW(name, ...) [WV_NEURAL_LOSS_##name] = {__VA_ARGS__},
static const neural_layer NEURAL_LAYERS[] = {
    ROW(SOFTMAX, every_word, train_every_word)
    ROW(NCE, corrected_scores, train_noise_contrast)
    ROW(NS, sampled_scores, train_negatives)
    ROW(HS, path_scores, train_path)
    ROW(IMPORTANCE, corrected_scores, train_importance)
    ROW(CLASS, class_scores, train_class)
};
#undef ROW

/* Lays out the buffers; returns -1 when a table is missing. */
static int lay_out_outputs(const wv_neural_run *run, wv_scratch *scratch, neural_batch *batch) {
    int scores = NEURAL_LAYERS[run->options.loss].most_scores(run);
    if (scores < 0) return -1;
    size_t inputs = (size_t)run->options.batch, cells = inputs * (size_t)scores + WV_ROW_FLOATS;
    int listed = run->sampler || run->code_start;
    batch->target = WV_TAKE(scratch, int32_t, inputs);
    batch->choice = WV_TAKE(scratch, int32_t, inputs);
    batch->sums = WV_TAKE(scratch, vfloat, inputs * WV_TILE_OUTPUTS + WV_LANES);
    batch->cells = WV_TAKE(scratch, float, inputs * WV_TILE_OUTPUTS + WV_ROW_FLOATS);
    batch->score = WV_TAKE(scratch, float, cells);
    batch->label = WV_TAKE(scratch, float, listed || run->path ? cells : 0);
    batch->weight = WV_TAKE(scratch, float, listed ? cells : 0);
    batch->row = WV_TAKE(scratch, float *, listed || run->path ? scores : 0);
    batch->word = WV_TAKE(scratch, int32_t, listed ? scores : 0);
    batch->times = WV_TAKE(scratch, int32_t, listed ? scores : 0);
    batch->slot = WV_TAKE(scratch, int32_t, listed ? run->output_rows : 0);
    return 0;
}

#endif
