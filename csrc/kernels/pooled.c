/* A text classifier of two heads that are trained beside each other: tokens, whose rows begin with an embedding, and
 * n-grams, as Joulin et al. 2017 (arXiv 1607.01759) have them but with tf-idf.
 *
 *     m = sum_i v_i R_i        v_i: the value of the text's token or n-gram i, |v| = 1; R_i: its row
 *     z = H m
 *     loss of a head = -sum_k y_k log softmax(z)_k
 *     y = (1 - s) / |labels| at each of the text's labels, + s / outputs everywhere
 *     the answer is softmax((z_tokens + 2 z_ngrams) / 3)
 *
 * A model may answer several questions, such as quality and topic. Each has a softmax of its own over a range of the
 * outputs; y, |labels| and outputs are those of the range, and the loss is the sum. A question of which a text has no label
 * has d = 0 there. Rows are shared, so that g is the sum over the questions.
 *
 * Each head has a loss of its own: with one loss of the sum, the head that learns faster leaves the other nothing to learn.
 * A hidden layer between m and z of the tokens, and maxima and minima beside their mean (Shen et al. 2018, SWEM, arXiv
 * 1805.09843), were tried and are worse, most where labels are many.
 *
 * In training m loses numbers by dropout. A head learns from one text after the other:
 *
 *     d = softmax(z) - y,   g = H' d,   lr: at most LONGEST_STEP / |m|^2
 *     H   -= lr d m'
 *     R_i -= lr v_i g                                                        n-grams: as fastText does
 *     sum_i += v_i^2 mean(g^2),   R_i -= row_lr v_i g / (sqrt(sum_i) + 1e-8) tokens: AdaGrad, one sum a row
 *
 * Plain gradient descent keeps what is known of rare labels, of which there are many, small. AdaGrad moves the rows of
 * rare tokens, which begin with knowledge, as far as those of frequent ones.
 *
 * H lies by column: column d are the weights of m_d. Dropout makes most m_d zero, and a step reads and changes the columns
 * that are left only: those of a zero change neither z nor R, and do not move.
 *
 * Threads share rows without locks. Each of several has replicas of the output weights, which it exchanges now and then:
 * every step changes many of these, and their cache lines would go from core to core. */
#include <math.h>

#include "base/cache.h"
#include "base/lanes.h"
#include "base/scratch.h"
#include "kernels/dropout.h"
#include "kernels/replicas.h"
#include "kernels/wv_kernels.h"

#define EPSILON 1e-8f
#define LONGEST_STEP 2.0f /* the curvature of the loss along H is at most |m|^2 / 2 */
#define ROWS 4            /* columns that share a load of d */
#define SUMMED 8          /* rows that are added at once */
#define AHEAD 8           /* rows that are fetched before they are read */

typedef struct {
    float *sum, *gradient, *keep; /* m, its gradient, and what dropout multiplies it by: (the larger stride) */
    int32_t *kept;                /* which numbers of m dropout leaves: (the larger stride) */
    float *value;                 /* these numbers */
    float *scores;                /* (outputs, padded and a register more), zero behind the outputs */
} workspace;

static int32_t padded(int32_t numbers) { return (numbers + WV_ROW_FLOATS - 1) / WV_ROW_FLOATS * WV_ROW_FLOATS; }

static size_t lay_out(const wv_pooled_model *model, void *memory, workspace *work) {
    const int32_t tokens = model->tokens.stride, ngrams = model->ngrams.stride, widest = tokens > ngrams ? tokens : ngrams;
    wv_scratch scratch = {memory, 0};
    work->sum = WV_TAKE(&scratch, float, widest);
    work->gradient = WV_TAKE(&scratch, float, widest);
    work->keep = WV_TAKE(&scratch, float, widest);
    work->kept = WV_TAKE(&scratch, int32_t, widest);
    work->value = WV_TAKE(&scratch, float, widest);
    work->scores = WV_TAKE(&scratch, float, padded(model->outputs) + WV_ROW_FLOATS);
    return scratch.used;
}

