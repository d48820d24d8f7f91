/* What JSON and CSV records have in common: a record appended, bytes that are UTF-8. See records.h. */
#ifndef WV_RECORDTEXT_H
#define WV_RECORDTEXT_H

#include <stdlib.h>
#include <string.h>

#include "core/records.h"

/* Empties `out` and makes room for the texts of `length` bytes of records: each has its line end in the place of its own, or
 * of its quotes. */
static inline int wv_records_begin(wv_records *out, int64_t length) {
    out->count = out->texts_length = 0;
    if (length + 1 <= out->texts_capacity) return 0;
    free(out->texts);
    out->texts = malloc((size_t)length + 1);
    out->texts_capacity = out->texts ? length + 1 : 0;
    return out->texts ? 0 : WV_RECORDS_NO_MEMORY;
}

static inline int wv_records_add(wv_records *out, wv_record record) {
    if (out->count == out->capacity) {
        int64_t capacity = 2 * out->capacity + 64;
        wv_record *larger = realloc(out->record, (size_t)capacity * sizeof *larger);
        if (!larger) return WV_RECORDS_NO_MEMORY;
        out->record = larger;
        out->capacity = capacity;
    }
    out->record[out->count++] = record;
    return 0;
}

/* Bytes of the UTF-8 character at `at`, which is not ASCII; 0 when it is none. */
static inline int wv_utf8_length(const unsigned char *at, const unsigned char *end) {
    unsigned first = at[0];
    int length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first < 0xc2 || first > 0xf4 || end - at < length) return 0;
    unsigned second = at[1];
    unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (second < low || second > high) return 0;
    for (int i = 2; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
    }
    return length;
}

#define WV_BYTES(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t wv_eight(const unsigned char *at) {
    uint64_t eight;
    memcpy(&eight, at, sizeof eight);
    return eight;
}

/* Whether a byte is zero: its highest bit is set; bits above the first such byte may be wrong. */
static inline uint64_t wv_zero_bytes(uint64_t eight) {
    return (eight - WV_BYTES(1)) & ~eight & WV_BYTES(0x80);
}

/* The first byte in at .. end that is not ASCII; `end` when all are. */
static inline const unsigned char *wv_skip_ascii(const unsigned char *at, const unsigned char *end) {
    while (end - at >= 32) {
        if ((wv_eight(at) | wv_eight(at + 8) | wv_eight(at + 16) | wv_eight(at + 24)) & WV_BYTES(0x80)) break;
        at += 32;
    }
    while (end - at >= 8 && !(wv_eight(at) & WV_BYTES(0x80))) at += 8;
    while (at < end && *at < 0x80) at++;
    return at;
}

/* The first byte in at .. end that is no UTF-8; NULL when all is. */
static inline const unsigned char *wv_not_utf8(const unsigned char *at, const unsigned char *end) {
    while ((at = wv_skip_ascii(at, end)) < end) {
        int length = wv_utf8_length(at, end);
        if (!length) return at;
        at += length;
    }
    return NULL;
}

/* Whether the bytes up to `end`, fewer than four, may go on as a character. */
static inline int wv_begins_character(const unsigned char *at, const unsigned char *end) {
    unsigned char whole[4] = {0, 0x80, 0x80, 0x80};
    if (end - at > 3) return 0;
    if (end - at == 1) return *at >= 0xc2 && *at <= 0xf4;
    memcpy(whole, at, (size_t)(end - at));
    return wv_utf8_length(whole, whole + 4) > end - at;
}

typedef struct {
    int64_t wrong, first, rest; /* bytes that are no UTF-8; where the first is, -1: none; bytes of an unfinished end */
} wv_utf8_report;

static inline wv_utf8_report wv_check_utf8(const unsigned char *text, int64_t size) {
    wv_utf8_report report = {0, -1, 0};
    const unsigned char *at = text, *end = text + size;
    while ((at = wv_skip_ascii(at, end)) < end) {
        /* Most letters of Asia, sooner: three bytes, of which the first leaves the others free. */
        while (end - at >= 3 && at[0] > 0xe0 && at[0] < 0xf0 && at[0] != 0xed && ((at[1] ^ 0x80) | (at[2] ^ 0x80)) < 0x40) {
            at += 3;
        }
        if (at == end || *at < 0x80) continue;
        int length = wv_utf8_length(at, end);
        if (!length && wv_begins_character(at, end)) {
            report.rest = end - at;
            break;
        }
        if (!length && !report.wrong++) report.first = at - text;
        at += length ? length : 1;
    }
    return report;
}

#endif
