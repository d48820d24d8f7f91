/* Co-occurrence counts: see cooccur.h. */
#include "core/cooccur.h"

#include <math.h>
#include <string.h>

#include "base/scratch.h"

void wv_cooccur_positions(const int32_t *ids, int64_t begin, int64_t end, int32_t words, int64_t *starts,
                          int32_t *positions) {
    memset(starts, 0, (size_t)(words + 1) * sizeof *starts);
    for (int64_t p = begin; p < end; p++) {
        if (ids[p] >= 0) starts[ids[p] + 1]++;
    }
    for (int32_t word = 0; word < words; word++) starts[word + 1] += starts[word];
    for (int64_t p = begin; p < end; p++) {
        if (ids[p] >= 0) positions[starts[ids[p]]++] = (int32_t)(p - begin);
    }
    memmove(starts + 1, starts, (size_t)words * sizeof *starts);
    starts[0] = 0;
}

/* ---------------------------------------------------------------- rows */

typedef struct {
    int64_t *sum;     /* (words), zero between rows */
    uint64_t *bits;   /* one bit per word, zero between rows */
    uint64_t *top;    /* one bit per element of bits, zero between rows */
    int32_t *touched; /* words + 1: the columns of this row, in order of first sight */
    int64_t tops;     /* elements of top */
} row_scratch;

static row_scratch lay_out(wv_scratch *memory, int32_t words) {
    int64_t groups = ((int64_t)words + 63) / 64;
    int64_t tops = (groups + 63) / 64;
    row_scratch scratch;
    scratch.sum = WV_TAKE(memory, int64_t, words);
    scratch.bits = WV_TAKE(memory, uint64_t, groups);
    scratch.top = WV_TAKE(memory, uint64_t, tops);
    scratch.touched = WV_TAKE(memory, int32_t, (int64_t)words + 1);
    scratch.tops = tops;
    return scratch;
}

int64_t wv_cooccur_scratch_bytes(int32_t words) {
    wv_scratch memory = {NULL, 0};
    lay_out(&memory, words);
    return (int64_t)memory.used;
}

/* Visits the positions of one word; returns the number of different columns. */
static int32_t sum_row(const wv_cooccur *run, int32_t row, const row_scratch *scratch) {
    int64_t *restrict sum = scratch->sum;
    int32_t *restrict touched = scratch->touched;
    const int64_t *units = run->units;
    int32_t count = 0;
    for (int64_t k = run->starts[row]; k < run->starts[row + 1]; k++) {
        if (k + 8 < run->starts[row + 1]) {
            const int32_t *later = run->ids + run->begin + run->positions[k + 8];
            __builtin_prefetch(later - run->window);
            __builtin_prefetch(later);
            __builtin_prefetch(later + run->window);
        }
        int64_t p = run->begin + run->positions[k];
        int64_t right = run->end - 1 - p < run->window ? run->end - 1 - p : run->window;
        for (int64_t d = 1; d <= right; d++) {
            int32_t id = run->ids[p + d];
            if (id == WV_END_OF_LINE) break;
            if (p + d < run->low) continue;
            touched[count] = id;
            count += sum[id] == 0;
            sum[id] += units[d];
        }
        if (!run->both_sides || p < run->low) continue;
        int64_t left = p - run->begin < run->window ? p - run->begin : run->window;
        for (int64_t d = 1; d <= left; d++) {
            int32_t id = run->ids[p - d];
            if (id == WV_END_OF_LINE) break;
            touched[count] = id;
            count += sum[id] == 0;
            sum[id] += units[d];
        }
    }
    return count;
}

static wv_record *emit(const wv_cooccur *run, int32_t row, int32_t column, int64_t *sum, wv_record *out) {
    out->row = row + 1;
    out->column = column + 1;
    if (run->scale > 0)
        out->value = (double)sum[column] / run->scale;
    else
        out->units = sum[column];
    sum[column] = 0;
    return out + 1;
}

int64_t wv_cooccur_rows(const wv_cooccur *run, int32_t first, int32_t last, void *scratch, wv_record *out) {
    wv_scratch memory = {scratch, 0};
    row_scratch space = lay_out(&memory, run->words);
    wv_record *next = out;
    for (int32_t row = first; row < last; row++) {
        int32_t count = sum_row(run, row, &space);
        if (count > run->words / 16) { /* most columns: a walk over the row is the quickest sort */
            for (int32_t column = 0; column < run->words; column++) {
                if (space.sum[column]) next = emit(run, row, column, space.sum, next);
            }
            continue;
        }
        for (int32_t k = 0; k < count; k++) {
            int32_t group = space.touched[k] >> 6;
            space.bits[group] |= 1ull << (space.touched[k] & 63);
            space.top[group >> 6] |= 1ull << (group & 63);
        }
        for (int64_t t = 0; t < space.tops; t++) {
            for (uint64_t used = space.top[t]; used; used &= used - 1) {
                int32_t group = (int32_t)(t * 64 + __builtin_ctzll(used));
                for (uint64_t bits = space.bits[group]; bits; bits &= bits - 1)
                    next = emit(run, row, group * 64 + __builtin_ctzll(bits), space.sum, next);
                space.bits[group] = 0;
            }
            space.top[t] = 0;
        }
    }
    return next - out;
}