size_t WV_NAME(wv_pooled_scratch_bytes)(const wv_pooled_model *model) {
    workspace work;
    return lay_out(model, NULL, &work);
}

/* y += a x */
static void add_scaled(float a, const float *x, int32_t size, float *y) {
    const vfloat factor = v_splat(a);
    for (int32_t d = 0; d < size; d += WV_LANES) v_store(y + d, v_load(y + d) + factor * v_load(x + d));
}

static float dot(const float *x, const float *y, int32_t size) {
    vfloat sum = {0};
    for (int32_t d = 0; d < size; d += WV_LANES) sum += v_load(x + d) * v_load(y + d);
    return v_sum(sum);
}

/* sum = sum_i value_i rows[id_i], zero of none; id NULL: rows[i]. Behind the last, a row is added 0 times. `ahead`, a
 * constant, asks for rows before they are read: those of inputs lie anywhere, columns near each other. */
WV_INLINE void sum_rows(const float *rows, int32_t stride, const int32_t *id, const float *value, int64_t count,
                        int64_t ahead, float *sum) {
    memset(sum, 0, sizeof(float) * (size_t)stride);
    for (int64_t i = 0; i < count; i += SUMMED) {
        const float *row[SUMMED];
        vfloat factor[SUMMED];
        for (int32_t r = 0; r < SUMMED; r++) {
            if (ahead && i + r + ahead < count) wv_fetch(rows + (int64_t)id[i + r + ahead] * stride, stride);
            const int64_t place = i + r < count ? i + r : i;
            row[r] = rows + (id ? id[place] : place) * stride;
            factor[r] = v_splat(i + r < count ? value[i + r] : 0);
        }
        for (int32_t d = 0; d < stride; d += WV_LANES) {
            vfloat total = {0}; /* added last: where rows are short, each sum waits for the one before */
#pragma GCC unroll 8
            for (int32_t r = 0; r < SUMMED; r++) total += factor[r] * v_load(row[r] + d);
            v_store(sum + d, v_load(sum + d) + total);
        }
    }
}

/* m of a text */
static void sum_inputs(const wv_pooled_head *head, const wv_pooled_inputs *inputs, int64_t text, float *sum) {
    const int64_t begin = inputs->start[text], count = inputs->start[text + 1] - begin;
    sum_rows(head->row, head->stride, inputs->id + begin, inputs->value + begin, count, AHEAD, sum);
}

/* Lists the numbers of m that `keep`, NULL for all, does not make 0; returns how many. */
static int32_t list_kept(int32_t dim, const float *keep, workspace *work) {
    int32_t count = 0;
    for (int32_t d = 0; d < dim; d++) {
        work->kept[count] = d;
        work->value[count] = work->sum[d];
        count += keep == NULL || keep[d] > 0;
    }
    return count;
}

/* z of a text, without dropout */
static void score_text(const wv_pooled_head *head, const wv_pooled_inputs *inputs, int64_t text, int32_t outputs,
                       workspace *work) {
    sum_inputs(head, inputs, text, work->sum);
    sum_rows(head->column, padded(outputs), NULL, work->sum, head->dim, 0, work->scores);
}

void WV_NAME(wv_pooled_predict)(const wv_pooled_model *model, const wv_pooled_texts *texts, int64_t start, int64_t end,
                                float *scores, void *scratch) {
    workspace work;
    lay_out(model, scratch, &work);
    for (int64_t text = start; text < end; text++) {
        float *own = scores + text * model->outputs;
        score_text(&model->tokens, &texts->tokens, text, model->outputs, &work);
        memcpy(own, work.scores, sizeof(float) * (size_t)model->outputs);
        score_text(&model->ngrams, &texts->ngrams, text, model->outputs, &work);
        for (int32_t k = 0; k < model->outputs; k++) own[k] = (own[k] + 2 * work.scores[k]) / 3;
    }
}

