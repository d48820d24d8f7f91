/* hs for the neural language models: the path to the word in a tree, or the paths of several codes a word (Mnih & Hinton
 * 2008): p(word) = sum over its codes c of p(c), each the product of the answers on its path; a node's step is
 * (answer - sigmoid(s)) for each code, times p(c) / p(word).
 */
#ifndef WV_NEURAL_TREES_H
#define WV_NEURAL_TREES_H

#include "kernels/neural_batch.h"

static int path_scores(const wv_neural_run *run) {
    return run->path && run->path_start ? run->longest_path + WV_ROW_FLOATS : -1;
}

/* The nodes listed for one position: their scores, or the update with the steps that have taken their place. */
static void score_nodes(const wv_neural_run *run, neural_batch *batch, int i, int nodes) {
    for (int j = 0; j < nodes; j += WV_TILE_OUTPUTS)
        tile_scores(1, batch->z + i, rows_from(nodes, j), batch->row + j, run->output_stride,
                    batch->score + j);
}

static void update_nodes(const wv_neural_run *run, neural_batch *batch, int i, int nodes) {
    for (int j = 0; j < nodes; j += WV_TILE_OUTPUTS)
        tile_update_one(batch->z[i], batch->delta[i], rows_from(nodes, j), batch->row + j, run->output_stride,
                        batch->score + j, NOTHING_AHEAD);
}

/* ln sigmoid(s) */
WV_INLINE float log_sigmoid(float s) {
    return s < 0 ? s - __builtin_log1pf(__builtin_expf(s)) : -__builtin_log1pf(__builtin_expf(-s));
}

/* One position of which the target has several codes; they may share nodes, each of which is listed once. */
static double train_codes(const wv_neural_run *run, neural_batch *batch, int i) {
    const int64_t *start = run->path_start;
    int64_t first = run->code_start[batch->target[i]], end = run->code_start[batch->target[i] + 1];
    int64_t base = start[first];
    float highest = -1e30f, sum = 0;
    int count = 0;
    for (int64_t k = base; k < start[end]; k++)
        batch->times[k - base] = list_row(run, batch, run->path[k] >> 1, &count);
    score_nodes(run, batch, i, count);
    for (int j = 0; j < count; j++) {
        batch->score[j] += run->bias[batch->word[j]];
        batch->label[j] = 0;
        batch->slot[batch->word[j]] = 0;
    }
    for (int64_t code = first; code < end; code++) {
        float log_p = 0;
        for (int64_t k = start[code]; k < start[code + 1]; k++) {
            float s = batch->score[batch->times[k - base]];
            log_p += log_sigmoid(run->path[k] & 1 ? s : -s);
        }
        batch->weight[code - first] = log_p;
        highest = log_p > highest ? log_p : highest;
    }
    for (int64_t code = first; code < end; code++)
        sum += batch->weight[code - first] = __builtin_expf(batch->weight[code - first] - highest);
    for (int64_t code = first; code < end; code++)
        for (int64_t k = start[code]; k < start[code + 1]; k++) {
            int32_t place = batch->times[k - base];
            float right = (float)(run->path[k] & 1) - 1 / (1 + __builtin_expf(-batch->score[place]));
            batch->label[place] += batch->weight[code - first] / sum * right;
        }
    for (int j = 0; j < count; j++) {
        batch->score[j] = batch->lr * batch->label[j];
        run->bias[batch->word[j]] += batch->score[j];
    }
    update_nodes(run, batch, i, count);
    return -(double)(highest + __builtin_logf(sum));
}

/* One position after the other: the paths of a batch share the nodes at the top. */
static double train_path(const wv_neural_run *run, neural_batch *batch) {
    double loss = 0;
    for (int i = 0; i < batch->inputs; i++) {
        if (run->code_start) {
            loss += train_codes(run, batch, i);
            continue;
        }
        const int32_t *path = run->path + run->path_start[batch->target[i]];
        int nodes = (int)(run->path_start[batch->target[i] + 1] - run->path_start[batch->target[i]]);
        for (int j = 0; j < nodes; j++) point_at(run, path[j] >> 1, 1, batch->row + j);
        score_nodes(run, batch, i, nodes);
        for (int j = 0; j < nodes; j++) {
            batch->score[j] += run->bias[path[j] >> 1];
            batch->label[j] = (float)(path[j] & 1);
        }
        logistic_steps(nodes, batch->score, batch->label, NULL, batch->lr, batch->score, &batch->totals);
        update_nodes(run, batch, i, nodes);
        for (int j = 0; j < nodes; j++) run->bias[path[j] >> 1] += batch->score[j];
    }
    return loss;
}

#endif
