/* Private copies of rows that all threads use all the time.
 *
 * Without them the few hundred most frequent rows travel from core to core at every step, 50 to 500 ns each time. With
 * them each thread works on its own copy and now and then adds what it has changed to the shared rows (Vuurens et al.
 * 2016 do so for the top of the Huffman tree):
 *
 *     shared += copy - base;   copy = base = shared
 */
#ifndef WV_HOTROWS_H
#define WV_HOTROWS_H

#include <stddef.h>

/* copy = base = shared, n floats. */
void wv_hot_load(size_t n, const float *shared, float *restrict copy, float *restrict base);
/* The exchange above. Two threads must not exchange the same rows at once. */
void wv_hot_exchange(size_t n, float *restrict shared, float *restrict copy, float *restrict base);

#endif
