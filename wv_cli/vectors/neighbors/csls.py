"""Nearest neighbors in another space by CSLS, cross-domain similarity local scaling (Conneau et al. 2018).

    CSLS(x, y) = 2 cos(x, y) - r(x) - r(y)

r(x) is the mean cosine of x with its k nearest among the ys, r(y) that of y with its k nearest among the xs: a hub,
near to everything, is no longer everybody's neighbor. Every row is scored, and the search is that of cosines: for one
query r(x) is the same for all answers, so the rows y are lengthened to

    (y, -r(y) / 2, what makes all rows equally long)        asked for (x, 1, 0)

whose cosine is cos(x, y) - r(y) / 2 but for a positive factor that all share.
"""

import numpy as np
from numpy.typing import NDArray

from wv_cli import _search
from wv_cli.vectors.neighbors.exact import Neighbors


def mean_cosines(queries: NDArray[np.float32], among: Neighbors, k: int) -> NDArray[np.float32]:
    """(q,) r of each query (q, dim): the mean cosine with its k nearest rows, all when there are fewer; 0 of a query
    with NaN."""
    scores = among.top_k(queries, min(k, len(among)))[1]
    means = scores.mean(axis=1) if scores.size else np.zeros(len(queries))
    return np.where(np.isfinite(means), means, 0).astype(np.float32)


class Csls:
    """The rows of `targets`, and r (targets,) of each, mean_cosines among what is going to ask. A vector with NaN or
    infinity is never found."""

    def __init__(self, targets: Neighbors, r: NDArray[np.float32]) -> None:
        dim = targets.dim
        rows = np.empty((len(targets), dim + 2), np.float32)
        rows[:, :dim] = targets.unit_rows(np.arange(len(targets)))
        rows[:, dim] = -r / 2
        squares = np.einsum("ij,ij->i", rows[:, :-1], rows[:, :-1], dtype=np.float64)
        rows[:, -1] = np.sqrt(squares[np.isfinite(squares)].max(initial=0) - squares)
        self._index = Neighbors(rows, threads=targets.threads)

    def top_k(self, queries: NDArray[np.float32], k: int) -> NDArray[np.int32]:
        """(q, k) rows of highest CSLS with each query (q, dim), best first; -1 where there is none."""
        unit = np.array(queries, np.float32)
        _search.normalize(unit, unit, None)
        asked = np.hstack([unit, np.tile(np.array([1, 0], np.float32), (len(unit), 1))])
        return self._index.top_k(asked, k)[0]


def mutual(x: NDArray[np.float32], y: NDArray[np.float32], *, k: int = 10, threads: int = 0) -> NDArray[np.int64]:
    """(pairs, 2) rows of x (n, dim) and of y (m, dim) each of which has the other for its nearest by CSLS, in the order
    of x."""
    xs, ys = Neighbors(x, threads=threads), Neighbors(y, threads=threads)
    to_y = Csls(ys, mean_cosines(y, xs, k)).top_k(x, 1)[:, 0]
    to_x = Csls(xs, mean_cosines(x, ys, k)).top_k(y, 1)[:, 0]
    rows = np.flatnonzero(to_y >= 0)
    rows = rows[to_x[to_y[rows]] == rows]
    return np.stack([rows, to_y[rows]], axis=1).astype(np.int64)
