/* SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, passes BigCrush, and any 64-bit value is a good seed, so a
 * stream can be seeded by (seed, epoch, block) and needs no saving. */
#ifndef WV_RNG_H
#define WV_RNG_H

#include <stdint.h>

static inline uint64_t wv_rng_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline uint64_t wv_rng_next(uint64_t *state) { return wv_rng_mix(*state += 0x9E3779B97F4A7C15u); }

/* The stream of (seed, a, b): streams of different keys are unrelated. */
static inline uint64_t wv_rng_stream(uint64_t seed, uint64_t a, uint64_t b) {
    uint64_t state = wv_rng_mix(seed + 0x9E3779B97F4A7C15u);
    state = wv_rng_mix(state ^ (a + 0xD1B54A32D192ED03u));
    return wv_rng_mix(state ^ (b + 0x8CB92BA72F3D8DD7u));
}

/* Uniform in 0 .. n-1 from the upper 32 bits of a draw; the bias is below n / 2^32. */
static inline uint32_t wv_rng_below(uint64_t draw, uint32_t n) { return (uint32_t)(((draw >> 32) * n) >> 32); }

#endif
