"""Exact nearest neighbours by cosine, and analogies: every row is scored, nothing is approximated.

Holds one normalised float32 copy of the matrix. Scores are made and selected tile by tile (csrc/kernels/search.c), so
memory does not grow with the number of queries times rows. Answers do not depend on the number of threads or on which
queries are asked together; ties go to the lowest row. Not here: approximate indexes, searches over binary codes.
"""

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wv_cli import _search
from wv_cli.errors import UsageError
from wv_cli.system.memory import padded, zeros
from wv_cli.vectors.embeddings import Embeddings, OovRows
from wv_cli.words import WordList

METHODS = tuple(_search.METHODS)

Hits = tuple[NDArray[np.int32], NDArray[np.float32]]

_BATCH = 2048  # queries searched in one pass over the rows,
_BATCH_HITS = 1 << 22  # fewer when they ask for many neighbours: every thread keeps all of a batch
_WORDS = 512  # distinct words of one analogy batch: their scores against a block of rows stay in the second-level cache
_NO_HIT = np.iinfo(np.int32).max


def aligned(shape: tuple[int, ...], dtype: type[np.generic] = np.float32) -> NDArray[Any]:
    """An uninitialised C-ordered array that begins on a cache line, as the kernels need their scratch."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    block = np.empty(size + 64, np.uint8)
    offset = -block.ctypes.data % 64
    return block[offset : offset + size].view(dtype).reshape(shape)


def default_threads() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Neighbours:
    """Searches the rows of `embeddings`.

    `unit` is the normalised matrix, (n, dim) float32: a view of rows padded to 64 bytes, or the matrix of `embeddings`
    itself, changed in place, when `overwrite` is true and it is writable. A zero vector stays zero (its cosine with
    everything is 0); a vector with NaN or infinity becomes NaN and is never found.

    `threads` 0 means all processors. `isa` names an instruction set, for tests; None is the one in use.
    """

    def __init__(
        self, embeddings: Embeddings, *, threads: int = 0, overwrite: bool = False, isa: str | None = None
    ) -> None:
        self.words: WordList = embeddings.words
        self._subwords = embeddings.subwords
        self.threads = threads or default_threads()
        self._isa = isa
        matrix = embeddings.matrix
        n, dim = matrix.shape
        in_place = overwrite and matrix.dtype == np.float32 and matrix.flags.writeable and _rows_follow(matrix)
        self.unit: NDArray[np.float32] = matrix
        if not in_place:
            self.unit = zeros(n, padded(dim))[:, :dim]

        def normalise(start: int, end: int) -> None:
            source = matrix[start:end]
            if source.dtype != np.float32 or not _rows_follow(source):
                source = np.ascontiguousarray(source, np.float32)
            _search.normalise(source, self.unit[start:end], isa)

        self._over_rows(n, [normalise] * self.threads)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def dim(self) -> int:
        return int(self.unit.shape[1])

    def oov_rows(self) -> OovRows:
        """Numbers, behind those of the rows, for words that are not listed but have subwords."""
        return OovRows(len(self), self.dim, self._subwords)

    def unit_rows(self, rows: ArrayLike, oov: OovRows | None = None) -> NDArray[np.float32]:
        """The unit vectors (len(rows), dim) of rows; numbers from len(self) on are those that `oov` gave. A copy."""
        numbers = np.asarray(rows, np.int64)
        if oov is None or not len(oov):
            return np.ascontiguousarray(self.unit[numbers])
        inside = numbers < len(self)
        result = np.empty((len(numbers), self.dim), np.float32)
        result[inside] = self.unit[numbers[inside]]
        composed = oov.vectors()
        _search.normalise(composed, composed, self._isa)
        result[~inside] = composed[numbers[~inside] - len(self)]
        return result

    def zero_rows(self) -> int:
        """How many vectors are zero."""
        return int(len(self) - np.count_nonzero(self.unit.any(axis=1)))

    def top_k(
        self,
        queries: ArrayLike,
        k: int = 10,
        *,
        exclude: Sequence[Iterable[int]] | None = None,
        rows: int | None = None,
    ) -> Hits:
        """The k rows of highest cosine with each query: (indices (q, k) int32, cosines (q, k) float32), best first.

        queries: (q, dim), normalised here. exclude: for each query the rows it must not get. rows: search only the
        first so many. Places that cannot be filled (k > rows, NaN) have index -1 and score -inf. Raises ValueError for
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
        indices, scores = _unfilled(len(vectors), k)
        size = max(1, min(_BATCH, _BATCH_HITS // max(1, min(k, n))))
        for start in range(0, len(vectors) if n and k and self.dim else 0, size):
            batch = slice(start, start + size)
            found = self._top_k(vectors[batch], min(k, n), None if exclude is None else exclude[batch], n)
            indices[batch, : found[0].shape[1]], scores[batch, : found[1].shape[1]] = found
        return indices, scores

    def _top_k(self, vectors: NDArray[np.float32], k: int, exclude: Sequence[Iterable[int]] | None, n: int) -> Hits:
        count, lanes = len(vectors), _search.lanes(self._isa)
        panels = aligned((-(-count // lanes), self.dim, lanes))
        _search.pack(vectors, panels, self._isa)
        lists = [sorted(set(rows)) for rows in exclude] if exclude is not None else [[]] * count
        starts = np.concatenate([[0], np.cumsum([len(rows) for rows in lists])]).astype(np.int64)
        excluded = np.array([row for rows in lists for row in rows], np.int64).clip(-1, _NO_HIT).astype(np.int32)
        heaps, scans = [], []
        for _ in range(self._workers(n)):
            thresholds = np.full(len(panels) * lanes, np.inf, np.float32)
            thresholds[:count] = -np.inf
            hits, scores = _unfilled(count, k, _NO_HIT)
            heaps.append((hits, scores))
            scans.append(_search.TopK(self.unit, panels, thresholds, scores, hits, starts, excluded, self._isa).scan)
        self._over_rows(n, scans)
        return _merge(heaps, k)

    def analogies(
        self,
        a: ArrayLike,
        b: ArrayLike,
        c: ArrayLike,
        k: int = 1,
        *,
        method: str = "3cosadd",
        rows: int | None = None,
        oov: OovRows | None = None,
    ) -> Hits:
        """The k best answers to `a is to b as c is to ?`, the three asked words excluded: (indices (q, k) int32,
        scores (q, k) float32), best first; unfilled places as in top_k.

        a, b, c: (q) row numbers. method: `3cosadd` scores x by its cosine with b - a + c of the unit vectors (Mikolov
        et al. 2013), `3cosmul` by cos'(x, b) cos'(x, c) / (cos'(x, a) + .001), cos' = (cos + 1) / 2 (Levy & Goldberg
        2014). rows: answer only from the first so many. oov: gave the numbers from len(self) on, which can be asked but
        are no answers. Raises UsageError for another method, IndexError for a row out of range.
        """
        if method not in METHODS:
            message = f"unknown analogy method {method!r} (choices: {', '.join(METHODS)})"
            raise UsageError(message)
        asked = np.stack([np.atleast_1d(np.asarray(ids, np.int64)) for ids in (a, b, c)], axis=1)
        known = len(self) + (len(oov) if oov is not None else 0)
        if asked.size and not (asked.min() >= 0 and asked.max() < known):
            message = f"row numbers must be 0 to {known - 1}"
            raise IndexError(message)
        n = self._searched(rows)
        indices, scores = _unfilled(len(asked), k)
        for batch in _few_words(asked) if n and k and self.dim else ():
            found = self._analogies(asked[batch], min(k, n), method, n, oov)
            indices[batch, : found[0].shape[1]], scores[batch, : found[1].shape[1]] = found
        return indices, scores

    def _analogies(self, asked: NDArray[np.int64], k: int, method: str, n: int, oov: OovRows | None) -> Hits:
        ids, inverse = np.unique(asked, return_inverse=True)
        questions: NDArray[np.int32] = inverse.reshape(asked.shape).astype(np.int32)
        words, word_rows = self.unit_rows(ids, oov), ids.astype(np.int32)
        heaps, scans = [], []
        for _ in range(self._workers(n)):
            thresholds = np.full(len(asked), -np.inf, np.float32)
            hits, scores = _unfilled(len(asked), k, _NO_HIT)
            heaps.append((hits, scores))
            job = _search.Analogies(self.unit, words, word_rows, questions, method, thresholds, scores, hits, self._isa)
            scratch = aligned((job.scratch_bytes,), np.uint8)
            scans.append(lambda start, end, job=job, scratch=scratch: job.scan(start, end, scratch))
        self._over_rows(n, scans)
        indices, scores = _merge(heaps, k)
        if method == "3cosadd":
            # The kernel scores with b - a + c as it is; its length turns the score into a cosine and keeps the order.
            a, b, c = (words[questions[:, i]].astype(np.float64) for i in range(3))
            length = np.linalg.norm(b - a + c, axis=1, keepdims=True)
            scores = np.divide(scores, length, out=scores.copy(), where=(length > 0) & np.isfinite(scores))
        return indices, scores

    def _searched(self, rows: int | None) -> int:
        return len(self) if rows is None else max(0, min(rows, len(self)))

    def _workers(self, n: int) -> int:
        return max(1, min(self.threads, n // 4096))

    def _over_rows(self, n: int, scans: Sequence[Callable[[int, int], None]]) -> None:
        """Runs one thread per scan; each takes the next range of rows when it has done one, so its ranges ascend."""
        size = max(4096, -(-n // (16 * len(scans))))
        if n <= size:
            scans = scans[:1]
        starts = itertools.count(0, size)

        def work(scan: Callable[[int, int], None]) -> None:
            while (start := next(starts)) < n:
                scan(start, min(start + size, n))

        if len(scans) == 1:
            work(scans[0])
            return
        with ThreadPoolExecutor(len(scans)) as pool:
            for done in [pool.submit(work, scan) for scan in scans]:
                done.result()


def _rows_follow(matrix: NDArray[np.generic]) -> bool:
    """Whether numbers stand side by side and rows one after another, as the kernels need it."""
    item = matrix.itemsize
    side_by_side = matrix.strides[1] == item or matrix.shape[1] == 1
    follows = matrix.strides[0] >= matrix.shape[1] * item and matrix.strides[0] % item == 0
    return side_by_side and (follows or len(matrix) <= 1) and bool(matrix.flags.aligned)


def _unfilled(count: int, k: int, hit: int = -1) -> Hits:
    return np.full((count, k), hit, np.int32), np.full((count, k), -np.inf, np.float32)


def _merge(heaps: Sequence[Hits], k: int) -> Hits:
    """The k best of all threads' heaps, best first, ties by row."""
    hits = np.concatenate([hits for hits, _ in heaps], axis=1)
    scores = np.concatenate([scores for _, scores in heaps], axis=1)
    order = np.lexsort((hits, -scores), axis=1)[:, :k]
    hits, scores = np.take_along_axis(hits, order, axis=1), np.take_along_axis(scores, order, axis=1)
    hits[hits == _NO_HIT] = -1
    return hits, scores


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
