/* The answers of a fastText classifier: the hidden vector of a line, the scores of the labels, the k best of them.
 *
 * As in fastText: probabilities are kept as ln(p + 1e-5); one-vs-all and negative sampling read the sigmoid from its table
 * of 512 steps, because its probabilities are off by up to 0.008 and ours must be the same; hierarchical softmax walks
 * down the tree and leaves branches that cannot reach the k best.
 */
#include <math.h>

#include "base/scratch.h"
#include "kernels/best.h"
#include "kernels/outputs.h"
#include "kernels/rowsums.h"
#include "kernels/tile.h"
#include "kernels/wv_kernels.h"

enum {
    LINES = 8, /* lines scored at once: they share the loads of the output rows */
    STRETCH = 256, /* rows that are looked at before those without scores are fetched */
    AHEAD = 24, /* rows without scores that are fetched ahead */
    NEAR = 16, /* rows whose scores are asked for ahead */
    MOST_ROWS = 1 << 14, /* of a line whose rows' scores are summed */
    TOP_NODES = 10 * WV_TILE_OUTPUTS /* of the tree, scored for all lines */
};

/* A branch of the tree still to walk: a node and its probability. */
typedef struct {
    double p;
    int32_t node;
} branch;

typedef struct {
    float *hidden; /* (LINES, sum_floats) */
    float *piece;  /* (PIECE, dim) rows made from codes */
    float *score;  /* (LINES, labels), or of the tree (LINES, TOP_NODES) */
    float *block;  /* (LINES, WV_TILE_OUTPUTS) scores of a tile */
    branch *branch; /* (2 labels) */
    answer *answers; /* (k + 1) */
    double *total; /* (labels) sums of the scores of rows */
} scratch_space;

/* ---------------------------------------------------------------- output layers */

static float fasttext_log(float p) { return (float)log((double)p + 1e-5); }

static float *hidden_of(const wv_prediction_run *run, const scratch_space *space, int line) {
    return space->hidden + (size_t)line * sum_floats(run);
}

static float *scores_of(const wv_prediction_run *run, const scratch_space *space, int line) {
    return space->score + (size_t)line * ((size_t)run->labels + WV_ROW_FLOATS);
}

/* scores = hidden . output for some rows of the output. */
static void row_scores(const wv_prediction_run *run, scratch_space *space, int lines, int32_t first, int32_t rows) {
    float *x[LINES], *y[WV_TILE_OUTPUTS];
    for (int i = 0; i < lines; i++) x[i] = hidden_of(run, space, i);
    for (int32_t k = 0; k < rows; k += WV_TILE_OUTPUTS) {
        int block = rows - k < WV_TILE_OUTPUTS ? rows - k : WV_TILE_OUTPUTS;
        for (int j = 0; j < block; j++) y[j] = (float *)run->output + (size_t)(first + k + j) * (size_t)run->stride;
        tile_scores(lines, x, block, y, run->stride, space->block);
        for (int i = 0; i < lines; i++) {
            float *score = scores_of(run, space, i) + k;
            for (int j = 0; j < block; j++) score[j] = space->block[i * block + j];
        }
    }
}

static void all_scores(const wv_prediction_run *run, scratch_space *space, int lines) {
    row_scores(run, space, lines, 0, run->labels);
}

/* ---------------------------------------------------------------- scores of rows
 *
 * The scores of a line are the mean of the scores of its rows. With few labels these are far fewer numbers than the rows,
 * most rows stand in a text many times, and they are kept in `row_score`. An entry without a bit is one that is not known
 * yet: a score of 0 is kept as -0. Threads that meet a row at the same time store the same numbers.
 *
 * The sum is a double: off by less than fastText's, whose rounding shows in very long lines. Those are summed as there.
 */

static uint32_t *kept_scores(const wv_prediction_run *run, int64_t row) {
    return run->row_score + (size_t)row * (size_t)run->labels;
}

static int has_scores(const wv_prediction_run *run, int64_t row) {
    const uint32_t *kept = kept_scores(run, row);
    for (int32_t k = 0; k < run->labels; k++)
        if (!__atomic_load_n(kept + k, __ATOMIC_RELAXED)) return 0;
    return 1;
}

