/* Nearest codes: a scan by popcount for packed codes, an inverted index for sparse ones. Exact; ties go to the lowest
 * row.
 *
 * Eight codes stand side by side (wv_hashing.h), so that word w of all eight is one 64-byte load and no sum runs
 * across a register. With VPOPCNTDQ eight popcounts are one instruction, for which there is no portable spelling in
 * C: intrinsics for that and for the comparison that follows. Elsewhere the scalar instruction (or, for the baseline,
 * shifts and adds) does one word at a time. */
#include <math.h>

#include "base/scratch.h"
#include "kernels/heap.h"
#include "kernels/wv_kernels.h"

#ifdef __AVX512VPOPCNTDQ__
#include <immintrin.h>
#endif

#define LANES WV_CODE_LANES
#define BLOCK_BYTES (128 * 1024) /* of codes scanned by all queries before the next ones are fetched */

typedef uint64_t vcode __attribute__((vector_size(8 * LANES)));

#ifdef __AVX512VPOPCNTDQ__
WV_INLINE vcode popcount(vcode x) { return (vcode)_mm512_popcnt_epi64((__m512i)x); }
WV_INLINE int any_below(vcode count, vcode bound) { return _mm512_cmplt_epu64_mask((__m512i)count, (__m512i)bound); }
#define QUERIES 4
#else
WV_INLINE uint64_t popcount_word(uint64_t x) {
#if defined(__POPCNT__) || defined(__aarch64__)
    return (uint64_t)__builtin_popcountll(x);
#else
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return x * 0x0101010101010101u >> 56;
#endif
}
WV_INLINE int any_below(vcode count, vcode bound) {
    int any = 0;
    for (int lane = 0; lane < LANES; lane++) any |= count[lane] < bound[lane];
    return any;
}
#define QUERIES 1
#endif

/* distance[q] = Hamming distances of eight codes to query q. words and queries are constant where this is inlined,
 * words 0 standing for any number. */
WV_INLINE void distances(const uint64_t *panel, const uint64_t *query, int32_t words, int queries, vcode *distance) {
#ifdef __AVX512VPOPCNTDQ__
#pragma GCC unroll 4
    for (int q = 0; q < queries; q++) distance[q] = (vcode){0};
    for (int32_t word = 0; word < words; word++) {
        vcode codes = *(const vcode *)(panel + (int64_t)word * LANES);
#pragma GCC unroll 4
        for (int q = 0; q < queries; q++) distance[q] += popcount(codes ^ query[(int64_t)q * words + word]);
    }
#else
    for (int q = 0; q < queries; q++) {
        uint64_t sum[LANES] = {0};
        for (int32_t word = 0; word < words; word++)
#pragma GCC unroll 8
            for (int lane = 0; lane < LANES; lane++)
                sum[lane] += popcount_word(panel[(int64_t)word * LANES + lane] ^ query[(int64_t)q * words + word]);
        memcpy(distance + q, sum, sizeof sum);
    }
#endif
}

/* The smallest distance that is too large for the heap of a query. */
static uint64_t bound_of(const wv_hamming *run, int32_t query) {
    float worst = run->scores[(int64_t)query * run->k];
    return worst == -INFINITY ? UINT64_MAX : (uint64_t)-worst;
}

static int excluded(const int64_t *start, const int32_t *exclude, int32_t query, int32_t row) {
    return start && contains(exclude + start[query], start[query + 1] - start[query], row);
}

/* How many codes of the panel that begins at `row` stand before `end`. */
static int lanes_before(int64_t row, int64_t end) { return end - row < LANES ? (int)(end - row) : LANES; }

/* Offers codes of a panel and returns the new bound. */
static __attribute__((noinline)) uint64_t offer(const wv_hamming *run, int32_t query, int64_t row, int64_t end,
                                                vcode distance) {
    int64_t heap = (int64_t)query * run->k;
    uint64_t bound = bound_of(run, query);
    int valid = lanes_before(row, end);
    for (int lane = 0; lane < valid; lane++) {
        int32_t hit = (int32_t)(row + lane);
        if (distance[lane] >= bound || excluded(run->exclude_start, run->exclude, query, hit)) continue;
        heap_replace(run->scores + heap, run->hits + heap, run->k, -(float)distance[lane], hit);
        bound = bound_of(run, query);
    }
    return bound;
}

WV_INLINE void scan(const wv_hamming *run, int64_t start, int64_t end, int32_t query, int queries, int32_t words) {
    const uint64_t *code = run->query + (int64_t)query * words;
    vcode bound[QUERIES];
    for (int q = 0; q < queries; q++) bound[q] = bound_of(run, query + q) - (vcode){0};
    for (int64_t row = start; row < end; row += LANES) {
        vcode distance[QUERIES];
        distances(run->panels + row * words, code, words, queries, distance);
        int any = 0;
#pragma GCC unroll 4
        for (int q = 0; q < queries; q++) any |= any_below(distance[q], bound[q]);
        if (__builtin_expect(any == 0, 1)) continue;
        for (int q = 0; q < queries; q++)
            if (any_below(distance[q], bound[q]))
                bound[q] = offer(run, query + q, row, end, distance[q]) - (vcode){0};
    }
}

