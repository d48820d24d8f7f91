/* The text classifier: the structs of kernels/supervised.c and kernels/prediction.c. */
#ifndef WV_SUPERVISED_H
#define WV_SUPERVISED_H

#include <stdint.h>

#include "base/wv_shared.h"

/* What the user chooses. Every field is the attribute of its name of SupervisedConfig (wv_cli/models/config.py). */
typedef struct {
    wv_loss loss; /* the output layer */
    int32_t dim;
    int32_t negative;
    float lr; /* falls linearly with the position in the run, to 0 */
    int32_t epochs;
    float dropout; /* share of the numbers of a line's vector that are left out */
    uint64_t seed;
} wv_supervised_options;

/* How the ids of a line become rows of the input matrix. A line ends with WV_END_OF_LINE or with the word `</s>`, which is
 * its last word in both cases, as in fastText. */
typedef struct {
    int32_t words;              /* words with a row of their own: ids below it */
    int32_t end_of_line;        /* id of `</s>`, -1 when it has neither a row nor a hash */
    const int64_t *word_start;  /* (ids + 1) or NULL: word id has the rows word_row[word_start[id]] .. */
    const int32_t *word_row;    /* character n-grams, and the word's own row first; NULL: row = id */
    const int32_t *hash;        /* (ids): fastText's hash of every word; NULL: no word n-grams */
    int32_t word_ngrams;        /* longest word n-gram */
    uint32_t buckets;
    int32_t *bucket_row;        /* (buckets): row of every bucket, -1 when it does not occur, -2 when it has been pruned away */
    int32_t *ngram_row;         /* (ids of the corpus, word_ngrams - 1): rows of the n-grams that begin there, below 0 for none */
    int32_t labels;             /* labels from this number on are weights of their line: */
    const float *line_weight;   /* that of label `labels` + i is line_weight[i]; NULL: there are none */
} wv_line_rules;

/* What a corpus needs: sizes of the largest line, and how many rows have been given out. */
typedef struct {
    int64_t lines, examples, rows; /* all lines; those with a label and a row; rows of all lines */
    int64_t longest_words, longest_rows, longest_labels;
    int32_t next_row;
} wv_line_survey;

/* A training run; what does not change while it runs, except the matrices (Hogwild). A table that the output layer does
 * not read is NULL. */
typedef struct {
    wv_supervised_options options;
    wv_line_rules rules;
    int64_t longest_rows, longest_labels; /* from the survey */
    int32_t labels, stride;
    float *input;  /* (rows, dim) */
    float *output; /* (labels, dim); hierarchical softmax: (labels - 1, dim), one row per inner node */
    int64_t epoch_ids;         /* ids in the corpus: with `epochs` the length of the schedule */
    const float *class_weight; /* (labels): what an update for the label counts; NULL: all count 1 */
    const wv_alias *sampler;   /* (labels): noise distribution of negative sampling */
    const int64_t *path_start; /* (labels + 1): path of a label, root first ... */
    const int32_t *path;       /* ... twice the row of `output`, plus the bit, which is what the node is to answer */
    int32_t longest_path;
} wv_supervised_run;

/* One thread's private copy of all rows of `output`, and what these were at the last exchange (replicas.h): (rows, dim),
 * zero before the first block, as is `left`. rows 0: the thread works on the shared rows. */
typedef struct {
    int32_t rows;
    int32_t interval; /* examples between two exchanges */
    int32_t left;     /* examples until the next one */
    float *output, *base;
    const float *share; /* (rows): of a change, what is added to the shared row */
} wv_private_outputs;

/* Of a model that answers: fields of FastTextArgs (wv_cli/vectors/fasttext.py). */
typedef struct {
    wv_loss loss;
} wv_prediction_options;

/* Labels for lines whose rows are known: rows of line i are row[start[i]] .. row[start[i + 1] - 1]. */
typedef struct {
    wv_prediction_options options;
    int32_t labels, dim, stride;
    const char *input;   /* (rows, row_bytes), beginning at any byte: dim floats, or a code for every dsub numbers */
    int32_t row_bytes, dsub;
    const char *centroids; /* of a product quantizer (wv_cli/vectors/quantizer.py), beginning at any byte; NULL for floats */
    const uint8_t *norm_code; /* (rows): which of the floats of `norms` each row is multiplied by; or NULL */
    const char *norms;
    const float *output; /* (labels, dim) or (labels - 1, dim), padded and aligned */
    const int32_t *left, *right; /* (2 labels - 1): the tree of hierarchical softmax; leaves -1. Else NULL */
    const float *sigmoid;        /* fastText's table, 513 values */
    uint32_t *row_score; /* (rows, labels): bits of the scores of rows, 0 until a row is met; or NULL. No tree then */
    const uint8_t *wanted; /* (labels) or of a tree (2 labels - 1): not 0 for the labels that are asked for, and for nodes
                              with one of them below; NULL: all */
    int32_t k;
    float threshold;
} wv_prediction_run;

/* Words that lines have again and again: word w has the rows row[start[w]] .. row[start[w + 1] - 1] of the input, whose
 * sum is kept. */
typedef struct {
    int64_t words, summed; /* how many there are; how many of them have sums */
    const int64_t *start;  /* (words + 1) */
    const int32_t *row;
    float *sum; /* (words, stride), aligned */
} wv_prediction_words;

/* Lines whose labels are asked for. */
typedef struct {
    int64_t lines;
    const int64_t *start; /* (lines + 1): line i has the rows row[start[i]] .. row[start[i + 1] - 1] of the input */
    const int32_t *row;   /* ~w, below 0: the rows of word w. None of them with scores of rows */
    wv_prediction_words known;
} wv_prediction_lines;

/* And what becomes known of them: found[line] of the (lines, k) count. */
typedef struct {
    int32_t *label, *found;
    float *score; /* ln(p + 1e-5) */
} wv_prediction_answers;

#endif
