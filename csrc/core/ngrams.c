#include "core/ngrams.h"

#include <stdlib.h>
#include <string.h>

int64_t wv_ngrams_windows(const int32_t *stream, int64_t n, int32_t order, int32_t *ids, uint8_t *lengths) {
    int64_t places = 0, begin = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || stream[i - 1] < 0) {
            begin = places;
            ids[places++] = WV_SENTENCE;
        }
        ids[places++] = stream[i] < 0 ? WV_SENTENCE_END : stream[i];
        if (stream[i] >= 0) continue;
        for (int64_t place = begin; place < places; place++)
            lengths[place] = (uint8_t)(places - place < order ? places - place : order);
    }
    return places;
}

static inline int32_t id_at(const wv_ngram_windows *windows, int64_t position, int32_t k) {
    return k < windows->lengths[position] ? windows->ids[position + k] : 0;
}

/* Least significant word first; each pass keeps the order of equal words. */
void wv_ngrams_sort(const wv_ngram_windows *windows, int32_t low, int32_t high, int64_t found, int32_t *positions,
                    int32_t *spare, int64_t *counts) {
    const int32_t *ids = windows->ids, order = windows->order, words = windows->words;
    int32_t *from = order % 2 ? spare : positions, *to = order % 2 ? positions : spare;
    for (int64_t i = 0, next = 0; i < windows->n && next < found; i++)
        if (low <= ids[i] && ids[i] < high) from[next++] = (int32_t)i;
    for (int32_t k = order - 1; k >= 0; k--) {
        memset(counts, 0, ((size_t)words + 1) * sizeof *counts);
        for (int64_t i = 0; i < found; i++) counts[id_at(windows, from[i], k) + 1]++;
        for (int32_t word = 0; word < words; word++) counts[word + 1] += counts[word];
        for (int64_t i = 0; i < found; i++) to[counts[id_at(windows, from[i], k)]++] = from[i];
        int32_t *other = from;
        from = to;
        to = other;
    }
}

static inline int64_t count_of(const int32_t *record, int32_t order) {
    int64_t count;
    memcpy(&count, record + order, sizeof count);
    return count;
}

static inline void set_count(int32_t *record, int32_t order, int64_t count) {
    memcpy(record + order, &count, sizeof count);
}

