/* Work on a finished id stream (core/tokenizer.h says what that is): giving it its final ids, and its fingerprint. */
#ifndef WV_IDSTREAM_H
#define WV_IDSTREAM_H

#include <stdint.h>

/* A 256-bit fingerprint of an id stream, at the speed of memory. It tells streams apart that differ by accident; it is
 * not cryptographic. The result does not depend on how the stream is cut into calls. */
typedef struct {
    uint64_t lanes[4];
    uint64_t length;   /* ids so far */
    int32_t pending[8]; /* the last length % 8 ids */
} wv_fingerprint;
void wv_fingerprint_init(wv_fingerprint *fingerprint);
void wv_fingerprint_update(wv_fingerprint *fingerprint, const int32_t *ids, int64_t length);
void wv_fingerprint_finish(wv_fingerprint *fingerprint);

/* Replaces provisional ids by final ones, in place, and drops lines that become empty, unless `every_line`. `lookup` has one entry per provisional
 * id: the final id, -1 to drop, or less for a label. What is kept goes into the fingerprint. Several calls continue one
 * stream through `state`. Returns the ids kept in this call, which stand at ids[0 ..]. */
typedef struct {
    int32_t last_id;       /* start with WV_END_OF_LINE */
    int64_t tokens, lines; /* kept so far; labels are tokens */
    int every_line;        /* 1: all line ends stay */
} wv_remap_state;
int64_t wv_remap(int32_t *ids, int64_t length, const int32_t *lookup, wv_remap_state *state,
                 wv_fingerprint *fingerprint);

#endif
