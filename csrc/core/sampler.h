/* Discrete distributions in constant time per draw: Walker's alias method, built by Vose's algorithm (1991). */
#ifndef WV_SAMPLER_H
#define WV_SAMPLER_H

#include <stdint.h>

#include "base/wv_shared.h"

/* Fills table (n) so that a draw takes bucket b uniform in 0 .. n-1 and a 32-bit coin, and answers b when
 * coin < table[b].threshold, else table[b].other. weights (n) are >= 0 with a positive sum and are overwritten; work is
 * scratch of n int32. Probabilities are exact to 2^-32.
 * 8 bytes a word: word2vec's table of 10^8 entries costs it a third of its speed in cache misses. */
void wv_alias_build(int32_t n, double *weights, wv_alias *table, int32_t *work);

#endif
