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
 * Departures from fastText: the sigmoid is exact; equal negatives are merged with a weight, and all outputs of an
 * example move at once. While a line is trained the next is fetched and the one after it read (lines.h).
 */
#include "core/rng.h"
#include "kernels/lines.h"
#include "kernels/outputs.h"
#include "kernels/tile.h"
#include "kernels/wv_kernels.h"

enum {
    PIPELINE = 3,   /* lines under way: trained, fetched, read */
    CHUNK = 8,      /* vectors of a row summed at once, in registers */
    UPDATE_CHUNK = WV_LANES == 16 ? 8 : 4, /* two of them and a few more: of 32 registers or of 16 */
    DRAWS = 20      /* tries to draw a negative that is not the label */
};

typedef struct {
    text_line line[PIPELINE];
    float *hidden, *delta;            /* (dim) */
    float *score, *label, *weight;    /* (outputs) */
    float **y;                        /* (outputs) of hs and ns */
    int32_t *output;                  /* their rows */
} scratch_space;

static int64_t max_outputs(const wv_supervised_run *run) {
    if (run->layer == WV_SUP_HS) return run->longest_path;
    return run->layer == WV_SUP_NS ? 1 + run->negative : run->labels;
}

static void *carve(char **free_space, size_t bytes) {
    void *piece = *free_space;
    *free_space += (bytes + 63) / 64 * 64;
    return piece;
}

/* Lays the scratch space out from `memory`; returns its size in bytes. With memory NULL it only measures. */
static size_t lay_out(const wv_supervised_run *run, char *memory, scratch_space *space) {
    char *p = memory;
    size_t outputs = (size_t)max_outputs(run) + WV_TILE_OUTPUTS + WV_ROW_FLOATS;
    for (int k = 0; k < PIPELINE; k++) {
        text_line *line = &space->line[k];
        line->word = carve(&p, sizeof(int32_t) * (size_t)run->longest_words);
        line->row = carve(&p, sizeof(int32_t) * (size_t)run->longest_rows);
        line->label = carve(&p, sizeof(int32_t) * (size_t)run->longest_labels);
        line->bucket = carve(&p, run->rules.hash ? sizeof(int32_t) * (size_t)run->longest_rows : 0);
        if (!run->rules.hash) line->bucket = NULL;
    }
    space->hidden = carve(&p, sizeof(float) * (size_t)run->stride);
    space->delta = carve(&p, sizeof(float) * (size_t)run->stride);
    space->score = carve(&p, sizeof(float) * outputs);
    space->label = carve(&p, sizeof(float) * outputs);
    space->weight = carve(&p, sizeof(float) * outputs);
    space->y = carve(&p, sizeof(float *) * outputs);
    space->output = carve(&p, sizeof(int32_t) * outputs);
    return (size_t)(p - memory);
}

size_t WV_NAME(wv_supervised_scratch_bytes)(const wv_supervised_run *run) {
    scratch_space space;
    return lay_out(run, NULL, &space);
}

void WV_NAME(wv_supervised_survey)(const wv_line_rules *rules, const int32_t *ids, int64_t length,
                                   wv_line_survey *survey) {
    text_line line = {0};
    uint64_t scale = rules->hash ? UINT64_MAX / rules->buckets : 0;
    for (int64_t position = 0; position < length;) {
        int64_t begin = position, end = read_line(rules, ids, position, length, &line), grams = 0;
        /* The line's words once more, for their n-grams: labels and what follows `</s>` are no part of them. */
        for (int64_t i = begin, word = 0; rules->hash && word < line.words; i++) {
            if (ids[i] <= WV_FIRST_LABEL) continue;
            word++;
            int32_t first = ids[i] == WV_END_OF_LINE ? rules->end_of_line : ids[i];
            uint64_t h = (uint64_t)(int64_t)rules->hash[first];
            for (int64_t j = i + 1, n = 1, next = word; n < rules->word_ngrams && next < line.words; j++) {
                if (ids[j] <= WV_FIRST_LABEL) continue;
                int32_t other = ids[j] == WV_END_OF_LINE ? rules->end_of_line : ids[j];
                h = h * 116049371u + (uint64_t)(int64_t)rules->hash[other];
                int32_t *row = rules->bucket_row + bucket_of(h, rules->buckets, scale);
                if (*row == -1) *row = survey->next_row++;
                grams++, n++, next++;
            }
        }
        int64_t rows = line.rows + grams;
        survey->lines++;
        survey->rows += rows;
        survey->examples += line.labels > 0 && rows > 0;
        if (line.words > survey->longest_words) survey->longest_words = line.words;
        if (rows > survey->longest_rows) survey->longest_rows = rows;
        if (line.labels > survey->longest_labels) survey->longest_labels = line.labels;
        position = end;
    }
}

