"""Exact nearest neighbors by cosine, and analogies: every row is scored, nothing is approximated.

Rows are searched where they lie, in a matrix or in a mapped file; a block at a time is made unit rows, and scores are
made and selected tile by tile (csrc/kernels/search.c). So memory grows neither with the vectors nor with the number of
queries times rows. Answers do not depend on the number of threads or on which queries are asked together; ties go to
the lowest row. Not here: approximate indexes, searches over binary codes.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wv_cli import _search
from wv_cli.errors import UsageError
from wv_cli.io.memory import allocate_aligned
from wv_cli.io.threads import run_all
from wv_cli.vectors.neighbors.cosines import Cosines, Packed
from wv_cli.vectors.neighbors.topk import NO_HIT, Hits, make_empty_hits, merge

METHODS = tuple(_search.METHODS)

_WORDS = 512  # distinct words of one analogy batch: their scores against a block of rows stay in the second-level cache
_LEAST_ROWS = 4096  # are worth a thread
_LEAST_PRODUCTS = 1 << 23  # of numbers, too: some 3 ms, what Python takes to load what starts threads


class Neighbors(Cosines):
    """A topk.Index of the rows of `matrix` (n, dim), which must not change while it is searched: the lengths are
    kept. Float32 whose rows follow each other is searched where it is, of anything else a copy.

    A zero vector stays zero (its cosine with everything is 0); a vector with NaN or infinity is never found.

    `threads` 0 means all processors. `isa` names an instruction set, for tests; None is the one in use.
    """

    def __init__(self, matrix: NDArray[Any], *, threads: int = 0, isa: str | None = None) -> None:
        if matrix.dtype != np.float32 or not _rows_follow(matrix):
            matrix = np.ascontiguousarray(matrix, np.float32)
        self._take(matrix, None, *matrix.shape, threads=threads, isa=isa)

    @classmethod
    def of_bytes(
        cls,
        data: memoryview | NDArray[np.uint8],
        offsets: NDArray[np.int64],
        dim: int,
        *,
        threads: int = 0,
        isa: str | None = None,
        refuse: Callable[[int], None] | None = None,
    ) -> "Neighbors":
        """Of rows of `dim` raw float32 that begin at these `offsets` of a file. refuse(row) is called, and may raise,
        when a search meets the row of a vector with NaN or infinity."""
        self = cls.__new__(cls)
        self._take(data, offsets, len(offsets), dim, threads=threads, isa=isa)
        self._refuse = refuse
        return self

    def _take(
        self,
        source: Any,
        offsets: NDArray[np.int64] | None,
        n: int,
        dim: int,
        *,
        threads: int,
        isa: str | None,
    ) -> None:
        super().__init__(n, dim, threads=threads, isa=isa)
        self._source, self._offsets = source, offsets
        self._scales = np.full(n, -1.0)
        self._rows = _search.Rows(source, self._scales, offsets, dim) if n and dim else None  # None: nothing to search
        self._refuse: Callable[[int], None] | None = None

    def part(self, rows: NDArray[np.int64]) -> "Neighbors":
        source, offsets, refuse = self._source, self._offsets, self._refuse
        if offsets is None:
            size = self._n and (self._n - 1) * source.strides[0] + 4 * self.dim
            start = source[:1].view(np.uint8)
            source, offsets = np.lib.stride_tricks.as_strided(start, (size,), (1,)), rows * source.strides[0]
        else:
            offsets = offsets[rows]
        named = None if refuse is None else lambda row: refuse(int(rows[row]))
        return Neighbors.of_bytes(source, offsets, self.dim, threads=self.threads, isa=self._isa, refuse=named)

    def _unit(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        unit = np.zeros((len(numbers), self.dim), np.float32)
        if self._rows is not None:
            self._rows.unit(numbers, unit, self._isa)
            self._require(numbers)
        return unit

    def _top_k(self, queries: Packed, k: int, starts: NDArray[np.int64], excluded: NDArray[np.int32], n: int) -> Hits:
        heaps, scans = [], []
        assert self._rows is not None
        for _ in range(min(self._workers(n), 1 + n * self.dim * queries.count // _LEAST_PRODUCTS)):
            hits, scores = make_empty_hits(queries.count, k, NO_HIT)
            heaps.append((hits, scores))
            thresholds = queries.thresholds()
            job = _search.TopK(self._rows, queries.panels, thresholds, scores, hits, starts, excluded, self._isa)
            scans.append(partial(job.scan, scratch=allocate_aligned((job.scratch_bytes,), np.uint8)))
        _over_rows(n, scans)
        self._require(slice(n))
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
        self._require_known(asked, beyond)
        n = self._rows_to_search(rows)
        hits, scores = make_empty_hits(len(asked), k)
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
        assert self._rows is not None
        for _ in range(self._workers(n)):
            thresholds = np.full(len(asked), -np.inf, np.float32)
            hits, scores = make_empty_hits(len(asked), k, NO_HIT)
            heaps.append((hits, scores))
            job = _search.Analogies(
                self._rows, words, word_rows, questions, method, thresholds, scores, hits, self._isa
            )
            scans.append(partial(job.scan, scratch=allocate_aligned((job.scratch_bytes,), np.uint8)))
        _over_rows(n, scans)
        self._require(slice(n))
        hits, scores = merge(heaps, k)
        if method == "3cosadd":
            # The kernel scores with b - a + c as it is; its length turns the score into a cosine and keeps the order.
            a, b, c = (words[questions[:, i]].astype(np.float64) for i in range(3))
            length = np.linalg.norm(b - a + c, axis=1, keepdims=True)
            scores = np.divide(scores, length, out=scores.copy(), where=(length > 0) & np.isfinite(scores))
        return hits, scores

    def _require(self, rows: NDArray[np.int64] | slice) -> None:
        """Raises what `refuse` does of the first of `rows`, all or as many as were looked at, that is no vector."""
        if self._refuse is None:
            return
        bad = np.isnan(self._scales[rows])
        if bad.any():
            self._refuse(int(np.arange(self._n)[rows][bad].min()))

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
