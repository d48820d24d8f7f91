/* Output layers of the neural language models that draw words for a batch: nce, ns, and
 *
 *   importance (Bengio & Senecal 2003): the softmax's negative part from words drawn for the batch, word j with
 *       r_j = m_j exp(s_j) / (k P_noise(j)),  divided by their sum; m_j: how often it was drawn
 *     The target takes part with exp(s) itself, drawn or not (Jean et al. 2015): without it nothing holds back a word
 *     that is seldom drawn, and the scores run away.
 *
 * The noise of a batch is drawn once for all its positions (as Ji et al. 2016 for word2vec): the rows are then a tile.
 */
#ifndef WV_NEURAL_SAMPLES_H
#define WV_NEURAL_SAMPLES_H

#include "base/rng.h"
#include "kernels/neural_batch.h"

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
        tile_scores(inputs, batch->z, block, batch->row + j, run->output_stride, score);
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
        tile_update(&(tile_step){inputs, block, run->output_stride, batch->z, batch->delta, batch->row + j, step,
                                  NOTHING_AHEAD});
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

/* A cell's part of the estimated normalizer. */
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

/* The loss is that of the estimated normalizer. */
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

#endif
