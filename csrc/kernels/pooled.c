/* A text classifier of two parts that are trained beside each other: pooled vectors of tokens with a hidden layer, after
 * the windows of Shen et al. 2018 (SWEM, arXiv 1805.09843), and n-grams, as Joulin et al. 2017 (arXiv 1607.01759) have them
 * but with tf-idf.
 *
 *     p = sum_w (n_w / n) [sqrt(n_w) mean | max | min] of the rows of window w, which has n_w of the text's n tokens
 *     h = relu(A p + a),            z1 = G h + c
 *     m = sum_i v_i L_i,            z2 = H m + e               v_i: the value of feature i, L_i: its row
 *     loss = -(sum_k y_k log softmax(z1)_k + sum_k y_k log softmax(z2)_k) / 2
 *     y = (1 - s) / |labels| at each of the text's labels, + s / outputs everywhere
 *     the answer is softmax((z1 + z2) / 2)
 *
 * Each part has a loss of its own: with one loss of both sums, the part that learns faster leaves the other nothing to learn
 * (validation lines of SST-2, TREC and AG News: .841, with two losses .853).
 *
 * In training p and h, and m, lose numbers by dropout. A step takes a batch of B texts. The pooled part learns from all of
 * them at once, all gradients being those before the step:
 *
 *     dz1 = (softmax(z1) - y) / B,   dh = G' dz1,   da = dh where A p + a > 0,   dp = A' da
 *     A, a, G, c: Adam (Kingma and Ba 2015) of the batch's gradient
 *     a token's row, for each of its occurrences in turn: AdaGrad (Duchi et al. 2011) with one sum a row,
 *         sum += mean square of g,  row -= lr g / (sqrt(sum) + 1e-8)
 *
 * N-grams learn from one text after the other by plain gradient descent, as fastText does: rules that make small gradients
 * larger move what is known of rare labels, of which there are many, as far as the rest.
 *
 *     d = softmax(z2) - y,   L_i -= lr v_i H' d,   H -= lr d m',   e -= lr d
 *
 * The gradient of a maximum goes to the first token that has it. Threads share rows and weights without locks. */
#include <math.h>

#include "base/lanes.h"
#include "base/scratch.h"
#include "kernels/dropout.h"
#include "kernels/wv_kernels.h"

#define EPSILON 1e-8f
#define DECAY_MEAN 0.9f
#define DECAY_SQUARE 0.999f
#define ROWS 4 /* texts that share a load of weights */

static int32_t padded(int32_t numbers) { return (numbers + WV_ROW_FLOATS - 1) / WV_ROW_FLOATS * WV_ROW_FLOATS; }

/* Where the weights are in `dense`, or their gradients in an array like it. */
typedef struct {
    int64_t input, bias, output, output_bias, linear, linear_bias, size;
    int32_t pooled, hidden, rank, outputs; /* floats of p, h, m and z, padded */
} dense_layout;

static dense_layout layout_of(const wv_pooled_model *model) {
    dense_layout at = {.pooled = 3 * model->stride, .hidden = padded(model->hidden), .rank = model->rank_stride,
                       .outputs = padded(model->outputs)};
    at.bias = (int64_t)model->hidden * at.pooled;
    at.output = at.bias + at.hidden;
    at.output_bias = at.output + (int64_t)model->outputs * at.hidden;
    at.linear = at.output_bias + at.outputs;
    at.linear_bias = at.linear + (int64_t)model->outputs * at.rank;
    at.size = at.linear_bias + at.outputs;
    return at;
}

int64_t WV_NAME(wv_pooled_weights)(const wv_pooled_model *model) { return layout_of(model).size; }

/* ---------------------------------------------------------------- memory */

typedef struct {
    uint8_t *most, *least; /* (batch, windows, stride): the token of a window that has the maximum, the minimum */
    float *pooled, *pooled_gradient, *pooled_keep; /* (batch, padded p): the vector, its gradient, what dropout leaves */
    float *hidden, *hidden_gradient, *hidden_keep; /* (batch, padded h) */
    float *linear, *linear_gradient, *linear_keep; /* (padded m), of one text */
    float *scores;                                 /* (batch, padded z): z1, then its gradient; z2 of one text */
    float *rows;                                   /* (window, stride): gradients of a window's rows */
    float *gradient;                               /* as dense */
} training;

