/* word2vec and fastText's subwords: which rows meet in a tile, position by position. The arithmetic is tile.h, the output
 * layers are layers.h.
 *
 * Two independent axes: the context rule (skip-gram: M context rows; CBOW: one row, their mean or sum) and the output
 * layer. Neither knows of the other. A tile passes through a pipeline, so that nothing waits for memory: see `stages`.
 * With subwords the input rows are those of subwords.h; nothing else differs.
 *
 * Departures from word2vec C; what they do to quality is measured in benchmarks/README.md:
 * - The context rows of one position share one draw of negatives (pWord2Vec, Ji et al. 2016), and all of them move at
 *   once, from the same old values. word2vec draws anew for every (context, centre) pair: share_negatives = 0 does so.
 *   With share_positions = 1 neighbouring positions of CBOW share a draw, too: cbow_neighbours.h.
 * - A word drawn twice as a negative enters the tile once, with a weight of two. A context word that stands twice in
 *   the window enters twice, one update after the other.
 * - The sigmoid is exact (outputs.h); the learning rate follows the position in the corpus, not a clock of threads.
 * As in word2vec: the context row is the input and the centre word is predicted; subsampling comes before windowing; a
 * negative equal to the centre is skipped, not redrawn (negative sampling; the noise of NCE is kept).
 */
#include "base/scratch.h"
#include "kernels/cbow_neighbours.h"
#include "kernels/hotrows.h"
#include "kernels/layers.h"
#include "kernels/positions.h"
#include "kernels/round_users.h"
#include "kernels/tile.h"
#include "kernels/wv_kernels.h"

/* The tiles under way; each is one stage further at every step. */
typedef struct {
    tile_rows *drawn;   /* its position and random numbers are known; the buckets of the alias table are on their way */
    tile_rows *listed;  /* its input and output rows are listed */
    tile_rows *fetched; /* the tile that is trained meanwhile asks for its rows, line by line */
    tile_rows *waiting; /* the rows are on their way */
    tile_rows *trained; /* scores, steps, update */
} stages;

static void advance(stages *tiles) {
    tile_rows *done = tiles->trained;
    tiles->trained = tiles->waiting;
    tiles->waiting = tiles->fetched;
    tiles->fetched = tiles->listed;
    tiles->listed = tiles->drawn;
    tiles->drawn = done;
}

/* A context rule: what the rows of a window become in a tile. */
typedef struct {
    int whole_window; /* a tile takes the whole window even when every context word draws its own negatives */
    int (*most_inputs)(const wv_word2vec_run *run);
    /* Trains a tile; returns the loss that is not in training->totals. */
    double (*train)(const wv_word2vec_run *run, const output_layer *layer, tile_training *training,
                    const tile_rows *rows, const tile_rows *fetched, int64_t *examples);
    train_neighbours train_neighbours; /* a tile of neighbouring positions that share negatives; NULL: none do */
} context_rule;

/* ---------------------------------------------------------------- skip-gram */

static int window_inputs(const wv_word2vec_run *run) { return 2 * run->options.window; }

/* The context rows are the inputs of the tile. */
WV_INLINE double train_skipgram(const wv_word2vec_run *run, const output_layer *layer, tile_training *training,
                                const tile_rows *rows, const tile_rows *fetched, int64_t *examples) {
    *examples += rows->inputs;
    return layer->train(run, training, rows, fetched, rows->inputs, rows->input, NULL);
}

/* ---------------------------------------------------------------- CBOW */

static int one_input(const wv_word2vec_run *run) {
    (void)run;
    return 1;
}

/* hidden = scale * the sum of the inputs, each times its weight with subwords; delta = 0. */
WV_INLINE void sum_inputs(const wv_word2vec_run *run, const tile_rows *rows, float scale, float *hidden, float *delta) {
    for (int d = 0; d < run->stride; d += WV_LANES) {
        vfloat sum = v_splat(0);
        if (run->subword) {
            for (int i = 0; i < rows->inputs; i++) sum += rows->input_weight[i] * v_load(rows->input[i] + d);
        } else {
            for (int i = 0; i < rows->inputs; i++) sum += v_load(rows->input[i] + d);
        }
        v_store(hidden + d, sum * scale);
        v_store(delta + d, v_splat(0));
    }
}

/* One input, h = sum of the context rows, divided by their number for the mean. The gradient of h goes to every context
 * row: divided again by their number (the true gradient, Irsoy et al. 2021, "koan") or whole (word2vec).
 * With subwords a context word is the mean of its rows and weighs as many as there are: all rows count alike. */