static size_t weights(const wv_pooled_head *head, int32_t outputs) { return (size_t)head->dim * (size_t)padded(outputs); }

void WV_NAME(wv_pooled_exchange)(const wv_pooled_model *model, const wv_pooled_replicas *own) {
    const wv_pooled_head *tokens = &model->tokens, *ngrams = &model->ngrams;
    const float all = 1;
    exchange_rows(1, weights(tokens, model->outputs), &all, NULL, tokens->column, own->tokens, own->token_base);
    exchange_rows(1, weights(ngrams, model->outputs), &all, NULL, ngrams->column, own->ngrams, own->ngram_base);
}

/* True in the first `count` lanes. */
WV_INLINE vint first_lanes(int32_t count) {
    vint lane;
    for (int32_t k = 0; k < WV_LANES; k++) lane[k] = k;
    return lane < count;
}

/* Scores z of the question whose outputs are `first` up to `last` become d = softmax(z) - y, or 0 without a label; returns
 * the loss. `labels` (count) are those of the text, of any question. */
static double question_gradient(int32_t first, int32_t last, const int32_t *labels, int64_t count, float smoothing,
                                float *scores) {
    int64_t own = 0;
    for (int64_t l = 0; l < count; l++) own += first <= labels[l] && labels[l] < last;
    if (own == 0) {
        memset(scores + first, 0, sizeof(float) * (size_t)(last - first));
        return 0;
    }
    const float every = smoothing / (float)(last - first), each = (1 - smoothing) / (float)own;
    double loss = 0;
    for (int64_t l = 0; l < count; l++)
        if (first <= labels[l] && labels[l] < last) loss -= (double)(each * scores[labels[l]]);
    vfloat largest = v_splat(scores[first]), total = {0}, sum = {0};
    for (int32_t k = first; k < last; k += WV_LANES) {
        const vint inside = first_lanes(last - k);
        const vfloat z = v_load_unaligned(scores + k);
        largest = v_select(inside & (z > largest), z, largest);
        total += v_select(inside, z, v_splat(0));
    }
    float most = largest[0];
    for (int32_t lane = 1; lane < WV_LANES; lane++) most = largest[lane] > most ? largest[lane] : most;
    for (int32_t k = first; k < last; k += WV_LANES) { /* behind the last are scores of the next question */
        const vint inside = first_lanes(last - k);
        const vfloat z = v_load_unaligned(scores + k), part = v_exp(z - most);
        sum += v_select(inside, part, v_splat(0));
        v_store_unaligned(scores + k, v_select(inside, part, z));
    }
    const float whole = v_sum(sum), scale = 1 / whole;
    for (int32_t k = first; k < last; k += WV_LANES) {
        const vfloat part = v_load_unaligned(scores + k);
        v_store_unaligned(scores + k, v_select(first_lanes(last - k), part * scale - every, part));
    }
    for (int64_t l = 0; l < count; l++)
        if (first <= labels[l] && labels[l] < last) scores[labels[l]] -= each;
    return loss - (double)(every * v_sum(total)) + log((double)whole) + (double)most;
}

/* The same for all questions. */
static double score_gradient(const wv_pooled_run *run, int64_t text, float *scores) {
    const wv_pooled_model *model = &run->model;
    const int64_t begin = run->label_starts[text];
    double loss = 0;
    for (int32_t q = 0; q < model->questions; q++)
        loss += question_gradient(model->question[q], model->question[q + 1], run->labels + begin,
                                  run->label_starts[text + 1] - begin, run->options.label_smoothing, scores);
    return loss;
}

/* The steps of the output weights for the numbers of m that are listed; g, zero elsewhere, becomes H' d of the weights
 * before them. */
