/* Contrast of text pairs with in-batch negatives (multiple negatives ranking, InfoNCE) on static embeddings.
 *
 *     a_i, b_j = means of the rows of their tokens, over the first k numbers of a level
 *     S_ij = s a_i.b_j / (|a_i| |b_j|)
 *     P = row softmax of S, Q = column softmax                a masked j is no candidate of i
 *     loss = sum_i (log sum_j exp S_ij - S_ii) / B            symmetric: half of it, and half of the same by columns
 *     G = (P - I) / B                                         symmetric: ((P - I) + (Q - I)) / 2B
 *     M = w s G / (|a| |b|),  r_i = sum_j M_ij a_i.b_j / |a_i|^2,  c_j = sum_i M_ij a_i.b_j / |b_j|^2
 *     da = M b - r a,  db = M' a - c b
 *     row of token t gets da_i / (number of tokens of text i) for each occurrence
 *
 * Levels (Matryoshka: the same loss of the first k numbers, w of each) share the products: those of level k are those of
 * level k - 1 and the products of a segment of columns. Backwards a segment takes the sum of M over the levels that contain
 * it. So all levels cost 3 B C dim multiply-adds, and B C exponentials each.
 *
 * Anchors come in blocks of WV_PAIR_BLOCK, so that only a block's scores are in memory: 4 * levels * WV_PAIR_BLOCK * C bytes.
 * The three products are one tile each: a few rows, one number at a time, against two registers of columns. Every array that
 * is written belongs to one range of the caller's, and sums over ranges have fixed parts (WV_PAIR_CHUNK): results are the
 * same for any number of threads. exp(S - s) never overflows and is exact for s up to 40.
 */
#include <math.h>

#include "base/lanes.h"
#include "base/scratch.h"
#include "kernels/wv_kernels.h"

#if WV_REGISTERS == 32
#define ROWS 12 /* 24 accumulators, 2 columns and the broadcast: 27 of 32 registers */
#define DIMS (WV_LANES < 8 ? WV_LANES : 8)
#else
#define ROWS 6 /* 12 accumulators, 2 columns and the broadcast: 15 of 16 registers */
#define DIMS 4
#endif
#define BLOCK WV_PAIR_BLOCK
#define PANEL (BLOCK * WV_LANES) /* floats of a register of columns in a block */
#define GROUP (2 * WV_LANES)     /* columns of a tile */
#define DEPTH (256 / WV_LANES)   /* panels of candidates whose scores stay in the cache */

/* ---------------------------------------------------------------- memory */

static int32_t chunks_of(const wv_pairs *run) { return (run->columns + WV_PAIR_CHUNK - 1) / WV_PAIR_CHUNK; }

size_t WV_NAME(wv_pairs_lay_out)(wv_pairs *run, void *memory) {
    wv_scratch scratch = {memory, 0};
    const int64_t levels = run->levels, rows = (int64_t)run->blocks * BLOCK, columns = run->columns;
    run->a = WV_TAKE(&scratch, float, rows * run->width);
    run->a_gradient = WV_TAKE(&scratch, float, rows * run->width);
    run->b = WV_TAKE(&scratch, float, columns * run->width);
    run->b_gradient = WV_TAKE(&scratch, float, columns * run->width);
    run->b_rows = WV_TAKE(&scratch, float, columns * run->width);
    run->block = WV_TAKE(&scratch, float, levels * columns * BLOCK);
    run->a_inverse = WV_TAKE(&scratch, float, levels * rows);
    run->b_inverse = WV_TAKE(&scratch, float, levels * columns);
    run->partial = WV_TAKE(&scratch, float, chunks_of(run) * levels * PANEL);
    run->row_factor = WV_TAKE(&scratch, float, levels * BLOCK);
    run->column_factor = WV_TAKE(&scratch, float, levels * columns);
    run->a_radial = WV_TAKE(&scratch, float, levels * rows);
    run->b_radial = WV_TAKE(&scratch, float, levels * columns);
    run->diagonal = WV_TAKE(&scratch, float, levels * rows);
    run->loss = WV_TAKE(&scratch, double, rows);
    run->anchor_gradients = WV_TAKE(&scratch, float, (int64_t)run->pairs * run->stride);
    run->candidate_gradients = run->b;
    return scratch.used;
}

