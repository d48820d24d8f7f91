/* A batch of a neural language model as its output layers see it (neural_outputs.h). */
#ifndef WV_NEURAL_BATCH_H
#define WV_NEURAL_BATCH_H

#include "kernels/outputs.h"
#include "kernels/tile.h"
#include "kernels/wv_kernels.h"

/* A batch as the output layers see it, and their buffers. */
typedef struct {
    int inputs;             /* positions */
    int32_t *target;        /* (inputs): the words to predict */
    float **z, **delta;     /* (inputs, output_stride): predicted vectors; steps for them are added to delta */
    float lr;
    uint64_t *random;
    float *cells;           /* (batch, WV_TILE_OUTPUTS) */
    float *score;           /* (batch, scores of one input) */
    float *label, *weight;  /* as score; sampled layers */
    float **row;            /* rows of a tile */
    int32_t *word, *times;  /* sampled layers: the words of the tile, how often they were drawn; codes: the nodes, and the
                               place in `word` of each step of the paths */
    int32_t *choice;        /* (batch): which of the rows is the target */
    int32_t *slot;          /* (output_rows): 1 + place in `word`, 0 for those that are not there */
    tile_totals totals;
} neural_batch;

WV_INLINE int rows_from(int rows, int first) {
    return rows - first < WV_TILE_OUTPUTS ? rows - first : WV_TILE_OUTPUTS;
}

WV_INLINE void point_at(const wv_neural_run *run, int first, int count, float **row) {
    for (int j = 0; j < count; j++) row[j] = run->output + (size_t)(first + j) * (size_t)run->output_stride;
}

WV_INLINE int32_t list_row(const wv_neural_run *run, neural_batch *batch, int32_t row, int *count) {
    if (!batch->slot[row]) {
        batch->word[*count] = row;
        point_at(run, row, 1, batch->row + *count);
        batch->slot[row] = ++*count;
    }
    return batch->slot[row] - 1;
}

static const tile_ahead NOTHING_AHEAD = {0, NULL};

#endif
