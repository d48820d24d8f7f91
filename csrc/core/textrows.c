/* See textrows.h. */
#include "core/textrows.h"

#include <stdlib.h>

#include "core/separators.h"
#include "core/subwords.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static const char END_OF_LINE[] = "</s>";
enum {
    END_LENGTH = 4,
    SEEN = 1 << 17,         /* words whose rows are known from before in the text, and */
    MOST_KEPT = 1 << 20,    /* how many rows they have, before all are forgotten */
    PART = 1 << 14,         /* bytes of a word whose n-grams are made at once */
    NEAR = 8,               /* words whose kept rows are asked for ahead */
    WORDS_AT_ONCE = 1 << 12 /* of a line in pieces: words whose n-grams follow together */
};

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

/* Turns the `count` buckets at `at` into rows, dropping those without. Returns how many are left. The bits stay in a near
 * cache, the table of rows does not. No branch asks whether a bucket has a row: it is anyone's guess. */
static int64_t buckets_to_rows(const wv_text_rules *rules, int32_t *at, int64_t count) {
    int64_t kept = 0;
    if (!rules->bucket_row) {
        for (int64_t i = 0; i < count; i++) at[i] += rules->words;
        return count;
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t bucket = at[i];
        at[kept] = bucket;
        kept += rules->has_row[bucket >> 3] >> (bucket & 7) & 1;
    }
    for (int64_t i = 0; i < kept; i++) at[i] = rules->words + rules->bucket_row[at[i]];
    return kept;
}

/* Bytes of the word at `text`, which ends at a separator or at `end`. Up to `readable` bytes may be read. */
static size_t word_length(const char *text, const char *end, const char *readable) {
    const char *at = text;
#if defined(__SSE2__)
    for (; readable - at >= 16; at += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)at);
        __m128i from_first = _mm_sub_epi8(x, _mm_set1_epi8(WV_FIRST_CONTROL));
        __m128i span = _mm_set1_epi8(WV_LAST_CONTROL - WV_FIRST_CONTROL);
        __m128i range = _mm_cmpeq_epi8(_mm_min_epu8(from_first, span), from_first);
        __m128i space = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(x, _mm_setzero_si128()));
        int separators = _mm_movemask_epi8(_mm_or_si128(range, space));
        if (!separators) continue;
        at += __builtin_ctz((unsigned)separators);
        return (size_t)((at < end ? at : end) - text);
    }
#endif
    (void)readable;
    while (at < end && !is_separator(*at)) at++;
    return (size_t)((at < end ? at : end) - text);
}

/* The key of a short word. */
static wv_word_key key_of(const char *text, size_t length, const char *readable) {
    static const unsigned char ones[2 * WV_SHORT_WORD] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                                          255, 255, 255, 255, 255, 0};
    if (readable - text < WV_SHORT_WORD) return wv_short_key((const unsigned char *)text, length);
    wv_word_key key, mask;
    memcpy(&key, text, sizeof key);
    memcpy(&mask, ones + WV_SHORT_WORD - length, sizeof mask);
    return (wv_word_key){key.low & mask.low, key.high & mask.high};
}

static wv_text_seen *place_of(const wv_text_rows *out, wv_word_key key) {
    return &out->before[wv_hash_key(key) % SEEN];
}

/* The rows of a word that has stood before. */
static inline const int32_t *rows_of(const wv_text_rows *out, const wv_text_seen *seen) {
    return seen->rows > WV_FEW_ROWS ? out->words.row + seen->row[1] : seen->row;
}

/* Asks for the rows of a word, if they are kept. */
static inline void fetch_kept(const wv_text_rows *out, const wv_text_word *word) {
    if (!out->before || !word->slot) return;
    const wv_text_seen *seen = place_of(out, word->key);
    if (seen->rows > WV_FEW_ROWS && !out->most_words) __builtin_prefetch(rows_of(out, seen));
}

/* Splits a line into words, the last of them `</s>` unless it is `bare`, and prefetches where they will be sought: the
 * waits of all words of a line overlap. Up to `readable` bytes may be read. Returns how many words there are, WV_NO_MEMORY
 * on failure. */
