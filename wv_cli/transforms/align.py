"""Vectors of one space turned into another: orthogonal Procrustes on pairs of words that mean the same, and its
refinement by pairs that are found.

Of unit vectors x, y of the pairs (Xing et al. 2015, Smith et al. 2017; over time Hamilton et al. 2016)

    W = argmin |X W - Y|  over orthogonal W  =  U V',   X' Y = U S V'    (Schoenemann 1966)

so that the sum of the pairs' cosines is as large as a rotation can make it. A rotation keeps all lengths and cosines
within a space. Sums are float64, a block of pairs at a time. Not here: files, which words are pairs.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError
from wv_cli.vectors.neighbors.csls import mutual

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
