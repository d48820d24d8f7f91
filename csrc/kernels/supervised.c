/* The text classifier of fastText (Joulin et al. 2016, arXiv 1607.01759): training.
 *
 *     h = mean of the input rows of a line (words, character n-grams, word n-grams)
 *     output layer over the labels; outputs.h has the formulas
 *     every input row += (sum over outputs of g * y) / number of rows
 *
 *   softmax  one label of the line, drawn anew every time, against all others
 *   hs       the Huffman path of that label
 *   ns       that label against `negative` labels drawn with probability count^0.5
 *   ova      every label a yes/no question of its own; all labels of the line are yes
 *
 * Weights of the line and of its label (ova: the mean over its labels) multiply the learning rate of the line. A line of
 * weight 0 moves nothing.
 *
 * With dropout (Srivastava et al. 2014) some numbers of h, drawn anew for every line, are 0, and get no step. The other
 * numbers grow by 1 / (1 - dropout), and the learning rate of a line is at most LONGEST_STEP / |h|^2.
 *
 * Departures from fastText: the sigmoid is exact; equal negatives are merged with a weight, and all outputs of an
 * example move at once.
 */
#include "base/cache.h"
#include "kernels/buckets.h"
#include "kernels/dropout.h"
#include "kernels/lines.h"
#include "kernels/pipeline.h"
#include "kernels/questions.h"
#include "kernels/replicas.h"
#include "kernels/wv_kernels.h"

enum {
    LINE_STAGES = 2,
    LINE_VECTORS = WV_ROW_FLOATS / WV_LANES,
    HELD_LINES = (WV_REGISTERS - 2) / LINE_VECTORS < 7 ? (WV_REGISTERS - 2) / LINE_VECTORS : 7, /* of a row, in registers */
    UPDATE_CHUNK = WV_REGISTERS == 32 ? 8 : 4 /* two of them and a few more: of 32 registers or of 16 */
};

/* One thread in one block of the corpus. */
typedef struct output_layer output_layer;

typedef struct {
    const wv_supervised_run *run;
    const output_layer *layer;
    const wv_supervised_run *shared; /* with the output rows that all threads share */
    wv_private_outputs *private;
    const wv_block *block;
    int64_t position, tokens, examples; /* position: where the next line begins */
    text_line line[LINE_STAGES];
    float *hidden, *delta; /* (dim) */
    float *keep;           /* (dim): what dropout multiplies them with */
    question_list outputs; /* of hs and ns; the scores and labels of all outputs */
    uint64_t random;
    float lr;
    double loss;
    tile_totals totals;
} line_block;

/* An output layer: the number of its outputs, -1 when a table is missing, and its training. `train` adds the step of
 * the hidden vector to `delta`, moves the output rows, and returns the loss that is not in state->totals. */
struct output_layer {
    int64_t (*most_outputs)(const wv_supervised_run *run);
    double (*train)(const wv_supervised_run *run, line_block *state, const text_line *line, int32_t target);
};

/* Writes the buckets of the n-grams of length 2 .. word_ngrams of a line, `length` ids with `words` words, to where their
 * rows will be: h = h * 116049371 + hash, where a hash is an int32 that is widened with its sign. Labels and what
 * follows `</s>` are no part of them. */
static void list_buckets(const wv_line_rules *rules, const int32_t *ids, int64_t length, int64_t words, int32_t *bucket) {
    uint64_t scale = UINT64_MAX / rules->buckets;
    int64_t each = rules->word_ngrams - 1;
    for (int64_t k = 0; k < length * each; k++) bucket[k] = -1;
    for (int64_t i = 0, word = 0; word < words; i++) {
        if (ids[i] <= WV_FIRST_LABEL) continue;
        word++;
        int32_t first = ids[i] == WV_END_OF_LINE ? rules->end_of_line : ids[i];
        uint64_t h = (uint64_t)(int64_t)rules->hash[first];
        int64_t next = word;
        for (int64_t j = i + 1, n = 0; n < each && next < words; j++) {
            if (ids[j] <= WV_FIRST_LABEL) continue;
            int32_t other = ids[j] == WV_END_OF_LINE ? rules->end_of_line : ids[j];
            h = h * 116049371u + (uint64_t)(int64_t)rules->hash[other];
            bucket[i * each + n] = (int32_t)bucket_of(h, rules->buckets, scale);
            __builtin_prefetch(rules->bucket_row + bucket[i * each + n]);
            n++;
            next++;
        }
    }
}

