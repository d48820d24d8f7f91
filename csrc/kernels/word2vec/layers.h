/* word2vec's output layers: which rows of `output` predict a word, and how a tile with them is trained. outputs.h has
 * the formulas.
 *
 * A layer is a row of the table at the end, one function for each thing it does; nothing else asks for its name. Three
 * of the functions are called stage by stage (word2vec.c): what `draw_outputs` asks for is in the cache when `list_outputs`
 * reads it.
 */
#ifndef WV_WORD2VEC_LAYERS_H
#define WV_WORD2VEC_LAYERS_H

#include "kernels/outputs.h"
#include "kernels/tile.h"
#include "kernels/word2vec/row_stores.h"

enum { CACHED_NODES = 8 }; /* of a Huffman path, from the root */

typedef struct {
    int shares; /* neighboring positions may share a draw of negatives (neighbor_tiles.h) */
    /* Scores of one input, at most; -1 when a table is missing. */
    int (*most_scores)(const wv_word2vec_run *run);
    /* Draws what is random about the outputs of a position and asks for what `list_outputs` will read. NULL: nothing. */
    void (*draw_outputs)(word2vec_block *block, const row_store *store, position_tile *tile);
    /* Lists the outputs; those from tile->fetch on are to be fetched. NULL: every word is one, in its row of the
     * matrix. */
    void (*list_outputs)(word2vec_block *block, const row_store *store, position_tile *tile);
    /* Trains the outputs of a tile on the inputs x, and these; with `delta`, on one input, whose step is added to
     * delta. Meanwhile it fetches rows of the tile `fetched`. */
    void (*train)(word2vec_block *block, const position_tile *tile, const position_tile *fetched, int inputs, float **x,
                  float *delta);
} output_layer;

/* How many outputs a block of a tile has that begins with output `first`. */
static int outputs_from(int first, int outputs) {
    return outputs - first < WV_TILE_OUTPUTS ? outputs - first : WV_TILE_OUTPUTS;
}

/* What a tile of several blocks of outputs must show to all of them: the inputs as they were, copied unless their steps
 * go elsewhere. */
static float **old_inputs(tile_training *training, int inputs, float **x, const float *delta, int width) {
    if (delta) return x;
    for (int i = 0; i < inputs; i++) {
        float *copy = training->x_copy + (size_t)i * (size_t)width;
        for (int d = 0; d < width; d += WV_LANES) v_store(copy + d, v_load(x[i] + d));
        training->x[i] = copy;
    }
    return training->x;
}

/* The update of a block of outputs: of the inputs x_new, or, with `delta`, of one input's delta. */
WV_INLINE void update_outputs(const tile_step *step, float *delta) {
    if (delta)
        tile_update_one(step->x[0], delta, step->outputs, step->y, step->width, step->g, step->ahead);
    else
        tile_update(step);
}

/* ---------------------------------------------------------------- yes/no questions: ns, hs, nce */

/* Adds the biases of NCE to the scores (inputs, count) of a block of outputs. */
WV_INLINE void add_biases(float *const *output_bias, const int32_t *words, const float *log_noise, int count,
                          int inputs, float *score) {
    float bias[WV_TILE_OUTPUTS];
    for (int k = 0; k < count; k++) bias[k] = *output_bias[k] - log_noise[words[k]];
    for (int i = 0; i < inputs; i++, score += count)
        for (int k = 0; k < count; k++) score[k] += bias[k];
}

WV_INLINE void update_biases(float *const *output_bias, int count, int inputs, const float *step) {
    float sum[WV_TILE_OUTPUTS] = {0};
    for (int i = 0; i < inputs; i++, step += count)
        for (int k = 0; k < count; k++) sum[k] += step[k];
    for (int k = 0; k < count; k++) *output_bias[k] += sum[k];
}

/* `biased`, a constant: the scores have biases, which are trained too. */
WV_INLINE void train_logistic(word2vec_block *block, const position_tile *tile, const position_tile *fetched, int inputs,
                              float **x, float *delta, int biased) {
    tile_training *training = &block->training;
    int outputs = tile->outputs, width = block->width;
    const float *log_noise = block->run->log_noise;
    float **y = tile->output;
    float *score = training->score, *label = training->label;
    float *weight = tile->weighted ? training->weight : NULL;
    float **old = outputs > WV_TILE_OUTPUTS ? old_inputs(training, inputs, x, delta, width) : x;
    /* Blocks of outputs one after the other, each (inputs, block). What is stored beyond an input's row of a block is
     * overwritten by the next. */
    for (int j = 0; j < outputs; j += WV_TILE_OUTPUTS) {
        int some = outputs_from(j, outputs), cell = j * inputs;
        tile_scores(inputs, old, some, y + j, width, score + cell);
        if (biased) add_biases(tile->output_bias + j, tile->output_row + j, log_noise, some, inputs, score + cell);
        for (int i = 0; i < inputs; i++, cell += some) {
            memcpy(label + cell, tile->output_label + j, sizeof(float) * WV_TILE_OUTPUTS);
            if (weight) memcpy(weight + cell, tile->output_weight + j, sizeof(float) * WV_TILE_OUTPUTS);
        }
    }
    logistic_steps(inputs * outputs, score, label, weight, training->lr, score, &training->totals);
    for (int j = 0, fetch = fetched->fetch; j < outputs; j += WV_TILE_OUTPUTS) {
        int some = outputs_from(j, outputs);
        int left = fetched->fetch_end - fetch; /* the last block fetches all that is left */
        if (left > WV_TILE_OUTPUTS && j + WV_TILE_OUTPUTS < outputs) left = WV_TILE_OUTPUTS;
        tile_ahead ahead = {left, (const float *const *)fetched->output + fetch};
        fetch += left;
        const float *step = score + j * inputs;
        if (biased) update_biases(tile->output_bias + j, some, inputs, step);
        update_outputs(&(tile_step){inputs, some, width, old, x, y + j, step, ahead}, delta);
    }
}

