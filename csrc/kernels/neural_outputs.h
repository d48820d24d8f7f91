/* The output layers of the neural language models: the predicted vectors of a batch against the rows that tell words
 * apart. outputs.h has the formulas of softmax, ns, hs and nce; trees are in neural_trees.h, nce, ns and importance
 * sampling in neural_samples.h, here softmax and
 *
 *   class (Goodman 2001): p(word) = p(class) p(word | class), a softmax over the classes and one within the class
 *
 * Every row has a bias, s = z . y + b.
 */
#ifndef WV_NEURAL_OUTPUTS_H
#define WV_NEURAL_OUTPUTS_H

#include "base/scratch.h"
#include "kernels/neural_samples.h"
#include "kernels/neural_trees.h"

/* ---------------------------------------------------------------- softmax over rows that follow each other */

/* A softmax over rows first .. first + rows - 1 for `inputs` inputs from number `from` on; choice[i] is the right one. */
static double train_softmax_of(const wv_neural_run *run, neural_batch *batch, int from, int inputs, const int32_t *choice,
                               int first, int rows) {
    float **z = batch->z + from, **delta = batch->delta + from;
    size_t width = (size_t)rows + WV_ROW_FLOATS;
    float *y[WV_TILE_OUTPUTS], *cells = batch->cells;
    double loss = 0;
    for (int j = 0; j < rows; j += WV_TILE_OUTPUTS) {
        int block = rows_from(rows, j);
        point_at(run, first + j, block, y);
        tile_scores(inputs, z, block, y, run->output_stride, cells);
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
        tile_update(&(tile_step){inputs, block, run->output_stride, z, delta, y, cells, NOTHING_AHEAD});
    }
    return loss;
}

static int every_word(const wv_neural_run *run) { return run->vocab_size + WV_ROW_FLOATS; }

static double train_every_word(const wv_neural_run *run, neural_batch *batch) {
    return train_softmax_of(run, batch, 0, batch->inputs, batch->target, 0, run->vocab_size);
}

/* ---------------------------------------------------------------- two softmaxes: the class, the word in it */

static int class_scores(const wv_neural_run *run) {
    if (!run->word_class || !run->class_start) return -1;
    return (run->classes > run->largest_class ? run->classes : run->largest_class) + WV_ROW_FLOATS;
}

static double train_class(const wv_neural_run *run, neural_batch *batch) {
    for (int i = 0; i < batch->inputs; i++) batch->choice[i] = run->word_class[batch->target[i]];
    double loss = train_softmax_of(run, batch, 0, batch->inputs, batch->choice, run->vocab_size, run->classes);
    for (int i = 0; i < batch->inputs; i++) {
        int32_t class = run->word_class[batch->target[i]], first = run->class_start[class];
        int32_t choice = batch->target[i] - first;
        loss += train_softmax_of(run, batch, i, 1, &choice, first, run->class_start[class + 1] - first);
    }
    return loss;
}

/* ---------------------------------------------------------------- the table */

typedef struct {
    /* Scores of one input at most; -1 when a table is missing. */
    int (*most_scores)(const wv_neural_run *run);
    /* Trains the rows and adds the inputs' steps to delta. Returns the loss that is not in batch->totals. */
    double (*train)(const wv_neural_run *run, neural_batch *batch);
} neural_layer;

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