static int32_t windows_of(int32_t tokens) { return (tokens + WV_POOL_WINDOW - 1) / WV_POOL_WINDOW; }

static size_t lay_out(const wv_pooled_run *run, void *memory, training *work) {
    const wv_pooled_model *model = &run->model;
    const dense_layout at = layout_of(model);
    wv_scratch scratch = {memory, 0};
    const int64_t batch = run->batch, places = batch * windows_of(run->longest) * model->stride;
    work->most = WV_TAKE(&scratch, uint8_t, places);
    work->least = WV_TAKE(&scratch, uint8_t, places);
    work->pooled = WV_TAKE(&scratch, float, batch * at.pooled);
    work->pooled_gradient = WV_TAKE(&scratch, float, batch * at.pooled);
    work->pooled_keep = WV_TAKE(&scratch, float, batch * at.pooled);
    work->hidden = WV_TAKE(&scratch, float, batch * at.hidden);
    work->hidden_gradient = WV_TAKE(&scratch, float, batch * at.hidden);
    work->hidden_keep = WV_TAKE(&scratch, float, batch * at.hidden);
    work->linear = WV_TAKE(&scratch, float, at.rank);
    work->linear_gradient = WV_TAKE(&scratch, float, at.rank);
    work->linear_keep = WV_TAKE(&scratch, float, at.rank);
    work->scores = WV_TAKE(&scratch, float, batch * at.outputs);
    work->rows = WV_TAKE(&scratch, float, (int64_t)WV_POOL_WINDOW * model->stride);
    work->gradient = WV_TAKE(&scratch, float, at.linear);
    return scratch.used;
}

size_t WV_NAME(wv_pooled_train_scratch_bytes)(const wv_pooled_run *run) {
    training work;
    return lay_out(run, NULL, &work);
}

/* ---------------------------------------------------------------- forward */

/* Adds a window's scaled mean, maximum and minimum, each times `weight`, to p (3 stride). most, least NULL: they are not asked. */
static void pool_window(const wv_pooled_model *model, const int32_t *ids, int32_t tokens, float weight, float *pooled,
                        uint8_t *most, uint8_t *least) {
    const int32_t stride = model->stride;
    const float by_sum = weight / sqrtf((float)tokens);
    for (int32_t d = 0; d < stride; d += WV_LANES) {
        const vfloat first = v_load(model->table + (int64_t)ids[0] * stride + d);
        vfloat sum = first, high = first, low = first;
        vint high_at = {0}, low_at = {0};
        for (int32_t t = 1; t < tokens; t++) {
            const vfloat x = v_load(model->table + (int64_t)ids[t] * stride + d);
            const vint above = x > high, below = x < low;
            sum += x;
            high = v_select(above, x, high);
            low = v_select(below, x, low);
            if (most) {
                high_at = (above & t) | (~above & high_at);
                low_at = (below & t) | (~below & low_at);
            }
        }
        v_store(pooled + d, v_load(pooled + d) + sum * by_sum);
        v_store(pooled + stride + d, v_load(pooled + stride + d) + high * weight);
        v_store(pooled + 2 * stride + d, v_load(pooled + 2 * stride + d) + low * weight);
        for (int32_t lane = 0; most && lane < WV_LANES; lane++) {
            most[d + lane] = (uint8_t)high_at[lane];
            least[d + lane] = (uint8_t)low_at[lane];
        }
    }
}

/* p of a text, zero for one without tokens. */
static void pool_text(const wv_pooled_model *model, const int32_t *ids, int32_t tokens, float *pooled, uint8_t *most,
                      uint8_t *least) {
    memset(pooled, 0, sizeof(float) * 3 * (size_t)model->stride);
    for (int32_t begin = 0; begin < tokens; begin += WV_POOL_WINDOW) {
        const int32_t count = tokens - begin < WV_POOL_WINDOW ? tokens - begin : WV_POOL_WINDOW;
        const int64_t place = (int64_t)(begin / WV_POOL_WINDOW) * model->stride;
        pool_window(model, ids + begin, count, (float)count / (float)tokens, pooled, most ? most + place : NULL,
                    most ? least + place : NULL);
    }
}