WV_INLINE double train_cbow(const wv_word2vec_run *run, const output_layer *layer, tile_training *training,
                            const tile_rows *rows, const tile_rows *fetched, int64_t *examples) {
    int stride = run->stride;
    float *hidden = training->x_copy, *delta = training->x_copy + stride;
    float count = (float)rows->inputs;
    if (run->subword) {
        count = 0;
        for (int i = 0; i < rows->inputs; i++) count += rows->input_weight[i];
    }
    float mean = run->options.cbow_mean ? 1.0f / count : 1.0f;
    float share = run->options.cbow_gradient == WV_CBOW_GRADIENT_CORRECTED ? mean : 1.0f;
    sum_inputs(run, rows, mean, hidden, delta);
    double loss = layer->train(run, training, rows, fetched, 1, &hidden, delta);
    for (int i = 0; i < rows->inputs; i++) {
        float *row = rows->input[i];
        for (int d = 0; d < stride; d += WV_LANES) v_store(row + d, v_load(row + d) + share * v_load(delta + d));
    }
    ++*examples;
    return loss;
}

#define CONTEXT_RULE_ROWS(ROW)                               \
    ROW(SKIPGRAM, 0, window_inputs, train_skipgram, NULL) \
    ROW(CBOW, 1, one_input, train_cbow, train_cbow_neighbours)

#define ROW(name, ...) [WV_MODEL_##name] = {__VA_ARGS__},
static const context_rule CONTEXT_RULES[] = {CONTEXT_RULE_ROWS(ROW)};
#undef ROW

/* Whether neighbouring positions share tiles. */
WV_INLINE int shares_positions(const wv_word2vec_run *run, const output_layer *layer, const context_rule *rule) {
    return layer->shares && rule->train_neighbours && run->options.share_positions && !run->subword;
}

/* ---------------------------------------------------------------- blocks */

/* One thread in one block of the corpus. */
typedef struct {
    const wv_word2vec_run *run;
    wv_hot_rows *hot;
    sentence_batch batch;
    hidden_ring ring;
    tile_rows tile[STAGES];
    tile_training training;
    neighbour_state neighbours;
} block_state;

static void lay_out_tile(const wv_word2vec_run *run, wv_scratch *scratch, int outputs, tile_rows *rows) {
    int window = window_inputs(run);
    int entering = run->subword ? run->most_subwords : 1; /* rows fetched for the word that is new in the window */
    rows->negative_draw = WV_TAKE(scratch, uint64_t, run->options.negative);
    rows->input = WV_TAKE(scratch, float *, window);
    rows->output = WV_TAKE(scratch, float *, outputs + entering);
    rows->input_weight = WV_TAKE(scratch, float, window);
    rows->output_row = WV_TAKE(scratch, int32_t, outputs);
    rows->output_weight = WV_TAKE(scratch, float, outputs + WV_TILE_OUTPUTS);
    rows->output_label = WV_TAKE(scratch, float, outputs + WV_TILE_OUTPUTS);
}

/* Lays the state out in `memory`; returns its size in bytes. With memory NULL it only measures. */
static size_t lay_out(const wv_word2vec_run *run, const output_layer *layer, void *memory, block_state *state) {
    const context_rule *rule = &CONTEXT_RULES[run->options.model];
    wv_scratch scratch = {memory, 0};
    int words = BATCH + run->options.max_sentence;
    int scores = layer->most_scores(run), outputs = layer->list ? scores : 0;
    size_t inputs = (size_t)rule->most_inputs(run), stride = (size_t)run->stride;
    size_t cells = inputs * (size_t)(outputs > WV_TILE_OUTPUTS ? outputs : WV_TILE_OUTPUTS) + WV_ROW_FLOATS;
    *state = (block_state){.run = run};
    state->batch.word = WV_TAKE(&scratch, int32_t, words);
    state->batch.first = WV_TAKE(&scratch, int32_t, words);
    state->batch.last = WV_TAKE(&scratch, int32_t, words);
    for (int k = 0; k < STAGES; k++) lay_out_tile(run, &scratch, outputs, &state->tile[k]);
    tile_training *training = &state->training;
    training->x = WV_TAKE(&scratch, float *, inputs);
    training->x_copy = WV_TAKE(&scratch, float, (inputs + 1) * stride);
    training->score = WV_TAKE(&scratch, float, inputs * (size_t)scores + WV_ROW_FLOATS);
    training->label = WV_TAKE(&scratch, float, cells);
    training->weight = WV_TAKE(&scratch, float, cells);
    training->sums = WV_TAKE(&scratch, vfloat, inputs * WV_TILE_OUTPUTS + WV_LANES);
    if (shares_positions(run, layer, rule)) lay_out_neighbours(run, &scratch, &state->neighbours);
    if (run->subword) {
        hidden_ring *ring = &state->ring;
        ring->rows = ring_rows(run);
        ring->hidden = WV_TAKE(&scratch, float, (size_t)ring->rows * stride);
        ring->entry = WV_TAKE(&scratch, float, (size_t)ring->rows * stride);
        ring->list = WV_TAKE(&scratch, float *, run->most_subwords);
    }
    return scratch.used;
}