/* Scores up to LINES rows and keeps what comes out. */
static void score_rows(const wv_prediction_run *run, scratch_space *space, const int32_t *row, int count) {
    for (int i = 0; i < count; i++) {
        float *x = hidden_of(run, space, i);
        memset(x + run->dim, 0, (size_t)(run->stride - run->dim) * sizeof *x);
        if (run->centroids)
            decode(run, row[i], run->dsub, x);
        else
            memcpy(x, row_at(run, row[i]), (size_t)run->dim * sizeof *x);
    }
    all_scores(run, space, count);
    for (int i = 0; i < count; i++) {
        const float *score = scores_of(run, space, i);
        uint32_t *kept = kept_scores(run, row[i]), bits;
        for (int32_t k = 0; k < run->labels; k++) {
            memcpy(&bits, score + k, sizeof bits);
            __atomic_store_n(kept + k, bits ? bits : 1u << 31, __ATOMIC_RELAXED);
        }
    }
}

/* Sees to it that these rows have scores, STRETCH or fewer; `after` more follow them in the array. */
static void keep_scores(const wv_prediction_run *run, scratch_space *space, const int32_t *row, int64_t rows,
                        int64_t after) {
    int32_t unknown[STRETCH];
    int count = 0;
    for (int64_t k = 0; k < rows; k++) {
        if (k + NEAR < rows + after) __builtin_prefetch(kept_scores(run, row[k + NEAR]), 0, 3);
        if (!has_scores(run, row[k])) unknown[count++] = row[k];
    }
    prefetch_rows(run, NULL, unknown, count < AHEAD ? count : AHEAD);
    for (int k = 0; k < count; k += LINES) {
        int now = count - k < LINES ? count - k : LINES, asked = k + AHEAD, left = count - asked;
        if (left > 0) prefetch_rows(run, NULL, unknown + asked, left < LINES ? left : LINES);
        score_rows(run, space, unknown + k, now);
    }
}

/* The scores of a line from those of its rows. `labels` is that of the run, a constant where that is worth it. */
WV_INLINE void mean_scores(const wv_prediction_run *run, scratch_space *space, const int32_t *row, int64_t rows,
                           int32_t labels) {
    float *score = scores_of(run, space, 0), part;
    double *total = space->total;
    for (int32_t k = 0; k < labels; k++) total[k] = 0;
    for (int64_t i = 0; i < rows; i++) {
        const uint32_t *kept = run->row_score + (size_t)row[i] * (size_t)labels;
        for (int32_t k = 0; k < labels; k++) {
            uint32_t bits = __atomic_load_n(kept + k, __ATOMIC_RELAXED);
            memcpy(&part, &bits, sizeof part);
            total[k] += (double)part;
        }
    }
    for (int32_t k = 0; k < labels; k++) score[k] = (float)(total[k] / (double)rows);
}

/* Scores become probabilities, in place; the buffer has WV_LANES - 1 more. */
static void to_softmax(int32_t count, float *score) {
    vfloat highest = v_splat(-INFINITY), sums = v_splat(0);
    for (int k = 0; k < WV_LANES - 1; k++) score[count + k] = -INFINITY;
    for (int32_t k = 0; k < count; k += WV_LANES) {
        vfloat s = v_load_unaligned(score + k);
        highest = v_select(s > highest, s, highest);
    }
    float top = highest[0];
    for (int k = 1; k < WV_LANES; k++) top = highest[k] > top ? highest[k] : top;
    for (int32_t k = 0; k < count; k += WV_LANES) {
        vfloat e = v_exp(v_load_unaligned(score + k) - top);
        int inside = count - k;
        for (int lane = inside; lane < WV_LANES; lane++) e[lane] = 0;
        v_store_unaligned(score + k, e);
        sums += e;
    }
    float scale = 1.0f / v_sum(sums);
    for (int32_t k = 0; k < count; k++) score[k] *= scale;
}

/* The same with fastText's sigmoid. */
static void to_sigmoid(const wv_prediction_run *run, float *score) {
    for (int32_t k = 0; k < run->labels; k++) {
        float s = score[k];
        if (s < -8)
            score[k] = 0;
        else if (s > 8)
            score[k] = 1;
        else if (s == s)
            score[k] = run->sigmoid[(int)((s + 8) * 512 / 8 / 2)];
    }
}

static void choose(const wv_prediction_run *run, const float *score, best *b) {
    /* Below `bar` the logarithm, which decides, is certainly too low. */
    float bar = run->threshold;
    for (int32_t k = 0; k < run->labels; k++) {
        if (!(score[k] >= bar) || (run->wanted && !run->wanted[k])) continue;
        float log_score = fasttext_log(score[k]);
        if (is_too_low(b, log_score)) continue;
        offer(b, log_score, k);
        if (b->size == b->capacity) {
            float lowest = (float)((exp((double)b->answers[0].score) - 1e-5) * 0.99999 - 1e-7);
            if (lowest > bar) bar = lowest;
        }
    }
}

static void answer_softmax(const wv_prediction_run *run, scratch_space *space, int line, best *b) {
    float *score = scores_of(run, space, line);
    to_softmax(run->labels, score);
    choose(run, score, b);
}

