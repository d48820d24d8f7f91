/* Product quantization: k-means with WV_CENTROIDS centroids on one block of coordinates, and codes for rows.
 *
 * The nearest centroid c of a point x is the least |c|^2 - 2 x.c. Points lie in panels, one point a lane, so a
 * centroid's weights (|c|^2, -2 c) are broadcast against several panels whose best distance and index stay in
 * registers. Coordinates are taken relative to a center of the block, which keeps |c|^2 and 2 x.c from cancelling
 * each other.
 *
 * Lloyd's algorithm, with two departures from fastText's: it starts from points drawn with probability in proportion to
 * their squared distance from those drawn before (k-means++, Arthur and Vassilvitskii 2007) instead of uniformly, and a
 * centroid without points moves to a point drawn the same way instead of beside another centroid, so the error cannot
 * rise. It ends early when the error does not fall any more. Ties go to the lowest index.
 */
#include <math.h>

#include "base/lanes.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "kernels/wv_kernels.h"

#if WV_REGISTERS == 32
#define PANELS 4 /* panels at a time: registers for distances, best distances and indices of all */
#else
#define PANELS 2
#endif
#define BATCH (PANELS * WV_LANES) /* points looked at together */
#define CHUNK 1024                /* points whose distances are summed together */
#define ENCODE_ROWS 128           /* rows whose coordinates stay in the cache while all blocks are coded */

/* ---------------------------------------------------------------- the nearest centroid */

/* weights (WV_CENTROIDS, width + 1) and the center (width) of centroids (WV_CENTROIDS, width). */
static void prepare(const float *centroids, int32_t width, float *center, float *weights) {
    for (int32_t j = 0; j < width; j++) {
        double sum = 0;
        for (int k = 0; k < WV_CENTROIDS; k++) sum += centroids[k * width + j];
        center[j] = (float)(sum / WV_CENTROIDS);
    }
    for (int k = 0; k < WV_CENTROIDS; k++) {
        double square = 0;
        for (int32_t j = 0; j < width; j++) {
            float c = centroids[k * width + j] - center[j];
            weights[k * (width + 1) + 1 + j] = -2 * c;
            square += (double)c * c;
        }
        weights[k * (width + 1)] = (float)square;
    }
}

/* Puts coordinates first .. first + width - 1 of n <= BATCH rows, less the center, into a batch (PANELS, width, lanes);
 * lanes without a row are zero. */
static void pack_batch(const float *const *rows, int n, int32_t first, int32_t width, const float *center,
                       float *batch) {
    for (int i = 0; i < BATCH; i++) {
        float *lane = batch + (int64_t)(i / WV_LANES) * width * WV_LANES + i % WV_LANES;
        for (int32_t j = 0; j < width; j++) lane[j * WV_LANES] = i < n ? rows[i][first + j] - center[j] : 0;
    }
}

/* best (PANELS): |c|^2 - 2 x.c of the nearest centroid of each point; index (PANELS): which one it is. */
WV_INLINE void nearest_of(const float *batch, int32_t width, const float *weights, vfloat *best, vint *index) {
    for (int p = 0; p < PANELS; p++) {
        best[p] = v_splat(INFINITY);
        index[p] = (vint){0};
    }
    for (int k = 0; k < WV_CENTROIDS; k++) {
        const float *weight = weights + (int64_t)k * (width + 1);
        vfloat distance[PANELS];
        for (int p = 0; p < PANELS; p++) distance[p] = v_splat(weight[0]);
        for (int32_t j = 0; j < width; j++)
            for (int p = 0; p < PANELS; p++)
                distance[p] += v_load(batch + ((int64_t)p * width + j) * WV_LANES) * weight[1 + j];
        for (int p = 0; p < PANELS; p++) {
            vint closer = distance[p] < best[p];
            best[p] = v_select(closer, distance[p], best[p]);
            index[p] = (vint)v_select(closer, (vfloat)((vint){0} + k), (vfloat)index[p]);
        }
    }
}

