"""How much words changed between two spaces of vectors.

Drift is told by two scores of the words that both files have. The share of a word's nearest neighbors, among these
words, that are the same in both (Gonen et al. 2020) needs no alignment; the cosine of its two vectors after all have
been aligned by these words (Hamilton et al. 2016) does.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.transforms.align import (
    Named,
    common,
    cosines,
    procrustes,
    require_comparable,
    require_enough,
    with_directions,
)
from wv_cli.transforms.config import DriftConfig
from wv_cli.vectors.neighbors.exact import Neighbors
from wv_cli.words import WordList

_BATCH = 8192  # words whose neighbors are compared at a time


@dataclass(frozen=True, eq=False)
class Drift:
    """The drift of all common words. Words that both files have, what changed most first; `shared` (words,) is the
    share of neighbors in common, `cosine` (words,) that of the vectors after aligning. `compared`: how many words
    there were."""

    words: WordList
    shared: NDArray[np.float64]
    cosine: NDArray[np.float64]
    compared: int


def drift(a: Named, b: Named, config: DriftConfig) -> Drift:
    """Raises as align."""
    config.validate()
    require_comparable(a, b)
    x, y = a.vectors.matrix, b.vectors.matrix
    pairs = with_directions(x, y, common(a.vectors.words, b.vectors.words, config.restrict_vocab))
    require_enough(pairs, f"{a.name} and {b.name}: words with vectors in both: {{}}")
    cosine = cosines(x, y, pairs, procrustes(x, y, pairs))
    shared = shared_neighbors(x[pairs[:, 0]], y[pairs[:, 1]], config.neighbors, config.threads)
    keys = (cosine, shared) if config.by == "neighbors" else (shared, cosine)
    order = np.lexsort((np.arange(len(pairs)), *keys))[: config.top or None]
    return Drift(a.vectors.words.take(pairs[order, 0]), shared[order], cosine[order], len(pairs))


def shared_neighbors(x: NDArray[np.float32], y: NDArray[np.float32], k: int, threads: int = 0) -> NDArray[np.float64]:
    """The fraction of each row's k nearest rows that x and y (n, dim) share, as (n,). Row i of both is the same word;
    with fewer rows than k all others count."""
    n = len(x)
    k = min(k, n - 1)
    indexes = [Neighbors(matrix, threads=threads) for matrix in (x, y)]
    shared = np.empty(n)
    for start in range(0, n, _BATCH):
        rows = np.arange(start, min(start + _BATCH, n))
        near = [index.nearest(rows[:, None].tolist(), k)[0] for index in indexes]
        # A row stands once in each list: what stands twice in both together is shared.
        both = np.sort(np.concatenate(near, axis=1), axis=1)
        shared[rows] = (both[:, 1:] == both[:, :-1]).sum(axis=1) / k
    return shared
