/* Affine maps in double: whitening divides directions by their deviation, and where these differ by a thousand the sums of
 * float32 are noise beside the smallest.
 *
 * As in panels.h: two panels of columns side by side, ROWS centered rows read one coordinate at a time, every sum one chain of
 * multiply-adds over dim, so that a row's result does not depend on the rows beside it. A block of centered rows stays in the
 * second-level cache while all panels pass by.
 */
#include "base/lanes.h"
#include "base/scratch.h"
#include "kernels/wv_kernels.h"

#define WIDE (WV_LANES / 2) /* doubles in a register */
#if WV_REGISTERS == 32
#define ROWS 12 /* 24 sums, 2 panels and the broadcast: 27 of 32 registers */
#else
#define ROWS 6 /* 12 sums, 2 panels and the broadcast: 15 of 16 registers */
#endif
#define PANELS 2
#define BLOCK (8 * ROWS)

typedef double vdouble __attribute__((vector_size(8 * WIDE)));

typedef struct {
    double *panels;  /* (column groups, dim, PANELS, WIDE): the matrix, zero behind the last column */
    double *centered; /* (BLOCK, dim) */
} affine_space;

static int32_t groups_of(const wv_affine *run) { return (run->columns + PANELS * WIDE - 1) / (PANELS * WIDE); }

static size_t lay_out(const wv_affine *run, void *memory, affine_space *space) {
    wv_scratch scratch = {memory, 0};
    space->panels = WV_TAKE(&scratch, double, (int64_t)groups_of(run) * run->dim * PANELS * WIDE);
    space->centered = WV_TAKE(&scratch, double, (int64_t)BLOCK * run->dim);
    return scratch.used;
}

size_t WV_NAME(wv_affine_scratch_bytes)(const wv_affine *run) {
    affine_space space;
    return lay_out(run, NULL, &space);
}

static void pack_matrix(const wv_affine *run, double *panels) {
    for (int32_t group = 0; group < groups_of(run); group++)
        for (int32_t d = 0; d < run->dim; d++)
            for (int32_t i = 0; i < PANELS * WIDE; i++) {
                const int32_t column = group * PANELS * WIDE + i;
                *panels++ = column < run->columns ? run->matrix[(int64_t)d * run->columns + column] : 0;
            }
}

/* One group of columns of `rows` rows, ROWS or 1: constant where this is inlined. */
WV_INLINE void map_rows(const wv_affine *run, const double *centered, const double *panel, int32_t group, int64_t row,
                        int rows) {
    vdouble sum[ROWS][PANELS];
    for (int r = 0; r < rows; r++)
        for (int p = 0; p < PANELS; p++) sum[r][p] = (vdouble){0};
    for (int32_t d = 0; d < run->dim; d++) {
        vdouble weight[PANELS];
        for (int p = 0; p < PANELS; p++)
            weight[p] = *(const vdouble *)__builtin_assume_aligned(panel + ((int64_t)d * PANELS + p) * WIDE, 8 * WIDE);
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++) {
            const vdouble x = centered[(int64_t)r * run->dim + d] - (vdouble){0};
            for (int p = 0; p < PANELS; p++) sum[r][p] += x * weight[p];
        }
    }
    const int32_t first = group * PANELS * WIDE;
    const int32_t columns = run->columns - first < PANELS * WIDE ? run->columns - first : PANELS * WIDE;
    for (int r = 0; r < rows; r++) {
        double values[PANELS * WIDE];
        memcpy(values, sum[r], sizeof values);
        float *out = run->out + (row + r) * run->out_stride + first;
        for (int32_t i = 0; i < columns; i++) out[i] = (float)values[i];
    }
}

void WV_NAME(wv_affine_apply)(const wv_affine *run, int64_t start, int64_t end, void *scratch) {
    affine_space space;
    lay_out(run, scratch, &space);
    pack_matrix(run, space.panels);
    for (int64_t block = start; block < end; block += BLOCK) {
        const int64_t count = end - block < BLOCK ? end - block : BLOCK;
        for (int64_t i = 0; i < count; i++)
            for (int32_t d = 0; d < run->dim; d++)
                space.centered[i * run->dim + d] = (double)run->x[(block + i) * run->stride + d] - run->mean[d];
        for (int32_t group = 0; group < groups_of(run); group++) {
            const double *panel = space.panels + (int64_t)group * run->dim * PANELS * WIDE;
            int64_t i = 0;
            for (; i + ROWS <= count; i += ROWS)
                map_rows(run, space.centered + i * run->dim, panel, group, block + i, ROWS);
            for (; i < count; i++) map_rows(run, space.centered + i * run->dim, panel, group, block + i, 1);
        }
    }
}
