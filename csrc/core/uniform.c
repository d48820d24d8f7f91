#include "core/uniform.h"

#include <string.h>

#include "base/little_endian.h"

typedef unsigned __int128 wide;

static const wide MULTIPLIER = (wide)0x2360ED051FC65DA4u << 64 | 0x4385DF649FCCF645u;

static inline uint64_t draw_of(wide state) {
    uint64_t folded = (uint64_t)(state >> 64) ^ (uint64_t)state;
    unsigned turn = (unsigned)(state >> 122);
    return folded >> turn | folded << (-turn & 63);
}

/* Writes `count` draws and returns the state behind them. A state waits for the one before it; of two chains with every
 * other state neither waits for the other. */
static wide put_draws(wide state, wide increment, char *out, int64_t count) {
    const wide twice = MULTIPLIER * MULTIPLIER, increment_of_two = increment * (MULTIPLIER + 1);
    wide odd = state * MULTIPLIER + increment, even = odd * MULTIPLIER + increment;
    int64_t i = 0;
    for (; i + 2 <= count; i += 2) {
        const uint64_t draws[2] = {draw_of(odd), draw_of(even)};
        memcpy(out + 8 * i, draws, sizeof draws);
        state = even;
        odd = odd * twice + increment_of_two;
        even = even * twice + increment_of_two;
    }
    if (i == count) return state;
    const uint64_t draw = draw_of(odd);
    memcpy(out + 8 * i, &draw, sizeof draw);
    return odd;
}

void wv_uniform_fill(wv_pcg64 *generator, float *rows, int64_t count, int64_t dim, int64_t stride, float factor,
                     float divisor) {
    wide state = (wide)generator->state_high << 64 | generator->state_low;
    wide increment = (wide)generator->increment_high << 64 | generator->increment_low;
    for (int64_t i = 0; i < count; i++, rows += stride) {
        int64_t d = 0; /* of a row, which first has the bits */
        if (generator->has_kept && dim > 0) memcpy(rows + d++, &generator->kept, sizeof *rows);
        generator->has_kept = (dim - d) & 1;
        state = put_draws(state, increment, (char *)(rows + d), (dim - d) / 2);
        if (generator->has_kept) {
            uint32_t halves[2];
            state = put_draws(state, increment, (char *)halves, 1);
            memcpy(rows + dim - 1, halves, sizeof *rows);
            generator->kept = halves[1];
        }
        for (d = 0; d < dim; d++) {
            uint32_t bits;
            memcpy(&bits, rows + d, sizeof bits);
            float centered = (float)(int32_t)(bits >> 8) * 0x1p-24f - 0.5f;
            rows[d] = centered * factor / divisor; /* one of the two is 1 or a power of 2: exact */
        }
    }
    generator->state_high = (uint64_t)(state >> 64);
    generator->state_low = (uint64_t)state;
}
