/* word2vec's output layers: which rows of `output` predict a word, and how a tile with them is trained. outputs.h has
 * the formulas.
 *
 * A layer is a row of the table at the end, one function for each thing it does; nothing else asks for its name. Three
 * of the functions are called stage by stage (word2vec.c): what `draw` asks for is in the cache when `list` reads it.
 */
#ifndef WV_LAYERS_H
#define WV_LAYERS_H

#include "kernels/outputs.h"
#include "kernels/positions.h"
#include "kernels/tile.h"

enum { CACHED_NODES = 8 }; /* of a Huffman path, from the root */

/* The buffers in which a thread trains its tiles, the learning rate, and the sums so far. */
typedef struct {
    float **x;     /* (inputs) rows of x_copy */
    float *x_copy; /* (inputs + 1, dim): old inputs; CBOW: the hidden vector and its gradient */
    float *score;  /* (inputs, outputs) */
    float *label, *weight;
    vfloat *sums; /* (inputs, WV_TILE_OUTPUTS) */
    float lr;
    tile_totals totals;
    const wv_hot_rows *hot;
} tile_training;

typedef struct {
    int shares; /* neighbouring positions may share a draw of negatives (neighbour_tiles.h) */
    /* Scores of one input, at most; -1 when a table is missing. */
    int (*most_scores)(const wv_word2vec_run *run);
    /* Draws what is random about the outputs of a position and asks for what `list` will read. NULL: nothing. */
    void (*draw)(const wv_word2vec_run *run, const sentence_batch *batch, uint64_t *random, tile_rows *rows);
    /* Lists the outputs; those from rows->fetch on are to be fetched. NULL: every word is one. */
    void (*list)(const wv_word2vec_run *run, const wv_hot_rows *hot, tile_rows *rows);
    /* Trains the outputs of a tile on the inputs x, and these; with `delta`, on one input, whose step is added to
     * delta. Meanwhile it fetches rows of the tile `fetched`. Returns the loss that is not in training->totals. */
    double (*train)(const wv_word2vec_run *run, tile_training *training, const tile_rows *rows,
                    const tile_rows *fetched, int inputs, float **x, float *delta);
} output_layer;

static int tile_block(int outputs, int first) {
    return outputs - first < WV_TILE_OUTPUTS ? outputs - first : WV_TILE_OUTPUTS;
}

/* What a tile of several blocks of outputs must show to all of them: the inputs as they were, copied unless their steps
 * go elsewhere. */
static float **old_inputs(tile_training *training, int inputs, float **x, const float *delta, int stride) {
    if (delta) return x;
    for (int i = 0; i < inputs; i++) {
        float *copy = training->x_copy + (size_t)i * (size_t)stride;
        for (int d = 0; d < stride; d += WV_LANES) v_store(copy + d, v_load(x[i] + d));
        training->x[i] = copy;
    }
    return training->x;
}

/* Steps g for a block of outputs y, from the inputs `old`, which are x or copies of them. */
WV_INLINE void update_block(int inputs, float **x, float *delta, float **old, int outputs, float **y, int stride,
                            const float *g, tile_ahead ahead) {
    if (delta)
        tile_update_one(old[0], delta, outputs, y, stride, g, ahead);
    else
        tile_update(inputs, old, x, outputs, y, stride, g, ahead);
}

/* ---------------------------------------------------------------- yes/no questions: ns, hs, nce */

WV_INLINE float *output_row(const wv_word2vec_run *run, const wv_hot_rows *hot, int32_t row) {
    if (hot->round) return round_row(&hot->round->output, run->output, run->stride, row);
    uint32_t index = (uint32_t)(row - hot->first_output);
    if (index < (uint32_t)hot->count) return hot->output + (size_t)index * (size_t)run->stride;
    return run->output + (size_t)row * (size_t)run->stride;
}

/* Of a word that is among the outputs of the tile. */
WV_INLINE float *bias_of(const wv_word2vec_run *run, const wv_hot_rows *hot, int32_t word) {
    if (hot->round) return round_bias(hot->round, run->output_bias, word);
    return &run->output_bias[word];
}

/* Adds the biases of NCE to the scores (inputs, count) of a block of outputs. */
WV_INLINE void add_biases(const wv_word2vec_run *run, const wv_hot_rows *hot, const int32_t *words, int count,
                          int inputs, float *score) {
    float bias[WV_TILE_OUTPUTS];
    for (int k = 0; k < count; k++) bias[k] = *bias_of(run, hot, words[k]) - run->log_noise[words[k]];
    for (int i = 0; i < inputs; i++, score += count)
        for (int k = 0; k < count; k++) score[k] += bias[k];
}

