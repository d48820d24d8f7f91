/* How long a cache line takes from one core to another: two pinned threads answer each other through one atomic word.
 *
 * Not part of the package: benchmarks/measure.py compiles and runs it beside every multi-thread figure, because the same
 * virtual machine can show 60 ns one minute and 600 ns the next, and Hogwild training feels that.
 * Prints the nanoseconds of one hand-over, the least of several trials. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TRIALS = 5, ROUND_TRIPS = 100000 };

static _Alignas(128) atomic_int ball;

static void pin(int core) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    pthread_setaffinity_np(pthread_self(), sizeof cores, &cores);
}

static void *answer(void *core) {
    pin(*(int *)core);
    for (int i = 0; i < TRIALS * ROUND_TRIPS; i++) {
        while (atomic_load_explicit(&ball, memory_order_acquire) != 1) {}
        atomic_store_explicit(&ball, 0, memory_order_release);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int first = argc > 1 ? atoi(argv[1]) : 0, second = argc > 2 ? atoi(argv[2]) : 1;
    pthread_t thread;
    if (pthread_create(&thread, NULL, answer, &second)) return 1;
    pin(first);
    double best = 1e18;
    for (int trial = 0; trial < TRIALS; trial++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (int i = 0; i < ROUND_TRIPS; i++) {
            atomic_store_explicit(&ball, 1, memory_order_release);
            while (atomic_load_explicit(&ball, memory_order_acquire) != 0) {}
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        double ns = ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / (2.0 * ROUND_TRIPS);
        if (ns < best) best = ns;
    }
    pthread_join(thread, NULL);
    printf("%.0f\n", best);
    return 0;
}
