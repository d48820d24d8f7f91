/* JSON lines; see records.h. A line is one record: JSON has no line end inside a string. */
#include "core/recordtext.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef enum { NOTHING, STRING, OTHER } found_kind;

typedef struct {
    found_kind kind;
    const unsigned char *begin, *end; /* of a string, without its quotes */
    int escaped;
} found_value;

typedef struct {
    const wv_json_rules *rules;
    const unsigned char *at, *end; /* of the record that is read */
    int status;
    found_value named, nested; /* the value of the key `name`, and of the last of the parts */
    int taken;
    unsigned char *spare; /* room for an unescaped key */
} reader;

static int read_value(reader *r, int depth, int level, found_value *value);

static int fail(reader *r, int status) {
    r->status = status;
    return 0;
}

static void skip_blanks(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) r->at++;
}

/* DIGIT and the value of each hexadecimal digit, 0 for what is none. */
enum { DIGIT = 0x10 };
#define HEX(digit, value) [digit] = DIGIT | (value)
static const unsigned char hex_digits[256] = {
    HEX('0', 0), HEX('1', 1), HEX('2', 2), HEX('3', 3), HEX('4', 4), HEX('5', 5), HEX('6', 6), HEX('7', 7),
    HEX('8', 8), HEX('9', 9), HEX('a', 10), HEX('b', 11), HEX('c', 12), HEX('d', 13), HEX('e', 14), HEX('f', 15),
    HEX('A', 10), HEX('B', 11), HEX('C', 12), HEX('D', 13), HEX('E', 14), HEX('F', 15),
};

/* The number of \uXXXX, of which `at` is the first digit; -1 when it is none. */
static inline int32_t code_unit(const unsigned char *at, const unsigned char *end) {
    if (end - at < 4) return -1;
    int32_t unit = 0, digits = DIGIT;
    for (int i = 0; i < 4; i++) {
        digits &= hex_digits[at[i]];
        unit = unit << 4 | (hex_digits[at[i]] & 0xf);
    }
    return digits ? unit : -1;
}

/* The bytes of a string that need no look: neither a quote nor a backslash, a control or beyond ASCII. Up to 15 of them
 * may be left. */
static inline const unsigned char *skip_plain(const unsigned char *at, const unsigned char *end) {
#if defined(__SSE2__)
    while (end - at >= 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)at);
        __m128i mark = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
        int mask = _mm_movemask_epi8(_mm_or_si128(mark, _mm_cmplt_epi8(x, _mm_set1_epi8(0x20)))); /* signed numbers */
        if (mask) return at + __builtin_ctz((unsigned)mask);
        at += 16;
    }
#endif
    while (end - at >= 8) {
        uint64_t eight = wv_eight(at);
        uint64_t special = wv_zero_bytes(eight ^ WV_BYTES('"')) | wv_zero_bytes(eight ^ WV_BYTES('\\')) |
                           ((eight - WV_BYTES(0x20)) & ~eight & WV_BYTES(0x80)) | (eight & WV_BYTES(0x80));
        if (special) return at + __builtin_ctzll(special) / 8; /* what is set above the first one may be wrong */
        at += 8;
    }
    return at;
}

/* A string, of which `at` is the first quote. */
static int read_string(reader *r, found_value *value) {
    const unsigned char *at = r->at + 1, *end = r->end;
    *value = (found_value){STRING, at, NULL, 0};
    for (;;) {
        at = skip_plain(at, end);
        r->at = at;
        if (at >= end) return fail(r, WV_RECORD_SYNTAX);
        unsigned char c = *at;
        if (c == '"') {
            value->end = at;
            r->at = at + 1;
            return 1;
        }
        if (c == '\\') {
            value->escaped = 1;
            if (end - at < 2) return fail(r, WV_RECORD_SYNTAX);
            if (at[1] == 'u') {
                if (code_unit(at + 2, end) < 0) return fail(r, WV_RECORD_SYNTAX);
                at += 6;
            } else {
                if (!memchr("\"\\/bfnrt", at[1], 8)) return fail(r, WV_RECORD_SYNTAX);
                at += 2;
            }
        } else if (c >= 0x80) {
            do { /* such characters come together */
                int length = wv_utf8_length(at, end);
                r->at = at;
                if (!length) return fail(r, WV_RECORD_UTF8);
                at += length;
            } while (at < end && *at >= 0x80);
        } else if (c < 0x20) {
            return fail(r, WV_RECORD_SYNTAX);
        } else {
            at++;
        }
    }
}