WV_INLINE void update_biases(const wv_word2vec_run *run, const wv_hot_rows *hot, const int32_t *words, int count,
                             int inputs, const float *step) {
    float sum[WV_TILE_OUTPUTS] = {0};
    for (int i = 0; i < inputs; i++, step += count)
        for (int k = 0; k < count; k++) sum[k] += step[k];
    for (int k = 0; k < count; k++) *bias_of(run, hot, words[k]) += sum[k];
}

/* `biased`, a constant: the scores have biases, which are trained too. */
WV_INLINE void train_logistic(const wv_word2vec_run *run, tile_training *training, const tile_rows *rows,
                              const tile_rows *fetched, int inputs, float **x, float *delta, int biased) {
    int outputs = rows->outputs, stride = run->stride;
    float **y = rows->output;
    float *score = training->score, *label = training->label;
    float *weight = rows->weighted ? training->weight : NULL;
    float **old = outputs > WV_TILE_OUTPUTS ? old_inputs(training, inputs, x, delta, stride) : x;
    /* Blocks of outputs one after the other, each (inputs, block). What is stored beyond an input's row of a block is
     * overwritten by the next. */
    for (int j = 0; j < outputs; j += WV_TILE_OUTPUTS) {
        int block = tile_block(outputs, j), cell = j * inputs;
        tile_scores(inputs, old, block, y + j, stride, training->sums, score + cell);
        if (biased) add_biases(run, training->hot, rows->output_row + j, block, inputs, score + cell);
        for (int i = 0; i < inputs; i++, cell += block) {
            memcpy(label + cell, rows->output_label + j, sizeof(float) * WV_TILE_OUTPUTS);
            if (weight) memcpy(weight + cell, rows->output_weight + j, sizeof(float) * WV_TILE_OUTPUTS);
        }
    }
    logistic_steps(inputs * outputs, score, label, weight, training->lr, score, &training->totals);
    for (int j = 0, fetch = fetched->fetch; j < outputs; j += WV_TILE_OUTPUTS) {
        int block = tile_block(outputs, j);
        int left = fetched->fetch_end - fetch; /* the last block fetches all that is left */
        if (left > WV_TILE_OUTPUTS && j + WV_TILE_OUTPUTS < outputs) left = WV_TILE_OUTPUTS;
        tile_ahead ahead = {left, (const float *const *)fetched->output + fetch};
        fetch += left;
        const float *step = score + j * inputs;
        if (biased) update_biases(run, training->hot, rows->output_row + j, block, inputs, step);
        update_block(inputs, x, delta, old, block, y + j, stride, step, ahead);
    }
}

WV_INLINE double train_questions(const wv_word2vec_run *run, tile_training *training, const tile_rows *rows,
                                 const tile_rows *fetched, int inputs, float **x, float *delta) {
    train_logistic(run, training, rows, fetched, inputs, x, delta, 0);
    return 0;
}

/* ---------------------------------------------------------------- negative sampling */

static int sampled_outputs(const wv_word2vec_run *run) { return run->sampler ? 1 + run->options.negative : -1; }

/* Random numbers that choose words; asks for their buckets of the alias table. */
WV_INLINE void draw_words(const wv_word2vec_run *run, const sentence_batch *batch, uint64_t *random, int count,
                          uint64_t *numbers) {
    for (int k = 0; k < count; k++) {
        numbers[k] = draw_from(batch->pool, random);
        __builtin_prefetch(&run->sampler[wv_rng_below(numbers[k], (uint32_t)run->vocab_size)], 0, 3);
    }
}

WV_INLINE int32_t drawn_word(const wv_word2vec_run *run, uint64_t number) {
    int32_t word = (int32_t)wv_rng_below(number, (uint32_t)run->vocab_size);
    wv_alias bucket = run->sampler[word];
    return (uint32_t)number >= bucket.threshold ? bucket.other : word;
}

WV_INLINE void draw_negatives(const wv_word2vec_run *run, const sentence_batch *batch, uint64_t *random,
                              tile_rows *rows) {
    draw_words(run, batch, random, run->options.negative, rows->negative_draw);
}