WV_INLINE void train_questions(word2vec_block *block, const position_tile *tile, const position_tile *fetched, int inputs,
                               float **x, float *delta) {
    train_logistic(block, tile, fetched, inputs, x, delta, 0);
}

/* ---------------------------------------------------------------- negative sampling */

static int sampled_outputs(const wv_word2vec_run *run) { return run->sampler ? 1 + run->options.negative : -1; }

/* Random numbers that choose words; asks for their buckets of the alias table. */
WV_INLINE void draw_words(word2vec_block *block, const row_store *store, int count, uint64_t *numbers) {
    const wv_word2vec_run *run = block->run;
    for (int k = 0; k < count; k++) {
        numbers[k] = drawn_number(store, block);
        __builtin_prefetch(&run->sampler[wv_rng_below(numbers[k], (uint32_t)run->vocab_size)], 0, 3);
    }
}

WV_INLINE int32_t drawn_word(const wv_word2vec_run *run, uint64_t number) {
    int32_t word = (int32_t)wv_rng_below(number, (uint32_t)run->vocab_size);
    wv_alias bucket = run->sampler[word];
    return (uint32_t)number >= bucket.threshold ? bucket.other : word;
}

WV_INLINE void draw_negatives(word2vec_block *block, const row_store *store, position_tile *tile) {
    draw_words(block, store, block->run->options.negative, tile->negative_draw);
}

WV_INLINE void add_output(word2vec_block *block, const row_store *store, position_tile *tile, int32_t row,
                          float label) {
    for (int j = 0; j < tile->outputs; j++)
        if (tile->output_row[j] == row) {
            tile->output_weight[j] += 1;
            tile->weighted = 1;
            return;
        }
    tile->output_row[tile->outputs] = row;
    tile->output[tile->outputs] = output_row_of(store, block, row);
    tile->output_label[tile->outputs] = label;
    tile->output_weight[tile->outputs] = 1;
    tile->outputs++;
}

/* `skip_center`, a constant: a center that is drawn is left out. Otherwise it is noise too (outputs.h has its label),
 * in its one row of the tile: the rows of a tile are distinct. The words' rows begin at `first`. */
WV_INLINE void list_drawn(word2vec_block *block, const row_store *store, position_tile *tile, int skip_center,
                          int32_t first) {
    const wv_word2vec_run *run = block->run;
    add_output(block, store, tile, first + tile->center, 1);
    for (int k = 0; k < run->options.negative; k++) {
        int32_t word = noise_word_of(store, block, drawn_word(run, tile->negative_draw[k]));
        if (!skip_center || word != tile->center) add_output(block, store, tile, first + word, 0);
    }
    if (!skip_center) tile->output_label[0] = 1 / tile->output_weight[0];
}

WV_INLINE void list_negatives(word2vec_block *block, const row_store *store, position_tile *tile) {
    list_drawn(block, store, tile, 1, 0);
}

/* ---------------------------------------------------------------- NCE: negative sampling with biases */

static int nce_outputs(const wv_word2vec_run *run) {
    return run->log_noise && run->output_bias ? sampled_outputs(run) : -1;
}

WV_INLINE void list_noise(word2vec_block *block, const row_store *store, position_tile *tile) {
    list_drawn(block, store, tile, 0, 0);
    for (int j = 0; j < tile->outputs; j++) tile->output_bias[j] = output_bias_of(store, block, tile->output_row[j]);
}

WV_INLINE void train_nce(word2vec_block *block, const position_tile *tile, const position_tile *fetched, int inputs,
                         float **x, float *delta) {
    train_logistic(block, tile, fetched, inputs, x, delta, 1);
}

/* ---------------------------------------------------------------- hierarchical softmax */

static int path_outputs(const wv_word2vec_run *run) { return run->path ? run->longest_path : -1; }

/* Asks for the path itself, and for where the next but one begins. */
WV_INLINE void fetch_path(word2vec_block *block, const row_store *store, position_tile *tile) {
    (void)store;
    const wv_word2vec_run *run = block->run;
    const sentence_batch *batch = &block->batch;
    tile->path = &run->path[run->path_start[batch->word[tile->position]]];
    __builtin_prefetch(tile->path, 0, 3);
    __builtin_prefetch(tile->path + 15, 0, 3);
    if (tile->position + 2 < batch->length)
        __builtin_prefetch(&run->path_start[batch->word[tile->position + 2]], 0, 3);
}

