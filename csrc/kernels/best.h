/* The k best labels of a line (prediction.c). */
#ifndef WV_BEST_H
#define WV_BEST_H

#include <stdint.h>

/* A label and ln(p + 1e-5). */
typedef struct {
    float score;
    int32_t label;
} answer;

/* A heap of the best so far, the worst on top. The table of the sigmoid makes equal scores common, and which of them
 * stay and in what order depends on the heap: it is moved exactly as libstdc++'s push_heap and pop_heap move fastText's. */
typedef struct {
    int32_t size, capacity; /* answers has capacity + 1 */
    answer *answers;
} best;

static void sift_up(answer *heap, int32_t hole, answer value) {
    while (hole > 0 && heap[(hole - 1) / 2].score > value.score) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = value;
}

/* The top goes to heap[last]; heap[0 .. last) is a heap again. */
static void pop(answer *heap, int32_t last) {
    answer value = heap[last];
    heap[last] = heap[0];
    int32_t hole = 0, child = 0;
    while (child < (last - 1) / 2) {
        child = 2 * (child + 1);
        if (heap[child].score > heap[child - 1].score) child--;
        heap[hole] = heap[child];
        hole = child;
    }
    if (last % 2 == 0 && child == (last - 2) / 2) {
        child = 2 * (child + 1);
        heap[hole] = heap[child - 1];
        hole = child - 1;
    }
    sift_up(heap, hole, value);
}

static int is_too_low(const best *b, float score) { return b->size == b->capacity && score < b->answers[0].score; }

static void offer(best *b, float score, int32_t label) {
    sift_up(b->answers, b->size++, (answer){score, label});
    if (b->size > b->capacity) pop(b->answers, --b->size);
}

static int32_t best_first(best *b, int32_t *label, float *score) {
    for (int32_t last = b->size - 1; last > 0; last--) pop(b->answers, last);
    for (int32_t k = 0; k < b->size; k++) {
        label[k] = b->answers[k].label;
        score[k] = b->answers[k].score;
    }
    return b->size;
}

#endif
