#include "core/uniform.h"

typedef unsigned __int128 wide;

static const wide MULTIPLIER = (wide)0x2360ED051FC65DA4u << 64 | 0x4385DF649FCCF645u;

static inline uint64_t next_draw(wide *state, wide increment) {
    *state = *state * MULTIPLIER + increment;
    uint64_t folded = (uint64_t)(*state >> 64) ^ (uint64_t)*state;
    unsigned turn = (unsigned)(*state >> 122);
    return folded >> turn | folded << (-turn & 63);
}

static inline float centered(uint32_t bits) { return (float)(int32_t)(bits >> 8) * 0x1p-24f - 0.5f; }

void wv_uniform_fill(wv_pcg64 *generator, float *rows, int64_t count, int64_t dim, int64_t stride, float factor,
                     float divisor) {
    wide state = (wide)generator->state_high << 64 | generator->state_low;
    wide increment = (wide)generator->increment_high << 64 | generator->increment_low;
    for (int64_t i = 0; i < count; i++, rows += stride) {
        int64_t d = 0;
        if (generator->has_kept && dim > 0) rows[d++] = centered(generator->kept);
        generator->has_kept = (dim - d) & 1;
        for (; d + 1 < dim; d += 2) {
            uint64_t draw = next_draw(&state, increment);
            rows[d] = centered((uint32_t)draw);
            rows[d + 1] = centered((uint32_t)(draw >> 32));
        }
        if (d < dim) {
            uint64_t draw = next_draw(&state, increment);
            rows[d] = centered((uint32_t)draw);
            generator->kept = (uint32_t)(draw >> 32);
        }
        for (d = 0; d < dim; d++) rows[d] = rows[d] * factor / divisor; /* one of the two is 1 or a power of 2: exact */
    }
    generator->state_high = (uint64_t)(state >> 64);
    generator->state_low = (uint64_t)state;
}