static void move_outputs(const wv_pooled_head *head, int32_t outputs, int32_t kept, float lr, workspace *work) {
    const int32_t stride = padded(outputs);
    memset(work->gradient, 0, sizeof(float) * (size_t)head->stride);
    for (int32_t i = 0; i < kept; i += ROWS) {
        float *column[ROWS];
        vfloat step[ROWS], g[ROWS] = {{0}};
        for (int32_t r = 0; r < ROWS; r++) {
            column[r] = head->column + (int64_t)work->kept[i + r < kept ? i + r : i] * stride;
            step[r] = v_splat(i + r < kept ? -lr * work->value[i + r] : 0);
        }
        for (int32_t k = 0; k < stride; k += WV_LANES) {
            const vfloat d = v_load(work->scores + k);
#pragma GCC unroll 4
            for (int32_t r = 0; r < ROWS; r++) { /* one by one: behind the last column, columns are the first again */
                const vfloat old = v_load(column[r] + k);
                g[r] += d * old;
                v_store(column[r] + k, old + step[r] * d);
            }
        }
        for (int32_t r = 0; r < ROWS && i + r < kept; r++) work->gradient[work->kept[i + r]] = v_sum(g[r]);
    }
}

/* A head learns from a text; returns its loss. `square` NULL: its rows move by plain gradient descent. */
static double train_head(const wv_pooled_run *run, const wv_pooled_head *head, const wv_pooled_inputs *inputs, int64_t text,
                         float dropout, float lr, float row_lr, float *square, uint64_t *random, workspace *work) {
    const int64_t begin = inputs->start[text], end = inputs->start[text + 1], stride = head->stride;
    sum_inputs(head, inputs, text, work->sum);
    if (dropout > 0) {
        draw_kept(dropout, random, (size_t)stride, work->keep);
        multiply((size_t)stride, work->sum, work->keep);
    }
    const int32_t outputs = run->model.outputs, kept = list_kept(head->dim, dropout > 0 ? work->keep : NULL, work);
    sum_rows(head->column, padded(outputs), work->kept, work->value, kept, 0, work->scores);
    const double loss = score_gradient(run, text, work->scores);
    const float length = dot(work->sum, work->sum, head->stride);
    const float part = lr * length > LONGEST_STEP ? LONGEST_STEP / (lr * length) : 1;
    move_outputs(head, outputs, kept, part * lr, work);
    if (dropout > 0) multiply((size_t)stride, work->gradient, work->keep);
    const float mean_square = square ? dot(work->gradient, work->gradient, head->stride) / (float)head->dim : 0;
    for (int64_t i = begin; i < end; i++) {
        const int32_t id = inputs->id[i];
        const float value = inputs->value[i];
        float step = part * lr * value;
        if (square) {
            square[id] += value * value * mean_square;
            step = row_lr * value / (sqrtf(square[id]) + EPSILON);
        }
        add_scaled(-step, work->gradient, head->stride, head->row + id * stride);
    }
    return loss;
}

void WV_NAME(wv_pooled_train)(const wv_pooled_run *run, const wv_pooled_step *step, void *scratch,
                              wv_block_result *result) {
    const wv_pooled_model *model = &run->model;
    const wv_pooled_options *options = &run->options;
    workspace work;
    lay_out(model, scratch, &work);
    uint64_t random = wv_rng_stream((uint64_t)options->seed, (uint64_t)step->step, 0);
    for (int64_t i = 0; i < step->texts; i++) {
        const int64_t text = step->text[i];
        if (run->label_starts[text] == run->label_starts[text + 1]) continue; /* nothing to learn */
        const double tokens = train_head(run, &model->tokens, &run->texts.tokens, text, options->dropout, step->lr,
                                         step->row_lr, run->token_sum, &random, &work);
        const double ngrams = train_head(run, &model->ngrams, &run->texts.ngrams, text, options->ngram_dropout, step->lr, 0,
                                         NULL, &random, &work);
        result->loss += (tokens + ngrams) / 2;
        result->tokens += run->texts.tokens.start[text + 1] - run->texts.tokens.start[text];
    }
    result->examples += step->texts;
    result->lr = step->lr;
}
