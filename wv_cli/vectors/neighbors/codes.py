"""Exact nearest neighbors among codes: by popcount over packed codes, or by an inverted index over sparse ones where
that is less work (csrc/kernels/hamming.c). Answers are the same either way; ties go to the lowest row.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _hashing
from wv_cli.io.host import processors
from wv_cli.io.memory import allocate_aligned
from wv_cli.io.threads import run_all
from wv_cli.vectors.neighbors.topk import (
    NO_HIT,
    Asked,
    Exact,
    Hits,
    combine_rows,
    exclusions,
    in_batches,
    make_empty_hits,
    merge,
    take_rows,
)


def words_per_code(bits: int) -> int:
    """64-bit words per code."""
    return -(-bits // 64)


def pack_bits(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """(n, bits) true or false -> (n, words_per_code(bits)) uint64; bits after the last are zero."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    out = np.zeros((len(bits), 8 * words_per_code(bits.shape[1])), np.uint8)
    out[:, : packed.shape[1]] = packed
    return out.view("<u8").astype(np.uint64, copy=False)


def unpack_bits(packed: NDArray[np.uint64], bits: int) -> NDArray[np.bool_]:
    """The reverse of pack_bits."""
    octets = np.ascontiguousarray(packed, "<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, count=bits, bitorder="little").view(np.bool_)


def pack_positions(positions: NDArray[np.int32], bits: int) -> NDArray[np.uint64]:
    """(n, active) positions of the bits that are set, 0 .. bits - 1 -> (n, words_per_code(bits)) uint64."""
    out = np.zeros((len(positions), words_per_code(bits)), np.uint64)
    rows = np.arange(len(positions))
    for column in range(positions.shape[1]):
        at = positions[:, column]
        out[rows, at >> 6] |= np.uint64(1) << (at & 63).astype(np.uint64)
    return out


_BATCH = 4096  # queries searched in one pass over the codes, at most
_THREAD_ROWS = 1 << 15  # are worth a thread
# Counting one overlap in the index costs as much as this many 64-bit words of the scan (measured on Sapphire Rapids).
_INDEX_COST = 10.0


class CodeNeighbors(Exact):
    """Exact search of codes.

    data: dense codes of `bits` bits (active 0) are (n, words_per_code(bits)) uint64 as of pack_bits; sparse ones
    (n, active) int32, the positions of the bits that are set, each row ascending. `threads` 0 means all processors;
    `index` True or False makes or forbids the inverted index, None lets the sizes decide. `isa` names an instruction
    set, for tests.
    """

    def __init__(
        self,
        bits: int,
        active: int,
        data: NDArray[Any],
        *,
        threads: int = 0,
        index: bool | None = None,
        isa: str | None = None,
    ) -> None:
        self.bits, self.active, self.data = bits, active, data
        self.threads = threads or processors()
        self._isa = isa
        if index is None:
            index = active > 0 and active**2 / bits * _INDEX_COST < words_per_code(bits)
        self.indexed = bool(index and 0 < active < 1 << 16 and len(data))
        self._panels: NDArray[np.uint64] | None = None
        if self.indexed:
            self._starts = np.zeros(bits + 1, np.int64)
            self._rows = np.empty(data.size, np.int32)
            _hashing.invert(data, self._starts, self._rows)

    def __len__(self) -> int:
        return len(self.data)

    def stand_for(
        self, asked: Asked, weights: Sequence[Sequence[float]] | None, beyond: NDArray[Any] | None
    ) -> NDArray[Any]:
        """(queries, width) The `majority` of each query's codes."""
        return combine_rows(asked, weights, lambda numbers: take_rows(self.data, numbers, beyond), self.majority)

    def part(self, rows: NDArray[np.int64]) -> "CodeNeighbors":
        return CodeNeighbors(self.bits, self.active, self.data[rows], threads=self.threads, isa=self._isa)

    def majority(self, codes: NDArray[Any], weights: NDArray[np.float32] | None = None) -> NDArray[Any]:
        """The code that stands for several (n, width): the bits that most of them have (ties on), or the `active`
        positions most of them share (ties to the lowest). With weights (n) votes count so much."""
        if self.active:
            each = None if weights is None else np.repeat(weights, self.active)
            votes = np.bincount(codes.ravel(), each, minlength=self.bits)
            return np.sort(np.argsort(-votes, kind="stable")[: self.active]).astype(np.int32)
        signs: NDArray[Any] = 2 * unpack_bits(codes, self.bits).astype(np.int64) - 1
        if weights is not None:
            signs = signs * weights[:, None]
        code: NDArray[np.uint64] = pack_bits((signs.sum(axis=0) >= 0)[None])[0]
        return code

    def top_k(
        self,
        queries: NDArray[Any],
        k: int = 10,
        *,
        exclude: Sequence[Iterable[int]] | None = None,
        rows: int | None = None,
    ) -> Hits:
        """The k nearest rows of each query: (rows (q, k) int32, similarities (q, k) float32), best first.

        queries: codes like those of `data`. The similarity is the share of equal bits, for sparse codes the share of
        common active ones. exclude, rows and positions that cannot be filled: as Neighbors.top_k. Raises ValueError
        for codes of another kind.
        """
        self._require(queries)
        n = len(self) if rows is None else max(0, min(rows, len(self)))

        def search(batch: slice, k: int) -> Hits:
            return self._top_k(queries[batch], k, *exclusions(exclude, len(queries[batch]), batch), n)

        return in_batches(len(queries), k, n, _BATCH, search)

    def _top_k(
        self, queries: NDArray[Any], k: int, starts: NDArray[np.int64], excluded: NDArray[np.int32], n: int
    ) -> Hits:
        parts = self._parts(n)
        heaps = [make_empty_hits(len(queries), k, NO_HIT) for _ in parts]
        scan = self._index_scan if self.indexed else self._popcount_scan
        scans = [scan(queries, heap, starts, excluded, part) for heap, part in zip(heaps, parts, strict=True)]
        run_all(lambda scan: scan(), scans, len(scans))
        hits, scores = merge(heaps, k)
        if self.indexed:
            scores /= np.float32(self.active)
        else:  # minus the Hamming distance, of sparse codes 2 (active - overlap)
            scores /= np.float32(2 * self.active if self.active else self.bits)
            scores += 1
        return hits, scores

    def _popcount_scan(
        self,
        queries: NDArray[Any],
        heap: Hits,
        starts: NDArray[np.int64],
        excluded: NDArray[np.int32],
        part: tuple[int, int],
    ) -> Callable[[], None]:
        hits, scores = heap
        packed = self._pack(queries)
        run = _hashing.Hamming(self.panels, len(self), packed, scores, hits, starts, excluded, self._isa)
        return lambda: run.scan(*part)

    def _index_scan(
        self,
        queries: NDArray[Any],
        heap: Hits,
        starts: NDArray[np.int64],
        excluded: NDArray[np.int32],
        part: tuple[int, int],
    ) -> Callable[[], None]:
        hits, scores = heap
        positions = np.ascontiguousarray(queries, np.int32)
        run = _hashing.Overlap(
            self._starts, self._rows, len(self), positions, scores, hits, starts, excluded, self._isa
        )
        scratch = allocate_aligned((run.scratch_bytes,), np.uint8)
        return lambda: run.scan(*part, scratch)

    @property
    def panels(self) -> NDArray[np.uint64]:
        """The packed codes, eight side by side, made on first use."""
        if self._panels is None:
            lanes = _hashing.CODE_LANES
            self._panels = allocate_aligned((-(-len(self) // lanes), words_per_code(self.bits), lanes), np.uint64)
            self._panels[-1:] = 0
            _hashing.pack_codes(self._pack(self.data), self._panels)
        return self._panels

    def distances(self, queries: NDArray[Any]) -> NDArray[np.int32]:
        """Hamming distances (q, n) of every query to every row."""
        self._require(queries)
        out = np.zeros((len(queries), len(self)), np.int32)
        if not out.size:
            return out
        heap = np.zeros((len(queries), 1), np.float32)
        nothing = np.zeros(len(queries) + 1, np.int64)
        packed = self._pack(queries)
        _hashing.Hamming(
            self.panels, len(self), packed, heap, heap.astype(np.int32), nothing, np.empty(0, np.int32), self._isa
        ).distances(0, len(self), out)
        return out

    def _pack(self, codes: NDArray[Any]) -> NDArray[np.uint64]:
        return pack_positions(codes, self.bits) if self.active else np.ascontiguousarray(codes, np.uint64)

    def _require(self, queries: NDArray[Any]) -> None:
        if queries.ndim != 2 or queries.shape[1:] != self.data.shape[1:] or queries.dtype != self.data.dtype:
            message = f"queries {queries.dtype}{list(queries.shape)} are no codes like the {self.bits} bits here"
            raise ValueError(message)

    def _parts(self, n: int) -> list[tuple[int, int]]:
        """Ranges of rows, one for each thread, that start at multiples of CODE_LANES."""
        count = max(1, min(self.threads, n // _THREAD_ROWS))
        lanes = _hashing.CODE_LANES
        size = -(-n // (count * lanes)) * lanes
        return [(start, min(start + size, n)) for start in range(0, n, size)]
