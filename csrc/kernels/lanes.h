/* One vector of floats as wide as the registers of the instruction set being compiled.
 *
 * GCC/Clang vector extensions: + - * and comparisons work lane by lane in every instruction set, so kernels are written
 * once. Everything is `static inline`: nothing compiled for one instruction set can be linked into another.
 */
#ifndef WV_LANES_H
#define WV_LANES_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define WV_LANES 16
#elif defined(__AVX2__)
#define WV_LANES 8
#else
#define WV_LANES 4 /* SSE2, NEON */
#endif

typedef float vfloat __attribute__((vector_size(4 * WV_LANES)));
typedef int32_t vint __attribute__((vector_size(4 * WV_LANES)));

#define WV_INLINE static inline __attribute__((always_inline))

WV_INLINE vfloat v_load(const float *p) { /* p aligned to 4 * WV_LANES bytes */
    return *(const vfloat *)__builtin_assume_aligned(p, 4 * WV_LANES);
}
WV_INLINE void v_store(float *p, vfloat v) { *(vfloat *)__builtin_assume_aligned(p, 4 * WV_LANES) = v; }
WV_INLINE vfloat v_splat(float x) { return x - (vfloat){0}; }

/* Sum of the lanes. */
WV_INLINE float v_sum(vfloat v) {
    float sum = 0;
    for (int lane = 0; lane < WV_LANES; lane++) sum += v[lane];
    return sum;
}

/* Lane by lane `condition ? yes : no`; condition is all ones or zero, as a comparison gives it. */
WV_INLINE vfloat v_select(vint condition, vfloat yes, vfloat no) {
    return (vfloat)((condition & (vint)yes) | (~condition & (vint)no));
}

#endif
