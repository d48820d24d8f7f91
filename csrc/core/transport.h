/* The optimal transport of masses from rows to columns, exact: what a move of everything costs at least.
 *
 * Successive shortest paths (Jewell 1962; the shortest paths as in Jonker & Volgenant 1987): each row in turn sends its
 * mass along the cheapest paths of the residual graph, found by Dijkstra's method on costs that potentials keep from
 * being negative. Masses are whole numbers, so that the flow is exact; only the costs are rounded.
 */
#ifndef WV_TRANSPORT_H
#define WV_TRANSPORT_H

#include <stdint.h>

/* Bytes of scratch, aligned as for a double, that wv_transport wants. */
int64_t wv_transport_scratch(int64_t rows, int64_t columns);

/* The least sum of flow[i][j] cost[i][j] (rows, columns) with row sums supply (rows) and column sums demand (columns).
 * Costs are finite and not negative, masses positive; both sums are the same and, like each product of a mass and a
 * count, fit an int64. Supply and demand are used up. */
double wv_transport(int64_t rows, int64_t columns, const double *cost, int64_t *supply, int64_t *demand,
                    void *scratch);

#endif