/* y += a x */
static void add_scaled(float a, const float *x, int32_t size, float *y) {
    const vfloat factor = v_splat(a);
    for (int32_t d = 0; d < size; d += WV_LANES) v_store(y + d, v_load(y + d) + factor * v_load(x + d));
}

/* m, (rank_stride), zero without features. */
static void sum_features(const wv_pooled_model *model, const int32_t *feature, const float *value, int64_t count,
                         float *sum) {
    const int32_t stride = model->rank_stride;
    memset(sum, 0, sizeof(float) * (size_t)stride);
    for (int64_t i = 0; i < count; i++) add_scaled(value[i], model->features + (int64_t)feature[i] * stride, stride, sum);
}

/* out[i] = w . x_i for `count` vectors of `size` floats, each `stride` behind the last. */
static void dot_rows(const float *w, const float *x, int32_t count, int64_t stride, int32_t size, float *out) {
    for (int32_t i = 0; i < count; i += ROWS) {
        const float *row[ROWS];
        for (int32_t r = 0; r < ROWS; r++) row[r] = x + (i + r < count ? i + r : i) * stride;
        vfloat sum[ROWS] = {{0}};
        for (int32_t d = 0; d < size; d += WV_LANES) {
            const vfloat weight = v_load(w + d);
#pragma GCC unroll 4
            for (int32_t r = 0; r < ROWS; r++) sum[r] += weight * v_load(row[r] + d);
        }
        for (int32_t r = 0; r < ROWS && i + r < count; r++) out[i + r] = v_sum(sum[r]);
    }
}

/* out = W x + bias for some texts: W (units, width) from dense[weights] on, x (texts, width), out (texts, stride). */
static void layer(const wv_pooled_model *model, int64_t weights, int64_t bias, int32_t units, int32_t width,
                  const float *x, int32_t texts, float *out, int64_t stride) {
    float sum[ROWS];
    for (int32_t unit = 0; unit < units; unit++)
        for (int32_t i = 0; i < texts; i += ROWS) {
            const int32_t count = texts - i < ROWS ? texts - i : ROWS;
            dot_rows(model->dense + weights + unit * (int64_t)width, x + (int64_t)i * width, count, width, width, sum);
            for (int32_t r = 0; r < count; r++) out[(i + r) * stride + unit] = sum[r] + model->dense[bias + unit];
        }
}

/* h of some texts, (texts, padded h); its padding stays as it is. */
static void hidden_layer(const wv_pooled_model *model, const dense_layout *at, const float *pooled, int32_t texts,
                         float *hidden) {
    layer(model, 0, at->bias, model->hidden, at->pooled, pooled, texts, hidden, at->hidden);
    for (int64_t d = 0; d < texts * (int64_t)at->hidden; d += WV_LANES) {
        const vfloat value = v_load(hidden + d);
        v_store(hidden + d, v_select(value > 0, value, (vfloat){0}));
    }
}

/* z1 of some texts, (texts, padded z), from their h; z2 from their m. */
static void output_layer(const wv_pooled_model *model, const dense_layout *at, const float *hidden, int32_t texts,
                         float *scores) {
    layer(model, at->output, at->output_bias, model->outputs, at->hidden, hidden, texts, scores, at->outputs);
}

static void linear_layer(const wv_pooled_model *model, const dense_layout *at, const float *linear, int32_t texts,
                         float *scores) {
    layer(model, at->linear, at->linear_bias, model->outputs, at->rank, linear, texts, scores, at->outputs);
}

/* Scores become the logarithms of their softmax. */
static void log_softmax(float *scores, int32_t count) {
    float most = scores[0];
    for (int32_t k = 1; k < count; k++) most = scores[k] > most ? scores[k] : most;
    double sum = 0;
    for (int32_t k = 0; k < count; k++) sum += exp((double)(scores[k] - most));
    const float norm = most + (float)log(sum);
    for (int32_t k = 0; k < count; k++) scores[k] -= norm;
}

/* ---------------------------------------------------------------- prediction */

typedef struct {
    float *pooled, *hidden, *linear, *scores, *linear_scores;
} prediction;