/* The usual widths as constants, so that the coordinates of a batch stay in registers. */
static void nearest(const float *batch, int32_t width, const float *weights, vfloat *best, vint *index) {
    switch (width) {
    case 1: nearest_of(batch, 1, weights, best, index); break;
    case 2: nearest_of(batch, 2, weights, best, index); break;
    case 3: nearest_of(batch, 3, weights, best, index); break;
    case 4: nearest_of(batch, 4, weights, best, index); break;
    default: nearest_of(batch, width, weights, best, index);
    }
}

/* ---------------------------------------------------------------- k-means */

typedef struct {
    int32_t width;
    int64_t points, padded;
    float *panels;    /* (padded / BATCH) batches: the points less the center */
    float *distance;  /* (padded): the squared distance of each point to its nearest centroid */
    float *square;    /* (padded): |x|^2 */
    int32_t *code;    /* (padded) */
    float *centroids; /* (WV_CENTROIDS, width), less the center */
    float *weights;   /* (WV_CENTROIDS, width + 1) */
    double *sums;     /* (WV_CENTROIDS, width) */
    double *chunk;    /* (padded / CHUNK, rounded up): sums of distances */
    float *center;    /* (width): the mean of the points */
} clusters;

static const float *point(const clusters *c, int64_t i) {
    return c->panels + i / WV_LANES * WV_LANES * c->width + i % WV_LANES;
}

/* Sums the distances by CHUNK points; their total. */
static double tally(clusters *c) {
    double total = 0;
    for (int64_t first = 0; first < c->points; first += CHUNK) {
        int64_t end = first + CHUNK < c->points ? first + CHUNK : c->points;
        double sum = 0;
        for (int64_t i = first; i < end; i++) sum += c->distance[i];
        c->chunk[first / CHUNK] = sum;
        total += sum;
    }
    return total;
}

/* Sets centroid k to a point drawn with probability in proportion to its distance, which is tallied; when all distances
 * are zero, to the first point. */
static void draw(clusters *c, int k, double total, uint64_t *random) {
    double rest = (double)(wv_rng_next(random) >> 11) * 0x1p-53 * total;
    int64_t i = 0, chosen = 0;
    while (i + CHUNK < c->points && rest >= c->chunk[i / CHUNK]) {
        rest -= c->chunk[i / CHUNK];
        i += CHUNK;
    }
    for (; i < c->points; i++) {
        if (!(rest >= 0)) break;
        if (!(c->distance[i] > 0)) continue;
        rest -= c->distance[i];
        chosen = i;
    }
    const float *from = point(c, chosen);
    for (int32_t j = 0; j < c->width; j++) c->centroids[k * c->width + j] = from[j * WV_LANES];
}

/* Lowers every distance to that from centroid k where it is nearer. */
static void approach(clusters *c, int k) {
    const float *centroid = c->centroids + (int64_t)k * c->width;
    for (int64_t i = 0; i < c->padded; i += WV_LANES) {
        vfloat square = {0}, before = v_load(c->distance + i);
        const float *panel = point(c, i);
        for (int32_t j = 0; j < c->width; j++) {
            vfloat difference = v_load(panel + j * WV_LANES) - centroid[j];
            square += difference * difference;
        }
        v_store(c->distance + i, v_select(square < before, square, before));
    }
}

/* Code and distance of every point; the sum of the distances. */
static double assign(clusters *c) {
    for (int k = 0; k < WV_CENTROIDS; k++) {
        double square = 0;
        for (int32_t j = 0; j < c->width; j++) {
            float value = c->centroids[k * c->width + j];
            c->weights[k * (c->width + 1) + 1 + j] = -2 * value;
            square += (double)value * value;
        }
        c->weights[k * (c->width + 1)] = (float)square;
    }
    for (int64_t i = 0; i < c->padded; i += BATCH) {
        vfloat best[PANELS];
        vint index[PANELS];
        nearest(c->panels + i * c->width, c->width, c->weights, best, index);
        for (int p = 0; p < PANELS; p++) {
            vfloat distance = best[p] + v_load(c->square + i + p * WV_LANES);
            distance = v_select(distance > 0.0f, distance, v_splat(0));
            v_store(c->distance + i + p * WV_LANES, distance);
            memcpy(c->code + i + p * WV_LANES, &index[p], sizeof(vint));
        }
    }
    return tally(c);
}

