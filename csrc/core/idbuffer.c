#define _GNU_SOURCE /* mremap */
#include "core/idbuffer.h"

#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

/* In ids. What is mapped takes whole huge pages: then the system begins it at one, and moves it without splitting any. */
enum { HUGE_PAGE = 1 << 19, FIRST_MAPPED = 32 * HUGE_PAGE };

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

#if defined(__linux__)
static int is_mapped(int64_t capacity) { return capacity >= HUGE_PAGE; }

/* The ids in a room of another size; NULL: there is none, and they are where they were. */
static int32_t *moved(const wv_idbuffer *buffer, int64_t capacity) {
    size_t bytes = (size_t)capacity * sizeof(int32_t), held = (size_t)buffer->capacity * sizeof(int32_t);
    if (!is_mapped(capacity)) return realloc(buffer->ids, bytes);
    int was_mapped = is_mapped(buffer->capacity);
    void *ids = was_mapped ? mremap(buffer->ids, held, bytes, MREMAP_MAYMOVE)
                           : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ids == MAP_FAILED) return NULL;
#if defined(MADV_HUGEPAGE)
    (void)madvise(ids, bytes, MADV_HUGEPAGE); /* a request: all is well without */
#endif
    if (!was_mapped && buffer->ids) {
        memcpy(ids, buffer->ids, (size_t)buffer->length * sizeof(int32_t));
        free(buffer->ids);
    }
    return ids;
}

static void give_back(const wv_idbuffer *buffer) {
    if (is_mapped(buffer->capacity))
        (void)munmap(buffer->ids, (size_t)buffer->capacity * sizeof(int32_t));
    else
        free(buffer->ids);
}
#else
static int32_t *moved(const wv_idbuffer *buffer, int64_t capacity) {
    return realloc(buffer->ids, (size_t)capacity * sizeof(int32_t));
}

static void give_back(const wv_idbuffer *buffer) { free(buffer->ids); }
#endif

static int resize(wv_idbuffer *buffer, int64_t capacity) {
    if (capacity >= HUGE_PAGE) capacity = (capacity + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    int32_t *ids = moved(buffer, capacity);
    if (!ids) return -1;
    buffer->ids = ids;
    buffer->capacity = capacity;
    return 0;
}

int wv_idbuffer_reserve(wv_idbuffer *buffer, int64_t more) {
    int64_t needed = buffer->length + more;
    if (needed <= buffer->capacity) return 0;
    int64_t capacity = larger(needed, buffer->capacity * 2);
    return resize(buffer, capacity < HUGE_PAGE ? capacity : larger(capacity, FIRST_MAPPED));
}

void wv_idbuffer_fit(wv_idbuffer *buffer) {
    /* What is mapped stays so: its size tells the two kinds apart. */
    int64_t least = buffer->capacity < HUGE_PAGE ? 1 : HUGE_PAGE;
    if (buffer->capacity > least) (void)resize(buffer, larger(buffer->length, least));
}

void wv_idbuffer_free(wv_idbuffer *buffer) {
    give_back(buffer);
    *buffer = (wv_idbuffer){NULL, 0, 0};
}