/* ---------------------------------------------------------------- input rows */

static inline float *input_row(const wv_supervised_run *run, int32_t row) {
    return run->input + (size_t)row * (size_t)run->stride;
}

/* out = scale * sum of the rows, `vectors` (a constant) vectors of each from column d on. */
WV_INLINE void sum_columns(const wv_supervised_run *run, const text_line *line, int d, int vectors, float scale,
                           float *out) {
    vfloat sum[CHUNK];
    for (int v = 0; v < vectors; v++) sum[v] = v_splat(0);
    for (int64_t k = 0; k < line->rows; k++) {
        const float *row = input_row(run, line->row[k]) + d;
        for (int v = 0; v < vectors; v++) sum[v] += v_load(row + v * WV_LANES);
    }
    for (int v = 0; v < vectors; v++) v_store(out + d + v * WV_LANES, sum[v] * scale);
}

static void mean_of_rows(const wv_supervised_run *run, const text_line *line, float *out) {
    float scale = 1.0f / (float)line->rows;
    int d = 0;
    for (; d + CHUNK * WV_LANES <= run->stride; d += CHUNK * WV_LANES)
        sum_columns(run, line, d, CHUNK, scale, out);
    for (; d + 4 * WV_LANES <= run->stride; d += 4 * WV_LANES) sum_columns(run, line, d, 4, scale, out);
    for (; d < run->stride; d += WV_LANES) sum_columns(run, line, d, 1, scale, out);
}

static inline void prefetch_row(const wv_supervised_run *run, const text_line *line, int64_t k) {
    const float *row = input_row(run, line->row[k]);
    for (int d = 0; d < run->stride; d += 16) __builtin_prefetch(row + d, 1, 3);
}

