"""The table of a static embedding from an encoder's vectors of its pieces, as model2vec 0.10 makes it.

reduce_rows    principal components of the centered rows; the score of largest size of each is positive
weights    SIF, w = a / (a + p). p is Zipf's of the rank, (1 / (i + 2)) / sum_j 1 / (j + 2), or a share of counts
cluster_rows  k-means of the rows before they are reduced: a table of k centers, and the center of each row
"""

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import directions, fit

_ROUNDS = 100
_BLOCK_ROWS = 4096


def reduce_rows(
    matrix: NDArray[np.float32], *, dim: int, variance: float = 0.0, whiten: bool = False
) -> tuple[NDArray[np.float64], str]:
    """((rows, dim) scores, what the user should know). `dim` 0 or beyond the columns keeps all of them; `variance`
    instead keeps as many as explain this fraction. `whiten` divides each by its deviation. Raises WvError."""
    rows, width = matrix.shape
    kept, note = min(dim or width, width), ""
    if dim > width and not variance:
        note = f"--dim {dim} is more than the {width} numbers of the encoder; all are kept"
    if not variance and kept >= rows:
        return matrix.astype(np.float64), f"{rows:,} pieces are too few for {kept} dimensions; nothing is reduced"
    moments = Moments.none(width).with_rows(matrix)
    values, vectors = directions(moments, "the pieces")
    if variance:
        kept = min(width, int(np.searchsorted(np.cumsum(values) / values.sum(), variance)) + 1)
    if whiten:
        vectors = fit(moments, WhitenConfig(method="whiten", dim=kept), "the pieces").matrix
    scores = (matrix - moments.mean) @ vectors[:, :kept]
    largest = scores[np.abs(scores).argmax(axis=0), np.arange(kept)]
    return scores * np.where(largest < 0, -1.0, 1.0), note


def rank_weights(rows: int, a: float) -> NDArray[np.float64]:
    """(rows,): the weights of pieces in the order of their frequency, which is taken for Zipf's."""
    shares = 1 / np.arange(2, rows + 2)
    weights: NDArray[np.float64] = a / (a + shares / shares.sum())
    return weights


def cluster_rows(
    matrix: NDArray[np.float32], clusters: int, seed: int = 42
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """((clusters, dim) centers, (rows,) the center of each row): Lloyd's k-means from drawn rows. A center that no row
    is nearest to takes the row farthest from its own. Raises UsageError for more clusters than rows."""
    if clusters > len(matrix):
        message = f"--clusters {clusters} is more than the {len(matrix):,} pieces"
        raise UsageError(message)
    drawn = np.random.default_rng(seed).choice(len(matrix), clusters, replace=False)
    centers, owner = matrix[drawn].astype(np.float64), np.full(len(matrix), -1)
    for _ in range(_ROUNDS):
        before, (owner, far) = owner, _nearest(matrix, centers)
        counts = np.bincount(owner, minlength=clusters)
        for empty in np.flatnonzero(counts == 0).tolist():
            row = int(far.argmax())
            owner[row], far[row] = empty, 0.0
        if np.array_equal(before, owner):
            break
        counts = np.bincount(owner, minlength=clusters)
        filled = np.flatnonzero(counts)
        order, starts = np.argsort(owner, kind="stable"), np.cumsum(counts) - counts
        centers[filled] = np.add.reduceat(matrix[order], starts[filled], axis=0, dtype=np.float64)
        centers[filled] /= counts[filled, None]
    return centers.astype(np.float32), owner


def _nearest(
    matrix: NDArray[np.float32], centers: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """((rows,) the nearest center of each, (rows,) the squared distance, less the row's own square at least 0)."""
    owner, far = np.empty(len(matrix), np.int64), np.empty(len(matrix))
    turned, squares = np.ascontiguousarray(centers.T, np.float32), (centers**2).sum(axis=1)
    for first in range(0, len(matrix), _BLOCK_ROWS):
        rows = matrix[first : first + _BLOCK_ROWS]
        distances = squares - 2.0 * (rows @ turned)
        owner[first : first + _BLOCK_ROWS] = distances.argmin(axis=1)
        far[first : first + _BLOCK_ROWS] = distances.min(axis=1) + (rows.astype(np.float64) ** 2).sum(axis=1)
    return owner, np.maximum(far, 0)
