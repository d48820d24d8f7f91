"""Approximate search: an index of faiss (indexes.py) proposes rows, exact cosines of the vectors put them in order.

So scores are those of the exact search, and what an index loses is rows, never their order. How much it loses is its
recall: the share of the exact nearest rows that are found.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError
from wv_cli.search.cosines import mean_of
from wv_cli.search.indexes import kind_of, use_threads
from wv_cli.search.neighbours import Neighbours
from wv_cli.search.topk import Asked, Hits, combine_rows, in_batches

_PROPOSED = 1 << 21  # rows that queries searched together are proposed; faiss reads a flat index once for hundreds
_SAME = 1e-5  # cosines that differ by less are ties
_PROBES = 16  # rows whose own vectors an index is asked for
_LEAST_FACTOR, _MOST_FACTOR = 5, 640  # candidates of product codes for each row that is asked for


class Approximate:
    """A search.topk.Index: `index`, of faiss, holds the unit vectors of `exact`, row by row. The cosines of
    `candidates` rows are computed, by default of `factor` x k. `threads` 0 means all processors. Raises ValueError for
    an index of another kind or size."""

    def __init__(
        self, index: Any, exact: Neighbours, *, threads: int = 0, factor: int = 1, candidates: int | None = None
    ) -> None:
        kind = kind_of(index)
        if kind is None or (index.ntotal, index.d) != (len(exact), exact.dim):
            message = (
                f"a {type(index).__name__} of {index.ntotal} x {index.d} for vectors of {len(exact)} x {exact.dim}"
            )
            raise ValueError(message)
        self.kind, self._index, self._exact = kind, index, exact
        self._threads, self.factor, self._candidates = threads, factor, candidates

    def __len__(self) -> int:
        return len(self._exact)

    @property
    def most(self) -> int:
        """The largest number that the knob may be turned to."""
        return self.kind.most(self._index)

    @property
    def searched(self) -> dict[str, int]:
        """How thoroughly: the names of the numbers that say so, and these."""
        knob = {self.kind.knob: self.kind.get(self._index)} if self.kind.knob else {}
        return {**knob, "factor": self.factor}

    def turn(self, value: int) -> None:
        """Sets the knob of the index (indexes.Kind)."""
        self.kind.set(self._index, value)

    def nearest(
        self,
        asked: Asked,
        k: int,
        *,
        weights: Sequence[Sequence[float]] | None = None,
        beyond: NDArray[Any] | None = None,
        rows: int | None = None,
    ) -> Hits:
        """As Index.nearest, of the rows that the index proposes. Raises ValueError for `rows`: an index is searched
        whole."""
        if rows is not None:
            message = "an index cannot be searched in part"
            raise ValueError(message)
        queries = combine_rows(asked, weights, lambda numbers: self._exact.unit_rows(numbers, beyond), mean_of)
        lengths = np.linalg.norm(queries.astype(np.float64), axis=1, keepdims=True)
        queries = (queries / np.where(lengths > 0, lengths, 1)).astype(np.float32)
        use_threads(self._threads)

        proposed = max(1, k, self._candidates or self.factor * k)

        def search(batch: slice, k: int) -> Hits:
            more = max(map(len, asked[batch]))
            return self._search(queries[batch], asked[batch], k, min(proposed + more, len(self)))

        return in_batches(len(queries), k, len(self), max(1, _PROPOSED // proposed), search)

    def _search(self, queries: NDArray[np.float32], asked: Asked, k: int, proposed: int) -> Hits:
        found = self._index.search(queries, proposed)[1]
        left_out = np.full((len(asked), max(map(len, asked), default=0)), -1)
        for row, numbers in zip(left_out, asked, strict=True):
            row[: len(numbers)] = numbers
        found[(found[:, :, None] == left_out[:, None, :]).any(axis=2)] = -1
        return self._exact.best_of(queries, found, k)

    def require_of(self, name: str, vectors: str) -> None:
        """Raises WvError when the index called `name` holds other vectors than the file `vectors`: asked for some of
        these, it must propose them or their like."""
        rows = np.unique(np.linspace(0, len(self) - 1, min(_PROBES, len(self))).astype(np.int64))
        unit = self._exact.unit_rows(rows)
        rows, unit = rows[unit.any(axis=1)], unit[unit.any(axis=1)]
        if not len(rows):
            return
        best = self._search(unit, [[]] * len(rows), 1, min(10 * self.factor, len(self)))[1][:, 0]
        if (best > 0.99).mean() < 0.5:
            message = f"{name}: was made of other vectors than those of {vectors}; make it again with wv index"
            raise WvError(message)


@dataclass(frozen=True)
class Measured:
    """`recall` of the exact nearest rows, of `queries` rows drawn; queries per second of the index and of the exact
    search, asked together."""

    recall: float
    per_second: float
    exact_per_second: float
    queries: int


def tune(search: Approximate, exact: Neighbours, k: int, *, recall: float, queries: int, seed: int) -> Measured:
    """Sets how thoroughly `search` looks to the least that finds `recall` of the k nearest of rows drawn; the figure is
    of these same rows. Raises WvError when no setting does."""
    n = len(exact)
    drawn = np.random.default_rng(seed).choice(n, min(queries, n), replace=False)
    asked = [[int(row)] for row in np.sort(drawn)]
    k = max(1, min(k, n - 1))
    begin = time.perf_counter()
    least = exact.nearest(asked, k)[1][:, -1:]
    exact_seconds = time.perf_counter() - begin

    def measured() -> float:
        return float((search.nearest(asked, k)[1] >= least - _SAME).mean())

    if search.kind.codes:
        _choose_factor(search, measured, recall)
    if search.kind.knob:
        found = _turn(search, measured, recall, k)
        if found < recall:
            message = (
                f"at its most thorough the index finds {found:.3f} of the {k} nearest rows, --recall asks for "
                f"{recall:g}; raise --links or --ef-construction, lower --dsub, or choose flat"
            )
            raise WvError(message)
    begin = time.perf_counter()
    found = measured()
    seconds = time.perf_counter() - begin
    return Measured(found, len(asked) / seconds, len(asked) / exact_seconds, len(asked))


def _choose_factor(search: Approximate, measured: Callable[[], float], recall: float) -> None:
    """How many rows that codes propose must be compared: twice as many until these lose half as much as is allowed."""
    search.turn(max(1, search.most // 8))
    search.factor = _LEAST_FACTOR
    while measured() < (1 + recall) / 2 and search.factor < _MOST_FACTOR:
        search.factor *= 2


def _turn(search: Approximate, measured: Callable[[], float], recall: float, first: int) -> float:
    """Turns the knob to the least, within a sixteenth, that reaches `recall`; what it reaches, at most."""
    low, value = 0, min(first, search.most)
    search.turn(value)
    while (found := measured()) < recall and value < search.most:
        low, value = value, min(2 * value, search.most)
        search.turn(value)
    while found >= recall and value - low > max(1, value // 16):
        middle = (low + value) // 2
        search.turn(middle)
        if (there := measured()) >= recall:
            value, found = middle, there
        else:
            low = middle
    search.turn(value)
    return found