/* ---------------------------------------------------------------- vectors of texts */

/* The mean of a text's rows, (stride), all zero for a text without tokens. */
static void mean_row(const wv_pairs *run, int64_t text, float *out) {
    const int64_t begin = run->starts[text], end = run->starts[text + 1];
    const float share = end > begin ? 1.0f / (float)(end - begin) : 0;
    memset(out, 0, sizeof(float) * (size_t)run->stride);
    for (int64_t t = begin; t < end; t++) {
        const float *row = run->table + (int64_t)run->ids[t] * run->stride;
        if (t + 2 < end) {
            const float *later = run->table + (int64_t)run->ids[t + 2] * run->stride;
            for (int32_t d = 0; d < run->stride; d += WV_ROW_FLOATS) __builtin_prefetch(later + d);
        }
        for (int32_t d = 0; d < run->stride; d += WV_LANES) v_store(out + d, v_load(out + d) + v_load(row + d));
    }
    for (int32_t d = 0; d < run->stride; d += WV_LANES) v_store(out + d, v_load(out + d) * share);
}

/* Writes a mean as one of `columns` vectors side by side, inverse norms apart; `mean` NULL: zeros. Number (segment
 * start + d) of the vector goes to at[(place / lanes) * panel + (place % lanes) * lane]. */
static void spread(const wv_pairs *run, const float *mean, float *at, int64_t panel, int64_t lane, float *inverse,
                   int64_t inverse_stride) {
    int32_t from = 0, place = 0;
    double square = 0;
    for (int32_t l = 0; l < run->levels; l++) {
        for (; place < run->level_end[l]; place++) {
            float value = 0;
            if (mean && from < run->natural_end[l]) value = mean[from++];
            square += (double)value * value;
            at[place / WV_LANES * panel + place % WV_LANES * lane] = value;
        }
        inverse[l * inverse_stride] = square >= 1e-24 ? (float)(1 / sqrt(square)) : 0;
    }
}

/* Texts [start, end), multiples of WV_PAIR_UNIT: first the anchors, up to whole blocks, then the candidates. */
void WV_NAME(wv_pairs_encode)(const wv_pairs *run, int64_t start, int64_t end, float *mean) {
    const int64_t rows = (int64_t)run->blocks * BLOCK;
    for (int64_t i = start; i < end; i++) {
        if (i < rows) {
            const int there = i < run->pairs;
            if (there) mean_row(run, run->texts[i], mean);
            float *block = run->a + i / BLOCK * BLOCK * run->width;
            spread(run, there ? mean : NULL, block + i % BLOCK * WV_LANES, PANEL, 1, run->a_inverse + i, rows);
            run->loss[i] = 0;
        } else {
            const int64_t j = i - rows;
            const int there = j < run->candidates;
            if (there) mean_row(run, run->texts[run->pairs + j], mean);
            spread(run, there ? mean : NULL, run->b_rows + j * WV_LANES, (int64_t)run->columns * WV_LANES, 1,
                   run->b_inverse + j, run->columns);
            float *panel = run->b + j / WV_LANES * WV_LANES * run->width + j % WV_LANES;
            for (int32_t d = 0; d < run->width; d++)
                panel[(int64_t)d * WV_LANES] =
                    run->b_rows[((int64_t)(d / WV_LANES) * run->columns + j) * WV_LANES + d % WV_LANES];
        }
    }
}

/* ---------------------------------------------------------------- scores */

static int32_t rows_of(const wv_pairs *run, int32_t block) {
    const int32_t left = run->pairs - block * BLOCK;
    return left < BLOCK ? left : BLOCK;
}

static float *level_of(const wv_pairs *run, int32_t level) {
    return run->block + (int64_t)level * run->columns * BLOCK;
}