size_t WV_NAME(wv_word2vec_scratch_bytes)(const wv_word2vec_run *run) {
    block_state state;
    const output_layer *layer = output_layer_of(run);
    return layer ? lay_out(run, layer, NULL, &state) : 0;
}

/* The next tile: its position and random numbers. 0: there are no more. */
WV_INLINE int draw(block_state *state, const output_layer *layer, int shared, uint64_t *random, tile_cursor *at,
                   tile_rows *rows) {
    const wv_word2vec_run *run = state->run;
    rows->fetch = 0;
    rows->fetch_end = 0;
    if (!next_tile(run, &state->batch, shared, random, at, rows)) return 0;
    if (run->subword && rows->opens) fetch_subword_list(run, state->hot, &state->batch, rows->position + run->options.window);
    if (layer->draw) layer->draw(run, &state->batch, random, rows);
    return 1;
}

WV_INLINE void list(block_state *state, const output_layer *layer, tile_rows *rows) {
    rows->centre = state->batch.word[rows->position];
    rows->outputs = 0;
    rows->weighted = 0;
    list_inputs(state->run, state->hot, &state->batch, &state->ring, rows);
    if (layer->list) layer->list(state->run, state->hot, rows);
    rows->fetch_end = rows->outputs;
    if (rows->opens || !state->run->subword)
        rows->fetch_end += list_entering(state->run, state->hot, &state->batch, rows->position,
                                         rows->output + rows->fetch_end);
    if (state->hot->round) rows->copies = copies_listed(state->hot->round);
}

/* Trains all tiles of the batch; returns their loss. `layer` and `rule` are constants, so that their functions are
 * called directly. */
WV_INLINE double train_batch(block_state *state, const output_layer *layer, const context_rule *rule, uint64_t *random,
                             int64_t *examples) {
    const wv_word2vec_run *run = state->run;
    state->ring.left = 0;
    state->ring.entered = 0;
    if (shares_positions(run, layer, rule)) {
        train_neighbour_batch(run, state->hot, &state->batch, &state->neighbours, &state->training,
                              rule->train_neighbours, random, examples);
        return 0;
    }
    tile_rows *tile = state->tile;
    stages tiles = {&tile[0], &tile[1], &tile[2], &tile[3], &tile[4]};
    tile_cursor at = {-1, 0, -1};
    int shared = shares_tile(run, rule->whole_window);
    double loss = 0;
    for (int k = 0; k < STAGES; k++) tile[k].live = 0;
    int steps = STAGES - 1; /* that the last tile drawn needs to be trained */
    while (steps > 0) {
        advance(&tiles);
        tiles.drawn->live = draw(state, layer, shared, random, &at, tiles.drawn);
        if (!tiles.drawn->live) steps--;
        if (tiles.listed->live) list(state, layer, tiles.listed);
        if (!tiles.trained->live) continue;
        if (state->hot->round) make_copies(run, state->hot->round, tiles.trained->copies);
        if (run->subword)
            ring_advance(run, &state->batch, &state->ring, tiles.trained->position, tiles.trained->last);
        loss += rule->train(run, layer, &state->training, tiles.trained, tiles.fetched, examples);
    }
    if (run->subword) ring_flush(run, &state->batch, &state->ring);
    return loss;
}

WV_INLINE double train_batch_by(block_state *state, const output_layer *layer, uint64_t *random, int64_t *examples) {
    switch (state->run->options.model) {
#define ROW(name, ...) \
    case WV_MODEL_##name: return train_batch(state, layer, &CONTEXT_RULES[WV_MODEL_##name], random, examples);
        CONTEXT_RULE_ROWS(ROW)
#undef ROW
    }
    return 0;
}

/* A loop for every output layer and context rule. Those of a layer are a function of their own: in one function of all
 * of them a change of one makes others up to a tenth slower. */
