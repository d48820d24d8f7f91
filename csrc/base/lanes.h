/* One vector of floats as wide as the registers of the instruction set being compiled.
 *
 * GCC/Clang vector extensions: + - * and comparisons work lane by lane in every instruction set, so kernels are written
 * once. Everything is inlined: nothing compiled for one instruction set can be linked into another.
 */
#ifndef WV_LANES_H
#define WV_LANES_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define WV_LANES 16
#elif defined(__AVX2__)
#define WV_LANES 8
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS == 256
#define WV_LANES 8 /* SVE, compiled for registers of just that width */
#else
#define WV_LANES 4 /* SSE2, NEON */
#endif

/* How many vector registers there are: what is held in them at once is chosen by it. */
#if defined(__AVX512F__) || defined(__aarch64__)
#define WV_REGISTERS 32
#else
#define WV_REGISTERS 16
#endif

typedef float vfloat __attribute__((vector_size(4 * WV_LANES)));
typedef int32_t vint __attribute__((vector_size(4 * WV_LANES)));
typedef uint32_t vuint __attribute__((vector_size(4 * WV_LANES)));

#define WV_INLINE static inline __attribute__((always_inline))

WV_INLINE vfloat v_load(const float *p) { /* p aligned to 4 * WV_LANES bytes */
    return *(const vfloat *)__builtin_assume_aligned(p, 4 * WV_LANES);
}
WV_INLINE void v_store(float *p, vfloat v) { *(vfloat *)__builtin_assume_aligned(p, 4 * WV_LANES) = v; }
WV_INLINE vfloat v_load_unaligned(const float *p) {
    vfloat v;
    memcpy(&v, p, sizeof v);
    return v;
}
WV_INLINE void v_store_unaligned(float *p, vfloat v) { memcpy(p, &v, sizeof v); }
WV_INLINE vfloat v_splat(float x) { return x - (vfloat){0}; }

/* Lane by lane `condition ? yes : no`; condition is all ones or zero, as a comparison gives it. */
WV_INLINE vfloat v_select(vint condition, vfloat yes, vfloat no) {
    return (vfloat)((condition & (vint)yes) | (~condition & (vint)no));
}
WV_INLINE vfloat v_abs(vfloat v) { return (vfloat)((vint)v & 0x7fffffff); }

/* Sum of the lanes. */
WV_INLINE float v_sum(vfloat v) {
    float sum = 0;
    for (int lane = 0; lane < WV_LANES; lane++) sum += v[lane];
    return sum;
}

/* v_pair(a, b): halves two vectors into one. In every group of four lanes: a0+a1, a2+a3, b0+b1, b2+b3. Twice applied to
 * four vectors it leaves their sums within each group; the remaining levels add groups of four across the register. */
#if WV_LANES == 16
#define V_SHUFFLE16(a, b, i, j, k, l)                                                                              \
    __builtin_shufflevector(a, b, i, j, 16 + k, 16 + l, 4 + i, 4 + j, 20 + k, 20 + l, 8 + i, 8 + j, 24 + k, 24 + l, \
                            12 + i, 12 + j, 28 + k, 28 + l)
WV_INLINE vfloat v_pair(vfloat a, vfloat b) { return V_SHUFFLE16(a, b, 0, 2, 0, 2) + V_SHUFFLE16(a, b, 1, 3, 1, 3); }
WV_INLINE vfloat v_pair_groups(vfloat a, vfloat b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
           __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
}
#elif WV_LANES == 8
WV_INLINE vfloat v_pair(vfloat a, vfloat b) {
    return __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14) +
           __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
}
WV_INLINE vfloat v_pair_groups(vfloat a, vfloat b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}
#else
WV_INLINE vfloat v_pair(vfloat a, vfloat b) {
    return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
}
#endif

/* The sums of four vectors, within each group of four lanes. */
WV_INLINE vfloat v_pair4(const vfloat *v) { return v_pair(v_pair(v[0], v[1]), v_pair(v[2], v[3])); }

/* Lane i of the result is the sum of the lanes of v[i], for WV_LANES vectors: a transposing reduction, two shuffles per
 * sum instead of the eight that sixteen separate sums would take. */
WV_INLINE vfloat v_sums(const vfloat *v) {
#if WV_LANES == 16
    return v_pair_groups(v_pair_groups(v_pair4(v), v_pair4(v + 4)), v_pair_groups(v_pair4(v + 8), v_pair4(v + 12)));
#elif WV_LANES == 8
    return v_pair_groups(v_pair4(v), v_pair4(v + 4));
#else
    return v_pair4(v);
#endif
}

/* exp(x), relative error < 3e-7 in -87 .. 88, flat beyond; NaN stays NaN. 2^n from the exponent bits, 2^f from a
 * polynomial on -0.5 .. 0.5 (Taylor in f ln 2; the first omitted term is 1.2e-7 at the ends). */
WV_INLINE vfloat v_exp(vfloat x) {
    vfloat t = x * 1.44269504f;
    t = v_select(t > 127.0f, v_splat(127.0f), t); /* this order of operands lets a NaN through */
    t = v_select(t < -126.0f, v_splat(-126.0f), t);
    vint n = __builtin_convertvector(t + 127.5f, vint); /* positive, so truncation rounds t to the nearest integer */
    /* Bit patterns in unsigned numbers, which wrap: of a NaN nothing may be wrong but the result. */
    vfloat f = t - __builtin_convertvector((vint)((vuint)n - 127u), vfloat);
    vfloat p = f * 1.54035304e-4f + 1.33335581e-3f;
    p = p * f + 9.61812911e-3f;
    p = p * f + 5.55041087e-2f;
    p = p * f + 2.40226507e-1f;
    p = p * f + 6.93147181e-1f;
    p = p * f + 1.0f;
    return p * (vfloat)((vuint)n << 23);
}

/* ln(x) for normal x > 0, absolute error < 1e-6; zero and subnormals give about -87. Not for NaN: check that apart. */
WV_INLINE vfloat v_log(vfloat x) {
    vint bits = (vint)x;
    vint exponent = (vint)((vuint)bits - 0x3f3504f3u) >> 23; /* so that the mantissa lies in sqrt(1/2) .. sqrt(2) */
    vfloat m = (vfloat)((vuint)bits - ((vuint)exponent << 23)) - 1.0f;
    /* ln(1 + m) / m, the polynomial of least absolute error on that interval (2.1e-7); no division, which costs as much
     * as all of this. */
    vfloat p = m * 0.118274719f - 0.189019769f;
    p = p * m + 0.206046745f;
    p = p * m - 0.248813391f;
    p = p * m + 0.333032995f;
    p = p * m - 0.50001967f;
    p = p * m + 1.00000322f;
    return p * m + __builtin_convertvector(exponent, vfloat) * 0.69314718f;
}

#endif
