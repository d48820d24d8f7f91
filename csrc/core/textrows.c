/* See textrows.h. */
#include "core/textrows.h"

#include <stdlib.h>

#include "core/separators.h"
#include "core/subwords.h"

static const char END_OF_LINE[] = "</s>";
enum { END_LENGTH = 4 };

static int is_end(const char *word, size_t length) {
    return length == END_LENGTH && memcmp(word, END_OF_LINE, END_LENGTH) == 0;
}

static int is_separator(char byte) { return wv_is_separator((unsigned char)byte); }

/* Grows an array to hold `needed` entries of `size` bytes. */
static int grow(void **array, int64_t *capacity, int64_t needed, size_t size) {
    if (needed <= *capacity) return 0;
    int64_t wanted = *capacity * 2 > needed ? *capacity * 2 : needed + 64;
    void *larger = realloc(*array, (size_t)wanted * size);
    if (!larger) return WV_NO_MEMORY;
    *array = larger;
    *capacity = wanted;
    return 0;
}

/* The row of a bucket, -1 for none. */
static int32_t row_of(const wv_text_rules *rules, int32_t bucket) {
    if (!rules->bucket_row) return rules->words + bucket;
    int32_t row = rules->bucket_row[bucket];
    return row < 0 ? -1 : rules->words + row;
}

/* Turns the `count` buckets at `at` into rows, dropping those without. Returns how many are left. */
static int64_t buckets_to_rows(const wv_text_rules *rules, int32_t *at, int64_t count) {
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t row = row_of(rules, at[i]);
        at[kept] = row;
        kept += row >= 0;
    }
    return kept;
}

/* Splits a line into words, the last of them `</s>` unless it is `bare`, and prefetches the slots of the word map where they will be sought:
 * the waits of all words of a line overlap. Returns how many there are, WV_NO_MEMORY on failure. */
static int64_t split(const wv_text_rules *rules, wv_text_rows *out, const char *text, const char *end,
                     int bare) {
    int64_t words = 0;
    int ended;
    do {
        if (grow((void **)&out->word, &out->word_capacity, words + 1, sizeof *out->word)) return WV_NO_MEMORY;
        while (text < end && is_separator(*text)) text++;
        wv_text_word word = {text, 0, NULL, {0, 0}};
        while (text < end && !is_separator(*text)) text++;
        word.length = (size_t)(text - word.text);
        if (word.length == 0 && bare) break;
        if (word.length == 0) word = (wv_text_word){END_OF_LINE, END_LENGTH, NULL, {0, 0}};
        ended = is_end(word.text, word.length);
        if (word.length <= WV_SHORT_WORD) {
            word.key = wv_short_key((const unsigned char *)word.text, word.length);
            word.slot = wv_home_slot(rules->map, wv_hash_key(word.key));
            __builtin_prefetch(word.slot);
        }
        out->word[words++] = word;
    } while (!ended);
    return words;
}

static int add_word(const wv_text_rules *rules, wv_text_rows *out, const wv_text_word *token, int64_t *rows,
                    int64_t *labels, int64_t *hashes) {
    const char *word = token->text;
    size_t length = token->length;
    wv_slot *slot = token->slot ? wv_wordmap_seek(rules->map, token->key, token->slot, 1)
                                : wv_wordmap_find(rules->map, (const unsigned char *)word, length);
    if (slot && slot->id >= rules->words) {
        if (grow((void **)&out->label, &out->label_capacity, *labels + 1, sizeof *out->label)) return WV_NO_MEMORY;
        out->label[(*labels)++] = slot->id - rules->words;
        return 0;
    }
    if (!slot && length >= rules->prefix_length && memcmp(word, rules->prefix, rules->prefix_length) == 0) return 0;
    if (grow((void **)&out->row, &out->row_capacity, *rows + 1, sizeof *out->row)) return WV_NO_MEMORY;
    if (slot) out->row[(*rows)++] = slot->id;
    if (rules->buckets && rules->maxn && !is_end(word, length)) {
        int64_t free_rows = out->row_capacity - *rows;
        int64_t count =
            wv_subwords(word, length, rules->minn, rules->maxn, rules->buckets, out->row + *rows, free_rows);
        if (count > free_rows) {
            if (grow((void **)&out->row, &out->row_capacity, *rows + count, sizeof *out->row)) return WV_NO_MEMORY;
            wv_subwords(word, length, rules->minn, rules->maxn, rules->buckets, out->row + *rows, count);
        }
        *rows += buckets_to_rows(rules, out->row + *rows, count);
    }
    if (rules->buckets && rules->word_ngrams > 1) {
        if (grow((void **)&out->hash, &out->hash_capacity, *hashes + 1, sizeof *out->hash)) return WV_NO_MEMORY;
        out->hash[(*hashes)++] = wv_fasttext_hash(word, length);
    }
    return 0;
}

static int add_word_ngrams(const wv_text_rules *rules, wv_text_rows *out, int64_t hashes, int64_t *rows) {
    int64_t most = hashes * (rules->word_ngrams - 1);
    if (grow((void **)&out->row, &out->row_capacity, *rows + most, sizeof *out->row)) return WV_NO_MEMORY;
    int32_t *at = out->row + *rows;
    int64_t count = wv_line_ngrams(out->hash, hashes, rules->word_ngrams, rules->buckets, at, most);
    *rows += buckets_to_rows(rules, at, count);
    return 0;
}

int wv_text_rows_read(const wv_text_rules *rules, const char *text, size_t length, int bare_end, wv_text_rows *out) {
    int64_t rows = 0, labels = 0;
    out->lines = 0;
    for (size_t at = 0; at < length;) {
        if (grow((void **)&out->start, &out->line_capacity, 2 * (out->lines + 2), sizeof *out->start))
            return WV_NO_MEMORY;
        if (grow((void **)&out->seen, &out->seen_capacity, 2 * (out->lines + 1), sizeof *out->seen))
            return WV_NO_MEMORY;
        int32_t seen = 0, known = 0;
        out->start[2 * out->lines] = rows;
        out->start[2 * out->lines + 1] = labels;
        const char *newline = memchr(text + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - text) : length;
        int64_t hashes = 0;
        int64_t words = split(rules, out, text + at, text + end, bare_end && !newline);
        if (words < 0) return WV_NO_MEMORY;
        for (int64_t word = 0; word < words; word++) {
            int64_t rows_before = rows, labels_before = labels;
            if (add_word(rules, out, out->word + word, &rows, &labels, &hashes)) return WV_NO_MEMORY;
            int counts = labels == labels_before && !is_end(out->word[word].text, out->word[word].length);
            seen += counts;
            known += counts && rows > rows_before;
        }
        out->seen[2 * out->lines] = seen;
        out->seen[2 * out->lines + 1] = known;
        if (hashes > 1 && add_word_ngrams(rules, out, hashes, &rows)) return WV_NO_MEMORY;
        at = end + 1;
        out->lines++;
        out->start[2 * out->lines] = rows;
        out->start[2 * out->lines + 1] = labels;
    }
    return 0;
}

void wv_text_rows_free(wv_text_rows *rows) {
    free(rows->start);
    free(rows->row);
    free(rows->label);
    free(rows->seen);
    free(rows->hash);
    free(rows->word);
    memset(rows, 0, sizeof *rows);
}
