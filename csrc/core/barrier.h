/* A barrier for a few threads that meet every millisecond or so: spins briefly, then gives the processor away.
 *
 * Everything written before wv_barrier_wait by any thread is visible after it to all. All zero bytes is a fresh barrier. */
#ifndef WV_BARRIER_H
#define WV_BARRIER_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#define WV_BARRIER_SPINS 2000

typedef struct {
    _Atomic int32_t waiting;
    _Atomic int32_t round;
} wv_barrier;

static inline void wv_barrier_wait(wv_barrier *barrier, int32_t threads) {
    if (threads == 1) return;
    int32_t round = atomic_load_explicit(&barrier->round, memory_order_acquire);
    if (atomic_fetch_add_explicit(&barrier->waiting, 1, memory_order_acq_rel) == threads - 1) {
        atomic_store_explicit(&barrier->waiting, 0, memory_order_relaxed);
        atomic_store_explicit(&barrier->round, round + 1, memory_order_release);
        return;
    }
    for (int32_t spins = 0; atomic_load_explicit(&barrier->round, memory_order_acquire) == round; spins++)
        if (spins >= WV_BARRIER_SPINS) sched_yield();
}

#endif
