/* word2vec and fastText's subwords: which rows meet in a tile, position by position. The arithmetic is tile.h, the output
 * layers are layers.h.
 *
 * Three independent axes: the context rule (skip-gram: M context rows; CBOW: one row, their mean or sum), the output layer,
 * and the row store, which knows where rows lie. None knows of the others. A tile passes through a pipeline, so that
 * nothing waits for memory. With subwords the input rows are those of subwords.h; nothing else differs.
 *
 * Departures from word2vec C; what they do to quality is measured in benchmarks/README.md:
 * - The context rows of one position share one draw of negatives (pWord2Vec, Ji et al. 2016), and all of them move at
 *   once, from the same old values. word2vec draws anew for every (context, center) pair: share_negatives = 0 does so.
 *   With share_positions = 1 neighboring positions of CBOW share a draw, too: cbow_neighbors.h.
 * - A word drawn twice as a negative enters the tile once, with a weight of two. A context word that stands twice in
 *   the window enters twice, one update after the other.
 * - The sigmoid is exact (outputs.h); the learning rate follows the position in the corpus, not a clock of threads.
 * As in word2vec: the context row is the input and the center word is predicted; subsampling comes before windowing; a
 * negative equal to the center is skipped, not redrawn (negative sampling; the noise of NCE is kept).
 */
#include "base/scratch.h"
#include "kernels/pipeline.h"
#include "kernels/tile.h"
#include "kernels/word2vec/cbow_neighbors.h"
#include "kernels/word2vec/deterministic_merge.h"
#include "kernels/word2vec/deterministic_users.h"
#include "kernels/word2vec/layers.h"
#include "kernels/word2vec/positions.h"
#include "kernels/wv_kernels.h"

/* A context rule: what the rows of a window become in a tile. */
typedef struct {
    int whole_window; /* a tile takes the whole window even when every context word draws its own negatives */
    int shares;       /* neighboring positions may share a tile */
    int (*most_inputs)(const wv_word2vec_run *run);
    void (*train)(word2vec_block *block, const output_layer *layer, const position_tile *tile,
                  const position_tile *fetched);
} context_rule;

/* ---------------------------------------------------------------- skip-gram */

static int window_inputs(const wv_word2vec_run *run) { return 2 * run->options.window; }

/* The context rows are the inputs of the tile. */
WV_INLINE void train_skipgram(word2vec_block *block, const output_layer *layer, const position_tile *tile,
                              const position_tile *fetched) {
    block->training.examples += tile->inputs;
    layer->train(block, tile, fetched, tile->inputs, tile->input, NULL);
}

/* ---------------------------------------------------------------- CBOW */

static int one_input(const wv_word2vec_run *run) {
    (void)run;
    return 1;
}

/* The columns from d on of sum_inputs, as many vectors as `columns`, a constant. */
WV_INLINE void sum_columns(const word2vec_block *block, const position_tile *tile, int columns, int d, float scale,
                           float *hidden, float *delta) {
    vfloat sum[2] = {v_splat(0), v_splat(0)};
    if (block->run->subword) {
        for (int i = 0; i < tile->inputs; i++)
            for (int c = 0; c < columns; c++) sum[c] += tile->input_weight[i] * v_load(tile->input[i] + d + c * WV_LANES);
    } else {
        for (int i = 0; i < tile->inputs; i++)
            for (int c = 0; c < columns; c++) sum[c] += v_load(tile->input[i] + d + c * WV_LANES);
    }
    for (int c = 0; c < columns; c++, d += WV_LANES) {
        v_store(hidden + d, sum[c] * scale);
        v_store(delta + d, v_splat(0));
    }
}

/* hidden = scale * the sum of the inputs, each times its weight with subwords; delta = 0. */
WV_INLINE void sum_inputs(const word2vec_block *block, const position_tile *tile, float scale, float *hidden,
                          float *delta) {
    int d = 0;
    for (; d + WV_LANES < block->width; d += 2 * WV_LANES) sum_columns(block, tile, 2, d, scale, hidden, delta);
    if (d < block->width) sum_columns(block, tile, 1, d, scale, hidden, delta);
}

/* row += share * delta in the columns from d on, as many vectors as `columns`, a constant. */
WV_INLINE void give_columns(float *row, int columns, int d, float share, const float *delta) {
    for (int end = d + columns * WV_LANES; d < end; d += WV_LANES)
        v_store(row + d, v_load(row + d) + share * v_load(delta + d));
}