/* Moves every centroid to the mean of its points, and those without any to points far from theirs. */
static void move(clusters *c, double total, uint64_t *random) {
    int64_t count[WV_CENTROIDS] = {0};
    int32_t width = c->width;
    memset(c->sums, 0, sizeof(double) * WV_CENTROIDS * (size_t)width);
    for (int64_t i = 0; i < c->points; i++) {
        const float *from = point(c, i);
        double *sum = c->sums + (int64_t)c->code[i] * width;
        for (int32_t j = 0; j < width; j++) sum[j] += from[j * WV_LANES];
        count[c->code[i]]++;
    }
    for (int k = 0; k < WV_CENTROIDS; k++) {
        if (count[k] == 0) {
            draw(c, k, total, random);
            continue;
        }
        for (int32_t j = 0; j < width; j++)
            c->centroids[k * width + j] = (float)(c->sums[k * width + j] / (double)count[k]);
    }
}

/* Fills the center, and the panels with the points less it. */
static void gather(const wv_product_block *run, clusters *c) {
    for (int32_t j = 0; j < run->width; j++) {
        double sum = 0;
        for (int64_t i = 0; i < run->points; i++) sum += run->x[run->sample[i] * run->stride + run->first + j];
        c->center[j] = (float)(sum / (double)run->points);
    }
    for (int64_t i = 0; i < c->padded; i += BATCH) {
        const float *rows[BATCH];
        int n = (int)(run->points - i < BATCH ? run->points - i : BATCH);
        for (int r = 0; r < n; r++) rows[r] = run->x + run->sample[i + r] * run->stride;
        pack_batch(rows, n, run->first, run->width, c->center, c->panels + i * c->width);
    }
    for (int64_t i = 0; i < c->padded; i += WV_LANES) {
        vfloat square = {0};
        for (int32_t j = 0; j < c->width; j++) {
            vfloat value = v_load(point(c, i) + j * WV_LANES);
            square += value * value;
        }
        v_store(c->square + i, square);
    }
}

static size_t lay_out_clusters(int64_t points, int32_t width, void *memory, clusters *c) {
    wv_scratch scratch = {memory, 0};
    int64_t padded = (points + BATCH - 1) / BATCH * BATCH;
    c->width = width;
    c->points = points;
    c->padded = padded;
    c->panels = WV_TAKE(&scratch, float, padded * width);
    c->distance = WV_TAKE(&scratch, float, padded);
    c->square = WV_TAKE(&scratch, float, padded);
    c->code = WV_TAKE(&scratch, int32_t, padded);
    c->centroids = WV_TAKE(&scratch, float, (int64_t)WV_CENTROIDS * width);
    c->weights = WV_TAKE(&scratch, float, (int64_t)WV_CENTROIDS * (width + 1));
    c->sums = WV_TAKE(&scratch, double, (int64_t)WV_CENTROIDS * width);
    c->chunk = WV_TAKE(&scratch, double, padded / CHUNK + 1);
    c->center = WV_TAKE(&scratch, float, width);
    return scratch.used;
}

size_t WV_NAME(wv_product_train_scratch_bytes)(int64_t points, int32_t width) {
    clusters c;
    return lay_out_clusters(points, width, NULL, &c);
}