static void answer_sigmoid(const wv_prediction_run *run, scratch_space *space, int line, best *b) {
    float *score = scores_of(run, space, line);
    to_sigmoid(run, score);
    choose(run, score, b);
}

/* The nodes of the tree nearest to its root are the last ones, and most lines meet them: those of several lines are
 * scored together, as labels are. */
static int32_t first_top_row(const wv_prediction_run *run) {
    return run->labels - 1 > TOP_NODES ? run->labels - 1 - TOP_NODES : 0;
}

static void top_nodes(const wv_prediction_run *run, scratch_space *space, int lines) {
    int32_t first = first_top_row(run), rows = run->labels - 1 - first;
    row_scores(run, space, lines, first, rows);
    for (int i = 0; i < lines; i++) {
        float *p = scores_of(run, space, i);
        for (int32_t k = 0; k < rows; k += WV_LANES)
            v_store_unaligned(p + k, 1.0f / (1.0f + v_exp(-v_load_unaligned(p + k))));
    }
}

/* The probability of the right branch at a node. */
static double right_branch(const wv_prediction_run *run, const float *hidden, const float *top, int32_t row) {
    if (row >= first_top_row(run)) return (double)top[row - first_top_row(run)];
    const float *y = run->output + (size_t)row * (size_t)run->stride;
    vfloat sum = v_splat(0);
    for (int d = 0; d < run->stride; d += WV_LANES) sum += v_load(hidden + d) * v_load(y + d);
    return (double)(1.0f / (1.0f + expf(-v_sum(sum))));
}

/* fastText adds ln(p + 1e-5) of the branches. Here they are multiplied, and only a leaf takes the logarithm. The more
 * probable branch comes first, so that the other one is soon out of reach; the left one, as in fastText, of two as
 * probable. */
static void answer_tree(const wv_prediction_run *run, scratch_space *space, int line, best *b) {
    const float *hidden = hidden_of(run, space, line), *top = scores_of(run, space, line);
    const double surely = 1 - 1e-6; /* of what is less, the logarithm is less, too */
    float bar = fasttext_log(run->threshold);
    double lowest = ((double)run->threshold + 1e-5) * surely;
    int open = 0;
    space->branch[open++] = (branch){1, 2 * run->labels - 2};
    while (open > 0) {
        branch at = space->branch[--open];
        if (at.p < lowest || (run->wanted && !run->wanted[at.node])) continue;
        if (run->left[at.node] < 0) {
            float score = (float)log(at.p);
            if (score < bar || is_too_low(b, score)) continue;
            offer(b, score, at.node);
            if (b->size < b->capacity) continue;
            double worst = exp((double)b->answers[0].score) * surely;
            lowest = worst > lowest ? worst : lowest;
            continue;
        }
        double p = right_branch(run, hidden, top, at.node - run->labels);
        branch left = {at.p * (1 - p + 1e-5), run->left[at.node]}, right = {at.p * (p + 1e-5), run->right[at.node]};
        space->branch[open] = p > 0.5 ? left : right;
        space->branch[open + 1] = p > 0.5 ? right : left;
        open += 2;
    }
}

/* An output layer scores rows of the output for a few lines, and offers the labels of each to its heap: from the scores
 * of all, or with a tree down its branches. */
typedef struct {
    int has_tree;
    void (*score)(const wv_prediction_run *run, scratch_space *space, int lines);
    void (*answer)(const wv_prediction_run *run, scratch_space *space, int line, best *b);
} output_layer;

static const output_layer OUTPUT_LAYERS[] = {
    [WV_LOSS_NS] = {0, all_scores, answer_sigmoid},
    [WV_LOSS_HS] = {1, top_nodes, answer_tree},
    [WV_LOSS_SOFTMAX] = {0, all_scores, answer_softmax},
    [WV_LOSS_OVA] = {0, all_scores, answer_sigmoid},
};

/* NULL: there is none of that name here, or its tree is missing. */
static const output_layer *output_layer_of(const wv_prediction_run *run) {
    size_t loss = (size_t)run->options.loss;
    if (loss >= sizeof OUTPUT_LAYERS / sizeof *OUTPUT_LAYERS || !OUTPUT_LAYERS[loss].answer) return NULL;
    return OUTPUT_LAYERS[loss].has_tree && !run->left ? NULL : &OUTPUT_LAYERS[loss];
}

/* ---------------------------------------------------------------- lines */

