/* The table of guarded mappings and the handler of SIGBUS that looks them up. The handler uses nothing but
 * async-signal-safe calls and entries that are published whole: `start` is written last and cleared first. */
#define _XOPEN_SOURCE 700
#include "core/mapguard.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_GUARDS 64

static struct {
    _Atomic uintptr_t start; /* 0: free */
    size_t size;
    char *message;
    size_t length;
} guards[MOST_GUARDS];
static struct sigaction before;
static int installed;

static void say_and_end(const char *message, size_t length) {
    while (length > 0) {
        const ssize_t written = write(STDERR_FILENO, message, length);
        if (written <= 0) break;
        message += written;
        length -= (size_t)written;
    }
    _exit(1);
}

static void on_bus_error(int number, siginfo_t *info, void *context) {
    (void)context;
    const uintptr_t address = (uintptr_t)info->si_addr;
    for (int i = 0; info->si_code > 0 && i < MOST_GUARDS; ++i) {
        const uintptr_t start = atomic_load_explicit(&guards[i].start, memory_order_acquire);
        if (start && address >= start && address - start < guards[i].size)
            say_and_end(guards[i].message, guards[i].length);
    }
    /* Not ours. A fault comes again on return, a signal that somebody sent has to be sent again. */
    sigaction(number, &before, NULL);
    if (info->si_code <= 0) raise(number);
}

int wv_mapguard_add(const void *start, size_t size, const char *message, size_t length) {
    int i = 0;
    while (i < MOST_GUARDS && atomic_load_explicit(&guards[i].start, memory_order_relaxed)) ++i;
    char *const copy = i < MOST_GUARDS ? malloc(length ? length : 1) : NULL;
    if (!copy) return -1;
    memcpy(copy, message, length);
    guards[i].size = size;
    guards[i].message = copy;
    guards[i].length = length;
    atomic_store_explicit(&guards[i].start, (uintptr_t)start, memory_order_release);
    if (!installed) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_sigaction = on_bus_error;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        installed = sigaction(SIGBUS, &action, &before) == 0;
    }
    return 0;
}

void wv_mapguard_remove(const void *start) {
    for (int i = 0; i < MOST_GUARDS; ++i)
        if (atomic_load_explicit(&guards[i].start, memory_order_relaxed) == (uintptr_t)start) {
            atomic_store_explicit(&guards[i].start, 0, memory_order_release);
            free(guards[i].message);
        }
}