static int64_t split(const wv_text_rules *rules, wv_text_rows *out, const char *text, const char *end,
                     const char *readable, int bare) {
    int64_t words = 0;
    int ended;
    do {
        if (grow((void **)&out->word, &out->word_capacity, words + 1, sizeof *out->word)) return WV_NO_MEMORY;
        while (text < end && is_separator(*text)) text++;
        wv_text_word word = {text, word_length(text, end, readable), NULL, {0, 0}};
        text += word.length;
        if (word.length == 0 && bare) break;
        const char *last = word.length ? readable : END_OF_LINE + END_LENGTH;
        if (word.length == 0) word = (wv_text_word){END_OF_LINE, END_LENGTH, NULL, {0, 0}};
        ended = is_end(word.text, word.length);
        if (word.length <= WV_SHORT_WORD) {
            word.key = key_of(word.text, word.length, last);
            word.slot = wv_home_slot(rules->map, wv_hash_key(word.key));
            __builtin_prefetch(word.slot);
            if (out->before) __builtin_prefetch(place_of(out, word.key));
        }
        out->word[words++] = word;
    } while (!ended);
    return words;
}

/* How many rows, labels and hashes there are, and how many rows were handed on before. */
typedef struct {
    int64_t rows, labels, hashes, handed;
    wv_row_taker taker; /* NULL: all rows stay */
} progress;

static void hand_on(wv_text_rows *out, progress *at) {
    if (!at->taker.take) return;
    at->taker.take(at->taker.context, out->row, at->rows);
    at->handed += at->rows;
    at->rows = 0;
}

static int add_subwords(const wv_text_rules *rules, wv_text_rows *out, const char *word, size_t length, progress *at) {
    for (size_t first = 0; first < length + 2; first += PART) {
        size_t last = length + 2 - first < PART ? length + 2 : first + PART;
        int64_t most = (int64_t)(last - first) * rules->maxn;
        if (grow((void **)&out->row, &out->row_capacity, at->rows + most, sizeof *out->row)) return WV_NO_MEMORY;
        int32_t *row = out->row + at->rows;
        int64_t count = wv_subwords_from(word, length, first, last, rules->minn, rules->maxn, rules->buckets, row, most);
        at->rows += buckets_to_rows(rules, row, count);
        if (last < length + 2) hand_on(out, at);
    }
    return 0;
}

/* Adds the row of a word and those of its character n-grams. */
static int add_rows(const wv_text_rules *rules, wv_text_rows *out, const wv_text_word *word, const wv_slot *slot,
                    progress *at) {
    if (grow((void **)&out->row, &out->row_capacity, at->rows + 1, sizeof *out->row)) return WV_NO_MEMORY;
    if (slot) out->row[at->rows++] = slot->id;
    if (!rules->buckets || !rules->maxn || is_end(word->text, word->length)) return 0;
    return add_subwords(rules, out, word->text, word->length, at);
}

static int64_t kept_rows(const wv_text_words *words) { return words->count ? words->start[words->count] : 0; }

static void forget_words(wv_text_rows *out) {
    memset(out->before, 0, SEEN * sizeof *out->before);
    out->words.count = 0;
}

static int append_word(wv_text_words *words, const int32_t *row, int64_t rows) {
    int64_t first = kept_rows(words);
    if (grow((void **)&words->start, &words->start_capacity, words->count + 2, sizeof *words->start) ||
        grow((void **)&words->row, &words->row_capacity, first + rows, sizeof *words->row))
        return WV_NO_MEMORY;
    memcpy(words->row + first, row, (size_t)rows * sizeof *row);
    words->start[words->count++] = first;
    words->start[words->count] = first + rows;
    return 0;
}

