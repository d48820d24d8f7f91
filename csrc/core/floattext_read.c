/* Reading rows of word vectors (floattext.h says what is accepted).
 *
 * A number's digits become a 64-bit integer w and a decimal exponent e; w * 10^e is formed in double and rounded to
 * float32. That is the correctly rounded result unless the double lies so near the midpoint of two floats that its own
 * error (below 4 units in the last place) could cross it, or leaves the range of normal floats; those few go to strtof
 * in the C locale. Almost every number of a real file has the form D.DDDDDD and takes the first branch. */
#include "core/floattext.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#if defined(__APPLE__)
#include <xlocale.h> /* where locale.h does not declare newlocale */
#endif

#include "core/separators.h"

#define LONGEST_NUMBER 1000

static const float pow10_float[] = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f, 1e7f, 1e8f, 1e9f, 1e10f};
static const double pow10_double[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13,
                                      1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27,
                                      1e28, 1e29, 1e30, 1e31, 1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38, 1e39, 1e40};
#define LARGEST_POW10 40
static const uint64_t pow10_integer[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* The sign is set as a bit: -fno-signed-zeros lets the compiler lose it in arithmetic. */
static inline float with_sign(float magnitude, int negative) {
    uint32_t bits;
    memcpy(&bits, &magnitude, 4);
    bits |= (uint32_t)negative << 31;
    memcpy(&magnitude, &bits, 4);
    return magnitude;
}

static inline int is_finite_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return (bits & 0x7F800000u) != 0x7F800000u;
}

static inline int is_digit(char c) { return (unsigned char)(c - '0') <= 9; }

enum { MANY_DECIMALS = 3 }; /* of a number that ends no name */

static inline int is_blank(char c) { return wv_is_blank((unsigned char)c); }

/* Rounds w * 10^exponent to *value when the double proves the answer; 0 otherwise. */
static inline int round_from_double(uint64_t w, int exponent, float *value) {
    if (w == 0) {
        *value = 0;
        return 1;
    }
    if (exponent < -LARGEST_POW10 || exponent > LARGEST_POW10) return 0;
    double d = exponent < 0 ? (double)w / pow10_double[-exponent] : (double)w * pow10_double[exponent];
    uint64_t bits;
    memcpy(&bits, &d, 8);
    int64_t from_midpoint = (int64_t)(bits & 0x1FFFFFFF) - 0x10000000;
    if ((from_midpoint > -8 && from_midpoint < 8) || d < 1.2e-38 || d > 3.4e38) return 0;
    *value = (float)d;
    return 1;
}

static locale_t c_locale;

int wv_floattext_start(void) {
    if (!c_locale) c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c_locale ? 0 : errno;
}

static float slow_magnitude(const char *text, size_t size) {
    char copy[LONGEST_NUMBER + 1];
    memcpy(copy, text, size);
    copy[size] = 0;
    const locale_t before = uselocale(c_locale); /* this thread's; strtof_l is not on every system */
    const float magnitude = strtof(copy, NULL);
    uselocale(before);
    return magnitude;
}

static int starts_with(const char *text, size_t size, const char *lower_name) {
    size_t n = strlen(lower_name);
    if (size < n) return 0;
    for (size_t i = 0; i < n; i++) {
        if ((text[i] | 0x20) != lower_name[i]) return 0;
    }
    return 1;
}

/* nan, inf or infinity in any case, without its sign: the bytes it takes, 0 for anything else. */
static size_t parse_special(const char *text, size_t size, int negative, float *value) {
    size_t taken = starts_with(text, size, "infinity") ? 8 : 3;
    int is_infinite = starts_with(text, size, "inf");
    if (!is_infinite && !starts_with(text, size, "nan")) return 0;
    uint32_t bits = is_infinite ? 0x7F800000u : 0x7FC00000u;
    float special;
    memcpy(&special, &bits, 4);
    *value = with_sign(special, negative);
    return taken;
}

/* An exponent `e-05` at p, behind the digits of a number: adds it to *exponent and returns its end; p when there is none. */
static const char *parse_exponent(const char *p, const char *end, int64_t *exponent) {
    if (p == end || (*p | 0x20) != 'e') return p;
    const char *q = p + 1;
    int shrinks = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+')) q++;
    if (q == end || !is_digit(*q)) return p;
    int64_t written = 0;
    for (; q < end && is_digit(*q); q++) {
        if (written < 1000000) written = written * 10 + (*q - '0');
    }
    *exponent += shrinks ? -written : written;
    return q;
}

