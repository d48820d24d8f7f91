/* BioWord: the structs between kernels/bioword.c and wv_cli/_bioword.pyx. */
#ifndef WV_BIOWORD_H
#define WV_BIOWORD_H

#include <stdint.h>

#include "core/barrier.h"

/* A weight that a batch changes. */
typedef struct {
    double signal; /* ds = how often the input was active / its frequency */
    double weight; /* before the update */
    int32_t row;
} wv_bioword_entry;

/* A run: weights and what goes with them, shared by all threads. W[row, cell] = scale[cell] * raw[row, cell]. */
typedef struct {
    int32_t words, cells, stride; /* stride: cells rounded up to WV_ROW_FLOATS */
    int32_t window;               /* words of context on each side */
    int32_t threads;
    float *raw;             /* (2 words, cells): rows of context words, then rows of words in the middle */
    double *scale;          /* (cells), above 0 */
    double *norm2;          /* (cells): |W[:, cell]|^2, for the energy only */
    float *largest;         /* (cells): no |raw| of the cell is larger */
    const double *inverse;  /* (words): 1 / frequency */
    const int32_t *ids;     /* (length): the corpus */
    int64_t length;
    /* The batch; room for its largest number of ids. */
    int32_t *winner; /* by id of the batch; -1 at a line's end */
    /* (cells) each: <W, ds>; sum of ds^2; the largest |ds - xx W| among the touched inputs, in a second pass of all;
     * the cell's entries within its thread's. */
    double *xx, *signal2, *touched;
    int32_t *first, *last;
    wv_barrier barrier;
} wv_bioword_run;

/* One thread's room. */
typedef struct {
    float *scores;             /* (stride), aligned to 64 bytes */
    float *scales;             /* (stride), aligned to 64 bytes */
    const float **rows;        /* (2 window + 1) */
    int32_t *inputs;           /* (2 window + 1) */
    int32_t *order;            /* ids of the largest batch */
    int32_t *starts;           /* (cells + 1) */
    int32_t *active;           /* (2 words), zero between batches */
    wv_bioword_entry *entries; /* (2 window + 1) * windows of the largest batch */
} wv_bioword_room;

#endif