/* Puts the rows of `count` buckets in their place, gives rows to those that have none, and returns how many there are. */
static int64_t give_rows(const wv_line_rules *rules, int32_t *bucket, int64_t count, int32_t *next_row) {
    int64_t grams = 0;
    for (int64_t k = 0; k < count; k++) {
        if (bucket[k] < 0) continue;
        int32_t *row = rules->bucket_row + bucket[k];
        if (*row == -1) *row = (*next_row)++;
        bucket[k] = *row;
        grams++;
    }
    return grams;
}

void WV_NAME(wv_supervised_survey)(const wv_line_rules *rules, const int32_t *ids, int64_t length,
                                   wv_line_survey *survey) {
    text_line line = {0};
    int64_t position = 0;
    while (position < length) {
        int64_t begin = position;
        position = read_line(rules, ids, begin, length, &line);
        int64_t rows = line.rows;
        if (rules->hash) {
            int64_t each = rules->word_ngrams - 1;
            int32_t *ngrams = rules->ngram_row + begin * each;
            list_buckets(rules, ids + begin, position - begin, line.words, ngrams);
            rows += give_rows(rules, ngrams, (position - begin) * each, &survey->next_row);
        }
        survey->lines++;
        survey->rows += rows;
        survey->examples += line.labels > 0 && rows > 0;
        if (line.words > survey->longest_words) survey->longest_words = line.words;
        if (rows > survey->longest_rows) survey->longest_rows = rows;
        if (line.labels > survey->longest_labels) survey->longest_labels = line.labels;
    }
}

/* ---------------------------------------------------------------- input rows */

static inline float *input_row(const wv_supervised_run *run, int32_t row) {
    return run->input + (size_t)row * (size_t)run->stride;
}

/* Does `call` with the constant `lines`, which is `count`: 1 .. HELD_LINES cache lines of a row. */
#define LINES_CASE(number, call) \
    case number: {               \
        enum { lines = number }; \
        call;                    \
    } break
#define WITH_LINES(count, call)                                                                              \
    switch (count) {                                                                                         \
        LINES_CASE(1, call); LINES_CASE(2, call); LINES_CASE(3, call); LINES_CASE(4, call);                  \
        LINES_CASE(5, call); LINES_CASE(6, call); LINES_CASE(7, call);                                       \
    default: break;                                                                                          \
    }

/* out = scale * sum of the rows, `lines` (a constant) cache lines of each from column d on. */
WV_INLINE void sum_lines(const wv_supervised_run *run, const text_line *line, int d, int lines, float scale, float *out) {
    vfloat sum[HELD_LINES * LINE_VECTORS];
    if (lines > HELD_LINES) __builtin_unreachable();
#pragma GCC unroll 16
    for (int v = 0; v < lines * LINE_VECTORS; v++) sum[v] = v_splat(0);
    for (int64_t k = 0; k < line->rows; k++) {
        const float *row = input_row(run, line->row[k]) + d;
#pragma GCC unroll 16
        for (int v = 0; v < lines * LINE_VECTORS; v++) sum[v] += v_load(row + v * WV_LANES);
    }
#pragma GCC unroll 16
    for (int v = 0; v < lines * LINE_VECTORS; v++) v_store(out + d + v * WV_LANES, sum[v] * scale);
}

static void mean_of_rows(const wv_supervised_run *run, const text_line *line, float *out) {
    float scale = 1.0f / (float)line->rows;
    for (int d = 0; d < run->stride; d += HELD_LINES * WV_ROW_FLOATS) {
        int left = (run->stride - d) / WV_ROW_FLOATS;
        WITH_LINES(left < HELD_LINES ? left : HELD_LINES, sum_lines(run, line, d, lines, scale, out))
    }
}

/* A line has tens of rows. */
WV_INLINE void prefetch_row(const wv_supervised_run *run, const text_line *line, int64_t k) {
    wv_fetch_to_l2(input_row(run, line->row[k]), run->stride);
}

/* Inlined: a call of a function that only prefetches has no effect for the compiler, which deletes it. */
WV_INLINE void prefetch_rows(const wv_supervised_run *run, const text_line *line, int64_t first) {
    for (int64_t k = first; k < line->rows; k++) prefetch_row(run, line, k);
}

/* Adds `delta`, which has `lines` (a constant) cache lines, to every row; asks for a row of the next line with each. */
WV_INLINE void add_lines(const wv_supervised_run *run, const text_line *line, int lines, const float *delta,
                         const text_line *next, int64_t ahead) {
    vfloat step[HELD_LINES * LINE_VECTORS];
    if (lines > HELD_LINES) __builtin_unreachable();
#pragma GCC unroll 16
    for (int v = 0; v < lines * LINE_VECTORS; v++) step[v] = v_load(delta + v * WV_LANES);
    for (int64_t k = 0; k < line->rows; k++) {
        if (k < ahead) prefetch_row(run, next, k);
        float *row = input_row(run, line->row[k]);
#pragma GCC unroll 16
        for (int v = 0; v < lines * LINE_VECTORS; v++) v_store(row + v * WV_LANES, v_load(row + v * WV_LANES) + step[v]);
    }
}