static unsigned char *put_utf8(unsigned char *out, int32_t c) {
    if (c < 0x80) {
        *out++ = (unsigned char)c;
    } else if (c < 0x800) {
        *out++ = (unsigned char)(0xc0 | c >> 6);
        *out++ = (unsigned char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *out++ = (unsigned char)(0xe0 | c >> 12);
        *out++ = (unsigned char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (unsigned char)(0x80 | (c & 0x3f));
    } else {
        *out++ = (unsigned char)(0xf0 | c >> 18);
        *out++ = (unsigned char)(0x80 | (c >> 12 & 0x3f));
        *out++ = (unsigned char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (unsigned char)(0x80 | (c & 0x3f));
    }
    return out;
}

/* The characters of a string that has been read; never more bytes than it has. Returns where they end. */
static unsigned char *unescape(const found_value *value, int newline, unsigned char *out) {
    const unsigned char *at = value->begin, *end = value->end;
    while (at < end) {
        const unsigned char *escape = at;
        if (*at != '\\') { /* escapes come together in scripts beyond ASCII */
            escape = memchr(at, '\\', (size_t)(end - at));
            size_t plain = (size_t)((escape ? escape : end) - at);
            memcpy(out, at, plain);
            out += plain;
            if (!escape) break;
        }
        at = escape + 2;
        switch (escape[1]) {
        case 'n':
            if (newline != WV_NEWLINE_DROP) *out++ = newline == WV_NEWLINE_KEEP ? '\n' : ' ';
            break;
        case 'b': *out++ = '\b'; break;
        case 'f': *out++ = '\f'; break;
        case 'r': *out++ = '\r'; break;
        case 't': *out++ = '\t'; break;
        case 'u': {
            int32_t c = code_unit(at, end);
            at += 4;
            if (c >= 0xd800 && c < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
                int32_t low = code_unit(at + 2, end);
                if (low >= 0xdc00 && low < 0xe000) {
                    c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                    at += 6;
                }
            }
            if (c >= 0xd800 && c < 0xe000) c = 0xfffd;
            if (c != '\n') {
                out = put_utf8(out, c);
            } else if (newline != WV_NEWLINE_DROP) {
                *out++ = newline == WV_NEWLINE_KEEP ? '\n' : ' ';
            }
            break;
        }
        default: *out++ = escape[1];
        }
    }
    return out;
}

static int is_key(const reader *r, const found_value *key, wv_span wanted) {
    const unsigned char *begin = key->begin;
    int64_t length = key->end - key->begin;
    if (key->escaped) {
        begin = r->spare;
        length = unescape(key, WV_NEWLINE_KEEP, r->spare) - r->spare;
    }
    return length == wanted.length && memcmp(begin, wanted.bytes, (size_t)length) == 0;
}

static int read_word(reader *r, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0) return fail(r, WV_RECORD_SYNTAX);
    r->at += length;
    return 1;
}

static int read_digits(reader *r) {
    const unsigned char *first = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
    return r->at > first ? 1 : fail(r, WV_RECORD_SYNTAX);
}

static int read_number(reader *r) {
    if (*r->at == '-') r->at++;
    if (r->at < r->end && *r->at == 'I') return read_word(r, "Infinity");
    if (r->at < r->end && *r->at == '0') {
        r->at++;
    } else if (!read_digits(r)) {
        return 0;
    }
    if (r->at < r->end && *r->at == '.') {
        r->at++;
        if (!read_digits(r)) return 0;
    }
    if (r->at < r->end && (*r->at | 0x20) == 'e') {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
        if (!read_digits(r)) return 0;
    }
    return 1;
}

/* After a member or an entry: 1 when another one follows, 0 when `close` has come or something is wrong. */
static int goes_on(reader *r, unsigned char close) {
    skip_blanks(r);
    if (r->at >= r->end || (*r->at != ',' && *r->at != close)) return fail(r, WV_RECORD_SYNTAX);
    return *r->at++ == ',';
}

static int read_array(reader *r, int depth) {
    r->at++;
    skip_blanks(r);
    if (r->at < r->end && *r->at == ']') {
        r->at++;
        return 1;
    }
    do {
        found_value ignored;
        skip_blanks(r);
        if (!read_value(r, depth + 1, -1, &ignored)) return 0;
    } while (goes_on(r, ']'));
    return r->status == WV_RECORD_GOOD;
}

/* Keeps what a member of the path is. `level` is the number of the part that its key may be, -1 for none. */
static int read_member(reader *r, int depth, int level) {
    const wv_json_rules *rules = r->rules;
    found_value key, value;
    skip_blanks(r);
    if (r->at >= r->end || *r->at != '"') return fail(r, WV_RECORD_SYNTAX);
    if (!read_string(r, &key)) return 0;
    int named = 0, on_path = 0;
    if (level >= 0) {
        on_path = is_key(r, &key, rules->part[level]);
        if (level == 0) {
            named = is_key(r, &key, rules->name);
            for (int i = 0; i < rules->n_added; i++) r->taken |= is_key(r, &key, rules->added[i]);
        }
    }
    skip_blanks(r);
    if (r->at >= r->end || *r->at != ':') return fail(r, WV_RECORD_SYNTAX);
    r->at++;
    skip_blanks(r);
    int last = level + 1 == rules->parts;
    if (on_path) r->nested.kind = NOTHING; /* a key that comes again takes the place of the first */
    if (!read_value(r, depth + 1, on_path && !last ? level + 1 : -1, &value)) return 0;
    if (named) r->named = value;
    if (on_path && last) r->nested = value;
    return 1;
}

static int read_object(reader *r, int depth, int level) {
    r->at++;
    skip_blanks(r);
    if (r->at < r->end && *r->at == '}') {
        r->at++;
        return 1;
    }
    do {
        if (!read_member(r, depth, level)) return 0;
    } while (goes_on(r, '}'));
    return r->status == WV_RECORD_GOOD;
}

static int read_value(reader *r, int depth, int level, found_value *value) {
    *value = (found_value){OTHER, NULL, NULL, 0};
    if (r->at >= r->end) return fail(r, WV_RECORD_SYNTAX);
    if (depth > WV_RECORD_DEPTH) return fail(r, WV_RECORD_TOO_DEEP);
    switch (*r->at) {
    case '"': return read_string(r, value);
    case '{': return read_object(r, depth, level);
    case '[': return read_array(r, depth);
    case 't': return read_word(r, "true");
    case 'f': return read_word(r, "false");
    case 'n': return read_word(r, "null");
    case 'N': return read_word(r, "NaN");
    case 'I': return read_word(r, "Infinity");
    default: return read_number(r);
    }
}

/* The record that begins at block[begin] and ends before block[line_end], or earlier with a \r of its own. */
static wv_record read_record(const wv_json_rules *rules, const unsigned char *block, int64_t begin, int64_t line_end,
                             wv_records *out) {
    unsigned char *text = out->texts + out->texts_length;
    reader r = {.rules = rules, .at = block + begin, .end = block + line_end, .spare = text};
    wv_record record = {.begin = begin, .end = line_end, .text = out->texts_length, .text_end = out->texts_length};
    skip_blanks(&r);
    record.at = r.at - block;
    if (r.at == r.end) {
        record.status = WV_RECORD_BLANK;
        return record;
    }
    if (*r.at != '{') {
        const unsigned char *wrong = wv_not_utf8(r.at, r.end);
        record.status = wrong ? WV_RECORD_UTF8 : WV_RECORD_NO_OBJECT;
        if (wrong) record.at = wrong - block;
        return record;
    }
    if (read_object(&r, 1, 0)) {
        record.insert = r.at - 1 - block;
        while (r.at < r.end && (*r.at == ' ' || *r.at == '\t')) r.at++;
        if (r.at < r.end && *r.at == '\r') r.end = ++r.at; /* the end of this record, whatever comes */
        if (r.at < r.end) r.status = WV_RECORD_SYNTAX;
    }
    record.status = r.status;
    record.at = r.at - block;
    if (r.status != WV_RECORD_GOOD) return record;
    record.end = r.end - block;
    const found_value *value = r.named.kind != NOTHING ? &r.named : &r.nested;
    if (value->kind != STRING || r.taken) {
        record.status = value->kind == NOTHING ? WV_RECORD_NO_FIELD : value->kind == OTHER ? WV_RECORD_NO_TEXT
                                                                                           : WV_RECORD_TAKEN;
        record.at = record.begin;
        return record;
    }
    unsigned char *end = unescape(value, rules->newline, text);
    *end++ = '\n';
    out->texts_length = record.text_end = end - out->texts;
    record.value = value->begin - 1 - block;
    record.value_end = value->end + 1 - block;
    return record;
}

int64_t wv_json_records(const wv_json_rules *rules, const unsigned char *block, int64_t start, int64_t length,
                        wv_records *out) {
    if (wv_records_begin(out, length - start)) return WV_RECORDS_NO_MEMORY;
    for (int64_t at = start; at < length;) {
        const unsigned char *newline = memchr(block + at, '\n', (size_t)(length - at));
        int64_t line_end = newline ? newline - block : length;
        wv_record record = read_record(rules, block, at, line_end, out);
        if (record.end == line_end && newline) record.end++;
        if (wv_records_add(out, record)) return WV_RECORDS_NO_MEMORY;
        at = record.end;
    }
    return length;
}

void wv_records_free(wv_records *records) {
    free(records->record);
    free(records->texts);
    memset(records, 0, sizeof *records);
}
