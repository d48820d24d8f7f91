/* From ids to tiles: sentences, subsampling, windows, negatives. What a tile computes is not decided here (word2vec.c).
 *
 * A tile is one position of a sentence with all its context words, or, without shared negatives, with one of them. It is
 * made in two steps, `draw` and `gather`, so that the alias table is in the cache when the second reads it.
 */
#ifndef WV_POSITIONS_H
#define WV_POSITIONS_H

#include "core/rng.h"
#include "kernels/subwords.h"
#include "kernels/wv_kernels.h"

enum {
    BATCH = 512,     /* sentences are read until so many words are there: short lines share a pipeline */
    CACHED_NODES = 8 /* of a Huffman path, from the root */
};

/* One tile: the context positions first .. last (without `position` itself) and the rows. A weight counts how often an
 * output stands in it; `weighted` says whether any does more than once. The rows output[fetch] ..
 * output[fetch_end - 1] are to be fetched early: the outputs, and behind them the rows of the word that is new in the
 * window. `opens`: the first tile of its position. */
typedef struct {
    int live, opens, position, first, last;
    uint64_t *negative_draw;
    int inputs, outputs, fetch, fetch_end, weighted;
    int32_t centre;
    int32_t *output_row;
    float **input, **output;
    float *input_weight, *output_weight, *output_label; /* input_weight: only with subwords */
} tile_rows;

/* Reads one sentence from ids[*position] on and appends the words that survive subsampling. It ends at a line end, at
 * `end` or after max_sentence words. */
static void read_sentence(const wv_word2vec_run *run, const int32_t *ids, int64_t *position, int64_t end,
                          uint64_t *random, sentence_batch *batch, int64_t *tokens) {
    int begin = batch->length, length = begin;
    int64_t p = *position;
    while (p < end && length - begin < run->max_sentence) {
        int32_t word = ids[p++];
        if (word == WV_END_OF_LINE) break;
        if (word < 0) continue; /* a label */
        ++*tokens;
        batch->word[length] = word;
        length += run->keep == NULL || (uint32_t)(wv_rng_next(random) >> 32) <= run->keep[word];
    }
    for (int k = begin; k < length; k++) batch->first[k] = begin, batch->last[k] = length - 1;
    batch->length = length;
    *position = p;
}

static float *input_row(const wv_word2vec_run *run, const wv_hot_rows *hot, int32_t word) {
    return (word < hot->count ? hot->input : run->input) + (size_t)word * (size_t)run->stride;
}

static float *output_row(const wv_word2vec_run *run, const wv_hot_rows *hot, int32_t row) {
    uint32_t place = (uint32_t)(row - hot->first_output);
    if (place < (uint32_t)hot->count) return hot->output + (size_t)place * (size_t)run->stride;
    return run->output + (size_t)row * (size_t)run->stride;
}

static void add_output(const wv_word2vec_run *run, const wv_hot_rows *hot, tile_rows *rows, int32_t row,
                       float label) {
    for (int j = 0; j < rows->outputs; j++)
        if (rows->output_row[j] == row) {
            rows->output_weight[j] += 1;
            rows->weighted = 1;
            return;
        }
    rows->output_row[rows->outputs] = row;
    rows->output[rows->outputs] = output_row(run, hot, row);
    rows->output_label[rows->outputs] = label;
    rows->output_weight[rows->outputs++] = 1;
}

/* Where the next tile lies: a new position, or the next context word of the current one. */
typedef struct {
    int position, context, last;
} tile_cursor;