/* Keeps the rows of a word, from `first` on, and its hash. */
static int keep_word(wv_text_rows *out, wv_word_key key, uint32_t hash, int64_t first, progress *at) {
    int64_t rows = at->rows - first;
    const int32_t *row = out->row + first;
    wv_text_seen seen = {key, hash, (int32_t)rows, {rows > 0 ? row[0] : 0, rows > 1 ? row[1] : 0}};
    if (rows > WV_FEW_ROWS) {
        if (!out->most_words && kept_rows(&out->words) + rows > MOST_KEPT) forget_words(out);
        seen.row[0] = (int32_t)out->words.count;
        seen.row[1] = (int32_t)kept_rows(&out->words);
        if (append_word(&out->words, row, rows)) return WV_NO_MEMORY;
        if (out->most_words) {
            at->rows = first;
            out->row[at->rows++] = ~seen.row[0];
        }
    }
    *place_of(out, key) = seen;
    return 0;
}

static int add_hash(const wv_text_rules *rules, wv_text_rows *out, uint32_t hash, progress *at) {
    if (!rules->buckets || rules->word_ngrams < 2) return 0;
    if (grow((void **)&out->hash, &out->hash_capacity, at->hashes + 1, sizeof *out->hash)) return WV_NO_MEMORY;
    out->hash[at->hashes++] = hash;
    return 0;
}

static int add_word(const wv_text_rules *rules, wv_text_rows *out, const wv_text_word *token, progress *at) {
    const char *word = token->text;
    size_t length = token->length;
    int may_be_kept = out->before && token->slot;
    if (may_be_kept) {
        const wv_text_seen *before = place_of(out, token->key);
        if (before->key.low == token->key.low && before->key.high == token->key.high) {
            if (grow((void **)&out->row, &out->row_capacity, at->rows + before->rows + WV_FEW_ROWS, sizeof *out->row))
                return WV_NO_MEMORY;
            int32_t *to = out->row + at->rows;
            if (out->most_words && before->rows > WV_FEW_ROWS) {
                *to = ~before->row[0];
                at->rows++;
                return add_hash(rules, out, before->hash, at);
            }
            const int32_t *kept = rows_of(out, before);
            for (int i = 0; i < WV_FEW_ROWS; i++) to[i] = kept[i]; /* most words have no more: no branch asks how many */
            for (int32_t i = WV_FEW_ROWS; i < before->rows; i++) to[i] = kept[i];
            at->rows += before->rows;
            return add_hash(rules, out, before->hash, at);
        }
    }
    wv_slot *slot = token->slot ? wv_wordmap_seek(rules->map, token->key, token->slot, 1)
                                : wv_wordmap_find(rules->map, (const unsigned char *)word, length);
    if (slot && slot->id >= rules->words) {
        if (grow((void **)&out->label, &out->label_capacity, at->labels + 1, sizeof *out->label)) return WV_NO_MEMORY;
        out->label[at->labels++] = slot->id - rules->words;
        return 0;
    }
    if (!slot && length >= rules->prefix_length && memcmp(word, rules->prefix, rules->prefix_length) == 0) return 0;
    int64_t first = at->rows;
    uint32_t hash = rules->buckets && rules->word_ngrams > 1 ? wv_fasttext_hash(word, length) : 0;
    if (add_rows(rules, out, token, slot, at)) return WV_NO_MEMORY;
    if (may_be_kept && keep_word(out, token->key, hash, first, at)) return WV_NO_MEMORY;
    return add_hash(rules, out, hash, at);
}

/* Adds the word n-grams that begin with the first `firsts` words, which then go. */
static int add_word_ngrams(const wv_text_rules *rules, wv_text_rows *out, int64_t firsts, progress *at) {
    int64_t most = firsts * (rules->word_ngrams - 1);
    if (firsts == 0) return 0;
    if (grow((void **)&out->row, &out->row_capacity, at->rows + most, sizeof *out->row)) return WV_NO_MEMORY;
    int32_t *row = out->row + at->rows;
    int64_t count = wv_line_ngrams(out->hash, at->hashes, firsts, rules->word_ngrams, rules->buckets, row, most);
    at->rows += buckets_to_rows(rules, row, count);
    at->hashes -= firsts;
    memmove(out->hash, out->hash + firsts, (size_t)at->hashes * sizeof *out->hash);
    return 0;
}