/* Adds `delta` to every row of the line and fetches the rows of the next. */
static void add_to_rows(const wv_supervised_run *run, const text_line *line, const float *delta,
                        const text_line *next) {
    int64_t ahead = next ? next->rows : 0;
    if (run->stride <= HELD_LINES * WV_ROW_FLOATS) {
        WITH_LINES(run->stride / WV_ROW_FLOATS, add_lines(run, line, lines, delta, next, ahead))
    } else {
        for (int64_t k = 0; k < line->rows; k++) {
            if (k < ahead) prefetch_row(run, next, k);
            float *row = input_row(run, line->row[k]);
            for (int d = 0; d < run->stride; d += WV_LANES) v_store(row + d, v_load(row + d) + v_load(delta + d));
        }
    }
    if (next) prefetch_rows(run, next, line->rows);
}

/* ---------------------------------------------------------------- output layers */

/* score[j] = x . y[j] for all labels; WV_LANES rows at a time share the loads of x. */
static void all_scores(const wv_supervised_run *run, const float *x, float *score) {
    int stride = run->stride;
    int32_t j = 0;
    for (; j + WV_LANES <= run->labels; j += WV_LANES) {
        const float *y = run->output + (size_t)j * (size_t)stride;
        vfloat sum[WV_LANES];
        for (int k = 0; k < WV_LANES; k++) sum[k] = v_splat(0);
        for (int d = 0; d < stride; d += WV_LANES) {
            vfloat part = v_load(x + d);
            for (int k = 0; k < WV_LANES; k++) sum[k] += part * v_load(y + (size_t)k * (size_t)stride + d);
        }
        v_store_unaligned(score + j, v_sums(sum));
    }
    for (; j < run->labels; j++) {
        const float *y = run->output + (size_t)j * (size_t)stride;
        vfloat sum = v_splat(0);
        for (int d = 0; d < stride; d += WV_LANES) sum += v_load(x + d) * v_load(y + d);
        score[j] = v_sum(sum);
    }
}

/* The update of a tile with one input: delta += step y, y += step x, for all labels. Both vectors stay in registers while
 * the output rows stream by, `vectors` (a constant) vectors of each from column d on. */
WV_INLINE void update_columns(const wv_supervised_run *run, const float *x, float *delta, const float *step, int d,
                              int vectors) {
    vfloat part[UPDATE_CHUNK], sum[UPDATE_CHUNK];
    for (int v = 0; v < vectors; v++) {
        part[v] = v_load(x + d + v * WV_LANES);
        sum[v] = v_load(delta + d + v * WV_LANES);
    }
    for (int32_t j = 0; j < run->labels; j++) {
        float *y = run->output + (size_t)j * (size_t)run->stride + d;
        vfloat g = v_splat(step[j]);
        for (int v = 0; v < vectors; v++) {
            vfloat row = v_load(y + v * WV_LANES);
            sum[v] += g * row;
            v_store(y + v * WV_LANES, row + g * part[v]);
        }
    }
    for (int v = 0; v < vectors; v++) v_store(delta + d + v * WV_LANES, sum[v]);
}

static void update_all(const wv_supervised_run *run, const float *x, float *delta, const float *step) {
    int d = 0;
    for (; d + UPDATE_CHUNK * WV_LANES <= run->stride; d += UPDATE_CHUNK * WV_LANES)
        update_columns(run, x, delta, step, d, UPDATE_CHUNK);
    switch ((run->stride - d) / WV_LANES) {
#if WV_REGISTERS == 32
    case 7: update_columns(run, x, delta, step, d, 7); break;
    case 6: update_columns(run, x, delta, step, d, 6); break;
    case 5: update_columns(run, x, delta, step, d, 5); break;
    case 4: update_columns(run, x, delta, step, d, 4); break;
#endif
    case 3: update_columns(run, x, delta, step, d, 3); break;
    case 2: update_columns(run, x, delta, step, d, 2); break;
    case 1: update_columns(run, x, delta, step, d, 1); break;
    default: break;
    }
}

static int64_t all_labels(const wv_supervised_run *run) { return run->labels; }