static size_t lay_out_prediction(const wv_pooled_model *model, void *memory, prediction *work) {
    const dense_layout at = layout_of(model);
    wv_scratch scratch = {memory, 0};
    work->pooled = WV_TAKE(&scratch, float, ROWS * (int64_t)at.pooled);
    work->hidden = WV_TAKE(&scratch, float, ROWS * (int64_t)at.hidden);
    work->linear = WV_TAKE(&scratch, float, ROWS * (int64_t)at.rank);
    work->scores = WV_TAKE(&scratch, float, ROWS * (int64_t)at.outputs);
    work->linear_scores = WV_TAKE(&scratch, float, ROWS * (int64_t)at.outputs);
    return scratch.used;
}

size_t WV_NAME(wv_pooled_predict_scratch_bytes)(const wv_pooled_model *model) {
    prediction work;
    return lay_out_prediction(model, NULL, &work);
}

void WV_NAME(wv_pooled_predict)(const wv_pooled_model *model, const wv_pooled_texts *texts, int64_t start, int64_t end,
                                float *scores, void *scratch) {
    const dense_layout at = layout_of(model);
    prediction work;
    lay_out_prediction(model, scratch, &work);
    memset(work.hidden, 0, sizeof(float) * ROWS * (size_t)at.hidden);
    for (int64_t first = start; first < end; first += ROWS) {
        const int32_t count = end - first < ROWS ? (int32_t)(end - first) : ROWS;
        for (int32_t r = 0; r < count; r++) {
            const int64_t begin = texts->starts[first + r], tokens = texts->starts[first + r + 1] - begin;
            const int64_t own = texts->feature_starts[first + r], features = texts->feature_starts[first + r + 1] - own;
            pool_text(model, texts->ids + begin, (int32_t)tokens, work.pooled + r * (int64_t)at.pooled, NULL, NULL);
            sum_features(model, texts->feature + own, texts->value + own, features, work.linear + r * (int64_t)at.rank);
        }
        hidden_layer(model, &at, work.pooled, count, work.hidden);
        output_layer(model, &at, work.hidden, count, work.scores);
        linear_layer(model, &at, work.linear, count, work.linear_scores);
        for (int32_t r = 0; r < count; r++)
            for (int32_t k = 0; k < model->outputs; k++) {
                const int64_t place = r * (int64_t)at.outputs + k;
                scores[(first + r) * model->outputs + k] = 0.5f * (work.scores[place] + work.linear_scores[place]);
            }
    }
}

/* ---------------------------------------------------------------- training */

static void drop(float dropout, uint64_t *random, size_t count, float *values, float *keep) {
    if (dropout <= 0) return;
    draw_kept(dropout, random, count, keep);
    multiply(count, values, keep);
}

/* The pooled part's scores of the batch. */
static void forward(const wv_pooled_run *run, const wv_pooled_step *step, const dense_layout *at, uint64_t *random,
                    training *work) {
    const wv_pooled_model *model = &run->model;
    const float dropout = run->options.dropout;
    const int64_t *starts = run->texts.starts, places = (int64_t)windows_of(run->longest) * model->stride;
    const size_t count = (size_t)step->texts;
    for (int32_t i = 0; i < step->texts; i++) {
        const int64_t text = step->text[i];
        pool_text(model, run->texts.ids + starts[text], (int32_t)(starts[text + 1] - starts[text]),
                  work->pooled + i * (int64_t)at->pooled, work->most + i * places, work->least + i * places);
    }
    drop(dropout, random, count * (size_t)at->pooled, work->pooled, work->pooled_keep);
    memset(work->hidden, 0, sizeof(float) * count * (size_t)at->hidden);
    hidden_layer(model, at, work->pooled, step->texts, work->hidden);
    drop(dropout, random, count * (size_t)at->hidden, work->hidden, work->hidden_keep);
    output_layer(model, at, work->hidden, step->texts, work->scores);
}

/* Scores z of a text become (softmax(z) - y) `share`; returns its loss. A text without labels learns nothing. */
static double score_gradient(const wv_pooled_run *run, int64_t text, float share, float *scores) {
    const int32_t outputs = run->model.outputs;
    const int64_t begin = run->label_starts[text], end = run->label_starts[text + 1];
    const float smoothing = run->options.label_smoothing, every = smoothing / (float)outputs;
    const float each = begin < end ? (1 - smoothing) / (float)(end - begin) : 0;
    double loss = 0;
    memset(scores + outputs, 0, sizeof(float) * (size_t)(padded(outputs) - outputs));
    if (begin == end) {
        memset(scores, 0, sizeof(float) * (size_t)outputs);
        return 0;
    }
    log_softmax(scores, outputs);
    for (int64_t l = begin; l < end; l++) loss -= (double)(each * scores[run->labels[l]]);
    for (int32_t k = 0; k < outputs; k++) {
        loss -= (double)(every * scores[k]);
        scores[k] = (expf(scores[k]) - every) * share;
    }
    for (int64_t l = begin; l < end; l++) scores[run->labels[l]] -= each * share;
    return loss;
}