int32_t WV_NAME(wv_product_train)(const wv_product_block *run, void *scratch) {
    clusters c;
    uint64_t random = wv_rng_stream(run->seed, (uint64_t)run->first, (uint64_t)run->width);
    lay_out_clusters(run->points, run->width, scratch, &c);
    gather(run, &c);

    for (int64_t i = 0; i < c.padded; i++) c.distance[i] = 1; /* the first centroid may be any point */
    for (int k = 0; k < WV_CENTROIDS; k++) {
        draw(&c, k, tally(&c), &random);
        if (k == 0)
            for (int64_t i = 0; i < c.padded; i++) c.distance[i] = INFINITY;
        approach(&c, k);
    }

    int32_t done = 0;
    while (done < run->iterations) {
        double total = assign(&c);
        run->errors[done] = total;
        done++;
        if (done > 1 && !(total < run->errors[done - 2])) break;
        move(&c, total, &random);
    }
    for (int k = 0; k < WV_CENTROIDS; k++)
        for (int32_t j = 0; j < run->width; j++)
            run->centroids[k * run->width + j] = c.centroids[k * run->width + j] + c.center[j];
    return done;
}

/* ---------------------------------------------------------------- codes */

static int32_t width_of(const wv_product_codes *run, int32_t first) {
    return run->dim - first < run->dsub ? run->dim - first : run->dsub;
}

/* What encoding needs of all blocks: block m has its center at `first`, its weights at WV_CENTROIDS * (first + m). */
typedef struct {
    float *batch;   /* (PANELS, width, lanes) */
    float *weights; /* (WV_CENTROIDS * (dim + blocks)) */
    float *center;  /* (dim) */
} encoder;

static size_t lay_out_encoder(int32_t dim, int32_t dsub, void *memory, encoder *e) {
    wv_scratch scratch = {memory, 0};
    int64_t blocks = (dim + dsub - 1) / dsub;
    e->batch = WV_TAKE(&scratch, float, (int64_t)BATCH * (dsub < dim ? dsub : dim));
    e->weights = WV_TAKE(&scratch, float, WV_CENTROIDS * (dim + blocks));
    e->center = WV_TAKE(&scratch, float, dim);
    return scratch.used;
}

size_t WV_NAME(wv_product_encode_scratch_bytes)(int32_t dim, int32_t dsub) {
    encoder e;
    return lay_out_encoder(dim, dsub, NULL, &e);
}

/* Codes of rows [start, end) for block m. */
static void encode_block(const wv_product_codes *run, const encoder *e, int32_t m, int64_t start, int64_t end) {
    int32_t blocks = (run->dim + run->dsub - 1) / run->dsub;
    int32_t first = m * run->dsub, width = width_of(run, first);
    const float *weights = e->weights + (int64_t)WV_CENTROIDS * (first + m);
    for (int64_t i = start; i < end; i += BATCH) {
        const float *rows[BATCH];
        vfloat best[PANELS];
        vint index[PANELS];
        int n = (int)(end - i < BATCH ? end - i : BATCH);
        for (int r = 0; r < n; r++) rows[r] = run->x + (i + r) * run->stride;
        pack_batch(rows, n, first, width, e->center + first, e->batch);
        nearest(e->batch, width, weights, best, index);
        for (int r = 0; r < n; r++) run->codes[(i + r) * blocks + m] = (uint8_t)index[r / WV_LANES][r % WV_LANES];
    }
}

void WV_NAME(wv_product_encode)(const wv_product_codes *run, int64_t start, int64_t end, void *scratch) {
    encoder e;
    lay_out_encoder(run->dim, run->dsub, scratch, &e);
    int32_t blocks = (run->dim + run->dsub - 1) / run->dsub;
    for (int32_t m = 0; m < blocks; m++) {
        int32_t first = m * run->dsub;
        prepare(run->centroids + (int64_t)first * WV_CENTROIDS, width_of(run, first), e.center + first,
                e.weights + (int64_t)WV_CENTROIDS * (first + m));
    }
    for (int64_t from = start; from < end; from += ENCODE_ROWS) {
        int64_t to = from + ENCODE_ROWS < end ? from + ENCODE_ROWS : end;
        for (int32_t m = 0; m < blocks; m++) encode_block(run, &e, m, from, to);
    }
}
