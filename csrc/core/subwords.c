#include "core/subwords.h"

#include <string.h>

#include "base/cache.h"
#include "base/little_endian.h"

/* FNV-1a; a byte of 0x80 and above is sign-extended before it is mixed in, which fastText's models depend on. */
static inline uint32_t mixed(uint32_t hash, char byte) {
    const uint32_t extended = (uint32_t)(int32_t)(int8_t)byte;
    return (hash ^ extended) * 16777619u;
}

#define HASH_START 2166136261u

uint32_t wv_fasttext_hash(const char *bytes, size_t length) {
    uint32_t hash = HASH_START;
    for (size_t i = 0; i < length; i++) hash = mixed(hash, bytes[i]);
    return hash;
}

/* Byte i of `<word>`. */
static inline char bracketed(const char *word, size_t length, size_t i) {
    return i == 0 ? '<' : i <= length ? word[i - 1] : '>';
}

static inline int continues(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }

/* number % divisor; inverse is 2^64 / divisor, rounded up, modulo 2^64. Lemire, Kaser, Kurz 2019 (Faster remainder by
 * direct computation): exact for 32 bits, and two multiplications instead of a division. */
static inline uint32_t remainder_of(uint32_t number, uint64_t inverse, uint32_t divisor) {
    return (uint32_t)(((unsigned __int128)(inverse * number) * divisor) >> 64);
}

/* Where n-grams go: one of the two is NULL. */
typedef struct {
    int32_t *buckets;
    int64_t *spans;
    int64_t capacity;
} ngram_target;

static inline int64_t each_ngram(const char *word, size_t length, size_t first, size_t last, int minn, int maxn,
                                 uint32_t buckets, ngram_target out) {
    const size_t size = length + 2;
    const uint64_t inverse = UINT64_MAX / buckets + 1;
    int64_t count = 0;
    for (size_t start = first; start < last; start++) {
        if (continues(bracketed(word, length, start))) continue;
        uint32_t hash = HASH_START;
        size_t end = start;
        for (int n = 1; end < size && n <= maxn; n++) {
            do {
                hash = mixed(hash, bracketed(word, length, end++));
            } while (end < size && continues(bracketed(word, length, end)));
            if (n < minn || (n == 1 && (start == 0 || end == size))) continue;
            if (count < out.capacity && out.spans) {
                out.spans[2 * count] = (int64_t)start;
                out.spans[2 * count + 1] = (int64_t)end;
            } else if (count < out.capacity) {
                out.buckets[count] = (int32_t)remainder_of(hash, inverse, buckets);
            }
            count++;
        }
    }
    return count;
}

int64_t wv_subwords(const char *word, size_t length, int minn, int maxn, uint32_t buckets, int32_t *out, int64_t capacity) {
    return wv_subwords_from(word, length, 0, length + 2, minn, maxn, buckets, out, capacity);
}

int64_t wv_subwords_from(const char *word, size_t length, size_t first, size_t last, int minn, int maxn, uint32_t buckets,
                         int32_t *out, int64_t capacity) {
    return buckets ? each_ngram(word, length, first, last, minn, maxn, buckets, (ngram_target){out, NULL, capacity}) : 0;
}

int64_t wv_subword_spans(const char *word, size_t length, int minn, int maxn, int64_t *spans, int64_t capacity) {
    return each_ngram(word, length, 0, length + 2, minn, maxn, 1, (ngram_target){NULL, spans, capacity});
}

int64_t wv_line_ngrams(const uint32_t *hashes, int64_t count, int64_t firsts, int n, uint32_t buckets, int32_t *out,
                       int64_t capacity) {
    int64_t found = 0;
    if (!buckets) return 0;
    for (int64_t first = 0; first < firsts; first++) {
        uint64_t hash = (uint64_t)(int64_t)(int32_t)hashes[first];
        for (int64_t next = first + 1; next < count && next - first < n; next++) {
            hash = hash * 116049371u + (uint64_t)(int64_t)(int32_t)hashes[next];
            if (found < capacity) out[found] = (int32_t)(hash % buckets);
            found++;
        }
    }
    return found;
}

void wv_mean_rows(const char *matrix, int64_t dim, const int64_t *starts, const int64_t *rows, int64_t groups,
                  float *out) {
    /* The matrices of a mapped file begin at any byte. */
    typedef float loose_float __attribute__((aligned(1), may_alias));
    for (int64_t group = 0; group < groups; group++, out += dim) {
        memset(out, 0, sizeof(float) * (size_t)dim);
        for (int64_t i = starts[group]; i < starts[group + 1]; i++) {
            const loose_float *row = (const loose_float *)matrix + dim * (rows ? rows[i] : i);
            for (int64_t d = 0; d < dim; d++) out[d] += row[d];
        }
        const int64_t size = starts[group + 1] - starts[group];
        const float scale = size ? (float)(1.0 / (double)size) : 0;
        for (int64_t d = 0; d < dim; d++) out[d] *= scale;
    }
}

void wv_weighted_means(const char *matrix, int64_t dim, const int64_t *starts, const int32_t *rows, const float *weights,
                       int64_t groups, double *out) {
    typedef float loose_float __attribute__((aligned(1), may_alias));
    for (int64_t group = 0; group < groups; group++, out += dim) {
        memset(out, 0, sizeof(double) * (size_t)dim);
        for (int64_t i = starts[group]; i < starts[group + 1]; i++) {
            const loose_float *row = (const loose_float *)matrix + dim * rows[i];
            const float weight = weights ? weights[i] : 1;
            for (int64_t d = 0; d < dim; d++) out[d] += (double)(row[d] * weight);
        }
        const int64_t size = starts[group + 1] - starts[group];
        for (int64_t d = 0; d < dim; d++) out[d] /= (double)(size ? size : 1);
    }
}

enum { ROWS_AHEAD = 8 };

void wv_spread_rows(const float *values, int64_t stride, const int32_t *source, const int64_t *kept, int64_t count,
                    int64_t dim, int64_t begin, int64_t size, char *out) {
    int64_t row_bytes = (int64_t)sizeof(float) * dim, written = 0;
    for (int64_t i = 0; i < count; i++) {
        if (source && i + ROWS_AHEAD < count) wv_fetch(values + stride * source[i + ROWS_AHEAD], dim);
        int64_t first = kept[i] * row_bytes - begin, last = first + row_bytes; /* of `out` */
        int64_t before = first < 0 ? -first : 0;
        first += before;
        if (last > size) last = size;
        memset(out + written, 0, (size_t)(first - written));
        memcpy(out + first, (const char *)(values + stride * (source ? source[i] : i)) + before, (size_t)(last - first));
        written = last;
    }
    memset(out + written, 0, (size_t)(size - written));
}