WV_INLINE void add_word(const wv_word2vec_run *run, const wv_hot_rows *hot, tile_rows *rows, int32_t word,
                        float label) {
    for (int j = 0; j < rows->outputs; j++)
        if (rows->output_row[j] == word) {
            rows->output_weight[j] += 1;
            rows->weighted = 1;
            return;
        }
    rows->output_row[rows->outputs] = word;
    rows->output[rows->outputs] = output_row(run, hot, word);
    rows->output_label[rows->outputs] = label;
    rows->output_weight[rows->outputs] = 1;
    rows->outputs++;
}

/* `skip_centre`, a constant: a centre that is drawn is left out. Otherwise it is noise too (outputs.h has its label),
 * in its one row of the tile: the rows of a tile are distinct. The words' rows begin at `first`. */
WV_INLINE void list_drawn(const wv_word2vec_run *run, const wv_hot_rows *hot, tile_rows *rows, int skip_centre,
                          int32_t first) {
    add_word(run, hot, rows, first + rows->centre, 1);
    for (int k = 0; k < run->options.negative; k++) {
        int32_t word = drawn_word(run, rows->negative_draw[k]);
        if (!skip_centre || word != rows->centre) add_word(run, hot, rows, first + word, 0);
    }
    if (!skip_centre) rows->output_label[0] = 1 / rows->output_weight[0];
}

WV_INLINE void list_negatives(const wv_word2vec_run *run, const wv_hot_rows *hot, tile_rows *rows) {
    list_drawn(run, hot, rows, 1, 0);
}

/* ---------------------------------------------------------------- NCE: negative sampling with biases */

static int nce_outputs(const wv_word2vec_run *run) {
    return run->log_noise && run->output_bias ? sampled_outputs(run) : -1;
}

WV_INLINE void list_noise(const wv_word2vec_run *run, const wv_hot_rows *hot, tile_rows *rows) {
    list_drawn(run, hot, rows, 0, 0);
}

WV_INLINE double train_nce(const wv_word2vec_run *run, tile_training *training, const tile_rows *rows,
                           const tile_rows *fetched, int inputs, float **x, float *delta) {
    train_logistic(run, training, rows, fetched, inputs, x, delta, 1);
    return 0;
}

/* ---------------------------------------------------------------- hierarchical softmax */

static int path_outputs(const wv_word2vec_run *run) { return run->path ? run->longest_path : -1; }

/* Asks for the path itself, and for where the next but one begins. */
WV_INLINE void fetch_path(const wv_word2vec_run *run, const sentence_batch *batch, uint64_t *random, tile_rows *rows) {
    (void)random;
    rows->path = &run->path[run->path_start[batch->word[rows->position]]];
    __builtin_prefetch(rows->path, 0, 3);
    __builtin_prefetch(rows->path + 15, 0, 3);
    if (rows->position + 2 < batch->length)
        __builtin_prefetch(&run->path_start[batch->word[rows->position + 2]], 0, 3);
}

/* The nodes of a path are distinct rows. */
WV_INLINE void list_path(const wv_word2vec_run *run, const wv_hot_rows *hot, tile_rows *rows) {
    rows->outputs = (int)(run->path_start[rows->centre + 1] - run->path_start[rows->centre]);
    for (int j = 0; j < rows->outputs; j++) {
        int32_t step = rows->path[j];
        rows->output[j] = output_row(run, hot, step >> 1);
        rows->output_label[j] = (float)(step & 1);
    }
    /* The top of the tree is in every path and in the cache. */
    rows->fetch = CACHED_NODES < rows->outputs ? CACHED_NODES : rows->outputs;
}

/* ---------------------------------------------------------------- both at once, as word2vec's -hs 1 -negative 5 */

static int path_and_sampled_outputs(const wv_word2vec_run *run) {
    int path = path_outputs(run), sampled = sampled_outputs(run);
    return path < 0 || sampled < 0 || !run->first_word ? -1 : path + sampled;
}

WV_INLINE void draw_and_fetch(const wv_word2vec_run *run, const sentence_batch *batch, uint64_t *random,
                              tile_rows *rows) {
    draw_negatives(run, batch, random, rows);
    fetch_path(run, batch, random, rows);
}

/* The nodes, each once, and then the words, whose rows are others. */
WV_INLINE void list_path_and_negatives(const wv_word2vec_run *run, const wv_hot_rows *hot, tile_rows *rows) {
    list_path(run, hot, rows);
    for (int j = 0; j < rows->outputs; j++) {
        rows->output_row[j] = rows->path[j] >> 1;
        rows->output_weight[j] = 1;
    }
    list_drawn(run, hot, rows, 1, run->first_word);
}

/* ---------------------------------------------------------------- all words: softmax, a yes or no for each */

