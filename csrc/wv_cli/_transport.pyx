# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True, auto_pickle=False, autotestdict=False
"""Exact optimal transport: the Python face of core/transport. What is moved where is wv_cli.vectors.neighbors.transport's say."""

import numpy as np

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from wv_cli.core.transport cimport wv_transport, wv_transport_scratch


def least_cost(const double[:, ::1] cost, const int64_t[::1] supply, const int64_t[::1] demand) -> float:
    """The least sum of flow x cost (rows, columns) with row sums `supply` (rows) and column sums `demand` (columns).
    Raises ValueError for shapes that do not fit, masses below 1, sums that differ, and costs that are negative or not
    finite."""
    cdef int64_t rows = cost.shape[0], columns = cost.shape[1]
    cdef int64_t[::1] left, wanted
    cdef void *scratch
    cdef double total
    if rows == 0 or columns == 0 or supply.shape[0] != rows or demand.shape[0] != columns:
        raise ValueError(f"masses of {supply.shape[0]} and {demand.shape[0]} do not fit costs ({rows}, {columns})")
    given, asked, costs = np.array(supply), np.array(demand), np.asarray(cost)
    if given.min() < 1 or asked.min() < 1 or given.sum() != asked.sum():
        raise ValueError("masses must be at least 1, and of the same sum on both sides")
    if not (costs.min() >= 0 and costs.max() < np.inf):
        raise ValueError("costs must be finite and not negative")
    left, wanted = given, asked
    scratch = malloc(wv_transport_scratch(rows, columns))
    if scratch is NULL:
        raise MemoryError
    with nogil:
        total = wv_transport(rows, columns, &cost[0, 0], &left[0], &wanted[0], scratch)
    free(scratch)
    return total
