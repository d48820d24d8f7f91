/* See wordlist.h. */
#include "core/wordlist.h"

#include <string.h>

#include "core/separators.h"

int64_t wv_gather_starts(const int64_t *starts, int64_t words, const int64_t *order, int64_t n, int64_t *new_starts) {
    new_starts[0] = 0;
    for (int64_t k = 0; k < n; k++) {
        if (order[k] < 0 || order[k] >= words) return k;
        new_starts[k + 1] = new_starts[k] + starts[order[k] + 1] - starts[order[k]];
    }
    return -1;
}

void wv_gather_words(const char *blob, const int64_t *starts, const int64_t *order, int64_t n,
                     const int64_t *new_starts, char *out) {
    for (int64_t k = 0; k < n; k++) {
        size_t length = (size_t)(new_starts[k + 1] - new_starts[k]);
        if (length) memcpy(out + new_starts[k], blob + starts[order[k]], length);
    }
}

static const char *skip_blanks(const char *p, const char *end) {
    while (p < end && wv_is_blank((unsigned char)*p)) p++;
    return p;
}

/* A whole number at p. Returns its end, NULL when there is none or it does not fit 63 bits. */
static const char *parse_count(const char *p, const char *end, int64_t *count) {
    const char *digits = p;
    int64_t value = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (value > (INT64_MAX - (*p - '0')) / 10) return NULL;
        value = value * 10 + (*p - '0');
    }
    *count = value;
    return p == digits ? NULL : p;
}

wv_counts_read wv_split_counts(const char *text, int64_t size, char *blob, int64_t *starts, int64_t *counts) {
    wv_counts_read read = {0, 0, 0};
    const char *p = text, *end = text + size;
    starts[0] = 0;
    while (p < end) {
        const char *word = p;
        while (p < end && !wv_is_separator((unsigned char)*p)) p++;
        size_t length = (size_t)(p - word);
        p = parse_count(skip_blanks(p, end), end, &counts[read.lines]);
        while (p && p < end && (wv_is_blank((unsigned char)*p) || *p == '\r')) p++;
        if (!p || length == 0 || (p < end && *p != '\n')) {
            read.stopped = 1;
            return read;
        }
        if (p < end) p++;
        memcpy(blob + read.word_bytes, word, length);
        read.word_bytes += (int64_t)length;
        read.lines++;
        starts[read.lines] = read.word_bytes;
    }
    return read;
}
