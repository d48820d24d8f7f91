/* From ids to rows: a line of a labeled corpus as the classifier sees it, by fastText's rules. */
#ifndef WV_LINES_H
#define WV_LINES_H

#include "kernels/wv_kernels.h"

typedef struct {
    int live;         /* there is a line in it */
    int64_t position; /* where it begins in the corpus */
    int64_t words, rows, labels;
    float weight;
    int32_t *row; /* rows of words and their character n-grams; then those of word n-grams */
    int32_t *label;
} text_line;

/* Reads the line at `position`, which is below `end`; returns where the next one begins. With line->row NULL it only
 * counts, all but the rows of word n-grams. */
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
    if (rules->ngram_row && line->row) {
        int64_t each = rules->word_ngrams - 1;
        for (int64_t k = line->position * each; k < position * each; k++) {
            line->row[rows] = rules->ngram_row[k];
            rows += rules->ngram_row[k] >= 0;
        }
    }
    line->words = words;
    line->rows = rows;
    line->labels = labels;
    return position;
}

#endif