#define ROW(name, ...)                                                                                \
    __attribute__((noinline)) static double train_batch_##name(block_state *state, uint64_t *random,  \
                                                               int64_t *examples) {                   \
        return train_batch_by(state, &OUTPUT_LAYERS[WV_LOSS_##name], random, examples);               \
    }
OUTPUT_LAYER_ROWS(ROW)
#undef ROW

static double train_batch_of(block_state *state, uint64_t *random, int64_t *examples) {
    switch (state->run->options.loss) {
#define ROW(name, ...) \
    case WV_LOSS_##name: return train_batch_##name(state, random, examples);
        OUTPUT_LAYER_ROWS(ROW)
#undef ROW
    default: return 0;
    }
}

/* What the random numbers of a block begin with. */
static uint64_t block_random(const wv_word2vec_run *run, int32_t epoch, int64_t start) {
    return wv_rng_stream(run->options.seed, (uint64_t)epoch, (uint64_t)start);
}

void WV_NAME(wv_word2vec_users)(const wv_word2vec_run *run, const int32_t *ids, int64_t start, int64_t end,
                                int32_t epoch, const wv_round_merge *rounds, int32_t worker) {
    user_mark mark = mark_of(rounds, worker);
    /* Words have one row of each matrix, or many, of which it is worth knowing that they are marked. */
    int many = run->subword || run->path;
    for (int64_t position = start; position < end; position++)
        if (ids[position] >= 0 && !(many && is_known(run, rounds, ids[position], mark)))
            mark_word(run, rounds, ids[position], mark);
    if (!run->sampler || start == end) return;
    uint64_t random = block_random(run, epoch, start);
    mark_pool(run, rounds, pool_of_block(run->options.negative, end - start, &random), mark);
}

void WV_NAME(wv_word2vec_block)(const wv_word2vec_run *run, wv_hot_rows *hot, const int32_t *ids, int64_t start,
                                int64_t end, int32_t epoch, int64_t done, void *scratch, wv_block_result *result) {
    block_state state;
    lay_out(run, output_layer_of(run), scratch, &state);
    state.hot = hot;
    state.ring.hot = state.training.hot = hot;
    tile_training *training = &state.training;
    uint64_t random = block_random(run, epoch, start);
    double schedule = (double)run->epoch_tokens * run->options.epochs;
    double loss = 0;
    int64_t tokens = 0, examples = 0, position = start, before = 0;
    training->lr = run->options.start_lr;
    if (state.neighbours.mean) forget_mean(run, &state.neighbours);
    state.batch.pool = (random_pool){0, 0};
    if (hot->round) {
        begin_round(hot->round);
        if (run->sampler) state.batch.pool = pool_of_block(run->options.negative, end - start, &random);
    }

    while (position < end) {
        float left = (float)(1 - ((double)epoch * (double)run->epoch_tokens + (double)(done + position - start)) / schedule);
        float lr = run->options.start_lr * left;
        training->lr = lr > run->options.least_lr ? lr : run->options.least_lr;
        if (hot->count) exchange_due(run, hot, tokens - before);
        before = tokens;
        state.batch.length = 0;
        while (position < end && state.batch.length < BATCH)
            read_sentence(run, ids, &position, end, &random, &state.batch, &tokens);
        loss += train_batch_of(&state, &random, &examples);
        loss += v_sum(training->totals.loss); /* once a batch: float sums of many thousand terms would lose digits */
        training->totals.loss = v_splat(0);
    }
    hot->tokens -= tokens - before;
    if (hot->round) {
        forget_slots(&hot->round->input);
        forget_slots(&hot->round->output);
    }
    result->loss = loss + 0 * (double)v_sum(training->totals.magnitude); /* NaN or infinity in any row shows here */
    result->examples = examples;
    result->tokens = tokens;
    result->lr = training->lr;
}

void WV_NAME(wv_word2vec_settle)(const wv_word2vec_run *run, wv_hot_rows *hot) {
    if (hot->count) exchange_hottest(run, hot, hot->count);
}

/* The rows of a matrix that a thread merges. */
static int32_t range_start(int32_t rows, int32_t thread, int32_t threads) {
    return (int32_t)((int64_t)rows * thread / threads);
}

void WV_NAME(wv_word2vec_merge)(const wv_word2vec_run *run, wv_round_worker *worker, const wv_round_merge *merge,
                                int32_t thread, int32_t *input_head, int32_t *output_head) {
    int32_t threads = merge->threads;
    merge_matrix(worker, merge->workers, 0, run->stride, range_start(merge->input_rows, thread, threads),
                 range_start(merge->input_rows, thread + 1, threads), run->input, NULL, merge->input_share,
                 merge->input_users, input_head);
    merge_matrix(worker, merge->workers, 1, run->stride, range_start(merge->output_rows, thread, threads),
                 range_start(merge->output_rows, thread + 1, threads), run->output, run->output_bias,
                 merge->output_share, merge->output_users, output_head);
}
