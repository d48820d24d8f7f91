/* The output layers: from the scores S of a tile to the step G = lr * d(-loss)/dS, and the loss.
 *
 * logistic: each (input, output) pair is a yes/no question with label l in {0, 1} and score s
 *     p = sigmoid(s),  -loss = ln p if l = 1, ln(1 - p) if l = 0,  d(-loss)/ds = l - p
 *   - negative sampling (Mikolov et al. 2013b, eq. 4): l = 1 for the centre word, 0 for the negatives
 *   - hierarchical softmax: the outputs are the inner nodes of the Huffman path, l = 1 - code bit
 *   - NCE (Gutmann & Hyvarinen 2010): s is lowered by ln(k P_noise(word)) and raised by the word's bias
 * softmax: p = exp(s) / sum exp(s) over the whole vocabulary, -loss = ln p_centre, d(-loss)/ds = [centre] - p
 *
 * The sigmoid is exact. word2vec reads it from a table of 1,000 entries over -6 .. 6 with a rounding slip, saturates
 * beyond and, for hierarchical softmax, skips beyond.
 */
#ifndef WV_OUTPUTS_H
#define WV_OUTPUTS_H

#include "kernels/lanes.h"

/* Sums over the tiles of a block, kept in lanes until its end. `magnitude` is only there to catch NaN and infinity. */
typedef struct {
    vfloat loss, magnitude;
} tile_totals;

/* g[k] = weight[k] * lr * (label[k] - sigmoid(score[k])) for k in 0 .. count-1; g may be `score`.
 * weight NULL: all one. Buffers may be read and g written up to WV_LANES - 1 beyond count. */
WV_INLINE void logistic_steps(int count, const float *score, const float *label, const float *weight, float lr,
                              float *g, tile_totals *totals) {
    vfloat loss = totals->loss, magnitude = totals->magnitude; /* in registers: g might be part of *totals, for all C knows */
    vint lane;
    for (int k = 0; k < WV_LANES; k++) lane[k] = k;
    for (int k = 0; k < count; k += WV_LANES) {
        vint inside = lane + k < count;
        vfloat p = 1.0f / (1.0f + v_exp(-v_load_unaligned(score + k)));
        vfloat error = v_load_unaligned(label + k) - p;
        vfloat likelihood = 1.0f - v_abs(error); /* of what was observed: p or 1 - p */
        vfloat log_likelihood = v_log(v_select(likelihood < 1e-30f, v_splat(1e-30f), likelihood));
        vfloat step = lr * error;
        if (weight) {
            vfloat w = v_load_unaligned(weight + k);
            log_likelihood *= w;
            step *= w;
        }
        loss -= v_select(inside, log_likelihood, v_splat(0));
        magnitude += v_select(inside, v_abs(error), v_splat(0));
        v_store_unaligned(g + k, step);
    }
    totals->loss = loss;
    totals->magnitude = magnitude;
}

/* Turns the scores of one input against the whole vocabulary into steps, in place. score has `count` entries and space
 * for WV_LANES - 1 more. Returns -ln p[target], unweighted. */
WV_INLINE float softmax_steps(int count, float *score, int target, float step, tile_totals *totals) {
    for (int k = 0; k < WV_LANES - 1; k++) score[count + k] = -1e30f; /* exp of these is nothing */
    vfloat largest = v_load_unaligned(score);
    for (int k = WV_LANES; k < count; k += WV_LANES) {
        vfloat s = v_load_unaligned(score + k);
        largest = v_select(s > largest, s, largest);
    }
    float highest = largest[0];
    for (int k = 1; k < WV_LANES; k++) highest = largest[k] > highest ? largest[k] : highest;
    float target_score = score[target] - highest;
    vfloat sums = v_splat(0);
    for (int k = 0; k < count; k += WV_LANES) {
        vfloat e = v_exp(v_load_unaligned(score + k) - highest);
        sums += v_select(v_load_unaligned(score + k) > -1e29f, e, v_splat(0));
        v_store_unaligned(score + k, e);
    }
    float sum = v_sum(sums);
    totals->magnitude += v_splat(sum);
    for (int k = 0; k < count; k++) score[k] *= -step / sum;
    score[target] += step;
    return __builtin_logf(sum) - target_score;
}

#endif