static double train_softmax(const wv_supervised_run *run, line_block *state, const text_line *line, int32_t target) {
    (void)line;
    all_scores(run, state->hidden, state->outputs.score);
    double loss = softmax_steps(run->labels, state->outputs.score, target, state->lr, &state->totals);
    update_all(run, state->hidden, state->delta, state->outputs.score);
    return loss;
}

static double train_ova(const wv_supervised_run *run, line_block *state, const text_line *line, int32_t target) {
    (void)target;
    float *score = state->outputs.score, *label = state->outputs.label;
    for (int64_t k = 0; k < line->labels; k++) label[line->label[k]] = 1;
    all_scores(run, state->hidden, score);
    logistic_steps(run->labels, score, label, NULL, state->lr, score, &state->totals);
    update_all(run, state->hidden, state->delta, score);
    for (int64_t k = 0; k < line->labels; k++) label[line->label[k]] = 0;
    return 0;
}

/* The outputs that have been listed, each a yes/no question. */
static void train_listed(const wv_supervised_run *run, line_block *state) {
    answer_questions(&state->outputs, run->output, run->stride, state->hidden, state->delta, state->lr, &state->totals);
}

static int64_t path_outputs(const wv_supervised_run *run) { return run->path ? run->longest_path : -1; }

static double train_path(const wv_supervised_run *run, line_block *state, const text_line *line, int32_t target) {
    (void)line;
    list_nodes(&state->outputs, run->path, run->path_start[target], run->path_start[target + 1]);
    train_listed(run, state);
    return 0;
}

static int64_t sampled_outputs(const wv_supervised_run *run) {
    return run->sampler ? 1 + (int64_t)run->options.negative : -1;
}

static double train_sampled(const wv_supervised_run *run, line_block *state, const text_line *line, int32_t target) {
    (void)line;
    list_sampled(&state->outputs, target, run->options.negative, run->sampler, run->labels, &state->random);
    train_listed(run, state);
    return 0;
}

static const output_layer OUTPUT_LAYERS[] = {
    [WV_LOSS_NS] = {sampled_outputs, train_sampled},
    [WV_LOSS_HS] = {path_outputs, train_path},
    [WV_LOSS_SOFTMAX] = {all_labels, train_softmax},
    [WV_LOSS_OVA] = {all_labels, train_ova},
};

/* NULL: there is none of that name here, or a table that it reads is missing. */
static const output_layer *output_layer_of(const wv_supervised_run *run) {
    size_t loss = (size_t)run->options.loss;
    if (loss >= sizeof OUTPUT_LAYERS / sizeof *OUTPUT_LAYERS || !OUTPUT_LAYERS[loss].train) return NULL;
    return OUTPUT_LAYERS[loss].most_outputs(run) < 0 ? NULL : &OUTPUT_LAYERS[loss];
}

/* ---------------------------------------------------------------- lines */

/* Lays the state out in `memory`; returns its size in bytes. With memory NULL it only measures. */
static size_t line_lay_out(const wv_supervised_run *run, const output_layer *layer, void *memory, line_block *state) {
    wv_scratch scratch = {memory, 0};
    int64_t outputs = layer->most_outputs(run);
    *state = (line_block){.lr = run->options.lr};
    for (int k = 0; k < LINE_STAGES; k++) {
        text_line *line = &state->line[k];
        line->row = WV_TAKE(&scratch, int32_t, run->longest_rows);
        line->label = WV_TAKE(&scratch, int32_t, run->longest_labels);
    }
    state->hidden = WV_TAKE(&scratch, float, run->stride);
    state->delta = WV_TAKE(&scratch, float, run->stride);
    state->keep = WV_TAKE(&scratch, float, run->stride);
    state->outputs = take_questions(&scratch, outputs);
    if (memory) memset(state->outputs.label, 0, sizeof(float) * (size_t)(outputs + WV_ROW_FLOATS));
    return scratch.used;
}

size_t WV_NAME(wv_supervised_scratch_bytes)(const wv_supervised_run *run) {
    line_block state;
    const output_layer *layer = output_layer_of(run);
    return layer ? line_lay_out(run, layer, NULL, &state) : 0;
}

/* The largest lr with dropout: lr |h|^2 <= LONGEST_STEP. The loss of softmax has a curvature of |h|^2 / 2 at most along its
 * output rows, and a step longer than 2 / curvature lands higher on the other side. h then grows without end. */
static const float LONGEST_STEP = 4;

static float bounded_lr(const float *h, int stride, float lr) {
    vfloat sum = v_splat(0);
    for (int d = 0; d < stride; d += WV_LANES) sum += v_load(h + d) * v_load(h + d);
    float square = v_sum(sum);
    return lr * square > LONGEST_STEP ? LONGEST_STEP / square : lr;
}

