/* What ranks send of their rows, the share of the sums that is added, and how it is taken in (wv_cli/cluster/exchange.py).
 *
 * A share for each of `columns` directions would cost two products with a square matrix. The first WV_DIRECTIONS have most
 * of the length; the others go short ways, of nearly one length, and have one share: what is in the first is measured,
 * multiplied by what their shares differ from that one, and added. ROWS rows go side by side, so that their chains of
 * multiply-adds overlap.
 *
 * This file is compiled without -fassociative-math: current - base - sent is 0, to the bit, for a row that has not changed.
 */
#include "base/cache.h"
#include "kernels/wv_kernels.h"

enum { ROWS = WV_LANES == 16 ? 8 : 4, VECTORS = WV_DIRECTIONS / WV_LANES, AHEAD = 6 };

WV_INLINE void fetch_row(const wv_exchanged *table, int64_t row) {
    wv_fetch_to_change(table->current + row * table->stride, table->columns);
    wv_fetch_to_change(table->base + row * table->columns, table->columns);
}

void WV_NAME(wv_exchange_moved)(const wv_exchanged *table, const int64_t *rows, int64_t n, uint8_t *restrict moved) {
    for (int64_t i = 0; i < n; i++) {
        if (i + AHEAD < n) fetch_row(table, rows[i + AHEAD]);
        const float *current = table->current + rows[i] * table->stride, *base = table->base + rows[i] * table->columns;
        int32_t different = 0;
        for (int32_t d = 0; d < table->columns; d++) different |= current[d] != base[d];
        moved[i] = (uint8_t)different;
    }
}

void WV_NAME(wv_exchange_send)(const wv_exchanged *table, const int64_t *rows, int64_t n, float *restrict sent,
                               float *restrict sum) {
    for (int64_t i = 0; i < n; i++) {
        if (i + AHEAD < n) fetch_row(table, rows[i + AHEAD]);
        const float *current = table->current + rows[i] * table->stride, *base = table->base + rows[i] * table->columns;
        for (int32_t d = 0; d < table->columns; d++) sent[d] = sum[d] = current[d] - base[d];
        sent += table->columns;
        sum += table->columns;
    }
}

void WV_NAME(wv_exchange_take_in)(const wv_exchanged *table, const int64_t *rows, int64_t n, const float *restrict sent,
                                  const float *restrict added) {
    for (int64_t i = 0; i < n; i++) {
        if (i + AHEAD < n) fetch_row(table, rows[i + AHEAD]);
        float *restrict current = table->current + rows[i] * table->stride;
        float *restrict base = table->base + rows[i] * table->columns;
        for (int32_t d = 0; d < table->columns; d++) {
            const float learnt = current[d] - base[d] - sent[d];
            base[d] += added[d];
            current[d] = base[d] + learnt;
        }
        sent += table->columns;
        added += table->columns;
    }
}

/* 1 - exp(-x) for x >= 0, where x is short by a series: the difference would have few digits left. */
WV_INLINE vfloat come(vfloat x) {
    const vfloat series = x * (1.0f - x * (0.5f - x * (0.166666667f - x * 0.0416666667f)));
    return v_select(x < 0.06f, series, 1.0f - v_exp(-x));
}

/* The share of the sum that brings `movers` together as far as one that makes all their updates. */
WV_INLINE vfloat share(vfloat movers, vfloat way) {
    way = v_select(way > 1e-20f, way, v_splat(1e-20f));
    return come(movers * way) / (movers * come(way));
}

/* `count` times WV_LANES numbers, one `apart` from the next, become theirs times `other` and what `more` has along the
 * directions, of which `transposed` has the same WV_LANES numbers. */
WV_INLINE void combine(float *restrict numbers, int64_t apart, const float *other, const float (*more)[WV_DIRECTIONS],
                       const float *restrict transposed, int64_t stride, int count) {
    vfloat result[ROWS];
#pragma GCC unroll 16
    for (int r = 0; r < count; r++) result[r] = v_load_unaligned(numbers + r * apart) * other[r];
#pragma GCC unroll 16
    for (int k = 0; k < WV_DIRECTIONS; k++) {
        const vfloat direction = v_load_unaligned(transposed + k * stride);
#pragma GCC unroll 16
        for (int r = 0; r < count; r++) result[r] += more[r][k] * direction;
    }
#pragma GCC unroll 16
    for (int r = 0; r < count; r++) v_store_unaligned(numbers + r * apart, result[r]);
}

/* `count` rows, ROWS or 1: constant where this is inlined. */
WV_INLINE void share_rows(const wv_exchanged *table, const wv_ways *ways, const int64_t *rows, float *restrict summed,
                          int count) {
    const int32_t columns = table->columns;
    const float *restrict directions = ways->directions, *restrict transposed = ways->transposed;
    vfloat along[ROWS][VECTORS], updates = {0}, movers = {0};
    for (int r = 0; r < count; r++) {
        updates[r] = table->updates[rows[r]];
        movers[r] = table->movers[rows[r]];
    }
#pragma GCC unroll 16
    for (int r = 0; r < count; r++)
        for (int v = 0; v < VECTORS; v++) along[r][v] = (vfloat){0};
    for (int32_t d = 0; d < columns; d++)
#pragma GCC unroll 16
        for (int v = 0; v < VECTORS; v++) {
            const vfloat direction = v_load_unaligned(directions + d * WV_DIRECTIONS + v * WV_LANES);
#pragma GCC unroll 16
            for (int r = 0; r < count; r++) along[r][v] += summed[(int64_t)r * columns + d] * direction;
        }
    float other[WV_LANES], more[ROWS][WV_DIRECTIONS];
    v_store_unaligned(other, share(movers, updates * ways->other_way));
#pragma GCC unroll 16
    for (int r = 0; r < count; r++)
        for (int v = 0; v < VECTORS; v++) {
            const vfloat way = v_load_unaligned(ways->way + v * WV_LANES) * updates[r];
            v_store_unaligned(more[r] + v * WV_LANES, along[r][v] * (share(v_splat(movers[r]), way) - other[r]));
        }
    int32_t d = 0;
    for (; d + WV_LANES <= columns; d += WV_LANES)
        combine(summed + d, columns, other, more, transposed + d, ways->stride, count);
    if (d == columns) return;
    float edge[ROWS][WV_LANES] = {{0}};
    for (int r = 0; r < count; r++)
        for (int32_t i = d; i < columns; i++) edge[r][i - d] = summed[(int64_t)r * columns + i];
    combine(edge[0], WV_LANES, other, more, transposed + d, ways->stride, count);
    for (int r = 0; r < count; r++)
        for (int32_t i = d; i < columns; i++) summed[(int64_t)r * columns + i] = edge[r][i - d];
}

void WV_NAME(wv_exchange_share)(const wv_exchanged *table, const wv_ways *ways, const int64_t *rows, int64_t n,
                                float *summed) {
    int64_t i = 0;
    for (; i + ROWS <= n; i += ROWS) share_rows(table, ways, rows + i, summed + i * table->columns, ROWS);
    for (; i < n; i++) share_rows(table, ways, rows + i, summed + i * table->columns, 1);
}
