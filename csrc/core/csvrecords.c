/* CSV; see records.h. */
#include "core/recordtext.h"

typedef struct {
    const unsigned char *begin, *end; /* of the field, without its first quote */
    int quoted;
    const unsigned char *broken; /* what follows its closing quote, where nothing may */
} field;

enum { INCOMPLETE = -1, LONGEST_ESCAPED = 1 << 20 };

static int ends_field(const unsigned char *at, const unsigned char *end, unsigned char delimiter) {
    return at >= end || *at == delimiter || *at == '\n' || *at == '\r';
}

/* Up to a delimiter or line end. */
static const unsigned char *skip_unquoted(const unsigned char *at, const unsigned char *end, unsigned char delimiter) {
    while (end - at >= 8) {
        uint64_t eight = wv_eight(at);
        if (wv_zero_bytes(eight ^ WV_BYTES(delimiter)) | wv_zero_bytes(eight ^ WV_BYTES('\n')) |
            wv_zero_bytes(eight ^ WV_BYTES('\r')))
            break;
        at += 8;
    }
    while (!ends_field(at, end, delimiter)) at++;
    return at;
}

/* Where a field ends whose closing quote other bytes follow; NULL when that is not known yet. Behind \" (Spark, MySQL) it
 * goes on to a quote of its own: none of its lines is taken for another record. */
static const unsigned char *skip_broken(const unsigned char *begin, const unsigned char *end, unsigned char delimiter,
                                        int final) {
    if (begin[-2] == '\\') {
        int far = end - begin > LONGEST_ESCAPED;
        const unsigned char *at = begin, *limit = far ? begin + LONGEST_ESCAPED : end;
        for (; at < limit && (at = memchr(at, '"', (size_t)(limit - at))); at++) {
            const unsigned char *backslash = at;
            while (backslash > begin && backslash[-1] == '\\') backslash--;
            if ((at - backslash) % 2 == 0 && ends_field(at + 1, end, delimiter)) return at + 1;
        }
        if (!far && !final) return NULL;
    }
    return skip_unquoted(begin, end, delimiter);
}

/* Reads a field. Returns where it ends, NULL when its quotes do not. */
static const unsigned char *read_field(const unsigned char *at, const unsigned char *end, const wv_csv_rules *rules,
                                       int final, field *out) {
    *out = (field){at, NULL, rules->quotes && at < end && *at == '"', NULL};
    if (out->quoted) {
        out->begin = ++at;
        for (;;) {
            at = at < end ? memchr(at, '"', (size_t)(end - at)) : NULL;
            if (!at) return NULL;
            if (at + 1 < end && at[1] == '"') {
                at += 2;
            } else {
                break;
            }
        }
        if (!ends_field(at + 1, end, rules->delimiter)) {
            out->broken = at + 1;
            return out->end = skip_broken(at + 1, end, rules->delimiter, final);
        }
        return out->end = at + 1;
    }
    return out->end = skip_unquoted(at, end, rules->delimiter);
}

static unsigned char *put_bytes(const unsigned char *at, const unsigned char *end, int newline, unsigned char *out) {
    size_t length = (size_t)(end - at);
    if (newline == WV_NEWLINE_KEEP || !memchr(at, '\n', length)) {
        memcpy(out, at, length);
        return out + length;
    }
    for (; at < end; at++) {
        if (*at != '\n') {
            *out++ = *at;
        } else if (newline == WV_NEWLINE_SPACE) {
            *out++ = ' ';
        }
    }
    return out;
}

/* The text of a field and a line end. Of doubled quotes one stays. */
static unsigned char *put_text(const field *value, int newline, unsigned char *out) {
    const unsigned char *at = value->begin, *end = value->end - value->quoted, *quote;
    while (value->quoted && at < end && (quote = memchr(at, '"', (size_t)(end - at)))) {
        out = put_bytes(at, quote + 1, newline, out);
        at = quote + 2;
    }
    out = put_bytes(at, end, newline, out);
    *out++ = '\n';
    return out;
}

/* Reads a record. Returns where it ends, INCOMPLETE when more of it may come. */
static int64_t read_record(const wv_csv_rules *rules, const unsigned char *block, int64_t begin, int64_t length,
                           int final, wv_records *out, wv_record *record) {
    const unsigned char *at = block + begin, *end = block + length;
    const unsigned char *broken = NULL;
    field text = {at, at, 0, NULL};
    int64_t columns = 0;
    *record = (wv_record){.begin = begin, .text = out->texts_length, .text_end = out->texts_length, .at = begin};
    for (;; at++) {
        field each;
        at = read_field(at, end, rules, final, &each);
        if (!broken) broken = each.broken;
        if (!at) {
            if (!final) return INCOMPLETE;
            record->status = WV_RECORD_OPEN_QUOTE;
            return record->end = length;
        }
        if (columns++ == rules->column) text = each;
        if (at == end || *at != rules->delimiter) break;
    }
    record->insert = at - block;
    if (at == end || (at + 1 == end && *at == '\r')) {
        if (!final) return INCOMPLETE;
    }
    int64_t line_end = at == end ? 0 : *at == '\r' && at + 1 < end && at[1] == '\n' ? 2 : 1;
    record->end = record->insert + line_end;
    const unsigned char *wrong = wv_not_utf8(block + begin, at);
    if (record->insert == begin) {
        record->status = WV_RECORD_BLANK;
    } else if (broken) {
        record->status = WV_RECORD_AFTER_QUOTE;
        record->at = broken - block;
    } else if (columns != rules->columns) {
        record->status = WV_RECORD_COLUMNS;
    } else if (wrong) {
        record->status = WV_RECORD_UTF8;
        record->at = wrong - block;
    } else {
        unsigned char *put = put_text(&text, rules->newline, out->texts + out->texts_length);
        out->texts_length = record->text_end = put - out->texts;
        record->value = text.begin - text.quoted - block;
        record->value_end = text.end - block;
    }
    return record->end;
}

int64_t wv_csv_records(const wv_csv_rules *rules, const unsigned char *block, int64_t start, int64_t length, int final,
                       wv_records *out) {
    if (wv_records_begin(out, length - start)) return WV_RECORDS_NO_MEMORY;
    int64_t at = start;
    while (at < length) {
        wv_record record;
        int64_t end = read_record(rules, block, at, length, final, out, &record);
        if (end == INCOMPLETE) break;
        if (wv_records_add(out, record)) return WV_RECORDS_NO_MEMORY;
        at = end;
    }
    return at;
}
