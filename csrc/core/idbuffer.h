/* The memory of an id stream that grows while a text is read.
 *
 * A long one is mapped by itself, in steps so large that most texts need one, and asks for pages of 2 MB: a system hands
 * memory out page by page, and page by page of 4 KB that takes a quarter of the time of reading a text. Pages that are
 * never touched cost nothing. Elsewhere than on Linux, and as long as it is short, it comes from the heap.
 */
#ifndef WV_IDBUFFER_H
#define WV_IDBUFFER_H

#include <stdint.h>

typedef struct {
    int32_t *ids;
    int64_t length, capacity; /* {NULL, 0, 0} is an empty one */
} wv_idbuffer;

/* Room for `more` ids behind the last; may move them. 0, or -1: out of memory, and nothing has changed. */
int wv_idbuffer_reserve(wv_idbuffer *buffer, int64_t more);
/* Gives back what stands behind the last id, as whole pages; may move the ids. */
void wv_idbuffer_fit(wv_idbuffer *buffer);
/* Gives all back: {NULL, 0, 0}. */
void wv_idbuffer_free(wv_idbuffer *buffer);

#endif
