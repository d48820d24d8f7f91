"""Nearest neighbors in two steps: an index that is cheap to search proposes, exact cosines decide."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.vectors.neighbors.exact import Neighbors
from wv_cli.vectors.neighbors.topk import NO_HIT, Asked, Hits, Index, merge


class Reranker:
    """A topk.Index: the `candidates` nearest rows of `first` (10 k by default) in the order of `exact`, and with
    its scores. Row i of `first` is row numbers[i] of `exact`."""

    def __init__(
        self, first: Index, exact: Neighbors, numbers: NDArray[np.int64], candidates: int | None = None
    ) -> None:
        self._first, self._exact, self._numbers, self._candidates = first, exact, numbers, candidates

    def __len__(self) -> int:
        return len(self._first)

    def nearest(
        self,
        asked: Asked,
        k: int,
        *,
        weights: Sequence[Sequence[float]] | None = None,
        beyond: NDArray[Any] | None = None,
        rows: int | None = None,
    ) -> Hits:
        """As Index.nearest: cosines with the mean of each query's unit vectors. Numbers beyond the rows, which would
        have no vector here, raise IndexError."""
        wanted = max(k, min(self._candidates or 10 * k, len(self)))
        found = self._first.nearest(asked, wanted, weights=weights, beyond=beyond, rows=rows)[0]
        found = np.sort(np.where(found < 0, NO_HIT, found), axis=1)
        scores = np.full(found.shape, -np.inf, np.float32)
        for query, numbers in enumerate(asked):
            vectors = self._exact.unit_rows(self._numbers[list(numbers)])
            if weights is not None:
                vectors = vectors * np.array(weights[query], np.float32)[:, None]
            mean = vectors.mean(axis=0, dtype=np.float64)
            length = float(np.linalg.norm(mean)) or 1.0
            candidates = found[query][found[query] < NO_HIT]
            scores[query, : len(candidates)] = self._exact.unit_rows(self._numbers[candidates]) @ (mean / length)
        return merge([(found, scores)], k)
