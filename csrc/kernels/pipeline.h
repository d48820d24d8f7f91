/* A pipeline: items (tiles, lines, sentences) on their way through the stages of a kernel, one item in each stage.
 *
 *     stage 0            enter: the item is read or drawn; memory that the next stage reads is asked for
 *     stage 1            list: its rows are listed, where `enter` does not
 *     `fetched`          the item that is trained meanwhile asks for its rows, a few lines at a time
 *     ...                the rows are on their way
 *     stages - 1         train
 *
 * A step moves every item one stage further. So nothing waits for memory: what an item reads was asked for a step
 * before.
 */
#ifndef WV_PIPELINE_H
#define WV_PIPELINE_H

#include <stddef.h>

#include "base/lanes.h"

enum { PIPELINE_MOST = 5 };

/* `block` is the kernel's state, `kind` whatever it chose for the block; both are handed on as they are. */
typedef struct {
    int stages, fetched; /* stages <= PIPELINE_MOST */
    int (*enter)(void *block, const void *kind, void *item); /* 0: there are no more items */
    void (*list)(void *block, const void *kind, void *item);
    void (*train)(void *block, const void *kind, void *item, const void *fetched);
} pipeline;

/* Runs all items through the stages. items[0 .. count), `size` bytes each, are the memory for as many as there are stages.
 * With constants `line` and `kind` the functions are called directly. */
WV_INLINE void pipeline_run(const pipeline *line, void *block, const void *kind, void *items, size_t size) {
    void *item[PIPELINE_MOST];
    int live[PIPELINE_MOST];
    int last = line->stages - 1;
    for (int k = 0; k <= last; k++) {
        item[k] = (char *)items + (size_t)k * size;
        live[k] = 0;
    }
    for (int steps = last; steps > 0;) { /* steps that the last item needs to be trained */
        void *done = item[last];
        for (int k = last; k > 0; k--) {
            item[k] = item[k - 1];
            live[k] = live[k - 1];
        }
        item[0] = done;
        live[0] = line->enter(block, kind, item[0]);
        if (!live[0]) steps--;
        if (line->list && live[1]) line->list(block, kind, item[1]);
        if (live[last]) line->train(block, kind, item[last], item[line->fetched]);
    }
}

#endif