/* One input, h = sum of the context rows, divided by their number for the mean. The gradient of h goes to every context
 * row: divided again by their number (the true gradient, Irsoy et al. 2021, "koan") or whole (word2vec).
 * With subwords a context word is the mean of its rows and weighs as many as there are: all rows count alike. */
WV_INLINE void train_cbow(word2vec_block *block, const output_layer *layer, const position_tile *tile,
                          const position_tile *fetched) {
    const wv_word2vec_run *run = block->run;
    float *hidden = block->training.x_copy, *delta = hidden + run->stride;
    float count = (float)tile->inputs;
    if (run->subword) {
        count = 0;
        for (int i = 0; i < tile->inputs; i++) count += tile->input_weight[i];
    }
    float mean = run->options.cbow_mean ? 1.0f / count : 1.0f;
    float share = run->options.cbow_gradient == WV_CBOW_GRADIENT_CORRECTED ? mean : 1.0f;
    sum_inputs(block, tile, mean, hidden, delta);
    layer->train(block, tile, fetched, 1, &hidden, delta);
    for (int i = 0; i < tile->inputs; i++) {
        int d = 0;
        for (; d + WV_LANES < block->width; d += 2 * WV_LANES) give_columns(tile->input[i], 2, d, share, delta);
        if (d < block->width) give_columns(tile->input[i], 1, d, share, delta);
    }
    block->training.examples++;
}

#define CONTEXT_RULE_ROWS(ROW)                           \
    ROW(SKIPGRAM, 0, 0, window_inputs, train_skipgram) \
    ROW(CBOW, 1, 1, one_input, train_cbow)

#define ROW(name, ...) [WV_MODEL_##name] = {__VA_ARGS__},
static const context_rule CONTEXT_RULES[] = {CONTEXT_RULE_ROWS(ROW)};
#undef ROW

/* Whether neighboring positions share tiles. */
static int shares_positions(const wv_word2vec_run *run) {
    return CONTEXT_RULES[run->options.model].shares && OUTPUT_LAYERS[run->options.loss].shares &&
           run->options.share_positions && !run->subword;
}

/* ---------------------------------------------------------------- the tiles of a batch */

WV_INLINE void train_tile(word2vec_block *block, const output_layer *layer, const position_tile *tile,
                          const position_tile *fetched) {
    switch (block->run->options.model) {
#define RULE(name, ...) \
    case WV_MODEL_##name: CONTEXT_RULES[WV_MODEL_##name].train(block, layer, tile, fetched); break;
        CONTEXT_RULE_ROWS(RULE)
#undef RULE
    }
}