/* What the line counts when it is trained for `target`. */
static float weight_of(const wv_supervised_run *run, const text_line *line, int32_t target) {
    if (!run->class_weight) return line->weight;
    if (run->options.loss != WV_LOSS_OVA) return line->weight * run->class_weight[target];
    float sum = 0;
    for (int64_t k = 0; k < line->labels; k++) sum += run->class_weight[line->label[k]];
    return line->weight * (sum / (float)line->labels);
}

static double train_line(const wv_supervised_run *run, const output_layer *layer, line_block *state,
                         const text_line *line, const text_line *next, int32_t epoch) {
    state->random = wv_rng_stream(run->options.seed, (uint64_t)epoch, (uint64_t)line->position);
    int32_t target = line->label[wv_rng_below(wv_rng_next(&state->random), (uint32_t)line->labels)];
    size_t stride = (size_t)run->stride;
    float lr = state->lr;
    state->lr *= weight_of(run, line, target);
    mean_of_rows(run, line, state->hidden);
    if (run->options.dropout > 0) {
        draw_kept(run->options.dropout, &state->random, stride, state->keep);
        multiply(stride, state->hidden, state->keep);
        state->lr = bounded_lr(state->hidden, run->stride, state->lr);
    }
    for (int d = 0; d < run->stride; d += WV_LANES) v_store(state->delta + d, v_splat(0));
    double loss = layer->train(run, state, line, target);
    state->lr = lr;
    if (run->options.dropout > 0) multiply(stride, state->delta, state->keep);
    float share = 1.0f / (float)line->rows;
    for (int d = 0; d < run->stride; d += WV_LANES) v_store(state->delta + d, v_load(state->delta + d) * share);
    add_to_rows(run, line, state->delta, next->live ? next : NULL);
    return loss;
}

static int is_example(const text_line *line) { return line->rows > 0 && line->labels > 0; }

void WV_NAME(wv_supervised_settle)(const wv_supervised_run *run, wv_private_outputs *private) {
    if (private->rows)
        exchange_rows(private->rows, (size_t)run->stride, private->share, NULL, run->output, private->output,
                      private->base);
}

static void exchange_due(const wv_supervised_run *run, wv_private_outputs *private) {
    if (private->left-- > 0) return;
    WV_NAME(wv_supervised_settle)(run, private);
    private->left = private->interval - 1;
}

static int line_read(void *of, const void *kind, void *item) {
    (void)kind;
    line_block *state = of;
    text_line *line = item;
    line->live = state->position < state->block->end;
    if (!line->live) return 0;
    state->position = read_line(&state->run->rules, state->block->ids, state->position, state->block->end, line);
    state->tokens += line->words;
    return 1;
}

static void line_train(void *of, const void *kind, void *item, const void *next) {
    (void)kind;
    line_block *state = of;
    const wv_supervised_run *run = state->run;
    const text_line *line = item, *fetched = next;
    if (!is_example(line)) {
        if (fetched->live) prefetch_rows(run, fetched, 0);
        return;
    }
    double schedule = (double)run->epoch_ids * run->options.epochs;
    double done = ((double)state->block->epoch * (double)run->epoch_ids + (double)line->position) / schedule;
    state->lr = (float)(run->options.lr * (1 - done));
    if (state->private->rows) exchange_due(state->shared, state->private);
    state->loss += train_line(run, state->layer, state, line, fetched, state->block->epoch);
    state->loss += v_sum(state->totals.loss); /* every line: float sums of many terms would lose digits */
    state->totals.loss = v_splat(0);
    state->examples++;
}

static const pipeline LINES = {LINE_STAGES, 0, line_read, NULL, line_train};

void WV_NAME(wv_supervised_block)(const wv_supervised_run *shared, wv_private_outputs *private, const wv_block *block,
                                  void *scratch, wv_block_result *result) {
    wv_supervised_run own = *shared;
    if (private->rows) own.output = private->output;
    line_block state;
    const output_layer *layer = output_layer_of(&own);
    line_lay_out(&own, layer, scratch, &state);
    state.run = &own;
    state.layer = layer;
    state.shared = shared;
    state.private = private;
    state.block = block;
    state.position = block->start;
    pipeline_run(&LINES, &state, NULL, state.line, sizeof state.line[0]);
    result->loss = state.loss + 0 * (double)v_sum(state.totals.magnitude); /* NaN or infinity in any row shows here */
    result->examples = state.examples;
    result->tokens = state.tokens;
    result->lr = state.lr;
}