/* ---------------------------------------------------------------- runs */

static uint64_t key_of(const wv_record *record) {
    return (uint64_t)(uint32_t)record->row << 32 | (uint32_t)record->column;
}

/* 1 when the head of run a comes before that of run b; the lower run number breaks ties. */
static int before(const wv_record_runs *runs, int32_t a, int32_t b) {
    uint64_t x = key_of(runs->records + runs->first[a]), y = key_of(runs->records + runs->first[b]);
    return x != y ? x < y : a < b;
}

static void sift(const wv_record_runs *runs, int32_t size, int32_t at) {
    int32_t *heap = runs->heap, run = heap[at];
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= size) break;
        if (child + 1 < size && before(runs, heap[child + 1], heap[child])) child++;
        if (!before(runs, heap[child], run)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = run;
}

int64_t wv_cooccur_merge(const wv_record_runs *runs, int as_values, wv_record *pending, wv_record *out, int64_t capacity) {
    int32_t size = 0, *heap = runs->heap;
    int64_t written = 0;
    for (int32_t run = 0; run < runs->runs; run++) {
        if (runs->first[run] < runs->last[run])
            heap[size++] = run;
        else if (runs->more[run])
            return 0;
    }
    for (int32_t at = size / 2 - 1; at >= 0; at--) sift(runs, size, at);
    while (size > 0 && written < capacity) {
        int32_t run = heap[0];
        const wv_record *record = runs->records + runs->first[run];
        runs->first[run]++;
        if (pending->row && key_of(pending) == key_of(record)) {
            if (as_values)
                pending->value += record->value;
            else
                pending->units += record->units;
        } else {
            if (pending->row) out[written++] = *pending;
            *pending = *record;
        }
        if (runs->first[run] == runs->last[run]) {
            if (runs->more[run]) return written;
            heap[0] = heap[--size];
        }
        if (size > 0) sift(runs, size, 0);
    }
    return written;
}

int64_t wv_cooccur_check(const wv_record *records, int64_t n, int32_t words, uint64_t *last_key, int *ascending) {
    for (int64_t k = 0; k < n; k++) {
        const wv_record *record = records + k;
        if (record->row < 1 || record->row > words || record->column < 1 || record->column > words) return k;
        if (!(record->value > 0 && record->value < INFINITY)) return k;
        if (key_of(record) <= *last_key) *ascending = 0;
        *last_key = key_of(record);
    }
    return -1;
}

void wv_cooccur_sort(wv_record *records, wv_record *spare, int64_t n, int64_t *counts) {
    uint64_t used = 0;
    for (int64_t k = 0; k < n; k++) used |= key_of(records + k);
    for (int digit = 0; digit < 4; digit++) { /* radix sort, least significant 16 bits first */
        int shift = 16 * digit;
        if (!(used >> shift & 0xFFFF)) continue;
        int64_t sum = 0;
        memset(counts, 0, WV_SORT_COUNTS * sizeof *counts);
        for (int64_t k = 0; k < n; k++) counts[key_of(records + k) >> shift & 0xFFFF]++;
        for (int value = 0; value < WV_SORT_COUNTS; value++) {
            int64_t here = counts[value];
            counts[value] = sum;
            sum += here;
        }
        for (int64_t k = 0; k < n; k++) spare[counts[key_of(records + k) >> shift & 0xFFFF]++] = records[k];
        memcpy(records, spare, (size_t)n * sizeof *records);
    }
}

/* ---------------------------------------------------------------- tiles */

int wv_cooccur_tiles(const wv_tile_ranges *ranges, const wv_record *records, int64_t n, int32_t first_row,
                     int64_t *counts, wv_deal *deals, wv_glove_record *out) {
    memset(counts, 0, (size_t)ranges->ranges * sizeof *counts);
    for (int64_t k = 0; k < n; k++) {
        if (records[k].column < 1 || records[k].column > ranges->words) return -1;
        counts[ranges->range_of[records[k].column - 1]]++;
    }
    int64_t sum = 0, largest = ranges->largest;
    for (int32_t range = 0; range < ranges->ranges; range++) {
        int64_t chunks = counts[range] ? (counts[range] + largest - 1) / largest : 1;
        deals[range] = (wv_deal){sum, counts[range] / chunks, counts[range] % chunks, chunks, 0, 0};
        sum += counts[range];
    }
    for (int64_t k = 0; k < n; k++) {
        int32_t column = records[k].column - 1;
        int32_t range = ranges->range_of[column];
        wv_deal *deal = &deals[range];
        int64_t extra = deal->turn < deal->spare ? deal->turn : deal->spare;
        wv_glove_record *dealt = &out[deal->base + deal->turn * deal->size + extra + deal->round];
        dealt->row = (uint16_t)(records[k].row - 1 - first_row);
        dealt->column = (uint16_t)(column - ranges->first[range]);
        dealt->count = (float)records[k].value;
        deal->turn++;
        if (deal->turn == deal->chunks) {
            deal->turn = 0;
            deal->round++;
        }
    }
    return 0;
}
