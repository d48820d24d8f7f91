/* The outputs of one hidden vector, each a yes/no question (outputs.h): a word and the noise drawn for it, or the nodes
 * of a Huffman path. They are listed first, an output that comes twice once with a weight of two; then all move at once.
 */
#ifndef WV_QUESTIONS_H
#define WV_QUESTIONS_H

#include "base/cache.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "base/wv_shared.h"
#include "kernels/outputs.h"
#include "kernels/tile.h"

enum { DRAWS = 20 }; /* tries to draw an output that is not the one predicted */

typedef struct {
    int count;
    int32_t *output; /* (most) their rows */
    float **y;       /* (most) where these are */
    float *score, *label, *weight;
} question_list;

static question_list take_questions(wv_scratch *scratch, int64_t most) {
    int64_t padded = most + WV_TILE_OUTPUTS + WV_ROW_FLOATS;
    question_list list = {0};
    list.score = WV_TAKE(scratch, float, padded);
    list.label = WV_TAKE(scratch, float, padded);
    list.weight = WV_TAKE(scratch, float, padded);
    list.y = WV_TAKE(scratch, float *, padded);
    list.output = WV_TAKE(scratch, int32_t, padded);
    return list;
}

static void add_question(question_list *list, int32_t row, float label) {
    for (int k = 0; k < list->count; k++)
        if (list->output[k] == row) {
            list->weight[k] += 1;
            return;
        }
    list->output[list->count] = row;
    list->label[list->count] = label;
    list->weight[list->count] = 1;
    list->count++;
}

static inline int32_t draw_output(const wv_alias *sampler, int32_t outputs, uint64_t *random) {
    uint64_t draw = wv_rng_next(random);
    uint32_t bucket = wv_rng_below(draw, (uint32_t)outputs);
    wv_alias entry = sampler[bucket];
    return (uint32_t)draw < entry.threshold ? (int32_t)bucket : entry.other;
}

/* Negative sampling: `target`, and `negative` outputs that are drawn until they are others. */
static void list_sampled(question_list *list, int32_t target, int32_t negative, const wv_alias *sampler,
                         int32_t outputs, uint64_t *random) {
    list->count = 0;
    add_question(list, target, 1);
    for (int n = 0; n < negative; n++) {
        int32_t noise = target;
        for (int draw = 0; draw < DRAWS && noise == target; draw++) noise = draw_output(sampler, outputs, random);
        if (noise != target) add_question(list, noise, 0);
    }
}

/* Hierarchical softmax: path[first] .. path[last - 1], each twice the row of a node, plus the bit it is to answer. */
__attribute__((unused)) static void list_nodes(question_list *list, const int32_t *path, int64_t first,
                                               int64_t last) {
    list->count = 0;
    for (int64_t k = first; k < last; k++) add_question(list, path[k] >> 1, (float)(path[k] & 1));
}

/* Asks for the listed rows of `matrix`. Inlined: a call of a function that only prefetches has no effect for the compiler,
 * which deletes it. */
WV_INLINE void fetch_outputs(const question_list *list, const float *matrix, int stride) {
    for (int k = 0; k < list->count; k++)
        wv_fetch_to_change(matrix + (size_t)list->output[k] * (size_t)stride, stride);
}

/* The steps of the listed rows of `matrix` for the vector `hidden`, in list->score. */
static void score_questions(question_list *list, float *matrix, int stride, const float *hidden, float lr,
                            tile_totals *totals) {
    for (int k = 0; k < list->count; k++) {
        list->y[k] = matrix + (size_t)list->output[k] * (size_t)stride;
        vfloat sum = v_splat(0);
        for (int d = 0; d < stride; d += WV_LANES) sum += v_load(hidden + d) * v_load(list->y[k] + d);
        list->score[k] = v_sum(sum);
    }
    logistic_steps(list->count, list->score, list->label, list->weight, lr, list->score, totals);
}

/* Trains the listed rows; the step of `hidden` is added to `delta`. */
static void answer_questions(question_list *list, float *matrix, int stride, float *hidden, float *delta, float lr,
                             tile_totals *totals) {
    score_questions(list, matrix, stride, hidden, lr, totals);
    for (int k = 0; k < list->count; k += WV_TILE_OUTPUTS) {
        int block = list->count - k < WV_TILE_OUTPUTS ? list->count - k : WV_TILE_OUTPUTS;
        tile_update_one(hidden, delta, block, list->y + k, stride, list->score + k, (tile_ahead){0, NULL});
    }
}

#endif