/* Gradients of a layer (see layer()) from those of its output, `units` numbers a text, of which zeros are skipped: of its
 * weights and bias, and of x. */
static void layer_backward(const wv_pooled_model *model, int64_t weights, int64_t bias, int32_t units, int32_t width,
                           const float *x, int32_t texts, const float *out_gradient, int64_t stride, float *gradient,
                           float *x_gradient) {
    memset(x_gradient, 0, sizeof(float) * (size_t)texts * (size_t)width);
    for (int32_t unit = 0; unit < units; unit++) {
        const int64_t row = weights + unit * (int64_t)width;
        for (int32_t i = 0; i < texts; i++) {
            const float g = out_gradient[i * stride + unit];
            if (g == 0) continue;
            gradient[bias + unit] += g;
            add_scaled(g, x + i * (int64_t)width, width, gradient + row);
            add_scaled(g, model->dense + row, width, x_gradient + i * (int64_t)width);
        }
    }
}

/* Gradients of the pooled part's weights, and of p of every text. */
static void backward(const wv_pooled_run *run, const wv_pooled_step *step, const dense_layout *at, training *work) {
    const wv_pooled_model *model = &run->model;
    const wv_pooled_options *options = &run->options;
    const int32_t texts = step->texts;
    memset(work->gradient, 0, sizeof(float) * (size_t)at->linear);
    layer_backward(model, at->output, at->output_bias, model->outputs, at->hidden, work->hidden, texts, work->scores,
                   at->outputs, work->gradient, work->hidden_gradient);
    if (options->dropout > 0) multiply((size_t)texts * (size_t)at->hidden, work->hidden_gradient, work->hidden_keep);
    for (int64_t d = 0; d < texts * (int64_t)at->hidden; d += WV_LANES) { /* a unit that is 0 was off, or dropped */
        const vint on = v_load(work->hidden + d) > 0;
        v_store(work->hidden_gradient + d, v_select(on, v_load(work->hidden_gradient + d), (vfloat){0}));
    }
    layer_backward(model, 0, at->bias, model->hidden, at->pooled, work->pooled, texts, work->hidden_gradient, at->hidden,
                   work->gradient, work->pooled_gradient);
    if (options->dropout > 0) multiply((size_t)texts * (size_t)at->pooled, work->pooled_gradient, work->pooled_keep);
}

/* A row's step for one occurrence. The padding of the gradient is zero. */
static void move_row(const float *gradient, int32_t dim, int32_t stride, float lr, float *row, float *sum) {
    vfloat squares = {0};
    for (int32_t d = 0; d < stride; d += WV_LANES) squares += v_load(gradient + d) * v_load(gradient + d);
    *sum += v_sum(squares) / (float)dim;
    add_scaled(-lr / (sqrtf(*sum) + EPSILON), gradient, stride, row);
}

/* The steps of the rows of the tokens of text i of the batch. */
static void move_tokens(const wv_pooled_run *run, const wv_pooled_step *step, const dense_layout *at, training *work,
                        int32_t i) {
    const wv_pooled_model *model = &run->model;
    const int64_t first = run->texts.starts[step->text[i]];
    const int32_t stride = model->stride, tokens = (int32_t)(run->texts.starts[step->text[i] + 1] - first);
    const int64_t places = (int64_t)windows_of(run->longest) * stride;
    const float *gradient = work->pooled_gradient + i * (int64_t)at->pooled;
    for (int32_t begin = 0; begin < tokens; begin += WV_POOL_WINDOW) {
        const int32_t count = tokens - begin < WV_POOL_WINDOW ? tokens - begin : WV_POOL_WINDOW;
        const int64_t place = i * places + (int64_t)(begin / WV_POOL_WINDOW) * stride;
        const float weight = (float)count / (float)tokens, by_sum = weight / sqrtf((float)count);
        for (int32_t t = 0; t < count; t++)
            for (int32_t d = 0; d < stride; d += WV_LANES)
                v_store(work->rows + (int64_t)t * stride + d, v_load(gradient + d) * by_sum);
        for (int32_t d = 0; d < model->dim; d++) {
            work->rows[(int64_t)work->most[place + d] * stride + d] += weight * gradient[stride + d];
            work->rows[(int64_t)work->least[place + d] * stride + d] += weight * gradient[2 * stride + d];
        }
        for (int32_t t = 0; t < count; t++) {
            const int64_t row = run->texts.ids[first + begin + t];
            move_row(work->rows + (int64_t)t * stride, model->dim, stride, step->row_lr, model->table + row * stride,
                     run->table_sum + row);
        }
    }
}