/* Below 0, 0 or above 0, as the ids of `a` and `b` compare. */
static inline int compared(const int32_t *a, const int32_t *b, int32_t order) {
    for (int32_t k = 0; k < order; k++)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

static int same(const wv_ngram_windows *windows, int64_t a, int64_t b) {
    const int32_t *ids = windows->ids;
    uint8_t length = windows->lengths[a];
    return length == windows->lengths[b] && memcmp(ids + a, ids + b, length * sizeof *ids) == 0;
}

int64_t wv_ngrams_records(const wv_ngram_windows *windows, const int32_t *positions, int64_t *at, int32_t *records,
                          int64_t capacity) {
    int64_t written = 0, i = *at, n = windows->n;
    int32_t order = windows->order;
    for (; i < n && written < capacity; written++) {
        int32_t position = positions[i], *record = records + written * wv_record_width(order);
        for (int32_t k = 0; k < order; k++) record[k] = id_at(windows, position, k);
        int64_t begin = i++;
        while (i < n && same(windows, position, positions[i])) i++;
        set_count(record, order, i - begin);
    }
    *at = i;
    return written;
}

static const int32_t *head(const wv_ngram_runs *runs, int32_t run) {
    return runs->records + runs->first[run] * wv_record_width(runs->order);
}

static int run_before(const wv_ngram_runs *runs, int32_t a, int32_t b) {
    return compared(head(runs, a), head(runs, b), runs->order) < 0;
}

/* Lets the run at heap[place] sink to where none below it comes before it. */
static void sink(const wv_ngram_runs *runs, int32_t size, int32_t place) {
    int32_t *heap = runs->heap;
    for (;;) {
        int32_t least = place;
        for (int32_t child = 2 * place + 1; child <= 2 * place + 2 && child < size; child++)
            if (run_before(runs, heap[child], heap[least])) least = child;
        if (least == place) return;
        int32_t run = heap[place];
        heap[place] = heap[least];
        heap[least] = run;
        place = least;
    }
}

int64_t wv_ngrams_merge(const wv_ngram_runs *runs, int32_t *pending, int32_t *out, int64_t capacity) {
    const int32_t order = runs->order;
    const int64_t width = wv_record_width(order);
    int32_t size = 0, *heap = runs->heap;
    int64_t written = 0;
    for (int32_t run = 0; run < runs->runs; run++) {
        if (runs->first[run] < runs->last[run]) heap[size++] = run;
        else if (runs->more[run]) return 0;
    }
    for (int32_t place = size / 2; place-- > 0;) sink(runs, size, place);
    while (size > 0) {
        int32_t run = heap[0];
        const int32_t *record = head(runs, run);
        if (pending[0] && compared(pending, record, order) == 0) {
            set_count(pending, order, count_of(pending, order) + count_of(record, order));
        } else {
            if (pending[0]) {
                if (written == capacity) return written;
                memcpy(out + written++ * width, pending, (size_t)width * sizeof *out);
            }
            memcpy(pending, record, (size_t)width * sizeof *pending);
        }
        if (++runs->first[run] == runs->last[run]) {
            if (runs->more[run]) return written;
            heap[0] = heap[--size];
        }
        sink(runs, size, 0);
    }
    return written;
}

void wv_ngram_builder_init(wv_ngram_builder *builder, int32_t order) {
    memset(builder, 0, sizeof *builder);
    builder->order = order;
}

void wv_ngram_builder_free(wv_ngram_builder *builder) {
    for (int32_t level = 0; level < WV_LARGEST_ORDER; level++) {
        free(builder->levels[level].word);
        free(builder->levels[level].first);
        free(builder->levels[level].count);
    }
    memset(builder, 0, sizeof *builder);
}

static int grow(wv_ngram_level *level) {
    int64_t capacity = level->capacity ? level->capacity + level->capacity / 2 : 1 << 12;
    void *word = realloc(level->word, (size_t)capacity * sizeof *level->word);
    if (word) level->word = word;
    void *first = realloc(level->first, (size_t)capacity * sizeof *level->first);
    if (first) level->first = first;
    void *count = realloc(level->count, (size_t)capacity * sizeof *level->count);
    if (count) level->count = count;
    if (!word || !first || !count) return -1;
    level->capacity = capacity;
    return 0;
}

int wv_ngram_builder_add(wv_ngram_builder *builder, const int32_t *records, int64_t n) {
    int32_t order = builder->order;
    for (int64_t i = 0; i < n; i++) {
        const int32_t *record = records + i * wv_record_width(order);
        int32_t shared = 0;
        while (builder->started && shared < order && record[shared] == builder->last[shared]) shared++;
        if (builder->started && shared < order && record[shared] < builder->last[shared]) return -2;
        for (int32_t k = 0; k < order && (k == 0 || record[k]); k++) {
            wv_ngram_level *level = &builder->levels[k];
            if (k >= shared) {
                if (level->size == level->capacity && grow(level)) return -1;
                if (level->taken + level->size == INT32_MAX) return -1;
                level->word[level->size] = record[k];
                level->first[level->size] =
                    k + 1 < order ? (int32_t)(builder->levels[k + 1].taken + builder->levels[k + 1].size) : 0;
                level->count[level->size++] = 0;
            }
            level->count[level->size - 1] += count_of(record, order);
        }
        memcpy(builder->last, record, (size_t)order * sizeof *record);
        builder->started = 1;
    }
    return 0;
}

int32_t wv_ngram_child(const wv_ngram_trie *trie, int32_t node, int32_t word) {
    if (node < 0) return word;
    if (node >= trie->levels[trie->order - 1]) return WV_NO_NODE;
    int32_t low = trie->first[node], high = trie->first[node + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (trie->word[middle] < word)
            low = middle + 1;
        else
            high = middle;
    }
    return low < trie->first[node + 1] && trie->word[low] == word ? low : WV_NO_NODE;
}

int32_t wv_ngram_suffix(const wv_ngram_trie *trie, int32_t node, int32_t word) {
    int32_t found;
    do {
        node = trie->suffix[node];
        found = wv_ngram_child(trie, node, word);
    } while (found < 0);
    return found;
}

int64_t wv_ngram_link(const wv_ngram_trie *trie, int32_t length, int64_t begin, int64_t end, int32_t low, int32_t high,
                      int32_t *suffix) {
    int64_t lacking = 0;
    for (int64_t node = begin; node < end; node++) {
        if (suffix[node] < low || suffix[node] >= high) continue;
        for (int32_t child = trie->first[node]; child < trie->first[node + 1]; child++) {
            suffix[child] = wv_ngram_suffix(trie, (int32_t)node, trie->word[child]);
            lacking += suffix[child] < trie->levels[length - 1];
        }
    }
    return lacking;
}
