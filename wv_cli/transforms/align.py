"""Vectors of one space turned into another: orthogonal Procrustes on pairs of words that mean the same, and its
refinement by pairs that are found.

Of unit vectors x, y of the pairs (Xing et al. 2015, Smith et al. 2017; over time Hamilton et al. 2016)

    W = argmin |X W - Y|  over orthogonal W  =  U V',   X' Y = U S V'    (Schoenemann 1966)

so that the sum of the pairs' cosines is as large as a rotation can make it. A rotation keeps all lengths and cosines
within a space. Sums are float64, a block of pairs at a time. Not here: files, which words are pairs.

`descend` fits a linear map for its use, retrieval by CSLS (RCSLS: Joulin et al. 2018, "Loss in Translation"; fastText's
alignment).

Of unit vectors x, y of n pairs, with N_Y(x W) the k rows y' of largest inner product with x W, and N_X(y) the k rows x'
whose x' W has the largest with y, what falls is the mean over the pairs of

    - 2 x W . y  +  mean over y' in N_Y(x W) of x W . y'  +  mean over x' in N_X(y) of x' W . y

by gradient steps from an orthogonal W; W is then no rotation. A step that makes it worse is taken back, and the next
are half as long. Sums are float64, a block of pairs at a time; the neighbors are searched in float32.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError
from wv_cli.text.vocab import SENTENCE_END
from wv_cli.vectors.codes import CodeVectors
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.neighbors.csls import mutual
from wv_cli.vectors.neighbors.exact import Neighbors
from wv_cli.words import WordList

LEAST_PAIRS = 2  # one pair of vectors says nothing of the other directions
CSLS_NEIGHBORS = 10  # as its authors

_BLOCK = 1 << 15

Matrix = NDArray[np.float32]
Pairs = NDArray[np.int64]  # (pairs, 2) rows of x and of y


def with_directions(x: Matrix, y: Matrix, pairs: Pairs) -> Pairs:
    """Those whose vectors are both finite and not zero."""
    kept = [block[find_directed(x[block[:, 0]]) & find_directed(y[block[:, 1]])] for block in blocks(pairs)]
    return np.concatenate([pairs[:0], *kept])


def procrustes(x: Matrix, y: Matrix, pairs: Pairs) -> NDArray[np.float64]:
    """W (dim, dim): x W is nearest to y over the pairs, which have directions."""
    cross = np.zeros((x.shape[1], y.shape[1]))
    for block in blocks(pairs):
        cross += unit(x[block[:, 0]]).T @ unit(y[block[:, 1]])
    u, _, v = np.linalg.svd(cross)
    rotation: NDArray[np.float64] = u @ v
    return rotation


def map_rows(x: Matrix, w: NDArray[np.float64]) -> Matrix:
    """x W; rows with NaN or infinity become NaN."""
    result = np.empty((len(x), w.shape[1]), np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, len(x), _BLOCK):
            result[start : start + _BLOCK] = x[start : start + _BLOCK].astype(np.float64) @ w
    return result


def refine_pairs(x: Matrix, y: Matrix, rotation: NDArray[np.float64], *, rows: int, threads: int = 0) -> Pairs:
    """The pairs, of the first `rows` rows of each, that are mutual nearest neighbors by CSLS after the rotation: what
    to rotate by next (Conneau et al. 2018). Raises WvError when there are too few."""
    pairs = mutual(map_rows(x[:rows], rotation), y[:rows], k=CSLS_NEIGHBORS, threads=threads)
    pairs = with_directions(x, y, pairs)
    if len(pairs) < LEAST_PAIRS:
        message = f"refining found {len(pairs)} mutual nearest neighbors, {LEAST_PAIRS} at least are needed"
        raise WvError(message)
    return pairs


def cosines(x: Matrix, y: Matrix, pairs: Pairs, w: NDArray[np.float64]) -> NDArray[np.float64]:
    """(pairs,) the cosine of each pair, x after its map; the pairs have directions."""
    found = [np.einsum("ij,ij->i", unit(x[block[:, 0]] @ w), unit(y[block[:, 1]])) for block in blocks(pairs)]
    return np.concatenate([np.empty(0), *found])


def blocks(pairs: Pairs, size: int = _BLOCK) -> Iterator[Pairs]:
    """The pairs, so many at a time."""
    return (pairs[start : start + size] for start in range(0, len(pairs), size))


def find_directed(rows: Matrix) -> NDArray[np.bool_]:
    """(n,) which rows are finite and not zero."""
    return np.logical_and(np.isfinite(rows).all(axis=1), rows.any(axis=1))


def unit(rows: Matrix | NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows, which have directions, brought to length 1."""
    wide = rows.astype(np.float64)
    unit: NDArray[np.float64] = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    return unit


_CRITERION_ROWS = 1 << 12  # pairs, each with its neighbors' vectors
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
        for block in blocks(self._pairs, _CRITERION_ROWS):
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


@dataclass(frozen=True, eq=False)
class Named:
    """Vectors and the file they are from, for messages."""

    vectors: Embeddings
    name: str


def common(a: WordList, b: WordList, first: int = 0) -> Pairs:
    """Rows of the words that both files list, (pairs, 2), in the order of `a`. `first` restricts them to the first
    words of each file. Of a word listed twice the first row counts. The end of a sentence, </s>, is no word: word2vec
    and wv leave its vector as it was drawn."""
    rows = np.arange(min(first or len(a), len(a)))
    rows = rows[(a.find_all(a)[: len(rows)] == rows) & (rows != a.find(SENTENCE_END))]
    found = b.find_all(a.take(rows))
    kept = (found >= 0) & (found < (first or len(b)))
    return np.stack([rows[kept], found[kept]], axis=1).astype(np.int64)


def require_comparable(a: Named, b: Named) -> None:
    """Raises WvError for codes, and for vectors of different widths."""
    for each in (a, b):
        if isinstance(each.vectors, CodeVectors):
            message = f"{each.name}: expected vectors, found codes, which cannot be aligned"
            raise WvError(message)
    if a.vectors.dim != b.vectors.dim:
        message = f"{a.name}: expected vectors of {b.vectors.dim} numbers as in {b.name}, found {a.vectors.dim}"
        raise WvError(message)


def require_enough(pairs: Pairs, what: str) -> None:
    """Raises WvError for too few pairs. `what` is the message, with {} for their number, and says what to do."""
    if len(pairs) < LEAST_PAIRS:
        raise WvError(what.format(f"{len(pairs)} (at least {LEAST_PAIRS} are needed)"))