size_t wv_parse_float(const char *text, size_t size, float *value) {
    const char *p = text, *end = text + size;
    int negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *magnitude_start = p;
    uint64_t w = 0;
    int significant = 0, digits = 0;
    int64_t exponent = 0;
    for (; p < end && is_digit(*p); p++) {
        digits++;
        if (significant == 19) {
            exponent++;
            continue;
        }
        w = w * 10 + (uint64_t)(*p - '0');
        significant += w != 0;
    }
    if (p < end && *p == '.') {
        for (p++; p < end && is_digit(*p); p++) {
            digits++;
            if (significant == 19) continue;
            w = w * 10 + (uint64_t)(*p - '0');
            significant += w != 0;
            exponent--;
        }
    }
    if (digits == 0) {
        size_t taken = parse_special(magnitude_start, (size_t)(end - magnitude_start), negative, value);
        return taken ? (size_t)(magnitude_start - text) + taken : 0;
    }
    p = parse_exponent(p, end, &exponent);
    if (p - text > LONGEST_NUMBER) return 0;
    float magnitude;
    int bounded = exponent < -100000 ? -100000 : exponent > 100000 ? 100000 : (int)exponent;
    if (!round_from_double(w, bounded, &magnitude)) {
        magnitude = slow_magnitude(magnitude_start, (size_t)(p - magnitude_start));
    }
    *value = with_sign(magnitude, negative);
    return (size_t)(p - text);
}

/* High bits of the bytes that are no ASCII digits; right up to and including the first such byte. */
static inline uint64_t other_than_digits(uint64_t chunk) {
    return ((chunk + 0x4646464646464646u) | (chunk - 0x3030303030303030u)) & 0x8080808080808080u;
}

