/* What one core can do: the roofs of benchmarks/kernels.py. Compiled when the benchmark runs, for the machine it runs on.
 *
 *   peak          GFLOP/s of multiply-adds (2 each): independent chains in registers, nothing else
 *   peak clock    GHz: a chain of additions, one a cycle
 *   peak BYTES    GB/s of a loop that adds to every number of so many bytes: what is read and what is written
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif
typedef float vector __attribute__((vector_size(BYTES)));

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double gflops(void) {
    vector a = {0}, b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a, x = a + 0.5f, y = a + 1e-3f;
    const long rounds = 100000000;
    double begin = now();
    for (long k = 0; k < rounds; k++) {
        a = a * x + y, b = b * x + y, c = c * x + y, d = d * x + y, e = e * x + y;
        f = f * x + y, g = g * x + y, h = h * x + y, i = i * x + y, j = j * x + y;
        __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e), "+x"(f), "+x"(g), "+x"(h), "+x"(i), "+x"(j));
    }
    double seconds = now() - begin;
    vector sum = a + b + c + d + e + f + g + h + i + j;
    fprintf(stderr, "%g\n", (double)sum[0]);
    return (double)rounds * 10 * 2 * (BYTES / 4) / seconds / 1e9;
}

static double ghz(void) {
    const long rounds = 20000000;
    uint64_t sum = 0, one = 1;
    double begin = now();
    for (long k = 0; k < rounds; k++)
        for (int step = 0; step < 10; step++) {
            sum += one;
            __asm__ volatile("" : "+r"(sum), "+r"(one));
        }
    return (double)rounds * 10 / (now() - begin) / 1e9;
}

static double gigabytes(size_t bytes) {
    size_t count = bytes / BYTES, times = ((size_t)1 << 32) / bytes + 1;
    vector *buffer = aligned_alloc((size_t)1 << 21, (bytes | (((size_t)1 << 21) - 1)) + 1);
    if (!buffer) return 0;
    memset(buffer, 0, bytes);
    double begin = now();
    for (size_t time = 0; time < times; time++) {
        for (size_t k = 0; k < count; k++) buffer[k] += 1;
        __asm__ volatile("" ::: "memory");
    }
    double seconds = now() - begin;
    free(buffer);
    return 2 * (double)(times * count * BYTES) / seconds / 1e9;
}

int main(int argc, char **argv) {
    double found = argc < 2 ? gflops() : strcmp(argv[1], "clock") ? gigabytes(strtoull(argv[1], NULL, 10)) : ghz();
    printf("%.2f\n", found);
    return 0;
}
