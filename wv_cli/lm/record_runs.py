"""Sorted runs of records of n-grams (csrc/core/ngrams.h) that do not fit in memory: one file without a name, merged in
as many passes as it takes.

A record is a row of order + 2 int32. All runs stand in the same file, so that one file descriptor is open.
"""

from collections.abc import Iterable, Iterator
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from wv_cli._lm import merge
from wv_cli.errors import WvError
from wv_cli.system.spill import Spool

Records = NDArray[np.int32]

_LEAST_BUFFER = 1024  # records of each run held while merging
_MOST_RUNS = 256


class Runs:
    """Sorted runs waiting to be merged with `memory` bytes. Use as a context."""

    def __init__(self, beside: str | None, order: int, memory: int) -> None:
        self._order, self._width = order, order + 2
        self._spool = Spool(beside, "n-grams")
        self._length = 0
        self._bounds: list[tuple[int, int]] = []
        self._capacity = max(memory // (8 * self._width), 4 * _LEAST_BUFFER)
        self._most = max(min(self._capacity // _LEAST_BUFFER - 1, _MOST_RUNS), 2)

    def __enter__(self) -> "Runs":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._spool.close()

    def __len__(self) -> int:
        return len(self._bounds)

    def add(self, records: Iterable[Records]) -> None:
        """Keeps one sorted run, given in blocks."""
        begin = self._length
        for block in records:
            self._spool.write(block.reshape(-1), self._length * self._width)
            self._length += len(block)
        if self._length > begin:
            self._bounds.append((begin, self._length))

    def merged(self) -> Iterator[Records]:
        """All runs as one, the counts of equal records added up; each block is valid until the next."""
        while len(self._bounds) > self._most:
            groups = [self._bounds[first : first + self._most] for first in range(0, len(self._bounds), self._most)]
            self._bounds = []
            for group in groups:
                self.add(self._merge(group))
        yield from self._merge(self._bounds)

    def _merge(self, bounds: list[tuple[int, int]]) -> Iterator[Records]:
        if not bounds:
            return
        size = min(self._capacity // (len(bounds) + 1), max(end - begin for begin, end in bounds))
        buffers = np.empty((len(bounds) * size, self._width), np.int32)
        out, pending = np.empty((size, self._width), np.int32), np.zeros(self._width, np.int32)
        next_read = [begin for begin, _ in bounds]
        first = np.arange(len(bounds), dtype=np.int64) * size
        last, more = first.copy(), np.ones(len(bounds), np.uint8)
        while True:
            for run in np.flatnonzero((first == last) & (more == 1)).tolist():
                length = min(size, bounds[run][1] - next_read[run])
                first[run], last[run] = run * size, run * size + length
                self._read(next_read[run], buffers[first[run] : last[run]])
                next_read[run] += length
                more[run] = next_read[run] < bounds[run][1]
            if written := merge(self._order, buffers, first, last, more, pending, out):
                yield out[:written]
            if not more.any() and (first == last).all():
                break
        yield pending[None, :]

    def _read(self, position: int, out: Records) -> None:
        if self._spool.read(out.reshape(-1), position * self._width) < out.size:
            message = f"{self._spool.folder}: the file of n-grams here has become shorter; start again"
            raise WvError(message)