/* Products of the block's rows and the candidates of a group, for every level. */
static void products(const wv_pairs *run, int32_t block, int32_t rows, int64_t column) {
    const float *a = run->a + (int64_t)block * BLOCK * run->width;
    const float *first = run->b + column * run->width, *second = first + (int64_t)run->width * WV_LANES;
    for (int32_t i = 0; i < rows; i += ROWS) {
        vfloat sum[ROWS][2];
#pragma GCC unroll 16
        for (int r = 0; r < ROWS; r++) sum[r][0] = sum[r][1] = (vfloat){0};
        int32_t d = 0;
        for (int32_t l = 0; l < run->levels; l++) {
            for (; d < run->level_end[l]; d += WV_LANES) {
                const float *numbers = a + (int64_t)(d / WV_LANES) * PANEL + i * WV_LANES;
                for (int lane = 0; lane < WV_LANES; lane++) {
                    const vfloat x = v_load(first + (int64_t)(d + lane) * WV_LANES);
                    const vfloat y = v_load(second + (int64_t)(d + lane) * WV_LANES);
#pragma GCC unroll 16
                    for (int r = 0; r < ROWS; r++) {
                        const vfloat number = v_splat(numbers[r * WV_LANES + lane]);
                        sum[r][0] += number * x;
                        sum[r][1] += number * y;
                    }
                }
            }
            float *out = level_of(run, l) + column * BLOCK + i * WV_LANES;
#pragma GCC unroll 16
            for (int r = 0; r < ROWS; r++) {
                v_store(out + r * WV_LANES, sum[r][0]);
                v_store(out + PANEL + r * WV_LANES, sum[r][1]);
            }
        }
    }
}

static vint lanes_from(int32_t first) {
    vint found;
    for (int lane = 0; lane < WV_LANES; lane++) found[lane] = first + lane;
    return found;
}

static vint load_numbers(const int32_t *p) {
    vint found;
    memcpy(&found, p, sizeof found);
    return found;
}

/* All ones where a column is a candidate of row i: not beyond the last, and no other pair's that has the row's anchor or
 * its positive. */
WV_INLINE vint candidates_of(const wv_pairs *run, int32_t i, vint column, vint anchor, vint text) {
    const vint same = (anchor == run->anchor[i]) | (text == run->text[i]);
    return (column < run->candidates) & (~same | (column == i));
}

/* Candidates of chunks [start, end): products, and sums of exponentials over each chunk's columns; `by_columns`: over the
 * rows of all blocks, too, whose first is block 0. */
void WV_NAME(wv_pairs_scores)(const wv_pairs *run, int32_t block, int32_t start, int32_t end, int32_t by_columns) {
    const int32_t rows = rows_of(run, block), base = block * BLOCK;
    const int64_t all = (int64_t)run->blocks * BLOCK;
    for (int32_t chunk = start; chunk < end; chunk++) {
        float *sums = run->partial + (int64_t)chunk * run->levels * PANEL;
        memset(sums, 0, sizeof(float) * (size_t)(run->levels * PANEL));
        const int32_t from = chunk * WV_PAIR_CHUNK;
        const int32_t to = from + WV_PAIR_CHUNK < run->columns ? from + WV_PAIR_CHUNK : run->columns;
        for (int32_t group = from; group < to; group += GROUP) {
            products(run, block, rows, group);
            for (int32_t first = group; first < group + GROUP; first += WV_LANES) {
                const vint column = lanes_from(first), anchor = load_numbers(run->anchor + first),
                           text = load_numbers(run->text + first);
                for (int32_t l = 0; l < run->levels; l++) {
                    const float *product = level_of(run, l) + (int64_t)first * BLOCK;
                    const vfloat inverse = v_load(run->b_inverse + (int64_t)l * run->columns + first) * run->scale;
                    vfloat column_sum = {0};
                    for (int32_t i = 0; i < rows; i++) {
                        const vfloat score =
                            v_load(product + i * WV_LANES) * inverse * run->a_inverse[l * all + base + i];
                        const vint is = candidates_of(run, base + i, column, anchor, text);
                        const vfloat e = (vfloat)((vint)v_exp(score - run->scale) & is);
                        float *sum = sums + l * PANEL + i * WV_LANES;
                        v_store(sum, v_load(sum) + e);
                        column_sum += e;
                        const int32_t own = base + i - first;
                        if (own >= 0 && own < WV_LANES) run->diagonal[l * all + base + i] = score[own];
                    }
                    if (by_columns) {
                        float *sum = run->column_factor + (int64_t)l * run->columns + first;
                        v_store(sum, block ? v_load(sum) + column_sum : column_sum);
                    }
                }
            }
        }
    }
}