/* A block of rows against all queries. */
WV_INLINE void scan_block(const wv_hamming *run, int64_t start, int64_t end, int32_t words) {
    int32_t query = 0;
    for (; query + QUERIES <= run->queries; query += QUERIES) scan(run, start, end, query, QUERIES, words);
    for (; query < run->queries; query++) scan(run, start, end, query, 1, words);
}

void WV_NAME(wv_hamming_top_k)(const wv_hamming *run, int64_t start, int64_t end) {
    int64_t block = BLOCK_BYTES / 8 / run->words / LANES * LANES;
    if (block < LANES) block = LANES;
    for (int64_t row = start; row < end; row += block) {
        int64_t stop = row + block < end ? row + block : end;
        switch (run->words) { /* short codes are worth a loop of their own */
        case 1: scan_block(run, row, stop, 1); break;
        case 2: scan_block(run, row, stop, 2); break;
        case 4: scan_block(run, row, stop, 4); break;
        default: scan_block(run, row, stop, run->words);
        }
    }
}

void WV_NAME(wv_hamming_distances)(const wv_hamming *run, int64_t start, int64_t end, int32_t *out) {
    for (int32_t query = 0; query < run->queries; query++) {
        const uint64_t *code = run->query + (int64_t)query * run->words;
        int32_t *found = out + query * (end - start);
        for (int64_t row = start; row < end; row += LANES) {
            vcode distance;
            distances(run->panels + row * run->words, code, run->words, 1, &distance);
            int valid = lanes_before(row, end);
            for (int lane = 0; lane < valid; lane++) found[row - start + lane] = (int32_t)distance[lane];
        }
    }
}

/* ---------------------------------------------------------------- inverted index */

#define COUNT_ROWS (1 << 15) /* overlaps counted at a time: 64 KB, they stay in the cache */

typedef struct {
    int64_t *cursor; /* (active): how far each of the query's lists has been read */
    uint16_t *count; /* (COUNT_ROWS): overlaps */
} overlap_buffers;

static size_t lay_out(const wv_overlap *run, void *memory, overlap_buffers *buffers) {
    wv_scratch scratch = {memory, 0};
    buffers->cursor = WV_TAKE(&scratch, int64_t, run->active);
    buffers->count = WV_TAKE(&scratch, uint16_t, COUNT_ROWS);
    return scratch.used;
}

size_t WV_NAME(wv_overlap_scratch_bytes)(const wv_overlap *run) {
    overlap_buffers buffers;
    return lay_out(run, NULL, &buffers);
}

/* First position in row[low .. high) that holds at least `least`. */
static int64_t lower_bound(const int32_t *row, int64_t low, int64_t high, int64_t least) {
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (row[middle] < least) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void offer_counts(const wv_overlap *run, int32_t query, const uint16_t *count, int64_t first, int64_t rows) {
    float *scores = run->scores + (int64_t)query * run->k;
    int32_t *hits = run->hits + (int64_t)query * run->k;
    int32_t least = scores[0] == -INFINITY ? 0 : (int32_t)scores[0] + 1; /* overlap that enters the heap */
    for (int64_t base = 0; base < rows; base += 64) {
        int64_t stop = base + 64 < rows ? base + 64 : rows;
        uint16_t highest = 0;
        for (int64_t i = base; i < stop; i++) highest = count[i] > highest ? count[i] : highest;
        if (highest < least) continue;
        for (int64_t i = base; i < stop; i++) {
            if (count[i] < least) continue;
            if (excluded(run->exclude_start, run->exclude, query, (int32_t)(first + i))) continue;
            float worst = heap_replace(scores, hits, run->k, count[i], (int32_t)(first + i));
            least = worst == -INFINITY ? 0 : (int32_t)worst + 1;
        }
    }
}

void WV_NAME(wv_overlap_top_k)(const wv_overlap *run, int64_t start, int64_t end, void *scratch) {
    overlap_buffers buffers;
    lay_out(run, scratch, &buffers);
    int64_t *cursor = buffers.cursor;
    uint16_t *count = buffers.count;
    for (int32_t query = 0; query < run->queries; query++) {
        const int32_t *position = run->query + (int64_t)query * run->active;
        for (int32_t i = 0; i < run->active; i++)
            cursor[i] = lower_bound(run->row, run->start[position[i]], run->start[position[i] + 1], start);
        for (int64_t first = start; first < end; first += COUNT_ROWS) {
            int64_t rows = end - first < COUNT_ROWS ? end - first : COUNT_ROWS;
            memset(count, 0, sizeof(uint16_t) * (size_t)rows);
            for (int32_t i = 0; i < run->active; i++) {
                int64_t at = cursor[i];
                int64_t stop = run->start[position[i] + 1];
                for (; at < stop && run->row[at] < first + rows; at++) count[run->row[at] - first]++;
                cursor[i] = at;
            }
            offer_counts(run, query, count, first, rows);
        }
    }
}
