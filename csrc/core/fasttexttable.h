/* The word table of fastText's model files: for each entry the word, a NUL, int64 count, int8 type; nothing is aligned.
 *
 * Read in two walks, so that the caller allocates only what the data really holds, whatever its header promises.
 */
#ifndef WV_FASTTEXTTABLE_H
#define WV_FASTTEXTTABLE_H

#include <stdint.h>

typedef struct {
    int64_t entries;    /* whole entries found, at most as many as asked for */
    int64_t word_bytes; /* of their words, without NULs */
    int64_t consumed;   /* of the data */
} wv_table_size;

wv_table_size wv_table_measure(const char *data, int64_t size, int64_t entries);
/* Fills blob (word_bytes), starts (entries + 1), counts and types (entries) from data that was measured. */
void wv_table_read(const char *data, int64_t entries, char *blob, int64_t *starts, int64_t *counts, int8_t *types);

/* Writes the entries first .. last of (blob, starts, counts), all of one type, and returns their bytes: those of the words
 * and 10 for each. */
int64_t wv_table_write(const char *blob, const int64_t *starts, const int64_t *counts, int8_t type, int64_t first,
                       int64_t last, char *out);

#endif