/* Sums of columns [start, end) to factors of their exponentials, and the columns' part of the loss. */
void WV_NAME(wv_pairs_columns)(const wv_pairs *run, int32_t start, int32_t end) {
    const int64_t all = (int64_t)run->blocks * BLOCK;
    for (int32_t l = 0; l < run->levels; l++)
        for (int32_t j = start; j < end; j++) {
            float *factor = run->column_factor + (int64_t)l * run->columns + j;
            if (j < run->pairs && run->symmetric) {
                run->loss[j] += 0.5 * (double)run->level_weight[l] *
                                (log((double)*factor) + (double)run->scale - (double)run->diagonal[l * all + j]);
                *factor = 0.5f / ((float)run->pairs * *factor);
            } else {
                *factor = 0;
            }
        }
}

/* The sums over all chunks of row i of a block. */
static double sum_of(const wv_pairs *run, int32_t level, int32_t i) {
    vfloat sum = {0};
    for (int32_t chunk = 0; chunk < chunks_of(run); chunk++)
        sum += v_load(run->partial + ((int64_t)chunk * run->levels + level) * PANEL + i * WV_LANES);
    return (double)v_sum(sum);
}

/* Sums of rows [start, end) of a block to factors of their exponentials, and the rows' part of the loss. */
void WV_NAME(wv_pairs_rows)(const wv_pairs *run, int32_t block, int32_t start, int32_t end) {
    const int64_t all = (int64_t)run->blocks * BLOCK, base = (int64_t)block * BLOCK;
    const double share = run->symmetric ? 0.5 : 1;
    for (int32_t i = start; i < end && i < rows_of(run, block); i++)
        for (int32_t l = 0; l < run->levels; l++) {
            const double sum = sum_of(run, l, i);
            run->loss[base + i] += share * (double)run->level_weight[l] *
                                   (log(sum) + (double)run->scale - (double)run->diagonal[l * all + base + i]);
            run->row_factor[l * BLOCK + i] = (float)(share / (run->pairs * sum));
        }
}

/* ---------------------------------------------------------------- gradients */

/* db of a group of candidates gains the block's part. */
static void gradients_of_candidates(const wv_pairs *run, int32_t block, int32_t rows, int64_t column) {
    const float *a = run->a + (int64_t)block * BLOCK * run->width;
    float *first = run->b_gradient + column * run->width, *second = first + (int64_t)run->width * WV_LANES;
    int32_t d = 0;
    for (int32_t l = 0; l < run->levels; l++) {
        const float *part = level_of(run, l) + column * BLOCK;
        for (; d < run->level_end[l]; d += DIMS) {
            const float *numbers = a + (int64_t)(d / WV_LANES) * PANEL + d % WV_LANES;
            vfloat sum[DIMS][2];
#pragma GCC unroll 16
            for (int r = 0; r < DIMS; r++) {
                sum[r][0] = block ? v_load(first + (int64_t)(d + r) * WV_LANES) : (vfloat){0};
                sum[r][1] = block ? v_load(second + (int64_t)(d + r) * WV_LANES) : (vfloat){0};
            }
            for (int32_t i = 0; i < rows; i++) {
                const vfloat x = v_load(part + i * WV_LANES), y = v_load(part + PANEL + i * WV_LANES);
#pragma GCC unroll 16
                for (int r = 0; r < DIMS; r++) {
                    const vfloat number = v_splat(numbers[i * WV_LANES + r]);
                    sum[r][0] += number * x;
                    sum[r][1] += number * y;
                }
            }
#pragma GCC unroll 16
            for (int r = 0; r < DIMS; r++) {
                v_store(first + (int64_t)(d + r) * WV_LANES, sum[r][0]);
                v_store(second + (int64_t)(d + r) * WV_LANES, sum[r][1]);
            }
        }
    }
}

/* Candidates of chunks [start, end): M, summed over the levels that contain a segment, in the place of the products; db; and
 * the radial parts. */
