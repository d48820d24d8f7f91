/* The output layers: from the scores S of a tile to the step G = lr * d(-loss)/dS, and the loss.
 *
 * logistic: each (input, output) pair is a yes/no question with label l in {0, 1} and score s
 *     p = sigmoid(s),  -loss = l ln p + (1 - l) ln(1 - p),  d(-loss)/ds = l - p
 *   The loss is made of the score, since p is 0 or 1 where the score is far out: with m = max(s, 0)
 *     l ln p + (1 - l) ln(1 - p) = l s - ln(1 + exp(s)) = l s - m + ln max(p, 1 - p)
 *   - negative sampling (Mikolov et al. 2013b, eq. 4): l = 1 for the center word, 0 for the negatives
 *   - hierarchical softmax: the outputs are the inner nodes of the Huffman path, l = 1 - code bit
 *   - NCE (Gutmann & Hyvarinen 2010; Mnih & Teh 2012): s is lowered by ln(k P_noise(word)) and raised by the word's
 *     bias. Noise is drawn whatever the center is: one drawn m times is both the answer 1 and m answers 0, which is
 *     one with the weight 1 + m and the label 1 / (1 + m)
 * softmax: p = exp(s) / sum exp(s) over the whole vocabulary, -loss = ln p_center, d(-loss)/ds = [center] - p
 *
 * The sigmoid is exact. word2vec reads it from a table of 1,000 entries over -6 .. 6 with a rounding slip, saturates
 * beyond and, for hierarchical softmax, skips beyond.
 */
#ifndef WV_OUTPUTS_H
#define WV_OUTPUTS_H

#include "base/lanes.h"

/* Sums over the tiles of a block, kept in lanes until its end. `magnitude` is only there to catch NaN and infinity. */
typedef struct {
    vfloat loss, magnitude;
} tile_totals;

enum { WV_FACTORS = 64 }; /* 2^-64 is far from the smallest float */

/* g[k] = weight[k] * lr * (label[k] - sigmoid(score[k])) for k in 0 .. count-1; g may be `score`.
 * weight NULL: all one. Buffers may be read and g written up to WV_LANES - 1 beyond count. */
WV_INLINE void logistic_steps(int count, const float *score, const float *label, const float *weight, float lr,
                              float *g, tile_totals *totals) {
    vfloat loss = totals->loss, magnitude = totals->magnitude; /* in registers: g might be part of *totals, for all C knows */
    vfloat product = v_splat(1); /* of max(p, 1 - p), at least 1/2 each: one logarithm of many */
    vint lane;
    for (int k = 0; k < WV_LANES; k++) lane[k] = k;
    for (int k = 0; k < count; k += WV_LANES) {
        vint inside = lane + k < count;
        vfloat s = v_load_unaligned(score + k), l = v_load_unaligned(label + k);
        vfloat p = 1.0f / (1.0f + v_exp(-s));
        vfloat error = l - p, q = 1.0f - p, larger = v_select(p > q, p, q);
        vfloat log_likelihood = l * s - v_select(s > 0.0f, s, v_splat(0));
        vfloat step = lr * error;
        if (weight) {
            vfloat w = v_load_unaligned(weight + k);
            log_likelihood = (log_likelihood + v_log(larger)) * w;
            step *= w;
        } else {
            product *= v_select(inside, larger, v_splat(1));
            if (k % (WV_FACTORS * WV_LANES) == (WV_FACTORS - 1) * WV_LANES) {
                loss -= v_log(product);
                product = v_splat(1);
            }
        }
        loss -= v_select(inside, log_likelihood, v_splat(0));
        magnitude += v_select(inside, v_abs(error), v_splat(0));
        v_store_unaligned(g + k, step);
    }
    totals->loss = weight ? loss : loss - v_log(product);
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
