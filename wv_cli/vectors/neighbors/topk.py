"""What every search has in common: the protocol of an index, and how lists of the k best rows are asked for and made.

Lists are best first, ties go to the lowest row, and positions that cannot be filled have row -1 and score -inf.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Hits = tuple[NDArray[np.int32], NDArray[np.float32]]  # (rows (q, k), scores (q, k)) of q queries
Asked = Sequence[Sequence[int]]  # for each query the rows that are asked together

NO_HIT: int = np.iinfo(np.int32).max  # a row in heaps that are not full: it sorts behind all others

_BATCH_HITS = 1 << 22  # of the queries searched in one pass: every thread keeps all of a batch


class Index(Protocol):
    """Rows 0 .. len(index) - 1 of vectors or codes, and how they are searched."""

    def __len__(self) -> int: ...

    def nearest(
        self,
        asked: Asked,
        k: int,
        *,
        weights: Sequence[Sequence[float]] | None = None,
        beyond: NDArray[Any] | None = None,
        rows: int | None = None,
    ) -> Hits:
        """The k rows nearest to what stands for the rows of each query together (vectors: the mean of their unit
        vectors; codes: their majority), these rows left out.

        weights: one for each row asked, 1 without; a row of weight -1 is subtracted. beyond: (m, width) vectors or
        codes that the numbers from len(index) on stand for; they can be asked but are no answers. rows: answer only
        from the first so many.
        """


class Exact(ABC):
    """An Index that compares queries with all rows."""

    @abstractmethod
    def __len__(self) -> int: ...

    def nearest(
        self,
        asked: Asked,
        k: int,
        *,
        weights: Sequence[Sequence[float]] | None = None,
        beyond: NDArray[Any] | None = None,
        rows: int | None = None,
    ) -> Hits:
        """See Index."""
        return self.top_k(self.stand_for(asked, weights, beyond), k, exclude=asked, rows=rows)

    @abstractmethod
    def stand_for(
        self, asked: Asked, weights: Sequence[Sequence[float]] | None, beyond: NDArray[Any] | None
    ) -> NDArray[Any]:
        """(queries, width) What stands for the rows of each query; the arguments are those of `nearest`."""

    @abstractmethod
    def top_k(
        self,
        queries: NDArray[Any],
        k: int = 10,
        *,
        exclude: Sequence[Iterable[int]] | None = None,
        rows: int | None = None,
    ) -> Hits:
        """The k rows nearest to each query, but for those to `exclude`; with `rows` among the first so many."""

    @abstractmethod
    def part(self, rows: NDArray[np.int64]) -> "Exact":
        """An index of some rows."""


def make_empty_hits(count: int, k: int, row: int = -1) -> Hits:
    """Lists of `count` queries without a hit."""
    return np.full((count, k), row, np.int32), np.full((count, k), -np.inf, np.float32)


def in_batches(count: int, k: int, n: int, most: int, search: Callable[[slice, int], Hits]) -> Hits:
    """The lists of `count` queries: search(batch, j) gives those of a batch, of j = min(k, n) hits for n rows. A batch
    has at most `most` queries, fewer when they ask for many hits."""
    hits, scores = make_empty_hits(count, k)
    k = min(k, n)
    size = max(1, min(most, _BATCH_HITS // max(1, k)))
    for start in range(0, count if k > 0 else 0, size):
        batch = slice(start, start + size)
        hits[batch, :k], scores[batch, :k] = search(batch, k)
    return hits, scores


def exclusions(
    exclude: Sequence[Iterable[int]] | None, count: int, batch: slice = slice(None)
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """(starts, rows) as the kernels want them: query i of the batch must not get rows[starts[i]:starts[i + 1]], which
    ascend."""
    lists = [sorted(set(rows)) for rows in exclude[batch]] if exclude is not None else [[]] * count
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in lists])]).astype(np.int64)
    rows = np.array([row for rows in lists for row in rows], np.int64).clip(-1, NO_HIT).astype(np.int32)
    return starts, rows


def merge(heaps: Sequence[Hits], k: int) -> Hits:
    """The k best of all threads' heaps."""
    hits = np.concatenate([hits for hits, _ in heaps], axis=1)
    scores = np.concatenate([scores for _, scores in heaps], axis=1)
    order = np.lexsort((hits, -scores), axis=1)[:, :k]
    hits, scores = np.take_along_axis(hits, order, axis=1), np.take_along_axis(scores, order, axis=1)
    hits[hits == NO_HIT] = -1
    return hits, scores


def best_rows(scores: NDArray[Any], rows: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """The k of `rows`, which ascend, that have the highest of the `scores` of all."""
    found = scores[rows]
    if 0 < k < len(rows):
        good = found >= np.partition(found, len(rows) - k)[len(rows) - k]
        rows, found = rows[good], found[good]
    order: NDArray[np.int64] = rows[np.argsort(-found, kind="stable")[:k]]
    return order


def take_rows(table: NDArray[Any], numbers: NDArray[np.int64], beyond: NDArray[Any] | None) -> NDArray[Any]:
    """Rows of `table`, a copy; numbers from len(table) on are rows of `beyond`."""
    if beyond is None or not len(beyond):
        return np.ascontiguousarray(table[numbers])
    inside = numbers < len(table)
    result = np.empty((len(numbers), *table.shape[1:]), table.dtype)
    result[inside], result[~inside] = table[numbers[inside]], beyond[numbers[~inside] - len(table)]
    return result


def combine_rows(
    asked: Asked,
    weights: Sequence[Sequence[float]] | None,
    rows_of: Callable[[NDArray[np.int64]], NDArray[Any]],
    mean: Callable[[NDArray[Any], NDArray[np.float32] | None], NDArray[Any]],
) -> NDArray[Any]:
    """(queries, width): what stands for each list of rows. rows_of(numbers) gives rows; mean(rows, weights) one for
    several; a row without weights stands for itself."""
    rows = rows_of(np.array([number for numbers in asked for number in numbers], np.int64))
    if weights is None and len(rows) == len(asked) and all(asked):
        return rows
    ends = list(itertools.accumulate(map(len, asked)))
    signs = [None] * len(asked) if weights is None else [np.array(each, np.float32) for each in weights]
    return np.stack([mean(part, each) for part, each in zip(np.split(rows, ends[:-1]), signs, strict=True)])
