"""A linear map between two spaces that is learnt by what it is used for, retrieval by CSLS (Joulin et al. 2018, "Loss
in Translation"; fastText's alignment).

Of unit vectors x, y of n pairs, with N_Y(x W) the k rows y' of largest inner product with x W, and N_X(y) the k rows x'
whose x' W has the largest with y, what falls is the mean over the pairs of

    - 2 x W . y  +  mean over y' in N_Y(x W) of x W . y'  +  mean over x' in N_X(y) of x' W . y

by gradient steps from an orthogonal W; W is then no rotation. A step that makes it worse is taken back, and the next
are half as long. Sums are float64, a block of pairs at a time; the neighbors are searched in float32.
"""

import numpy as np
from numpy.typing import NDArray

from wv_cli.transforms.align import CSLS_NEIGHBORS, Matrix, Pairs, blocks, find_directed, map_rows, unit
from wv_cli.vectors.neighbors.exact import Neighbors

_BLOCK = 1 << 12  # pairs, each with its neighbors' vectors
_FIRST_STEP = 1.0  # as its authors'


class Criterion:
    """What W should make small, over the pairs, which have directions; neighbors are looked for among the first `rows`
    rows of x (n, dim) and of y (m, dim)."""

    def __init__(self, x: Matrix, y: Matrix, pairs: Pairs, *, rows: int, threads: int = 0) -> None:
        self._x, self._y, self._pairs, self._threads = x, y, pairs, threads
        self._sources, self._targets = (_unit32(each[:rows]) for each in (x, y))
        self._near_targets = Neighbors(self._targets, threads=threads)

    def __call__(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """(the criterion, its gradient (dim, dim)) at W, the neighbors as they are there."""
        loss, gradient = 0.0, np.zeros_like(w)
        near_sources = _equally_long(map_rows(self._sources, w), self._threads)
        for block in blocks(self._pairs, _BLOCK):
            x, y = unit(self._x[block[:, 0]]), unit(self._y[block[:, 1]])
            moved = x @ w
            pull = _mean_of_nearest(self._targets, self._near_targets, moved) - 2 * y
            nearest = _mean_of_nearest(self._sources, near_sources, np.pad(y, ((0, 0), (0, 1))))
            loss += float(np.sum(moved * pull) + np.sum(nearest @ w * y))
            gradient += x.T @ pull + nearest.T @ y
        return loss / len(self._pairs), gradient / len(self._pairs)


def descend(criterion: Criterion, w: NDArray[np.float64], steps: int) -> tuple[NDArray[np.float64], list[float]]:
    """(W after so many steps, the criterion before the first and after each)."""
    length = _FIRST_STEP
    loss, gradient = criterion(w)
    losses = [loss]
    for _ in range(steps):
        tried = w - length * gradient
        reached, then = criterion(tried)
        if reached < loss:
            w, loss, gradient = tried, reached, then
        else:
            length /= 2
        losses.append(loss)
    return w, losses


def _unit32(rows: Matrix) -> Matrix:
    """Those with directions, brought to length 1."""
    return unit(rows[find_directed(rows)]).astype(np.float32)


def _equally_long(rows: Matrix, threads: int) -> Neighbors:
    """Of `rows` (n, dim) with a number more that makes all equally long, so that for a query (q, 0) the order of the
    cosines is that of the inner products."""
    squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    longer = np.sqrt(np.maximum(squares.max(initial=0) - squares, 0))
    return Neighbors(np.column_stack([rows, longer]).astype(np.float32), threads=threads)


def _mean_of_nearest(rows: Matrix, index: Neighbors, queries: NDArray[np.float64]) -> NDArray[np.float64]:
    """(q, dim) the mean of the `rows` whose counterparts in `index` are nearest to each query."""
    found = index.top_k(queries.astype(np.float32), min(CSLS_NEIGHBORS, len(index)))[0]
    mean: NDArray[np.float64] = rows[found].mean(axis=1, dtype=np.float64)
    return mean