/* Reads a line or a piece of it; bytes up to `readable` may be looked at. */
static int read_line(const wv_text_rules *rules, wv_text_rows *out, const char *text, const char *end,
                     const char *readable, int last, int bare_end, progress *at) {
    int64_t words = split(rules, out, text, end, readable, bare_end);
    int32_t *seen = out->seen + 2 * out->lines;
    seen[0] = seen[1] = 0;
    if (words < 0) return WV_NO_MEMORY;
    for (int64_t i = 0; i < words; i++) {
        const wv_text_word *word = out->word + i;
        if (i + NEAR < words) fetch_kept(out, word + NEAR);
        int64_t rows = at->rows + at->handed, labels = at->labels;
        if (add_word(rules, out, word, at)) return WV_NO_MEMORY;
        out->ended = is_end(word->text, word->length);
        int counts = at->labels == labels && !out->ended;
        seen[0] += counts;
        seen[1] += counts && at->rows + at->handed > rows;
        if (!at->taker.take) continue;
        if (at->hashes >= WORDS_AT_ONCE + rules->word_ngrams && add_word_ngrams(rules, out, WORDS_AT_ONCE, at))
            return WV_NO_MEMORY;
    }
    if ((last || out->ended) && add_word_ngrams(rules, out, at->hashes, at)) return WV_NO_MEMORY;
    return 0;
}

/* Makes room for one more line. */
static int grow_lines(wv_text_rows *out) {
    if (grow((void **)&out->start, &out->line_capacity, 2 * (out->lines + 2), sizeof *out->start)) return WV_NO_MEMORY;
    return grow((void **)&out->seen, &out->seen_capacity, 2 * (out->lines + 1), sizeof *out->seen);
}

int wv_text_rows_read(const wv_text_rules *rules, const char *text, size_t length, int bare_end, wv_text_rows *out) {
    progress now = {0};
    out->lines = 0;
    int has_ngrams = rules->buckets && (rules->maxn || rules->word_ngrams > 1);
    if (has_ngrams && !out->before && !(out->before = calloc(SEEN, sizeof *out->before))) return WV_NO_MEMORY;
    if (out->most_words && (out->words.count > out->most_words || kept_rows(&out->words) > MOST_KEPT)) forget_words(out);
    out->words.old = out->words.count;
    for (size_t at = 0; at < length;) {
        if (grow_lines(out)) return WV_NO_MEMORY;
        out->start[2 * out->lines] = now.rows;
        out->start[2 * out->lines + 1] = now.labels;
        const char *newline = memchr(text + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - text) : length;
        if (read_line(rules, out, text + at, text + end, text + length, 1, bare_end && !newline, &now)) return WV_NO_MEMORY;
        at = end + 1;
        out->lines++;
        out->start[2 * out->lines] = now.rows;
        out->start[2 * out->lines + 1] = now.labels;
    }
    return 0;
}

int wv_text_rows_piece(const wv_text_rules *rules, const char *text, size_t length, int last, int bare_end,
                       wv_row_taker taker, wv_text_rows *out) {
    progress now = {0, 0, out->hashes, 0, taker};
    out->lines = 0;
    if (grow_lines(out)) return WV_NO_MEMORY;
    out->start[1] = out->start[3] = out->seen[0] = out->seen[1] = 0;
    if (out->ended) return 0;
    int newline = length > 0 && text[length - 1] == '\n';
    const char *end = text + length;
    if (read_line(rules, out, text, end - newline, end, last, bare_end || !last, &now)) return WV_NO_MEMORY;
    hand_on(out, &now);
    out->start[3] = now.labels;
    out->hashes = now.hashes;
    return 0;
}

void wv_text_rows_free(wv_text_rows *rows) {
    free(rows->start);
    free(rows->row);
    free(rows->label);
    free(rows->seen);
    free(rows->hash);
    free(rows->word);
    free(rows->before);
    free(rows->words.start);
    free(rows->words.row);
    memset(rows, 0, sizeof *rows);
}
