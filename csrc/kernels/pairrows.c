/* Steps of the rows of a table that is trained on pairs (pairs.c): those that a batch touches, and no others.
 *
 * A thread has a range of the rows. Each takes the sum over the occurrences of its token, in their order, and its step at
 * once: no row is written twice, and no thread adds to what another one writes.
 */
#include <math.h>

#include "base/lanes.h"
#include "kernels/wv_kernels.h"

/* Adam (Kingma and Ba 2015) of all rows, told to a row when it is touched. In steps u + 1 .. t - 1 a row without a gradient
 * moves by sum_k lr_k m b1^n / (1 - b1^k) / sqrt(v b2^n / (1 - b2^k)), n = k - u, which is m / sqrt(v) times a number F that
 * only u and t decide. With q = b1 / sqrt(b2) and h_k = lr_k sqrt(1 - b2^k) / (1 - b1^k),
 *
 *     ahead[u] = sum over k > u of h_k q^(k - u),   F = ahead[u] - q^(t - 1 - u) ahead[t - 1]
 */
static double missed(const wv_pair_rows *rows, int32_t last) {
    const double q = (double)rows->decay_mean / sqrt((double)rows->decay_square);
    return rows->ahead[last] - pow(q, rows->step - 1 - last) * rows->ahead[rows->step - 1];
}

/* Rows [start, end) of those touched catch up with the step before this one. */
void WV_NAME(wv_pairs_catch_up)(const wv_pair_rows *rows, int64_t start, int64_t end) {
    for (int64_t i = start; i < end; i++) {
        const int64_t row = rows->row[i];
        const int32_t last = rows->last[row];
        if (last == 0 || last == rows->step - 1) continue;
        const float factor = (float)missed(rows, last);
        const float epsilon = rows->epsilon * (float)sqrt(1 - pow((double)rows->decay_square, last + 1));
        float *table = rows->table + row * rows->stride;
        const float *mean = rows->mean + row * rows->stride, *square = rows->square + row * rows->stride;
        for (int32_t d = 0; d < rows->dim; d++) table[d] -= factor * mean[d] / (sqrtf(square[d]) + epsilon);
    }
}

/* gradient (stride) = the sum over the occurrences of a touched row. */
static void row_gradient(const wv_pairs *run, const wv_pair_rows *rows, int64_t i, float *gradient) {
    memset(gradient, 0, sizeof(float) * (size_t)rows->stride);
    for (int64_t k = rows->first[i]; k < rows->first[i + 1]; k++) {
        const int32_t text = rows->where[k];
        const float *part = text < run->pairs ? run->anchor_gradients + (int64_t)text * run->stride
                                              : run->candidate_gradients + (int64_t)(text - run->pairs) * run->stride;
        if (k + 2 < rows->first[i + 1]) {
            const int32_t later = rows->where[k + 2];
            const float *fetched = later < run->pairs
                                       ? run->anchor_gradients + (int64_t)later * run->stride
                                       : run->candidate_gradients + (int64_t)(later - run->pairs) * run->stride;
            for (int32_t d = 0; d < run->stride; d += WV_ROW_FLOATS) __builtin_prefetch(fetched + d);
        }
        for (int32_t d = 0; d < run->stride; d += WV_LANES)
            v_store(gradient + d, v_load(gradient + d) + v_load(part + d));
    }
}

/* Rows [start, end) of those touched take their step: Adam where there are moments, row-wise AdaGrad where there is a sum of
 * mean squares for each row, else plain gradient descent. */
void WV_NAME(wv_pairs_update)(const wv_pairs *run, const wv_pair_rows *rows, int64_t start, int64_t end, float *gradient) {
    const double b1 = (double)rows->decay_mean, b2 = (double)rows->decay_square;
    const float by_mean = (float)((double)rows->lr / (1 - pow(b1, rows->step)));
    const float by_square = (float)(1 / (1 - pow(b2, rows->step)));
    for (int64_t i = start; i < end; i++) {
        const int64_t row = rows->row[i], at = row * rows->stride;
        row_gradient(run, rows, i, gradient);
        if (rows->mean) {
            const int32_t last = rows->last[row], passed = rows->step - last;
            const float keep_mean = last ? (float)pow(b1, passed) : 0, keep_square = last ? (float)pow(b2, passed) : 0;
            for (int32_t d = 0; d < rows->dim; d++) {
                const float g = gradient[d];
                const float mean = keep_mean * rows->mean[at + d] + (1 - rows->decay_mean) * g;
                const float square = keep_square * rows->square[at + d] + (1 - rows->decay_square) * g * g;
                rows->mean[at + d] = mean;
                rows->square[at + d] = square;
                rows->table[at + d] -= by_mean * mean / (sqrtf(square * by_square) + rows->epsilon);
            }
        } else {
            float step = rows->lr;
            if (rows->sum) {
                double squares = 0;
                for (int32_t d = 0; d < rows->dim; d++) squares += (double)gradient[d] * (double)gradient[d];
                rows->sum[row] += (float)(squares / rows->dim);
                step /= sqrtf(rows->sum[row]) + rows->epsilon;
            }
            for (int32_t d = 0; d < rows->dim; d++) rows->table[at + d] -= step * gradient[d];
        }
        rows->last[row] = rows->step;
    }
}
