#include "core/arpa.h"

#include <string.h>

#include "core/floattext.h"
#include "core/separators.h"

static const char *past_blanks(const char *at) {
    while (wv_is_blank((unsigned char)*at)) at++;
    return at;
}

static const char *past_field(const char *at, const char *end) {
    while (at < end && !wv_is_blank((unsigned char)*at)) at++;
    return at;
}

/* The number in front of `*at`, which moves behind it. 0, or WV_ARPA_NUMBER. */
static int number(const char **at, const char *end, float zero, float *value, int64_t *infinite) {
    const char *field_end = past_field(*at, end);
    size_t taken = wv_parse_float(*at, (size_t)(field_end - *at), value);
    if (taken == 0 || *at + taken != field_end || *value != *value || *value > -zero) return WV_ARPA_NUMBER;
    if (*value < -3e38f) ++*infinite;
    if (*value < zero) *value = zero;
    *at = field_end;
    return 0;
}

/* Which of its two spellings a 1-gram of the unknown word has had: a bit of its slot's count. SRILM writes <UNK>, and
 * models of texts that had this word list it beside <unk>; KenLM takes both for one, and what is listed last. */
enum { LISTED = 1, LISTED_UPPER = 2 };

static int word_id(wv_wordmap *words, const char *word, size_t size, int32_t length, int32_t *id) {
    const unsigned char *bytes = (const unsigned char *)word;
    int64_t mark = LISTED;
    if (size == 5 && memcmp(word, "<UNK>", 5) == 0) {
        bytes = (const unsigned char *)"<unk>";
        mark = LISTED_UPPER;
    }
    if (length > 1) {
        wv_slot *slot = wv_wordmap_find(words, bytes, size);
        if (!slot) return WV_ARPA_UNKNOWN_WORD;
        *id = slot->id;
        return 0;
    }
    if (wv_wordmap_reserve(words, 1)) return WV_ARPA_MEMORY;
    wv_slot *slot = wv_wordmap_add(words, bytes, size);
    if (!slot) return WV_ARPA_MEMORY;
    if (slot->count & mark) return WV_ARPA_DUPLICATE;
    slot->count |= mark;
    *id = slot->id;
    return 0;
}

/* n-gram i from line .. end. */
static int parse_line(const wv_arpa_rules *rules, const char *line, const char *end, const wv_arpa_ngrams *ngrams, int64_t i,
                      int64_t *infinite) {
    const char *at = past_blanks(line);
    float *prob = ngrams->prob + i, *backoff = ngrams->backoff + i;
    int32_t length = ngrams->length, *row = ngrams->rows + i * length;
    int stop = number(&at, end, rules->zero, prob, infinite);
    if (stop) return stop;
    if (*prob > 0) return WV_ARPA_POSITIVE;
    for (int32_t k = 0; k < length; k++) {
        const char *word = past_blanks(at);
        at = past_field(word, end);
        if (word >= end || memchr(word, 0, (size_t)(at - word))) return WV_ARPA_FIELDS;
        stop = word_id(rules->words, word, (size_t)(at - word), length, &row[k]);
        if (stop) return stop;
    }
    *backoff = 0;
    at = past_blanks(at);
    if (at < end) {
        stop = number(&at, end, rules->zero, backoff, infinite);
        if (stop || (*backoff != 0 && !rules->has_backoff)) return rules->has_backoff ? stop : WV_ARPA_FIELDS;
        at = past_blanks(at);
    }
    return at < end ? WV_ARPA_FIELDS : 0;
}

wv_arpa_read wv_arpa_parse(const char *text, int64_t size, const wv_arpa_rules *rules, const wv_arpa_ngrams *ngrams) {
    wv_arpa_read read = {0, 0, 0, WV_ARPA_ALL};
    while (read.consumed < size && read.lines < ngrams->n) {
        const char *line = text + read.consumed;
        const char *newline = memchr(line, '\n', (size_t)(size - read.consumed));
        const char *end = newline;
        if (end > line && end[-1] == '\r') end--;
        if (*line == '\\' || past_blanks(line) >= end)
            read.stop = WV_ARPA_SECTION;
        else
            read.stop = parse_line(rules, line, end, ngrams, read.lines, &read.infinite);
        if (read.stop) break;
        read.lines++;
        read.consumed = newline + 1 - text;
    }
    return read;
}

size_t wv_arpa_format(const wv_arpa_ngrams *ngrams, const char *blob, const int64_t *starts, char *out) {
    char *at = out;
    for (int64_t i = 0; i < ngrams->n; i++) {
        at += wv_format_float(ngrams->prob[i], 0, at);
        for (int32_t k = 0; k < ngrams->length; k++) {
            int32_t word = ngrams->rows[i * ngrams->length + k];
            size_t size = (size_t)(starts[word + 1] - starts[word]);
            *at++ = k ? ' ' : '\t';
            memcpy(at, blob + starts[word], size);
            at += size;
        }
        if (ngrams->backoff) {
            *at++ = '\t';
            at += wv_format_float(ngrams->backoff[i], 0, at);
        }
        *at++ = '\n';
    }
    return (size_t)(at - out);
}

static int ascending(const int32_t *rows, int64_t n, int32_t length) {
    for (int64_t i = 1; i < n; i++) {
        const int32_t *a = rows + (i - 1) * length, *b = a + length;
        int32_t k = 0;
        while (k < length - 1 && a[k] == b[k]) k++;
        if (a[k] > b[k]) return 0;
    }
    return 1;
}

void wv_arpa_order(const int32_t *rows, int64_t n, int32_t length, int32_t words, int32_t *positions, int32_t *spare,
                   int64_t *counts) {
    int32_t *from = length % 2 ? spare : positions, *to = length % 2 ? positions : spare;
    for (int64_t i = 0; i < n; i++) from[i] = positions[i] = (int32_t)i;
    if (ascending(rows, n, length)) return;
    for (int32_t k = length - 1; k >= 0; k--) {
        memset(counts, 0, ((size_t)words + 1) * sizeof *counts);
        for (int64_t i = 0; i < n; i++) counts[rows[i * length + k] + 1]++;
        for (int32_t word = 0; word < words; word++) counts[word + 1] += counts[word];
        for (int64_t i = 0; i < n; i++) to[counts[rows[(int64_t)from[i] * length + k]]++] = from[i];
        int32_t *other = from;
        from = to;
        to = other;
    }
}

int64_t wv_arpa_parents(const int32_t *contexts, int64_t m, const int32_t *rows, int64_t n, int32_t length,
                        int32_t *parents) {
    int64_t context = 0, double_row = -1;
    int32_t shorter = length - 1;
    for (int64_t i = 0; i < n; i++) {
        const int32_t *row = rows + i * length;
        int order = -1; /* of the context and the row */
        for (; context < m; context++) {
            const int32_t *other = contexts + context * shorter;
            int32_t k = 0;
            while (k < shorter && other[k] == row[k]) k++;
            order = k == shorter ? 0 : other[k] < row[k] ? -1 : 1;
            if (order >= 0) break;
        }
        parents[i] = order == 0 ? (int32_t)context : -1;
        if (double_row < 0 && i > 0 && memcmp(row - length, row, (size_t)length * sizeof *row) == 0) double_row = i;
    }
    return double_row;
}
