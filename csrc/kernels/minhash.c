/* MinHash numbers of a text: of every hash function the least value over the shingles (core/minhash.h).
 *
 *     x = a h + b mod 2^64,   value = x mod p,   p = 2^61 - 1:   x = 2^61 high + low becomes y = low + high, less p if y >= p
 *
 * With AVX-512, which multiplies numbers of 64 bits, eight functions stand side by side. Elsewhere four are computed one by
 * one, since each is a chain of its own. */
#include "base/lanes.h"
#include "kernels/wv_kernels.h"

#ifdef __AVX512DQ__
#include <immintrin.h>
#endif

#define PRIME ((UINT64_C(1) << 61) - 1)

static inline uint64_t reduced(uint64_t x) {
    x = (x & PRIME) + (x >> 61);
    return x >= PRIME ? x - PRIME : x;
}

#ifdef __AVX512DQ__

enum { LANES = 8, VECTORS = 4, SIDE = LANES * VECTORS };

typedef uint64_t functions __attribute__((vector_size(8 * LANES)));

static uint64_t least_value(uint64_t a, uint64_t b, const uint64_t *hash, int64_t n) {
    uint64_t least = UINT64_MAX;
    for (int64_t i = 0; i < n; i++) {
        uint64_t x = reduced(a * hash[i] + b);
        least = x < least ? x : least;
    }
    return least;
}

/* No y but 8 of 2^61 is p or more. So the least y are taken, and where the greatest is p or more, the values of that function
 * are computed one by one. */
WV_INLINE void find_side(const uint64_t *a, const uint64_t *b, int vectors, const uint64_t *hash, int64_t n, uint64_t *least) {
    functions factor[VECTORS], term[VECTORS], low[VECTORS], high[VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        memcpy(&factor[v], a + v * LANES, sizeof factor[v]);
        memcpy(&term[v], b + v * LANES, sizeof term[v]);
        low[v] = (functions){0} + UINT64_MAX;
        high[v] = (functions){0};
    }
    for (int64_t i = 0; i < n; i++) {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            functions x = factor[v] * hash[i] + term[v], y = (x & PRIME) + (x >> 61);
            low[v] = (functions)_mm512_min_epu64((__m512i)y, (__m512i)low[v]);
            high[v] = (functions)_mm512_max_epu64((__m512i)y, (__m512i)high[v]);
        }
    }
    for (int j = 0; j < vectors * LANES; j++) {
        int is_exact = high[j / LANES][j % LANES] < PRIME;
        least[j] = is_exact ? low[j / LANES][j % LANES] : least_value(a[j], b[j], hash, n);
    }
}

void WV_NAME(wv_minhash_least)(const uint64_t *a, const uint64_t *b, int32_t count, const uint64_t *hash, int64_t n,
                               uint64_t *least) {
    int k = 0;
    for (; k + SIDE <= count; k += SIDE) find_side(a + k, b + k, VECTORS, hash, n, least + k);
    for (; k < count; k += LANES) find_side(a + k, b + k, 1, hash, n, least + k);
}

#else

/* Where y is less than `least`, the low part is, or it is at least 2^61 - 8. Both show in x + 8, whose low part is then less
 * than least + 8. Turned left by three bits, the low part stands in front, and one comparison does. Behind the first shingles
 * few pass it. */
void WV_NAME(wv_minhash_least)(const uint64_t *all_a, const uint64_t *all_b, int32_t count, const uint64_t *hash, int64_t n,
                               uint64_t *least) {
    enum { SIDE = 4, HIGH = 8, FIRST = 32 };
    for (int k = 0; k < count; k += SIDE) {
        uint64_t a[SIDE], b[SIDE], found[SIDE] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}, bound[SIDE];
        memcpy(a, all_a + k, sizeof a);
        memcpy(b, all_b + k, sizeof b);
        int64_t i = 0;
        for (; i < n && i < FIRST; i++) {
            for (int j = 0; j < SIDE; j++) {
                uint64_t x = reduced(a[j] * hash[i] + b[j]);
                found[j] = x < found[j] ? x : found[j];
            }
        }
        for (int j = 0; j < SIDE; j++) {
            b[j] += HIGH;
            bound[j] = found[j] < PRIME - HIGH ? 8 * (found[j] + HIGH) : UINT64_MAX;
        }
        for (; i < n; i++) {
            for (int j = 0; j < SIDE; j++) {
                uint64_t x = a[j] * hash[i] + b[j];
                if (__builtin_expect((x << 3 | x >> 61) > bound[j], 1)) continue;
                x = reduced(x - HIGH);
                if (x >= found[j]) continue;
                found[j] = x;
                bound[j] = x < PRIME - HIGH ? 8 * (x + HIGH) : UINT64_MAX;
            }
        }
        memcpy(least + k, found, sizeof found);
    }
}

#endif
