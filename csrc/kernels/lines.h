/* From ids to rows: a line of a labelled corpus as the classifier sees it, by fastText's rules.
 *
 * A line is read in two steps, so that the bucket table is in the cache when the second reads it:
 *   read_line     words and labels; the rows of words and of their character n-grams, and the buckets of word n-grams
 *   find_rows     buckets -> rows
 */
#ifndef WV_LINES_H
#define WV_LINES_H

#include "kernels/buckets.h"
#include "kernels/wv_kernels.h"

typedef struct {
    int live;         /* there is a line in it */
    int64_t position; /* where it begins in the corpus */
    int64_t words, rows, labels, buckets;
    float weight;
    int32_t *word;   /* ids, `</s>` last */
    int32_t *row;    /* rows of words first; then one per bucket */
    int32_t *bucket; /* NULL when there are no word n-grams */
    int32_t *label;
} text_line;

/* Adds the buckets of the word n-grams of length 2 .. word_ngrams: h = h * 116049371 + hash, where a hash is an int32
 * that is widened with its sign. */
static void add_word_ngrams(const wv_line_rules *rules, text_line *line) {
    uint32_t buckets = rules->buckets;
    uint64_t scale = UINT64_MAX / buckets;
    int64_t n = 0;
    for (int64_t i = 0; i < line->words; i++) {
        uint64_t h = (uint64_t)(int64_t)rules->hash[line->word[i]];
        int64_t end = i + rules->word_ngrams < line->words ? i + rules->word_ngrams : line->words;
        for (int64_t j = i + 1; j < end; j++) {
            h = h * 116049371u + (uint64_t)(int64_t)rules->hash[line->word[j]];
            uint32_t bucket = bucket_of(h, buckets, scale);
            __builtin_prefetch(rules->bucket_row + bucket);
            line->bucket[n++] = (int32_t)bucket;
        }
    }
    line->buckets = n;
}

/* Reads the line at `position`, which is below `end`; returns where the next one begins. With line->row NULL it only
 * counts. */
static int64_t read_line(const wv_line_rules *rules, const int32_t *ids, int64_t position, int64_t end,
                         text_line *line) {
    int64_t words = 0, rows = 0, labels = 0;
    line->position = position;
    line->weight = 1;
    for (int ended = 0; !ended && position < end;) {
        int32_t id = ids[position++];
        if (id <= WV_FIRST_LABEL) {
            int32_t label = WV_FIRST_LABEL - id;
            if (rules->line_weight && label >= rules->labels) {
                line->weight *= rules->line_weight[label - rules->labels];
                continue;
            }
            if (line->label) line->label[labels] = label;
            labels++;
            continue;
        }
        if (id == WV_END_OF_LINE || id == rules->end_of_line) {
            id = rules->end_of_line;
            ended = 1;
            if (id < 0) break;
        }
        if (line->word) line->word[words] = id;
        words++;
        if (rules->word_start) {
            for (int64_t k = rules->word_start[id]; k < rules->word_start[id + 1]; k++) {
                if (line->row) line->row[rows] = rules->word_row[k];
                rows++;
            }
        } else if (id < rules->words) {
            if (line->row) line->row[rows] = id;
            rows++;
        }
    }
    line->words = words;
    line->rows = rows;
    line->labels = labels;
    line->buckets = 0;
    if (rules->hash && line->bucket) add_word_ngrams(rules, line);
    return position;
}

/* Appends the rows of the line's buckets that have one. */
static void find_rows(const wv_line_rules *rules, text_line *line) {
    int64_t rows = line->rows;
    for (int64_t k = 0; k < line->buckets; k++) {
        line->row[rows] = rules->bucket_row[line->bucket[k]];
        rows += line->row[rows] >= 0;
    }
    line->rows = rows;
}

#endif