/* Adds `delta` to every row of the line and fetches the rows of the next. */
static void add_to_rows(const wv_supervised_run *run, const text_line *line, const float *delta,
                        const text_line *next) {
    int64_t ahead = next ? next->rows : 0;
    for (int64_t k = 0; k < line->rows; k++) {
        if (k < ahead) prefetch_row(run, next, k);
        float *row = input_row(run, line->row[k]);
        for (int d = 0; d < run->stride; d += WV_LANES) v_store(row + d, v_load(row + d) + v_load(delta + d));
    }
    for (int64_t k = line->rows; k < ahead; k++) prefetch_row(run, next, k);
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
#if WV_LANES == 16
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

static void train_ova(const wv_supervised_run *run, scratch_space *space, const text_line *line, float lr,
                      tile_totals *totals) {
    for (int64_t k = 0; k < line->labels; k++) space->label[line->label[k]] = 1;
    all_scores(run, space->hidden, space->score);
    logistic_steps(run->labels, space->score, space->label, NULL, lr, space->score, totals);
    update_all(run, space->hidden, space->delta, space->score);
    for (int64_t k = 0; k < line->labels; k++) space->label[line->label[k]] = 0;
}

static double train_softmax(const wv_supervised_run *run, scratch_space *space, int32_t target, float lr,
                            tile_totals *totals) {
    all_scores(run, space->hidden, space->score);
    double loss = softmax_steps(run->labels, space->score, target, lr, totals);
    update_all(run, space->hidden, space->delta, space->score);
    return loss;
}

static void add_output(scratch_space *space, int *outputs, int32_t row, float label) {
    for (int k = 0; k < *outputs; k++)
        if (space->output[k] == row) {
            space->weight[k] += 1;
            return;
        }
    space->output[*outputs] = row;
    space->label[*outputs] = label;
    space->weight[(*outputs)++] = 1;
}

static int32_t draw_label(const wv_supervised_run *run, uint64_t *random) {
    uint64_t draw = wv_rng_next(random);
    uint32_t bucket = wv_rng_below(draw, (uint32_t)run->labels);
    wv_alias entry = run->sampler[bucket];
    return (uint32_t)draw < entry.threshold ? (int32_t)bucket : entry.other;
}

/* Negative sampling and hierarchical softmax: a few outputs of their own. */
static void train_some(const wv_supervised_run *run, scratch_space *space, int32_t target, uint64_t *random, float lr,
                       tile_totals *totals) {
    int outputs = 0, stride = run->stride;
    if (run->layer == WV_SUP_HS) {
        for (int64_t k = run->path_start[target]; k < run->path_start[target + 1]; k++)
            add_output(space, &outputs, run->path[k] >> 1, (float)(run->path[k] & 1));
    } else {
        add_output(space, &outputs, target, 1);
        for (int n = 0; n < run->negative; n++) {
            int32_t noise = target;
            for (int draw = 0; draw < DRAWS && noise == target; draw++) noise = draw_label(run, random);
            if (noise != target) add_output(space, &outputs, noise, 0);
        }
    }
    for (int k = 0; k < outputs; k++) {
        space->y[k] = run->output + (size_t)space->output[k] * (size_t)stride;
        vfloat sum = v_splat(0);
        for (int d = 0; d < stride; d += WV_LANES) sum += v_load(space->hidden + d) * v_load(space->y[k] + d);
        space->score[k] = v_sum(sum);
    }
    logistic_steps(outputs, space->score, space->label, space->weight, lr, space->score, totals);
    for (int k = 0; k < outputs; k += WV_TILE_OUTPUTS) {
        int block = outputs - k < WV_TILE_OUTPUTS ? outputs - k : WV_TILE_OUTPUTS;
        tile_update(1, &space->hidden, &space->delta, block, space->y + k, stride, space->score + k,
                    (tile_ahead){0, NULL});
    }
}

/* ---------------------------------------------------------------- lines */

static double train_line(const wv_supervised_run *run, scratch_space *space, const text_line *line,
                         const text_line *next, int32_t epoch, float lr, tile_totals *totals) {
    uint64_t random = wv_rng_stream(run->seed, (uint64_t)epoch, (uint64_t)line->position);
    int32_t target = line->label[wv_rng_below(wv_rng_next(&random), (uint32_t)line->labels)];
    double loss = 0;
    mean_of_rows(run, line, space->hidden);
    for (int d = 0; d < run->stride; d += WV_LANES) v_store(space->delta + d, v_splat(0));
    switch (run->layer) {
    case WV_SUP_SOFTMAX: loss = train_softmax(run, space, target, lr, totals); break;
    case WV_SUP_OVA: train_ova(run, space, line, lr, totals); break;
    default: train_some(run, space, target, &random, lr, totals);
    }
    float share = 1.0f / (float)line->rows;
    for (int d = 0; d < run->stride; d += WV_LANES) v_store(space->delta + d, v_load(space->delta + d) * share);
    add_to_rows(run, line, space->delta, next);
    return loss;
}

void WV_NAME(wv_supervised_block)(const wv_supervised_run *run, const int32_t *ids, int64_t start, int64_t end,
                                  int32_t epoch, void *scratch, wv_supervised_result *result) {
    scratch_space space;
    lay_out(run, scratch, &space);
    for (int64_t k = 0; k < max_outputs(run) + WV_ROW_FLOATS; k++) space.label[k] = 0;
    double schedule = (double)run->epoch_ids * run->epochs, loss = 0;
    tile_totals totals = {v_splat(0), v_splat(0)};
    int64_t tokens = 0, examples = 0, position = start;
    int live[PIPELINE] = {0};
    float lr = run->lr;
    for (int t = 0, rounds = PIPELINE - 1; rounds > 0; t++) {
        text_line *read = &space.line[t % PIPELINE], *next = &space.line[(t + PIPELINE - 1) % PIPELINE];
        text_line *line = &space.line[(t + 1) % PIPELINE];
        int next_is_live = live[(t + PIPELINE - 1) % PIPELINE], line_is_live = live[(t + 1) % PIPELINE];
        if (position < end) {
            position = read_line(&run->rules, ids, position, end, read);
            tokens += read->words;
        } else {
            rounds--;
        }
        live[t % PIPELINE] = rounds == PIPELINE - 1;
        if (next_is_live) find_rows(&run->rules, next);
        if (!line_is_live || line->rows == 0 || line->labels == 0) {
            for (int64_t k = 0; next_is_live && k < next->rows; k++) prefetch_row(run, next, k);
            continue;
        }
        lr = (float)(run->lr * (1 - ((double)epoch * (double)run->epoch_ids + (double)line->position) / schedule));
        loss += train_line(run, &space, line, next_is_live ? next : NULL, epoch, lr, &totals);
        loss += v_sum(totals.loss); /* every line: float sums of many terms would lose digits */
        totals.loss = v_splat(0);
        examples++;
    }
    result->loss = loss + 0 * (double)v_sum(totals.magnitude); /* NaN or infinity in any row shows here */
    result->examples = examples;
    result->tokens = tokens;
    result->lr = lr;
}