/* The n-grams of a text learn from it; returns its loss. */
static double train_features(const wv_pooled_run *run, int64_t text, float lr, const dense_layout *at, uint64_t *random,
                             training *work) {
    const wv_pooled_model *model = &run->model;
    const int64_t begin = run->texts.feature_starts[text], end = run->texts.feature_starts[text + 1];
    const int32_t *feature = run->texts.feature;
    const float *value = run->texts.value, dropout = run->options.ngram_dropout;
    float *m = work->linear, *gradient = work->linear_gradient;
    sum_features(model, feature + begin, value + begin, end - begin, m);
    drop(dropout, random, (size_t)at->rank, m, work->linear_keep);
    linear_layer(model, at, m, 1, work->scores);
    const double loss = score_gradient(run, text, 1, work->scores);
    memset(gradient, 0, sizeof(float) * (size_t)at->rank);
    for (int32_t k = 0; k < model->outputs; k++) {
        const float g = work->scores[k];
        float *weights = model->dense + at->linear + k * (int64_t)at->rank;
        add_scaled(g, weights, at->rank, gradient);
        add_scaled(-lr * g, m, at->rank, weights);
        model->dense[at->linear_bias + k] -= lr * g;
    }
    if (dropout > 0) multiply((size_t)at->rank, gradient, work->linear_keep);
    for (int64_t f = begin; f < end; f++)
        add_scaled(-lr * value[f], gradient, at->rank, model->features + (int64_t)feature[f] * at->rank);
    return loss;
}

/* Adam's step of the pooled part's weights. */
static void move_weights(const wv_pooled_run *run, const wv_pooled_step *step, const float *gradient, int64_t size) {
    const float by_mean = step->lr / (1 - (float)pow((double)DECAY_MEAN, (double)step->step));
    const float by_square = 1 / (1 - (float)pow((double)DECAY_SQUARE, (double)step->step));
    for (int64_t i = 0; i < size; i++) {
        const float g = gradient[i];
        const float mean = DECAY_MEAN * run->mean[i] + (1 - DECAY_MEAN) * g;
        const float square = DECAY_SQUARE * run->square[i] + (1 - DECAY_SQUARE) * g * g;
        run->mean[i] = mean;
        run->square[i] = square;
        run->model.dense[i] -= by_mean * mean / (sqrtf(square * by_square) + EPSILON);
    }
}

void WV_NAME(wv_pooled_train)(const wv_pooled_run *run, const wv_pooled_step *step, void *scratch,
                              wv_block_result *result) {
    const dense_layout at = layout_of(&run->model);
    training work;
    lay_out(run, scratch, &work);
    uint64_t random = wv_rng_stream((uint64_t)run->options.seed, (uint64_t)step->step, 0);
    forward(run, step, &at, &random, &work);
    for (int32_t i = 0; i < step->texts; i++)
        result->loss += 0.5 * score_gradient(run, step->text[i], 1.0f / (float)step->texts,
                                             work.scores + i * (int64_t)at.outputs);
    backward(run, step, &at, &work);
    for (int32_t i = 0; i < step->texts; i++) {
        move_tokens(run, step, &at, &work, i);
        result->loss += 0.5 * train_features(run, step->text[i], step->ngram_lr, &at, &random, &work);
        result->tokens += run->texts.starts[step->text[i] + 1] - run->texts.starts[step->text[i]];
    }
    move_weights(run, step, work.gradient, at.linear);
    result->examples += step->texts;
    result->lr = step->lr;
}