/* One of each layer, with both context rules. Not inlined: the loops over tiles, of every store, call the same. */
#define ROW(name, ...)                                                                                     \
    __attribute__((noinline)) static void train_tile_##name(word2vec_block *block, const position_tile *tile, \
                                                            const position_tile *fetched) {                \
        train_tile(block, &OUTPUT_LAYERS[WV_LOSS_##name], tile, fetched);                                  \
    }
OUTPUT_LAYER_ROWS(ROW)
#undef ROW

/* One of each store. */
#define ROW(name, ...)                                                                                             \
    __attribute__((noinline)) static void subword_advance_##name(word2vec_block *block, int position, int last) {  \
        subword_advance(block, &ROW_STORES[WV_ROWS_##name], position, last);                                       \
    }                                                                                                              \
    __attribute__((noinline)) static void subword_flush_##name(word2vec_block *block) {                            \
        subword_flush(block, &ROW_STORES[WV_ROWS_##name]);                                                         \
    }
ROW_STORE_ROWS(ROW)
#undef ROW

/* The constants of a loop over tiles. */
typedef struct {
    const row_store *store;
    const output_layer *layer;
    void (*train)(word2vec_block *block, const position_tile *tile, const position_tile *fetched);
    void (*advance)(word2vec_block *block, int position, int last);
    void (*flush)(word2vec_block *block);
} tile_kind;

/* The next tile: its position and random numbers. The buckets of the alias table are on their way. */
WV_INLINE int tile_draw(void *of, const void *constants, void *item) {
    word2vec_block *block = of;
    const tile_kind *kind = constants;
    position_tile *tile = item;
    tile->fetch = 0;
    tile->fetch_end = 0;
    if (!next_position(block, tile)) return 0;
    if (block->run->subword && tile->opens)
        subword_fetch_list(block, kind->store, tile->position + block->run->options.window);
    if (kind->layer->draw_outputs) kind->layer->draw_outputs(block, kind->store, tile);
    return 1;
}

/* Its input and output rows. */
WV_INLINE void tile_list(void *of, const void *constants, void *item) {
    word2vec_block *block = of;
    const tile_kind *kind = constants;
    position_tile *tile = item;
    tile->center = block->batch.word[tile->position];
    tile->outputs = 0;
    tile->weighted = 0;
    list_inputs(block, kind->store, tile);
    if (kind->layer->list_outputs) kind->layer->list_outputs(block, kind->store, tile);
    tile->fetch_end = tile->outputs;
    if (tile->opens || !block->run->subword)
        tile->fetch_end += list_entering(block, kind->store, tile->position, tile->output + tile->fetch_end);
    if (kind->store->copies_listed) tile->copies = kind->store->copies_listed(block);
}

/* Scores, steps, update. */
WV_INLINE void tile_train(void *of, const void *constants, void *item, const void *fetched) {
    word2vec_block *block = of;
    const tile_kind *kind = constants;
    const position_tile *tile = item;
    if (kind->store->make_copies) kind->store->make_copies(block, tile->copies);
    if (block->run->subword) kind->advance(block, tile->position, tile->last);
    kind->train(block, tile, fetched);
}

WV_INLINE int neighbor_tile_draw(void *block, const void *kind, void *tile) {
    return neighbor_draw(block, ((const tile_kind *)kind)->store, tile);
}

WV_INLINE void neighbor_tile_list(void *block, const void *kind, void *tile) {
    neighbor_list(block, ((const tile_kind *)kind)->store, tile);
}

WV_INLINE void neighbor_tile_train(void *block, const void *kind, void *item, const void *fetched) {
    const row_store *store = ((const tile_kind *)kind)->store;
    const neighbor_tile *tile = item;
    if (store->make_copies) store->make_copies(block, tile->copies);
    train_cbow_neighbors(block, tile, fetched);
}

static const pipeline TILES = {TILE_STAGES, 2, tile_draw, tile_list, tile_train};
static const pipeline NEIGHBOR_TILES = {TILE_STAGES, 2, neighbor_tile_draw, neighbor_tile_list, neighbor_tile_train};

/* `kind` is made of constants, so that its functions are called directly. */
WV_INLINE void train_batch(word2vec_block *block, const tile_kind kind) {
    first_position(block);
    subword_begin(block);
    pipeline_run(&TILES, block, &kind, block->tile, sizeof block->tile[0]);
    if (block->run->subword) kind.flush(block);
}

/* A loop for every output layer and store. Those of a layer are a function of their own: in one function of all of them a
 * change of one makes others up to a tenth slower. A layer that takes every word has them where they are. */
WV_INLINE void train_batch_by(word2vec_block *block, const output_layer *layer,
                              void (*train)(word2vec_block *, const position_tile *, const position_tile *)) {
    switch (layer->list_outputs ? block->rows->store : WV_ROWS_DIRECT) {
#define ROW(name, ...)                                                                                              \
    case WV_ROWS_##name:                                                                                            \
        train_batch(block, (tile_kind){&ROW_STORES[WV_ROWS_##name], layer, train, subword_advance_##name, \
                                       subword_flush_##name});                                                      \
        break;
        ROW_STORE_ROWS(ROW)
#undef ROW
    }
}

#define ROW(name, ...)                                                                     \
    __attribute__((noinline)) static void train_batch_##name(word2vec_block *block) {      \
        train_batch_by(block, &OUTPUT_LAYERS[WV_LOSS_##name], train_tile_##name);          \
    }
OUTPUT_LAYER_ROWS(ROW)
#undef ROW

/* The same for neighboring positions that share tiles. */
__attribute__((noinline)) static void train_neighbor_batch(word2vec_block *block) {
    first_position(block);
    block->position = 0;
    switch (block->rows->store) {
#define ROW(name, ...)                                                                                      \
    case WV_ROWS_##name: {                                                                                  \
        const tile_kind kind = {.store = &ROW_STORES[WV_ROWS_##name]};                                      \
        pipeline_run(&NEIGHBOR_TILES, block, &kind, block->neighbors, sizeof block->neighbors[0]);       \
        break;                                                                                              \
    }
        ROW_STORE_ROWS(ROW)
#undef ROW
    }
}

static void train_batch_of(word2vec_block *block) {
    if (shares_positions(block->run)) {
        train_neighbor_batch(block);
        return;
    }
    switch (block->run->options.loss) {
#define ROW(name, ...) \
    case WV_LOSS_##name: train_batch_##name(block); break;
        OUTPUT_LAYER_ROWS(ROW)
#undef ROW
    }
}

/* ---------------------------------------------------------------- blocks */

static void tile_lay_out(const wv_word2vec_run *run, wv_scratch *scratch, int outputs, position_tile *tile) {
    int window = window_inputs(run);
    int entering = run->subword ? run->most_subwords : 1; /* rows fetched for the word that is new in the window */
    tile->negative_draw = WV_TAKE(scratch, uint64_t, run->options.negative);
    tile->input = WV_TAKE(scratch, float *, window);
    tile->output = WV_TAKE(scratch, float *, outputs + entering);
    tile->input_weight = WV_TAKE(scratch, float, window);
    tile->output_row = WV_TAKE(scratch, int32_t, outputs);
    tile->output_weight = WV_TAKE(scratch, float, outputs + WV_TILE_OUTPUTS);
    tile->output_label = WV_TAKE(scratch, float, outputs + WV_TILE_OUTPUTS);
    if (run->output_bias) tile->output_bias = WV_TAKE(scratch, float *, outputs);
}

static void training_lay_out(const wv_word2vec_run *run, wv_scratch *scratch, int scores, int outputs,
                             tile_training *training) {
    size_t inputs = (size_t)CONTEXT_RULES[run->options.model].most_inputs(run);
    size_t cells = inputs * (size_t)(outputs > WV_TILE_OUTPUTS ? outputs : WV_TILE_OUTPUTS) + WV_ROW_FLOATS;
    training->x = WV_TAKE(scratch, float *, inputs);
    training->x_copy = WV_TAKE(scratch, float, (inputs + 1) * (size_t)run->stride);
    training->score = WV_TAKE(scratch, float, inputs * (size_t)scores + WV_ROW_FLOATS);
    training->label = WV_TAKE(scratch, float, cells);
    training->weight = WV_TAKE(scratch, float, cells);
}

/* Lays the block's buffers out in `memory`; returns their size in bytes. With memory NULL it only measures. */
static size_t block_lay_out(const wv_word2vec_run *run, const output_layer *layer, void *memory,
                            word2vec_block *block) {
    wv_scratch scratch = {memory, 0};
    int words = BATCH_WORDS + run->options.max_sentence;
    int scores = layer->most_scores(run), outputs = layer->list_outputs ? scores : 0;
    *block = (word2vec_block){.run = run, .width = (run->options.dim + WV_LANES - 1) / WV_LANES * WV_LANES};
    block->batch.word = WV_TAKE(&scratch, int32_t, words);
    block->batch.first = WV_TAKE(&scratch, int32_t, words);
    block->batch.last = WV_TAKE(&scratch, int32_t, words);
    for (int k = 0; k < TILE_STAGES; k++) tile_lay_out(run, &scratch, outputs, &block->tile[k]);
    training_lay_out(run, &scratch, scores, outputs, &block->training);
    if (shares_positions(run)) neighbor_lay_out(block, &scratch);
    if (run->subword) {
        subword_ring *ring = &block->ring;
        ring->rows = subword_ring_rows(run);
        ring->hidden = WV_TAKE(&scratch, float, ring->rows * run->stride);
        ring->entry = WV_TAKE(&scratch, float, ring->rows * run->stride);
        ring->list = WV_TAKE(&scratch, float *, run->most_subwords);
    }
    return scratch.used;
}

size_t WV_NAME(wv_word2vec_scratch_bytes)(const wv_word2vec_run *run) {
    word2vec_block block;
    const output_layer *layer = output_layer_of(run);
    return layer ? block_lay_out(run, layer, NULL, &block) : 0;
}

/* What the random numbers of a block begin with. */
static uint64_t block_random(const wv_word2vec_run *run, const wv_block *stretch) {
    return wv_rng_stream(run->options.seed, (uint64_t)stretch->epoch, (uint64_t)stretch->start);
}

void WV_NAME(wv_word2vec_users)(const wv_word2vec_run *run, const wv_block *stretch, const wv_round_merge *rounds,
                                int32_t worker) {
    user_mark mark = mark_of(rounds, worker);
    /* Words have one row of each matrix, or many, of which it is worth knowing that they are marked. */
    int many = run->subword || run->path;
    for (int64_t position = stretch->start; position < stretch->end; position++) {
        int32_t word = stretch->ids[position];
        if (word >= 0 && !(many && is_known(run, rounds, word, mark))) mark_word(run, rounds, word, mark);
    }
    if (!run->sampler || stretch->start == stretch->end) return;
    uint64_t random = block_random(run, stretch);
    mark_pool(run, rounds, pool_of_block(run->options.negative, stretch->end - stretch->start, &random), mark);
}

void WV_NAME(wv_word2vec_block)(const wv_word2vec_run *run, wv_word2vec_rows *rows, const wv_block *stretch, int64_t done,
                                void *scratch, wv_block_result *result) {
    word2vec_block block;
    const row_store *store = &ROW_STORES[rows->store];
    block_lay_out(run, output_layer_of(run), scratch, &block);
    block.rows = rows;
    block.random = block_random(run, stretch);
    block.by_context = !CONTEXT_RULES[run->options.model].whole_window && !run->options.share_negatives && run->sampler;
    tile_training *training = &block.training;
    double schedule = (double)run->epoch_tokens * run->options.epochs;
    double loss = 0;
    int64_t tokens = 0, position = stretch->start, before = 0;
    training->lr = run->options.start_lr;
    if (block.shared.mean) neighbor_begin(&block);
    if (store->begin) store->begin(&block, stretch->end - stretch->start);

    while (position < stretch->end) {
        double before_it = (double)stretch->epoch * (double)run->epoch_tokens + (double)(done + position - stretch->start);
        float left = (float)(1 - before_it / schedule);
        float lr = run->options.start_lr * left;
        training->lr = lr > run->options.least_lr ? lr : run->options.least_lr;
        if (store->read) store->read(&block, tokens - before);
        before = tokens;
        block.batch.length = 0;
        while (position < stretch->end && block.batch.length < BATCH_WORDS)
            position = read_sentence(&block, stretch->ids, position, stretch->end, &tokens);
        training->loss = 0;
        train_batch_of(&block);
        loss += training->loss;
        loss += v_sum(training->totals.loss); /* once a batch: float sums of many thousand terms would lose digits */
        training->totals.loss = v_splat(0);
    }
    if (store->end) store->end(&block, tokens - before);
    result->loss = loss + 0 * (double)v_sum(training->totals.magnitude); /* NaN or infinity in any row shows here */
    result->examples = training->examples;
    result->tokens = tokens;
    result->lr = training->lr;
}

void WV_NAME(wv_word2vec_flush)(const wv_word2vec_run *run, wv_word2vec_rows *rows) {
    if (ROW_STORES[rows->store].flush) ROW_STORES[rows->store].flush(run, rows);
}

/* Where the rows of a matrix begin that a thread merges. */
static int32_t range_start(int32_t rows, int32_t thread, int32_t threads) {
    return (int32_t)((int64_t)rows * thread / threads);
}

void WV_NAME(wv_word2vec_merge)(const wv_word2vec_run *run, wv_round_worker *worker, const wv_round_merge *merge,
                                int32_t thread, int32_t *input_head, int32_t *output_head) {
    int32_t threads = merge->threads;
    merge_matrix((merged_rows){.worker = worker,
                               .workers = merge->workers,
                               .first = range_start(merge->input_rows, thread, threads),
                               .end = range_start(merge->input_rows, thread + 1, threads),
                               .output = 0,
                               .stride = run->stride,
                               .shared = run->input,
                               .share = merge->input_share,
                               .users = merge->input_users,
                               .head = input_head});
    merge_matrix((merged_rows){.worker = worker,
                               .workers = merge->workers,
                               .first = range_start(merge->output_rows, thread, threads),
                               .end = range_start(merge->output_rows, thread + 1, threads),
                               .output = 1,
                               .stride = run->stride,
                               .shared = run->output,
                               .bias = run->output_bias,
                               .share = merge->output_share,
                               .users = merge->output_users,
                               .head = output_head});
}
