"""Exact nearest neighbours by cosine, and analogies: every row is scored, nothing is approximated.

Holds one normalised float32 copy of the matrix. Scores are made and selected tile by tile (csrc/kernels/search.c), so
memory does not grow with the number of queries times rows. Answers do not depend on the number of threads or on which
queries are asked together; ties go to the lowest row. Not here: approximate indexes, searches over binary codes.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wv_cli import _search
from wv_cli.errors import UsageError
from wv_cli.search.topk import NO_HIT, Asked, Hits, exclusions, in_batches, merge, taken, together, unfilled
from wv_cli.system.memory import aligned, padded, zeros
from wv_cli.system.threads import processors, run_all

METHODS = tuple(_search.METHODS)

_BATCH = 2048  # queries searched in one pass over the rows, at most
_WORDS = 512  # distinct words of one analogy batch: their scores against a block of rows stay in the second-level cache
_LEAST_ROWS = 4096  # are worth a thread


class Neighbours:
    """A search.topk.Index of the rows of `matrix` (n, dim).

    `unit` is the normalised matrix, (n, dim) float32: a view of rows padded to 64 bytes, or `matrix` itself, changed in
    place, when `overwrite` is true and it is writable float32. A zero vector stays zero (its cosine with everything is
    0); a vector with NaN or infinity becomes NaN and is never found.

    `threads` 0 means all processors. `isa` names an instruction set, for tests; None is the one in use.
    """

    def __init__(
        self, matrix: NDArray[Any], *, threads: int = 0, overwrite: bool = False, isa: str | None = None
    ) -> None:
        self.threads = threads or processors()
        self._isa = isa
        n, dim = matrix.shape
        in_place = overwrite and matrix.dtype == np.float32 and matrix.flags.writeable and _rows_follow(matrix)
        self.unit: NDArray[np.float32] = matrix if in_place else zeros(n, padded(dim))[:, :dim]

        def normalise(start: int, end: int) -> None:
            source = matrix[start:end]
            if source.dtype != np.float32 or not _rows_follow(source):
                source = np.ascontiguousarray(source, np.float32)
            _search.normalise(source, self.unit[start:end], isa)

        _over_rows(n, [normalise] * self.threads)

    def __len__(self) -> int:
        return len(self.unit)

    @property
    def dim(self) -> int:
        return int(self.unit.shape[1])

    def unit_rows(self, rows: ArrayLike, beyond: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """The unit vectors (len(rows), dim) of rows, a copy; numbers from len(self) on are rows of `beyond` (m, dim),
        of any length."""
        if beyond is not None and len(beyond):
            beyond = np.array(beyond, np.float32)
            _search.normalise(beyond, beyond, self._isa)
        found: NDArray[np.float32] = taken(self.unit, np.asarray(rows, np.int64), beyond)
        return found

    def zero_rows(self) -> int:
        """How many vectors are zero."""
        return int(len(self) - np.count_nonzero(self.unit.any(axis=1)))

    def nearest(
        self,
        asked: Asked,
        k: int,
        *,
        weights: Sequence[Sequence[float]] | None = None,
        beyond: NDArray[Any] | None = None,
        rows: int | None = None,
    ) -> Hits:
        """As Index.nearest; what stands for several rows is the mean of their unit vectors."""
        queries = together(asked, weights, lambda numbers: self.unit_rows(numbers, beyond), _mean)
        return self.top_k(queries, k, exclude=asked, rows=rows)

    def top_k(
        self,
        queries: ArrayLike,
        k: int = 10,
        *,
        exclude: Sequence[Iterable[int]] | None = None,
        rows: int | None = None,
    ) -> Hits:
        """The k rows of highest cosine with each query: (rows (q, k) int32, cosines (q, k) float32), best first.

        queries: (q, dim), normalised here. exclude: for each query the rows it must not get. rows: search only the
        first so many. Positions that cannot be filled (k > rows, NaN) have row -1 and score -inf. Raises ValueError for
        shapes that do not fit.
        """
        vectors = np.array(queries, np.float32, ndmin=2)
        if vectors.ndim != 2 or vectors.shape[1] != self.dim:
            message = f"queries of shape {np.shape(queries)} do not fit vectors of {self.dim} numbers"
            raise ValueError(message)
        if exclude is not None and len(exclude) != len(vectors):
            message = f"{len(exclude)} lists of excluded rows for {len(vectors)} queries"
            raise ValueError(message)
        n = self._searched(rows)
        _search.normalise(vectors, vectors, self._isa)

        def search(batch: slice, k: int) -> Hits:
            return self._top_k(vectors[batch], k, *exclusions(exclude, len(vectors[batch]), batch), n)

        return in_batches(len(vectors), k, n, _BATCH, search)

    def _top_k(
        self, vectors: NDArray[np.float32], k: int, starts: NDArray[np.int64], excluded: NDArray[np.int32], n: int
    ) -> Hits:
        count, lanes = len(vectors), _search.lanes(self._isa)
        panels = aligned((-(-count // lanes), self.dim, lanes))
        _search.pack(vectors, panels, self._isa)
        heaps, scans = [], []
        for _ in range(self._workers(n)):
            thresholds = np.full(len(panels) * lanes, np.inf, np.float32)
            thresholds[:count] = -np.inf
            hits, scores = unfilled(count, k, NO_HIT)
            heaps.append((hits, scores))
            scans.append(_search.TopK(self.unit, panels, thresholds, scores, hits, starts, excluded, self._isa).scan)
        _over_rows(n, scans)
        return merge(heaps, k)

    def analogies(
        self,
        a: ArrayLike,
        b: ArrayLike,
        c: ArrayLike,
        k: int = 1,
        *,
        method: str = "3cosadd",
        rows: int | None = None,
        beyond: NDArray[np.float32] | None = None,
    ) -> Hits:
        """The k best answers to `a is to b as c is to ?`, the three asked rows excluded: (rows (q, k) int32,
        scores (q, k) float32), best first; unfilled positions as in top_k.

        a, b, c: (q) row numbers. method: `3cosadd` scores x by its cosine with b - a + c of the unit vectors (Mikolov
        et al. 2013), `3cosmul` by cos'(x, b) cos'(x, c) / (cos'(x, a) + .001), cos' = (cos + 1) / 2 (Levy & Goldberg
        2014). rows: answer only from the first so many. beyond: (m, dim) vectors that the numbers from len(self) on
        stand for; they can be asked but are no answers. Raises UsageError for another method, IndexError for a row out
        of range.
        """
        if method not in METHODS:
            message = f"unknown analogy method {method!r} (choices: {', '.join(METHODS)})"
            raise UsageError(message)
        asked = np.stack([np.atleast_1d(np.asarray(ids, np.int64)) for ids in (a, b, c)], axis=1)
        known = len(self) + (len(beyond) if beyond is not None else 0)
        if asked.size and not (asked.min() >= 0 and asked.max() < known):
            message = f"row numbers must be 0 to {known - 1}"
            raise IndexError(message)
        n = self._searched(rows)
        hits, scores = unfilled(len(asked), k)
        k = min(k, n)
        for batch in _few_words(asked) if k else ():
            hits[batch, :k], scores[batch, :k] = self._analogies(asked[batch], k, method, n, beyond)
        return hits, scores

    def _analogies(
        self, asked: NDArray[np.int64], k: int, method: str, n: int, beyond: NDArray[np.float32] | None
    ) -> Hits:
        ids, inverse = np.unique(asked, return_inverse=True)
        questions: NDArray[np.int32] = inverse.reshape(asked.shape).astype(np.int32)
        words, word_rows = self.unit_rows(ids, beyond), ids.astype(np.int32)
        heaps, scans = [], []
        for _ in range(self._workers(n)):
            thresholds = np.full(len(asked), -np.inf, np.float32)
            hits, scores = unfilled(len(asked), k, NO_HIT)
            heaps.append((hits, scores))
            job = _search.Analogies(self.unit, words, word_rows, questions, method, thresholds, scores, hits, self._isa)
            scratch = aligned((job.scratch_bytes,), np.uint8)
            scans.append(partial(job.scan, scratch=scratch))
        _over_rows(n, scans)
        hits, scores = merge(heaps, k)
        if method == "3cosadd":
            # The kernel scores with b - a + c as it is; its length turns the score into a cosine and keeps the order.
            a, b, c = (words[questions[:, i]].astype(np.float64) for i in range(3))
            length = np.linalg.norm(b - a + c, axis=1, keepdims=True)
            scores = np.divide(scores, length, out=scores.copy(), where=(length > 0) & np.isfinite(scores))
        return hits, scores

    def _searched(self, rows: int | None) -> int:
        """The rows to look at; none of vectors without numbers."""
        n = len(self) if self.dim else 0
        return n if rows is None else max(0, min(rows, n))

    def _workers(self, n: int) -> int:
        return max(1, min(self.threads, n // _LEAST_ROWS))


def _over_rows(n: int, scans: Sequence[Callable[[int, int], None]]) -> None:
    """Runs one thread per scan; each takes the next range of rows when it has done one, so its ranges ascend."""
    size = max(_LEAST_ROWS, -(-n // (16 * len(scans))))
    starts = itertools.count(0, size)

    def work(scan: Callable[[int, int], None]) -> None:
        while (start := next(starts)) < n:
            scan(start, min(start + size, n))

    used = scans if n > size else scans[:1]
    run_all(work, used, len(used))


def _mean(rows: NDArray[np.float32], weights: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """(dim,) of (n, dim)."""
    mean: NDArray[np.float32] = (rows if weights is None else rows * weights[:, None]).mean(axis=0)
    return mean


def _rows_follow(matrix: NDArray[np.generic]) -> bool:
    """Whether numbers stand side by side and rows one after another, as the kernels need it."""
    item = matrix.itemsize
    side_by_side = matrix.strides[1] == item or matrix.shape[1] == 1
    follows = matrix.strides[0] >= matrix.shape[1] * item and matrix.strides[0] % item == 0
    return side_by_side and (follows or len(matrix) <= 1) and bool(matrix.flags.aligned)


def _few_words(asked: NDArray[np.int64]) -> Iterator[slice]:
    """Cuts questions into runs of at most _WORDS distinct words."""
    start, seen = 0, set[int]()
    for i, question in enumerate(asked.tolist()):
        if len(seen | set(question)) > _WORDS:
            yield slice(start, i)
            start, seen = i, set()
        seen.update(question)
    if start < len(asked):
        yield slice(start, len(asked))