/* The nodes of a path are distinct rows. */
WV_INLINE void list_path(word2vec_block *block, const row_store *store, position_tile *tile) {
    const int64_t *start = &block->run->path_start[tile->center];
    tile->outputs = (int)(start[1] - start[0]);
    for (int j = 0; j < tile->outputs; j++) {
        int32_t step = tile->path[j];
        tile->output[j] = output_row_of(store, block, step >> 1);
        tile->output_label[j] = (float)(step & 1);
    }
    /* The top of the tree is in every path and in the cache. */
    tile->fetch = CACHED_NODES < tile->outputs ? CACHED_NODES : tile->outputs;
}

/* ---------------------------------------------------------------- both at once, as word2vec's -hs 1 -negative 5 */

static int path_and_sampled_outputs(const wv_word2vec_run *run) {
    int path = path_outputs(run), sampled = sampled_outputs(run);
    return path < 0 || sampled < 0 || !run->first_word ? -1 : path + sampled;
}

WV_INLINE void draw_and_fetch(word2vec_block *block, const row_store *store, position_tile *tile) {
    draw_negatives(block, store, tile);
    fetch_path(block, store, tile);
}

/* The nodes, each once, and then the words, whose rows are others. */
WV_INLINE void list_path_and_negatives(word2vec_block *block, const row_store *store, position_tile *tile) {
    list_path(block, store, tile);
    for (int j = 0; j < tile->outputs; j++) {
        tile->output_row[j] = tile->path[j] >> 1;
        tile->output_weight[j] = 1;
    }
    list_drawn(block, store, tile, 1, block->run->first_word);
}

/* ---------------------------------------------------------------- all words: softmax, a yes or no for each */

static int all_words(const wv_word2vec_run *run) { return run->vocab_size + WV_ROW_FLOATS; }

static void rows_of_words(const wv_word2vec_run *run, int first, int count, float **y) {
    for (int j = 0; j < count; j++) y[j] = run->output + (size_t)(first + j) * (size_t)run->stride;
}

/* In blocks of words; the scores of input i lie in a row of their own. */
static void train_softmax(word2vec_block *block, const position_tile *tile, const position_tile *fetched, int inputs,
                          float **x, float *delta) {
    (void)fetched;
    const wv_word2vec_run *run = block->run;
    tile_training *training = &block->training;
    int words = run->vocab_size, width = block->width;
    size_t scores = (size_t)all_words(run);
    double loss = 0;
    float *y[WV_TILE_OUTPUTS], *cells = training->label, **old = old_inputs(training, inputs, x, delta, width);
    for (int word = 0; word < words; word += WV_TILE_OUTPUTS) {
        int some = outputs_from(word, words);
        rows_of_words(run, word, some, y);
        tile_scores(inputs, old, some, y, width, cells);
        for (int i = 0; i < inputs; i++) {
            float *score = training->score + (size_t)i * scores + word;
            for (int j = 0; j < some; j++) score[j] = cells[i * some + j];
        }
    }
    for (int i = 0; i < inputs; i++) {
        float *score = training->score + (size_t)i * scores;
        loss += softmax_steps(words, score, tile->center, training->lr, &training->totals);
    }
    for (int word = 0; word < words; word += WV_TILE_OUTPUTS) {
        int some = outputs_from(word, words);
        rows_of_words(run, word, some, y);
        for (int i = 0; i < inputs; i++) {
            const float *step = training->score + (size_t)i * scores + word;
            for (int j = 0; j < some; j++) cells[i * some + j] = step[j];
        }
        update_outputs(&(tile_step){inputs, some, width, old, x, y, cells, {0, NULL}}, delta);
    }
    training->loss += loss;
}

/* One yes/no question for each word: is it the center? The blocks all see the inputs as they were. */
static void train_every_word(word2vec_block *block, const position_tile *tile, const position_tile *fetched, int inputs,
                             float **x, float *delta) {
    (void)fetched;
    const wv_word2vec_run *run = block->run;
    tile_training *training = &block->training;
    int words = run->vocab_size, width = block->width;
    float *y[WV_TILE_OUTPUTS], *g = training->score, **old = old_inputs(training, inputs, x, delta, width);
    for (int word = 0; word < words; word += WV_TILE_OUTPUTS) {
        int some = outputs_from(word, words);
        rows_of_words(run, word, some, y);
        tile_scores(inputs, old, some, y, width, g);
        for (int i = 0; i < inputs; i++)
            for (int j = 0; j < some; j++) training->label[i * some + j] = (float)(word + j == tile->center);
        logistic_steps(inputs * some, g, training->label, NULL, training->lr, g, &training->totals);
        update_outputs(&(tile_step){inputs, some, width, old, x, y, g, {0, NULL}}, delta);
    }
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
