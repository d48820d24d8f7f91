/* Scores of rows against panels, the arithmetic that exact search and hashing share.
 *
 * Vectors stand side by side in panels, (ceil(count / lanes), dim, lanes), so that one register holds the same
 * coordinate of `lanes` of them. Every score is one chain of multiply-adds over dim whatever rows and lanes are
 * beside it. */
#ifndef WV_PANELS_H
#define WV_PANELS_H

#include "base/lanes.h"

#if WV_REGISTERS == 32
#define SCORED_ROWS 12 /* 24 accumulators, 2 panels and the broadcast: 27 of 32 registers */
#else
#define SCORED_ROWS 6 /* 12 accumulators, 2 panels and the broadcast: 15 of 16 registers */
#endif
#define PANELS 2

/* One register of scores for each row and panel. */
typedef struct {
    vfloat score[SCORED_ROWS][PANELS];
} panel_scores;

/* (SCORED_ROWS, dim) x (panels, dim, lanes): panels is 1 or 2 and constant where this is inlined. `fetch` asks for
 * the rows of the next call: the hardware does not follow so many short streams by itself. */
WV_INLINE void score_panels(const float *rows, int64_t stride, const float *panel, int32_t dim, int panels, int fetch,
                            panel_scores *scores) {
    vfloat sum[SCORED_ROWS][PANELS];
#pragma GCC unroll 16
    for (int r = 0; r < SCORED_ROWS; r++)
        for (int p = 0; p < panels; p++) sum[r][p] = (vfloat){0};
    const float *second = panel + (int64_t)dim * WV_LANES;
    for (int32_t d = 0; d < dim; d++) {
        if (fetch && d % 16 == 0) {
#pragma GCC unroll 16
            for (int r = 0; r < SCORED_ROWS; r++) __builtin_prefetch(rows + (SCORED_ROWS + r) * stride + d);
        }
        vfloat first = v_load(panel + (int64_t)d * WV_LANES);
        vfloat other = panels == 2 ? v_load(second + (int64_t)d * WV_LANES) : first;
#pragma GCC unroll 16
        for (int r = 0; r < SCORED_ROWS; r++) {
            vfloat x = v_splat(rows[r * stride + d]);
            sum[r][0] += x * first;
            if (panels == 2) sum[r][1] += x * other;
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < SCORED_ROWS; r++)
        for (int p = 0; p < panels; p++) scores->score[r][p] = sum[r][p];
}

/* True when a lane's sign bit is set. */
WV_INLINE int any_negative(vint bits) {
    int32_t all = 0;
    for (int lane = 0; lane < WV_LANES; lane++) all |= bits[lane];
    return all < 0;
}

/* Packs x, (count, dim) with rows `stride` apart, into panels; the lanes after the last vector are zero. */
WV_INLINE void pack(const float *x, int64_t stride, int32_t count, int32_t dim, float *panels) {
    for (int32_t base = 0; base < count; base += WV_LANES) {
        float *panel = panels + (int64_t)base * dim;
        int32_t present = count - base < WV_LANES ? count - base : WV_LANES;
        if (present < WV_LANES) memset(panel, 0, sizeof(float) * WV_LANES * (size_t)dim);
        const float *first = x + base * stride;
        for (int32_t d = 0; d < dim; d++)
            for (int32_t lane = 0; lane < present; lane++)
                panel[(int64_t)d * WV_LANES + lane] = first[lane * stride + d];
    }
}

#endif
