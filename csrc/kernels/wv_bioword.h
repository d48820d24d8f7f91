/* BioWord: the structs between kernels/bioword.c and wv_cli/_bioword.pyx. */
#ifndef WV_BIOWORD_H
#define WV_BIOWORD_H

#include <stdint.h>

/* A run: weights and what goes with them, shared by all threads. W[row, cell] = scale[cell] * raw[row, cell]. */
typedef struct {
    int32_t words, cells, stride; /* stride: cells rounded up to WV_ROW_FLOATS */
    int32_t window;               /* words of context on each side */
    int32_t bag;                  /* a word that stands in a context twice counts once */
    float *raw;             /* (2 words, cells): rows of context words, then rows of words in the middle */
    double *scale;          /* (cells), above 0 */
    double *norm2;          /* (cells): |W[:, cell]|^2, for the energy only */
    float *largest;         /* (cells): no |raw| of the cell is larger */
    const double *inverse;  /* (words): 1 / frequency */
    const int32_t *ids;     /* (length): the corpus */
    int64_t length;
    int64_t longest_batch;  /* ids of the largest batch */
    /* The batch. (longest_batch): the cell that won, by id of the batch; -1 at a line's end */
    int32_t *winner;
    /* (cells) each: <W, ds>; sum of ds^2; the largest |ds - xx W| among the touched inputs, after a scan of all; the
     * cell's entries in the scratch space that gathered them. */
    double *xx, *signal2, *touched;
    int32_t *first, *last;
} wv_bioword_run;

/* What a batch comes to, all cells together. */
typedef struct {
    double energy;
    double most; /* the largest |ds - xx W| known so far */
    int scans;   /* whether an input that was not touched may change by more in some cell */
} wv_bioword_survey;

#endif
