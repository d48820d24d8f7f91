"""Exact nearest neighbours among codes: by popcount over packed codes, or by an inverted index over sparse ones where
that is less work (csrc/kernels/hamming.c). Answers are the same either way; ties go to the lowest row. A Reranker puts
the nearest codes in the order of the vectors they were made from.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from wv_cli import _hashing
from wv_cli.errors import WvError
from wv_cli.search.neighbours import Hits, Neighbours, aligned, default_threads
from wv_cli.vectors.codes import Codes, pack_bits, unpack_bits, words_per_code
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList

_NO_HIT = np.iinfo(np.int32).max
_BATCH = 4096  # queries searched in one pass over the codes,
_BATCH_HITS = 1 << 22  # fewer when they ask for many neighbours
_THREAD_ROWS = 1 << 15  # are worth a thread
# Counting one overlap in the index costs as much as this many 64-bit words of the scan (measured on Sapphire Rapids).
_INDEX_COST = 10.0


class CodeNeighbours:
    """Searches `codes`. `threads` 0 means all processors; `index` True or False makes or forbids the inverted index,
    None lets the sizes decide. `isa` names an instruction set, for tests."""

    def __init__(self, codes: Codes, *, threads: int = 0, index: bool | None = None, isa: str | None = None) -> None:
        self.codes, self.words = codes, codes.words
        self.threads = threads or default_threads()
        self._isa = isa
        width = words_per_code(codes.bits)
        if index is None:
            index = codes.sparse and codes.active**2 / codes.bits * _INDEX_COST < width
        self.indexed = bool(index and codes.sparse and len(codes) and codes.active < 1 << 16)
        self._panels: NDArray[np.uint64] | None = None
        if self.indexed:
            self._starts = np.zeros(codes.bits + 1, np.int64)
            self._rows = np.empty(codes.data.size, np.int32)
            _hashing.invert(codes.data, self._starts, self._rows)

    def __len__(self) -> int:
        return len(self.codes)

    def top_k(
        self,
        queries: NDArray[np.generic],
        k: int = 10,
        *,
        exclude: Sequence[Iterable[int]] | None = None,
        rows: int | None = None,
    ) -> Hits:
        """The k nearest rows of each query: (indices (q, k) int32, similarities (q, k) float32), best first.

        queries: codes like those of `codes.data`. The similarity is the share of equal bits, for sparse codes the share
        of common active ones. exclude, rows and places that cannot be filled: as Neighbours.top_k. Raises ValueError
        for codes of another kind.
        """
        self._require(queries)
        n = len(self) if rows is None else max(0, min(rows, len(self)))
        hits = np.full((len(queries), k), -1, np.int32)
        scores = np.full((len(queries), k), -np.inf, np.float32)
        size = max(1, min(_BATCH, _BATCH_HITS // max(1, min(k, n))))
        for start in range(0, len(queries) if n and k else 0, size):
            batch = slice(start, start + size)
            found = self._top_k(queries[batch], min(k, n), None if exclude is None else exclude[batch], n)
            hits[batch, : min(k, n)], scores[batch, : min(k, n)] = found
        return hits, scores

    def _top_k(
        self, queries: NDArray[np.generic], k: int, exclude: Sequence[Iterable[int]] | None, n: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        lists = [sorted(set(rows)) for rows in exclude] if exclude is not None else [[]] * len(queries)
        starts = np.concatenate([[0], np.cumsum([len(rows) for rows in lists])]).astype(np.int64)
        excluded = np.array([row for rows in lists for row in rows], np.int64).clip(-1, _NO_HIT).astype(np.int32)
        parts = self._parts(n)
        heaps = [
            (np.full((len(queries), k), _NO_HIT, np.int32), np.full((len(queries), k), -np.inf, np.float32))
            for _ in parts
        ]
        scan = self._index_scan if self.indexed else self._popcount_scan
        jobs = [
            scan(queries, scores, hits, starts, excluded, part)
            for (hits, scores), part in zip(heaps, parts, strict=True)
        ]
        if len(jobs) == 1:
            jobs[0]()
        else:
            with ThreadPoolExecutor(len(jobs)) as pool:
                for done in [pool.submit(job) for job in jobs]:
                    done.result()
        hits = np.concatenate([hits for hits, _ in heaps], axis=1)
        scores = np.concatenate([scores for _, scores in heaps], axis=1)
        order = np.lexsort((hits, -scores), axis=1)[:, :k]
        hits, scores = np.take_along_axis(hits, order, axis=1), np.take_along_axis(scores, order, axis=1)
        hits[hits == _NO_HIT] = -1
        codes = self.codes
        if self.indexed:
            scores /= np.float32(codes.active)
        else:  # minus the Hamming distance, of sparse codes 2 (active - overlap)
            scores /= np.float32(2 * codes.active if codes.sparse else codes.bits)
            scores += 1
        return hits, scores

    def _popcount_scan(
        self,
        queries: NDArray[np.generic],
        scores: NDArray[np.float32],
        hits: NDArray[np.int32],
        starts: NDArray[np.int64],
        excluded: NDArray[np.int32],
        part: tuple[int, int],
    ) -> Callable[[], None]:
        packed = self._packed(queries)
        run = _hashing.Hamming(self.panels, len(self), packed, scores, hits, starts, excluded, self._isa)
        return lambda: run.scan(*part)

    def _index_scan(
        self,
        queries: NDArray[np.generic],
        scores: NDArray[np.float32],
        hits: NDArray[np.int32],
        starts: NDArray[np.int64],
        excluded: NDArray[np.int32],
        part: tuple[int, int],
    ) -> Callable[[], None]:
        positions = np.ascontiguousarray(queries, np.int32)
        run = _hashing.Overlap(
            self._starts, self._rows, len(self), positions, scores, hits, starts, excluded, self._isa
        )
        scratch = aligned((run.scratch_bytes,), np.uint8)
        return lambda: run.scan(*part, scratch)

    @property
    def panels(self) -> NDArray[np.uint64]:
        """The packed codes, eight side by side, made on first use."""
        if self._panels is None:
            words = words_per_code(self.codes.bits)
            lanes = _hashing.CODE_LANES
            self._panels = aligned((-(-len(self) // lanes), words, lanes), np.uint64)
            self._panels[-1:] = 0
            _hashing.pack_codes(np.ascontiguousarray(self.codes.packed()), self._panels)
        return self._panels

    def distances(self, queries: NDArray[np.generic]) -> NDArray[np.int32]:
        """Hamming distances (q, n) of every query to every row."""
        self._require(queries)
        out = np.zeros((len(queries), len(self)), np.int32)
        if not out.size:
            return out
        heap = np.zeros((len(queries), 1), np.float32)
        nothing = np.zeros(len(queries) + 1, np.int64)
        packed = self._packed(queries)
        _hashing.Hamming(
            self.panels, len(self), packed, heap, heap.astype(np.int32), nothing, np.empty(0, np.int32), self._isa
        ).distances(0, len(self), out)
        return out

    def mean(self, rows: Sequence[int]) -> NDArray[np.generic]:
        """The code that stands for several rows: their majority bits (ties on), or the `active` positions most of them
        share (ties to the lowest)."""
        codes = self.codes
        if len(rows) == 1:
            return codes.data[rows[0]]
        if not codes.sparse:
            votes = unpack_bits(codes.data[list(rows)], codes.bits).sum(axis=0)
            return pack_bits((2 * votes >= len(rows))[None])[0]
        votes = np.bincount(codes.data[list(rows)].ravel(), minlength=codes.bits)
        chosen = np.argsort(-votes, kind="stable")[: codes.active]
        return np.sort(chosen).astype(np.int32)

    def nearest(
        self,
        asked: Sequence[Sequence[int]],
        k: int,
        *,
        reranker: "Reranker | None" = None,
        candidates: int | None = None,
        rows: int | None = None,
    ) -> Hits:
        """The k rows nearest to the mean code of each list of rows, these left out; with a reranker the `candidates`
        nearest (10 k by default) in its order and with its scores."""
        queries = np.stack([self.mean(each) for each in asked])
        wanted = max(k, candidates or 10 * k) if reranker else k
        found = self.top_k(queries, min(wanted, len(self)), exclude=asked, rows=rows)
        return reranker.top_k(asked, found[0], k) if reranker else found

    def _packed(self, queries: NDArray[np.generic]) -> NDArray[np.uint64]:
        if not self.codes.sparse:
            return np.ascontiguousarray(queries, np.uint64)
        unnamed = WordList(b"", np.zeros(len(queries) + 1, np.int64))
        positions = np.ascontiguousarray(queries, np.int32)
        return Codes(unnamed, "query", self.codes.bits, self.codes.active, positions).packed()

    def _require(self, queries: NDArray[np.generic]) -> None:
        if (
            queries.ndim != 2
            or queries.shape[1:] != self.codes.data.shape[1:]
            or queries.dtype != self.codes.data.dtype
        ):
            message = f"queries {queries.dtype}{list(queries.shape)} are no codes like the {self.codes.bits} bits here"
            raise ValueError(message)

    def _parts(self, n: int) -> list[tuple[int, int]]:
        """Ranges of rows, one for each thread, that start at multiples of CODE_LANES."""
        count = max(1, min(self.threads, n // _THREAD_ROWS))
        lanes = _hashing.CODE_LANES
        size = -(-n // (count * lanes)) * lanes
        return [(start, min(start + size, n)) for start in range(0, n, size)]


class Reranker:
    """Cosines of `embeddings` for the words of codes. Raises WvError when a word has no vector there; `place` is what
    the message calls them."""

    def __init__(self, words: WordList, embeddings: Embeddings, place: str) -> None:
        self._rows = np.arange(len(words))
        if words != embeddings.words:
            self._rows = np.array([embeddings.words.find(word) for word in words], np.int64)
        if (self._rows < 0).any():
            missing = words[int((self._rows < 0).argmax())]
            message = (
                f"{place}: has no vector for {missing!r}, which has a code; rerank with the vectors that were hashed"
            )
            raise WvError(message)
        self._unit = Neighbours(embeddings, overwrite=True).unit

    def top_k(self, asked: Sequence[Sequence[int]], candidates: NDArray[np.int32], k: int) -> Hits:
        """The k candidates of highest cosine with the mean of each query's unit vectors. asked: rows of the codes;
        candidates: (q, c) rows, -1 for none. Ties go to the lowest row; places that cannot be filled have index -1."""
        hits = np.full((len(asked), k), -1, np.int32)
        scores = np.full((len(asked), k), -np.inf, np.float32)
        for query, rows in enumerate(asked):
            found = np.sort(candidates[query][candidates[query] >= 0])
            mean = self._unit[self._rows[list(rows)]].mean(axis=0, dtype=np.float64)
            length = float(np.linalg.norm(mean)) or 1.0
            cosines = (self._unit[self._rows[found]] @ (mean / length)).astype(np.float32)
            best = np.argsort(-cosines, kind="stable")[:k]
            hits[query, : len(best)], scores[query, : len(best)] = found[best], cosines[best]
        return hits, scores
