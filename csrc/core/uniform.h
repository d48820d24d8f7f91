/* Uniform random numbers as NumPy's Generator.random draws them in float32: of PCG64 (O'Neill 2014, PCG XSL RR 128/64). */
#ifndef WV_UNIFORM_H
#define WV_UNIFORM_H

#include <stdint.h>

/* The state of NumPy's bit generator PCG64. A draw has 64 bits; its upper half is kept for the next number. */
typedef struct {
    uint64_t state_high, state_low, increment_high, increment_low;
    uint32_t kept; /* when has_kept */
    int has_kept;
} wv_pcg64;

/* rows (count, dim), `stride` floats apart: (u - 1/2) * factor / divisor, where u is uniform in 0 .. 1. */
void wv_uniform_fill(wv_pcg64 *generator, float *rows, int64_t count, int64_t dim, int64_t stride, float factor,
                     float divisor);

#endif