void WV_NAME(wv_pairs_gradient)(const wv_pairs *run, int32_t block, int32_t start, int32_t end) {
    const int32_t rows = rows_of(run, block), base = block * BLOCK;
    const int64_t all = (int64_t)run->blocks * BLOCK;
    const float own_share = 1.0f / (float)run->pairs;
    for (int32_t chunk = start; chunk < end; chunk++) {
        float *sums = run->partial + (int64_t)chunk * run->levels * PANEL;
        memset(sums, 0, sizeof(float) * (size_t)(run->levels * PANEL));
        const int32_t from = chunk * WV_PAIR_CHUNK;
        const int32_t to = from + WV_PAIR_CHUNK < run->columns ? from + WV_PAIR_CHUNK : run->columns;
        for (int32_t group = from; group < to; group += GROUP) {
            for (int32_t first = group; first < group + GROUP; first += WV_LANES) {
                const vint column = lanes_from(first), anchor = load_numbers(run->anchor + first),
                           text = load_numbers(run->text + first);
                for (int32_t l = run->levels - 1; l >= 0; l--) {
                    float *part = level_of(run, l) + (int64_t)first * BLOCK;
                    const float *above = l + 1 < run->levels ? level_of(run, l + 1) + (int64_t)first * BLOCK : NULL;
                    const vfloat inverse = v_load(run->b_inverse + (int64_t)l * run->columns + first) * run->scale;
                    const vfloat by_column = v_load(run->column_factor + (int64_t)l * run->columns + first);
                    const float weight = run->level_weight[l];
                    vfloat column_sum = {0};
                    for (int32_t i = 0; i < rows; i++) {
                        const vfloat product = v_load(part + i * WV_LANES);
                        const vfloat norms = inverse * run->a_inverse[l * all + base + i];
                        const vint is = candidates_of(run, base + i, column, anchor, text);
                        const vfloat e = (vfloat)((vint)v_exp(product * norms - run->scale) & is);
                        vfloat g = e * (by_column + run->row_factor[l * BLOCK + i]);
                        const int32_t own = base + i - first;
                        if (own >= 0 && own < WV_LANES) g[own] -= own_share;
                        g *= norms * weight;
                        const vfloat along = g * product;
                        float *sum = sums + l * PANEL + i * WV_LANES;
                        v_store(sum, v_load(sum) + along);
                        column_sum += along;
                        v_store(part + i * WV_LANES, above ? g + v_load(above + i * WV_LANES) : g);
                    }
                    const vfloat unscaled = v_load(run->b_inverse + (int64_t)l * run->columns + first);
                    float *sum = run->b_radial + (int64_t)l * run->columns + first;
                    column_sum *= unscaled * unscaled;
                    v_store(sum, block ? v_load(sum) + column_sum : column_sum);
                }
            }
            gradients_of_candidates(run, block, rows, group);
        }
    }
}

/* out (2, WV_PAIR_BLOCK, lanes) gains the products of part, (panels, WV_PAIR_BLOCK, lanes), and of the candidates in the
 * panels from .. to - 1, whose columns are `first` and `second`. */
static void anchors_tile(const float *part, const float *first, const float *second, int32_t from, int32_t to,
                         int32_t rows, float *out) {
    for (int32_t i = 0; i < rows; i += ROWS) {
        vfloat sum[ROWS][2];
#pragma GCC unroll 16
        for (int r = 0; r < ROWS; r++) {
            sum[r][0] = from ? v_load(out + (i + r) * WV_LANES) : (vfloat){0};
            sum[r][1] = from ? v_load(out + PANEL + (i + r) * WV_LANES) : (vfloat){0};
        }
        for (int32_t panel = from; panel < to; panel++) {
            const float *numbers = part + (int64_t)panel * PANEL + i * WV_LANES;
            const int64_t candidate = (int64_t)panel * WV_LANES * WV_LANES;
            for (int lane = 0; lane < WV_LANES; lane++) {
                const vfloat x = v_load(first + candidate + lane * WV_LANES);
                const vfloat y = v_load(second + candidate + lane * WV_LANES);
#pragma GCC unroll 16
                for (int r = 0; r < ROWS; r++) {
                    const vfloat number = v_splat(numbers[r * WV_LANES + lane]);
                    sum[r][0] += number * x;
                    sum[r][1] += number * y;
                }
            }
        }
#pragma GCC unroll 16
        for (int r = 0; r < ROWS; r++) {
            v_store(out + (i + r) * WV_LANES, sum[r][0]);
            v_store(out + PANEL + (i + r) * WV_LANES, sum[r][1]);
        }
    }
}

