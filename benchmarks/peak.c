/* Multiply-adds per second of one core: independent chains in registers, nothing else. Prints GFLOP/s (2 per multiply-add).
 * Compiled when the benchmark runs, for the machine it runs on. */
#include <stdio.h>
#include <time.h>

#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif
typedef float vector __attribute__((vector_size(BYTES)));

int main(void) {
    vector a = {0}, b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a, x = a + 0.5f, y = a + 1e-3f;
    const long rounds = 100000000;
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (long k = 0; k < rounds; k++) {
        a = a * x + y, b = b * x + y, c = c * x + y, d = d * x + y, e = e * x + y;
        f = f * x + y, g = g * x + y, h = h * x + y, i = i * x + y, j = j * x + y;
        __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e), "+x"(f), "+x"(g), "+x"(h), "+x"(i), "+x"(j));
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    vector sum = a + b + c + d + e + f + g + h + i + j;
    fprintf(stderr, "%g\n", (double)sum[0]);
    printf("%.1f\n", (double)rounds * 10 * 2 * (BYTES / 4) / seconds / 1e9);
    return 0;
}