/* Lays the scratch space out in `memory`; returns its size in bytes. With memory NULL it only measures. */
static size_t lay_out(const wv_prediction_run *run, void *memory, scratch_space *space) {
    wv_scratch scratch = {memory, 0};
    size_t labels = (size_t)run->labels;
    space->hidden = WV_TAKE(&scratch, float, LINES * sum_floats(run));
    space->piece = WV_TAKE(&scratch, float, PIECE * run->dim);
    space->score = WV_TAKE(&scratch, float, LINES * (labels + WV_ROW_FLOATS));
    space->block = WV_TAKE(&scratch, float, LINES * WV_TILE_OUTPUTS + WV_ROW_FLOATS);
    space->branch = WV_TAKE(&scratch, branch, 2 * labels + 2);
    space->answers = WV_TAKE(&scratch, answer, (size_t)run->k + 1);
    space->total = WV_TAKE(&scratch, double, labels);
    return scratch.used;
}

size_t WV_NAME(wv_supervised_predict_scratch_bytes)(const wv_prediction_run *run) {
    scratch_space space;
    return output_layer_of(run) ? lay_out(run, NULL, &space) : 0;
}

/* Writes the k best labels of the line whose hidden vector or scores are number `n` of the scratch space. */
static void give_answer(const wv_prediction_run *run, scratch_space *space, int n, int64_t line,
                        const wv_prediction_answers *answers) {
    best b = {0, run->k, space->answers};
    output_layer_of(run)->answer(run, space, n, &b);
    answers->found[line] = best_first(&b, answers->label + line * run->k, answers->score + line * run->k);
}

/* Answers the lines first .. last, LINES or fewer. */
static void answer_lines(const wv_prediction_run *run, scratch_space *space, const wv_prediction_lines *asked, int64_t first,
                         int64_t last, const wv_prediction_answers *answers) {
    const int64_t *start = asked->start;
    const output_layer *layer = output_layer_of(run);
    int64_t line[LINES];
    int count = 0;
    for (int64_t i = first; i < last; i++) {
        answers->found[i] = 0;
        if (start[i] == start[i + 1]) continue; /* nothing known: no answer */
        float *hidden = hidden_of(run, space, count);
        int64_t rows = start[i + 1] - start[i];
        memset(hidden, 0, sum_floats(run) * sizeof *hidden);
        const int32_t *row = asked->row + start[i];
        add_rows(run, &asked->known, row, rows, start[asked->lines] - start[i + 1], space->piece, hidden);
        finish_sum(run, count_rows(&asked->known, row, rows), hidden);
        line[count++] = i;
    }
    layer->score(run, space, count);
    for (int n = 0; n < count; n++) give_answer(run, space, n, line[n], answers);
}

/* The same for all lines, by the scores of rows. */
static void answer_by_rows(const wv_prediction_run *run, scratch_space *space, const wv_prediction_lines *asked,
                           const wv_prediction_answers *answers) {
    const int64_t *start = asked->start, all = start[asked->lines];
    int64_t known = 0; /* rows whose scores have been seen to */
    for (int64_t i = 0; i < asked->lines; i++) {
        int64_t rows = start[i + 1] - start[i];
        if (rows == 0 || rows > MOST_ROWS) {
            answer_lines(run, space, asked, i, i + 1, answers);
            known = start[i + 1] > known ? start[i + 1] : known;
            continue;
        }
        while (known < start[i + 1]) {
            int64_t next = all - known < STRETCH ? all - known : STRETCH;
            keep_scores(run, space, asked->row + known, next, all - known - next);
            known += next;
        }
        if (run->labels == 2)
            mean_scores(run, space, asked->row + start[i], rows, 2);
        else
            mean_scores(run, space, asked->row + start[i], rows, run->labels);
        give_answer(run, space, 0, i, answers);
    }
}

void WV_NAME(wv_supervised_predict)(const wv_prediction_run *run, const wv_prediction_lines *asked,
                                    const wv_prediction_answers *answers, void *scratch) {
    scratch_space space;
    lay_out(run, scratch, &space);
    if (run->row_score) {
        answer_by_rows(run, &space, asked, answers);
        return;
    }
    sum_words(run, &asked->known, space.piece, space.hidden);
    for (int64_t first = 0; first < asked->lines; first += LINES) {
        int64_t last = asked->lines - first < LINES ? asked->lines : first + LINES;
        answer_lines(run, &space, asked, first, last, answers);
    }
}

void WV_NAME(wv_supervised_sum)(const wv_prediction_run *run, const int32_t *row, int64_t rows, float *sum,
                                void *scratch) {
    scratch_space space;
    lay_out(run, scratch, &space);
    add_rows(run, NULL, row, rows, 0, space.piece, sum);
}

void WV_NAME(wv_supervised_mean)(const wv_prediction_run *run, int64_t rows, float *sum) { finish_sum(run, rows, sum); }