/* Finds the next tile and draws what is random about it: the width of the window, the negatives. 0: no more tiles. */
static int draw(const wv_word2vec_run *run, const sentence_batch *batch, uint64_t *random, tile_cursor *at,
                tile_rows *rows) {
    rows->opens = 0;
    while (at->context > at->last) { /* a position without context (the window is empty) has no tile */
        if (++at->position >= batch->length) return 0;
        rows->opens = 1;
        int width = run->window;
        if (run->shrink_window) width = 1 + (int)wv_rng_below(wv_rng_next(random), (uint32_t)run->window);
        int first = batch->first[at->position], last = batch->last[at->position];
        at->context = at->position - first > width ? at->position - width : first;
        at->last = last - at->position > width ? at->position + width : last;
        if (at->context == at->position) at->context++; /* first of its sentence */
        if (at->last == at->position) at->last--;       /* last of its sentence */
    }
    rows->position = at->position;
    rows->first = at->context;
    rows->last = run->share_negatives ? at->last : at->context;
    at->context = rows->last + 1;
    if (at->context == at->position) at->context++;
    if (run->layer == WV_HIERARCHICAL_SOFTMAX) { /* the path itself, and where the next but one begins */
        const int32_t *path = &run->path[run->path_start[batch->word[at->position]]];
        __builtin_prefetch(path, 0, 3);
        __builtin_prefetch(path + 15, 0, 3);
        if (at->position + 2 < batch->length)
            __builtin_prefetch(&run->path_start[batch->word[at->position + 2]], 0, 3);
    }
    if (run->subword && rows->opens) fetch_subword_list(run, batch, at->position + run->window);
    if (!run->sampler) return 1;
    for (int k = 0; k < run->negative; k++) {
        uint64_t number = rows->negative_draw[k] = wv_rng_next(random);
        __builtin_prefetch(&run->sampler[wv_rng_below(number, (uint32_t)run->vocab_size)], 0, 3);
    }
    return 1;
}

static void gather_outputs(const wv_word2vec_run *run, const wv_hot_rows *hot, tile_rows *rows) {
    int32_t centre = rows->centre;
    if (run->layer == WV_HIERARCHICAL_SOFTMAX) { /* the nodes of a path are distinct rows */
        int64_t start = run->path_start[centre];
        rows->outputs = (int)(run->path_start[centre + 1] - start);
        for (int j = 0; j < rows->outputs; j++) {
            int32_t step = run->path[start + j];
            rows->output[j] = output_row(run, hot, step >> 1);
            rows->output_label[j] = (float)(step & 1);
        }
    } else if (run->layer != WV_SOFTMAX) { /* the full softmax takes every row */
        add_output(run, hot, rows, centre, 1);
        for (int k = 0; k < run->negative; k++) {
            uint64_t number = rows->negative_draw[k];
            int32_t word = (int32_t)wv_rng_below(number, (uint32_t)run->vocab_size);
            wv_alias bucket = run->sampler[word];
            if ((uint32_t)number >= bucket.threshold) word = bucket.other;
            if (word != centre) add_output(run, hot, rows, word, 0);
        }
    }
}

/* Lists the rows of a tile. */
static void gather(const wv_word2vec_run *run, const wv_hot_rows *hot, const sentence_batch *batch,
                   const hidden_ring *ring, tile_rows *rows) {
    rows->inputs = rows->outputs = rows->weighted = 0;
    rows->centre = batch->word[rows->position];
    for (int p = rows->first; run->subword && p <= rows->last; p++) {
        rows->input[rows->inputs] = hidden_row(run, ring, p);
        rows->input_weight[rows->inputs] = (float)subword_count(run, batch->word[p]);
        rows->inputs += p != rows->position;
    }
    for (int p = rows->first; !run->subword && p <= rows->last; p++) {
        rows->input[rows->inputs] = input_row(run, hot, batch->word[p]);
        rows->inputs += p != rows->position;
    }
    gather_outputs(run, hot, rows);
    /* The top of a Huffman tree is in every path and in the cache. */
    int cached = run->layer == WV_HIERARCHICAL_SOFTMAX ? CACHED_NODES : 0;
    rows->fetch = cached < rows->outputs ? cached : rows->outputs;
    rows->fetch_end = rows->outputs;
    int ahead = rows->position + run->window;
    if (ahead >= batch->length) return;
    if (!run->subword)
        rows->output[rows->fetch_end++] = input_row(run, hot, batch->word[ahead]);
    else if (rows->opens)
        rows->fetch_end += list_subwords(run, batch->word[ahead], rows->output + rows->fetch_end);
}

#endif