static int all_words(const wv_word2vec_run *run) { return run->vocab_size + WV_ROW_FLOATS; }

static void block_of_words(const wv_word2vec_run *run, int first, int count, float **y) {
    for (int j = 0; j < count; j++) y[j] = run->output + (size_t)(first + j) * (size_t)run->stride;
}

/* In blocks of words; the scores of input i lie in a row of their own. */
static double train_softmax(const wv_word2vec_run *run, tile_training *training, const tile_rows *rows,
                            const tile_rows *fetched, int inputs, float **x, float *delta) {
    (void)fetched;
    int words = run->vocab_size, stride = run->stride;
    size_t width = (size_t)all_words(run);
    double loss = 0;
    float *y[WV_TILE_OUTPUTS], *cells = training->label, **old = old_inputs(training, inputs, x, delta, stride);
    for (int word = 0; word < words; word += WV_TILE_OUTPUTS) {
        int block = tile_block(words, word);
        block_of_words(run, word, block, y);
        tile_scores(inputs, old, block, y, stride, training->sums, cells);
        for (int i = 0; i < inputs; i++) {
            float *score = training->score + (size_t)i * width + word;
            for (int j = 0; j < block; j++) score[j] = cells[i * block + j];
        }
    }
    for (int i = 0; i < inputs; i++) {
        float *score = training->score + (size_t)i * width;
        loss += softmax_steps(words, score, rows->centre, training->lr, &training->totals);
    }
    for (int word = 0; word < words; word += WV_TILE_OUTPUTS) {
        int block = tile_block(words, word);
        block_of_words(run, word, block, y);
        for (int i = 0; i < inputs; i++) {
            const float *step = training->score + (size_t)i * width + word;
            for (int j = 0; j < block; j++) cells[i * block + j] = step[j];
        }
        update_block(inputs, x, delta, old, block, y, stride, cells, (tile_ahead){0, NULL});
    }
    return loss;
}

/* One yes/no question for each word: is it the centre? The blocks all see the inputs as they were. */
static double train_every_word(const wv_word2vec_run *run, tile_training *training, const tile_rows *rows,
                               const tile_rows *fetched, int inputs, float **x, float *delta) {
    (void)fetched;
    int words = run->vocab_size, stride = run->stride;
    float *y[WV_TILE_OUTPUTS], *g = training->score, **old = old_inputs(training, inputs, x, delta, stride);
    for (int word = 0; word < words; word += WV_TILE_OUTPUTS) {
        int block = tile_block(words, word);
        block_of_words(run, word, block, y);
        tile_scores(inputs, old, block, y, stride, training->sums, g);
        for (int i = 0; i < inputs; i++)
            for (int j = 0; j < block; j++) training->label[i * block + j] = (float)(word + j == rows->centre);
        logistic_steps(inputs * block, g, training->label, NULL, training->lr, g, &training->totals);
        update_block(inputs, x, delta, old, block, y, stride, g, (tile_ahead){0, NULL});
    }
    return 0;
}

/* ---------------------------------------------------------------- the table */

/* ROW(the constant's name, the functions): word2vec.c makes a loop of its own of each row. */
#define OUTPUT_LAYER_ROWS(ROW)                                                       \
    ROW(NS, 1, sampled_outputs, draw_negatives, list_negatives, train_questions)     \
    ROW(HS, 0, path_outputs, fetch_path, list_path, train_questions)                 \
    ROW(SOFTMAX, 0, all_words, NULL, NULL, train_softmax)                            \
    ROW(NCE, 0, nce_outputs, draw_negatives, list_noise, train_nce)                  \
    ROW(OVA, 0, all_words, NULL, NULL, train_every_word)                             \
    ROW(HS_NS, 0, path_and_sampled_outputs, draw_and_fetch, list_path_and_negatives, train_questions)

#define ROW(name, ...) [WV_LOSS_##name] = {__VA_ARGS__},
static const output_layer OUTPUT_LAYERS[] = {OUTPUT_LAYER_ROWS(ROW)};
#undef ROW

/* NULL: there is none of that name here, or a table that it reads is missing. */
static const output_layer *output_layer_of(const wv_word2vec_run *run) {
    size_t loss = (size_t)run->options.loss;
    if (loss >= sizeof OUTPUT_LAYERS / sizeof *OUTPUT_LAYERS || !OUTPUT_LAYERS[loss].train) return NULL;
    return OUTPUT_LAYERS[loss].most_scores(run) < 0 ? NULL : &OUTPUT_LAYERS[loss];
}

#endif