/* The number that eight digit values make, the first in the lowest byte (the well-known multiply and shift). */
static inline uint32_t eight_digits(uint64_t values) {
    values = values * 10 + (values >> 8);
    return (uint32_t)((((values & 0x000000FF000000FFu) * 0x000F424000000064u) +
                       (((values >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u)) >> 32);
}

/* [-]D.DDDDDD, as printf's %f writes nearly every number of a vector. Its length is known before its digits are, which
 * lets the processor run ahead to the next number. */
static inline const char *parse_six_decimals(const char *p, float *value) {
    int negative = *p == '-';
    p += negative;
    uint64_t chunk;
    memcpy(&chunk, p, 8);
    if (((chunk >> 8) & 0xFF) != '.' || (unsigned char)p[8] > ' ') return NULL;
    uint64_t digits = (chunk & ~(uint64_t)0xFFFF) | (chunk & 0xFF) << 8 | '0';
    if (other_than_digits(digits)) return NULL;
    *value = with_sign((float)(int32_t)eight_digits(digits & 0x0F0F0F0F0F0F0F0Fu) / 1e6f, negative);
    return p + 8;
}

/* [-]D.D{1,18} at p: where it ends, or NULL when it has another form or needs the slow path. */
static inline const char *parse_plain(const char *p, float *value) {
    int negative = *p == '-';
    p += negative;
    unsigned lead = (unsigned char)p[0] - '0';
    if (lead > 9 || p[1] != '.') return NULL;
    p += 2;
    uint64_t chunk;
    memcpy(&chunk, p, 8);
    uint64_t other = other_than_digits(chunk);
    int n = other ? __builtin_ctzll(other) >> 3 : 8;
    if (n == 0) return NULL;
    uint64_t w = lead * pow10_integer[n] + eight_digits((chunk & 0x0F0F0F0F0F0F0F0Fu) << (64 - 8 * n));
    p += n;
    if (n == 8) {
        for (; n < 18 && is_digit(*p); n++) {
            w = w * 10 + (uint64_t)(*p - '0');
            p++;
        }
    }
    if ((unsigned char)*p > ' ') return NULL;
    float magnitude;
    if (w < (1u << 24) && n <= 10) {
        magnitude = (float)(int32_t)w / pow10_float[n];
    } else if (!round_from_double(w, -n, &magnitude)) {
        return NULL;
    }
    *value = with_sign(magnitude, negative);
    return p;
}

/* Text of a whole field [p, end) as a number. */
static int parse_field(const char *p, const char *end, float *value) {
    return end > p && wv_parse_float(p, (size_t)(end - p), value) == (size_t)(end - p);
}

/* The usual row: the word ends at the first space. Returns the start of the next line, or NULL. */
static const char *parse_row_forward(const char *line, const char *end, int32_t dim, float *row, size_t *word_length,
                                     int *finite) {
    const char *p = line;
    while (!is_blank(*p) && *p != '\n') p++;
    *word_length = (size_t)(p - line);
    if (p == line) return NULL;
    for (int32_t i = 0; i < dim; i++) {
        while (is_blank(*p)) p++;
        const char *after = parse_six_decimals(p, row + i);
        if (!after) after = parse_plain(p, row + i);
        if (!after) {
            size_t size = wv_parse_float(p, (size_t)(end - p), row + i);
            if (size == 0) return NULL;
            after = p + size;
            *finite &= is_finite_bits(row[i]);
        }
        p = after;
        if (*p != '\n' && *p != '\r' && !is_blank(*p)) return NULL;
    }
    while (is_blank(*p) || *p == '\r') p++;
    return *p == '\n' ? p + 1 : NULL;
}

/* Whether the field [p, end), a number, is written like one of a vector rather than like one of a name. */
static int has_many_decimals(const char *p, const char *end) {
    const char *point = memchr(p, '.', (size_t)(end - p));
    return point && end - point > MANY_DECIMALS;
}

enum { LONGEST_WITH_NUMBER = 1024 }; /* bytes of a word that ends with a number */

/* A row whose word may hold spaces: the last dim fields are the numbers, one separator stands before them, and the rest is
 * the word. A word that ends with a number may be a row that is too long: see has_many_decimals; without a header nobody can
 * tell. */
static const char *parse_row_backward(const char *line, const char *end, int32_t dim, int dim_is_known, float *row,
                                      size_t *word_length, int *finite) {
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    const char *p = newline;
    while (p > line && p[-1] == '\r') p--;
    for (int32_t i = dim - 1; i >= 0; i--) {
        while (p > line && is_blank(p[-1])) p--;
        const char *field_end = p;
        while (p > line && !is_blank(p[-1])) p--;
        if (p == line || !parse_field(p, field_end, row + i)) return NULL;
        *finite &= is_finite_bits(row[i]);
    }
    const char *word_end = p - 1;
    const char *last = word_end;
    while (last > line && is_blank(last[-1])) last--;
    const char *last_end = last;
    while (last > line && !is_blank(last[-1])) last--;
    float ignored;
    if (word_end == line) return NULL;
    int is_number = last > line && parse_field(last, last_end, &ignored);
    int may_be_word = dim_is_known && word_end - line <= LONGEST_WITH_NUMBER && !has_many_decimals(last, last_end);
    if (is_number && !may_be_word) return NULL;
    *word_length = (size_t)(word_end - line);
    return newline + 1;
}

wv_rows_read wv_parse_rows(char *text, int64_t size, int32_t dim, int dim_is_known, int64_t capacity, float *matrix,
                           int64_t *lengths) {
    wv_rows_read read = {0, 0, 0, WV_STOP_NONE};
    const char *end = text + size, *line = text;
    while (line < end && read.rows < capacity) {
        float *row = matrix + read.rows * (int64_t)dim;
        size_t word_length;
        int finite = 1;
        const char *next = parse_row_forward(line, end, dim, row, &word_length, &finite);
        if (!next) {
            finite = 1;
            next = parse_row_backward(line, end, dim, dim_is_known, row, &word_length, &finite);
        }
        if (!next || !finite) {
            read.stop = next ? WV_STOP_NOT_FINITE : WV_STOP_BAD_ROW;
            break;
        }
        memmove(text + read.word_bytes, line, word_length);
        lengths[read.rows++] = (int64_t)word_length;
        read.word_bytes += (int64_t)word_length;
        line = next;
    }
    read.consumed = line - text;
    return read;
}

int64_t wv_first_not_finite(const float *matrix, ptrdiff_t stride, int32_t dim, int64_t rows) {
    for (int64_t row = 0; row < rows; row++) {
        const float *values = matrix + row * stride;
        uint32_t bad = 0;
        for (int32_t i = 0; i < dim; i++) bad |= (uint32_t)!is_finite_bits(values[i]);
        if (!bad) continue;
        for (int32_t i = 0; i < dim; i++) {
            if (!is_finite_bits(values[i])) return row * dim + i;
        }
    }
    return -1;
}

/* A binary row from `p` on: its word, and the space before its numbers; NULL and why not. */
static const char *next_row(const char *p, const char *end, int32_t dim, const char **word, int *stop) {
    while (p < end && *p == '\n') p++;
    *word = p;
    const size_t left = (size_t)(end - p);
    const char *space = memchr(p, ' ', left < WV_BINARY_WORD_LIMIT ? left : WV_BINARY_WORD_LIMIT);
    if (space && (size_t)(end - space) > 4 * (size_t)dim) return space;
    *stop = !space && left >= WV_BINARY_WORD_LIMIT ? WV_STOP_LONG_WORD : WV_STOP_PARTIAL;
    return NULL;
}

wv_rows_read wv_unpack_rows(char *data, int64_t size, int32_t dim, int64_t capacity, float *matrix, int64_t *lengths) {
    wv_rows_read read = {0, 0, 0, WV_STOP_NONE};
    const char *end = data + size, *p = data, *word, *space;
    const size_t row_bytes = 4 * (size_t)dim;
    while (p < end && read.rows < capacity && (space = next_row(p, end, dim, &word, &read.stop)) != NULL) {
        float *row = matrix + read.rows * (int64_t)dim;
        memcpy(row, space + 1, row_bytes);
        if (wv_first_not_finite(row, dim, dim, 1) >= 0) {
            read.stop = WV_STOP_NOT_FINITE;
            break;
        }
        size_t word_length = (size_t)(space - word);
        memmove(data + read.word_bytes, word, word_length);
        lengths[read.rows++] = (int64_t)word_length;
        read.word_bytes += (int64_t)word_length;
        p = space + 1 + row_bytes;
    }
    read.consumed = p - data;
    return read;
}

wv_rows_read wv_find_rows(const char *data, int64_t size, int32_t dim, const wv_row_places *places) {
    wv_rows_read read = {0, 0, 0, WV_STOP_NONE};
    const char *end = data + size, *p = data, *word, *space;
    const size_t row_bytes = 4 * (size_t)dim;
    while (p < end && read.rows < places->capacity && (space = next_row(p, end, dim, &word, &read.stop)) != NULL) {
        size_t word_length = (size_t)(space - word);
        /* Rows are about as long as the one before: the next words are on their way while this one is looked at. */
        p = space + 1 + row_bytes;
        if ((size_t)(end - p) > 4 * row_bytes) __builtin_prefetch(p + 4 * row_bytes);
        if (read.word_bytes + (int64_t)word_length <= places->room)
            memcpy(places->words + read.word_bytes, word, word_length);
        places->offsets[read.rows] = space + 1 - data;
        places->lengths[read.rows++] = (int64_t)word_length;
        read.word_bytes += (int64_t)word_length;
    }
    read.consumed = p - data;
    return read;
}

int64_t wv_first_unwritable(const char *blob, const int64_t *starts, int64_t words) {
    for (int64_t i = 0; i < words; i++) {
        if (starts[i] == starts[i + 1]) return i;
        for (int64_t at = starts[i]; at < starts[i + 1]; at++) {
            char c = blob[at];
            if (is_blank(c) || c == '\n' || c == 0) return i;
        }
    }
    return -1;
}

int64_t wv_count_lines(const char *text, int64_t size) {
    int64_t lines = 0;
    const char *end = text + size;
    const char *newline = memchr(text, '\n', (size_t)size);
    while (newline) {
        lines++;
        newline = memchr(newline + 1, '\n', (size_t)(end - newline - 1));
    }
    return lines;
}

int64_t wv_count_fields(const char *text, int64_t size) {
    int64_t fields = 0;
    int inside = 0;
    for (int64_t at = 0; at < size; at++) {
        const int in_field = !is_blank(text[at]);
        fields += in_field && !inside;
        inside = in_field;
    }
    return fields;
}
