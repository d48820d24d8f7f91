"""Word mover's distance between bags of vectors: what it costs at least to turn one into the other (Kusner, Sun,
Kolkin, Weinberger: From word embeddings to document distances, ICML 2015).

A bag is different vectors and how often each occurs; its masses are shares of all occurrences, and moving a mass costs
the Euclidean distance. `least_cost` is exact (csrc/core/transport.c). `relaxed` is never above it and costs no more
than a look at every pair: each vector goes to its nearest, whatever the others do (RWMD); the larger of both ways.
"""

import math

import numpy as np
from numpy.typing import NDArray

from wv_cli import _transport

Counts = NDArray[np.int64]
Costs = NDArray[np.float64]

_BLOCK = 1 << 22  # costs looked at together by `relaxed`


def distances(a: NDArray[np.floating], b: NDArray[np.floating]) -> Costs:
    """(n, m) Euclidean distances between the rows of a (n, dim) and b (m, dim); exactly 0 between equal ones."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    own = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1)
    squares = np.maximum(own - 2 * (x @ y.T), 0)
    # Of rows that are nearly the same the difference of large numbers is mostly rounding.
    close = np.nonzero(squares <= 1e-9 * own)
    squares[close] = ((x[close[0]] - y[close[1]]) ** 2).sum(axis=1)
    roots: Costs = np.sqrt(squares)
    return roots


def least_cost(cost: Costs, a: Counts, b: Counts) -> float:
    """The distance between bags with counts a (n,) and b (m,), of costs (n, m)."""
    all_a, all_b = int(a.sum()), int(b.sum())
    common = math.gcd(all_a, all_b)
    # Shares as whole numbers: a of all_a and b of all_b, both of their common multiple.
    supply, demand = a * (all_b // common), b * (all_a // common)
    return _transport.least_cost(np.ascontiguousarray(cost), supply, demand) / (all_a // common * all_b)


def bound_costs(cost: Costs, a: Counts, columns: NDArray[np.int64], b: Counts, starts: NDArray[np.int64]) -> Costs:
    """(bags,): bounds below the distances of the bag with counts a (n,) and each of several, none empty. Bag i has the
    vectors columns[starts[i]:starts[i + 1]] of cost (n, m), with the counts b of the same places."""
    shares = a / a.sum()
    nearest = cost.min(axis=0)
    there = np.empty(len(starts) - 1)
    step = max(1, _BLOCK // max(1, len(a)))
    first = 0
    while first < len(there):
        end = max(first + 1, int(np.searchsorted(starts, starts[first] + step, "right")) - 1)
        part = columns[starts[first] : starts[end]]
        least = np.minimum.reduceat(cost[:, part], starts[first:end] - starts[first], axis=1)
        there[first:end] = shares @ least
        first = end
    back = np.add.reduceat(nearest[columns] * b, starts[:-1]) / np.add.reduceat(b, starts[:-1])
    return np.maximum(there, back)