/* da of a block in the columns [start, end), multiples of WV_PAIR_UNIT. A part of the candidates after the other, so that
 * their scores stay in the second-level cache while all columns pass by. */
void WV_NAME(wv_pairs_anchors)(const wv_pairs *run, int32_t block, int32_t start, int32_t end) {
    const int32_t rows = rows_of(run, block), panels = run->columns / WV_LANES;
    float *gradient = run->a_gradient + (int64_t)block * BLOCK * run->width;
    for (int32_t from = 0; from < panels; from += DEPTH) {
        const int32_t to = from + DEPTH < panels ? from + DEPTH : panels;
        int32_t l = 0;
        for (int32_t d = start; d < end; d += GROUP) {
            while (d >= run->level_end[l]) l++;
            const float *first = run->b_rows + (int64_t)(d / WV_LANES) * run->columns * WV_LANES;
            anchors_tile(level_of(run, l), first, first + (int64_t)run->columns * WV_LANES, from, to, rows,
                         gradient + (int64_t)(d / WV_LANES) * PANEL);
        }
    }
}

/* The radial parts of rows [start, end) of a block. */
void WV_NAME(wv_pairs_radial)(const wv_pairs *run, int32_t block, int32_t start, int32_t end) {
    const int64_t all = (int64_t)run->blocks * BLOCK, base = (int64_t)block * BLOCK;
    for (int32_t i = start; i < end && i < rows_of(run, block); i++)
        for (int32_t l = 0; l < run->levels; l++) {
            const double inverse = (double)run->a_inverse[l * all + base + i];
            run->a_radial[l * all + base + i] = (float)(sum_of(run, l, i) * inverse * inverse);
        }
}

/* The gradient of a text for one occurrence of a token in it: (gradient - radial vector) / tokens. Numbers of a padded vector
 * are at [(place / lanes) * panel + (place % lanes) * lane] of both. */
static void gather(const wv_pairs *run, int64_t text, const float *gradient, int64_t panel, int64_t lane,
                   const float *vector, int64_t vector_panel, const float *radial, int64_t radial_stride, float *out) {
    const int64_t tokens = run->starts[text + 1] - run->starts[text];
    const float share = tokens ? 1.0f / (float)tokens : 0;
    int32_t to = 0, place = 0;
    for (int32_t l = 0; l < run->levels; l++) {
        float along = 0;
        for (int32_t above = l; above < run->levels; above++) along += radial[above * radial_stride];
        for (; to < run->natural_end[l]; place++, to++) {
            const int64_t panels = place / WV_LANES, within = place % WV_LANES;
            out[to] = share * (gradient[panels * panel + within * lane] - along * vector[panels * vector_panel + within]);
        }
        place = run->level_end[l];
    }
    for (; to < run->stride; to++) out[to] = 0;
}

/* The gradients of texts [start, end): first the anchors, then the candidates. */
void WV_NAME(wv_pairs_finish)(const wv_pairs *run, int64_t start, int64_t end) {
    const int64_t rows = (int64_t)run->blocks * BLOCK;
    for (int64_t i = start; i < end; i++) {
        if (i < run->pairs) {
            const int64_t place = i / BLOCK * BLOCK * run->width + i % BLOCK * WV_LANES;
            gather(run, run->texts[i], run->a_gradient + place, PANEL, 1, run->a + place, PANEL, run->a_radial + i, rows,
                   run->anchor_gradients + i * run->stride);
        } else {
            const int64_t j = i - run->pairs;
            gather(run, run->texts[i], run->b_gradient + j / WV_LANES * WV_LANES * run->width + j % WV_LANES,
                   WV_LANES * WV_LANES, WV_LANES, run->b_rows + j * WV_LANES, (int64_t)run->columns * WV_LANES,
                   run->b_radial + j, run->columns, run->candidate_gradients + j * run->stride);
        }
    }
}
