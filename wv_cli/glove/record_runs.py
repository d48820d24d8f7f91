"""Sorted runs of records that do not fit in memory: one file without a name, merged in as many passes as it takes.

All runs stand in the same file one behind the other, so however many there are, one file descriptor is open.
"""

import bisect
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._glove import RECORD, merge
from wv_cli.errors import WvError
from wv_cli.system.spill import Spool

Records = NDArray[Any]

_LEAST_BUFFER = 1024  # records of each run held while merging
_MOST_RUNS = 256


class RecordFile:
    """Records in a file without a name beside `beside` (system.spill). Up to `memory` bytes there is no file: the
    records are kept in memory."""

    def __init__(self, beside: str | None, dtype: "np.dtype[Any]" = RECORD, memory: int = 0) -> None:
        self.dtype = dtype
        self.length = 0
        self._spool = Spool(beside, "co-occurrence counts")
        self._memory = memory
        self._held: list[Records] = []
        self._held_from: list[int] = []

    def append(self, records: Records) -> None:
        if (self.length + len(records)) * self.dtype.itemsize <= self._memory:
            self._held.append(records.view(np.uint64).copy().view(self.dtype))  # copying fields is slow
            self._held_from.append(self.length)
        else:
            held, self._held, self._memory = self._held, [], 0
            for piece, position in zip(held, self._held_from, strict=False):
                self._spool.write(piece, position)
            self._spool.write(records, self.length)
        self.length += len(records)

    def read(self, first: int, out: Records) -> Records:
        """The records from `first` on that fill `out`, which were appended in one piece; perhaps not in `out`."""
        if self._held:
            piece = bisect.bisect_right(self._held_from, first) - 1
            begin = first - self._held_from[piece]
            return self._held[piece][begin : begin + len(out)]
        if self._spool.read(out, first) < len(out):
            message = f"{self._spool.folder}: the file of co-occurrence counts here has become shorter; start again"
            raise WvError(message)
        return out

    def close(self) -> None:
        self._spool.close()


class Runs:
    """Sorted runs waiting to be merged. Use as a context."""

    def __init__(self, beside: str | None, memory: int) -> None:
        self._file = RecordFile(beside)
        self._bounds: list[tuple[int, int]] = []
        self._capacity = max(memory // (2 * RECORD.itemsize), 4 * _LEAST_BUFFER)
        self._most = max(min(self._capacity // _LEAST_BUFFER - 1, _MOST_RUNS), 2)

    def __enter__(self) -> "Runs":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, records: Iterable[Records]) -> None:
        """Keeps one sorted run, given in blocks."""
        begin = self._file.length
        for block in records:
            if len(block):
                self._file.append(block)
        if self._file.length > begin:
            self._bounds.append((begin, self._file.length))

    def merged(self, *, as_values: bool) -> Iterator[Records]:
        """All runs as one, equal pairs summed: as int64 units, or as float64 in the order of the runs."""
        while len(self._bounds) > self._most:
            # Neighbours are merged, so the order in which a pair's values are added stays that of the runs.
            groups = [self._bounds[first : first + self._most] for first in range(0, len(self._bounds), self._most)]
            self._bounds = []
            for group in groups:
                if len(group) == 1:
                    self._bounds += group
                else:
                    self.add(self._merge(group, as_values))
        yield from self._merge(self._bounds, as_values)

    def _merge(self, bounds: list[tuple[int, int]], as_values: bool) -> Iterator[Records]:
        if not bounds:
            return
        runs, size = len(bounds), self._capacity // (len(bounds) + 1)
        buffers = np.empty(runs * size, RECORD)
        next_read = [begin for begin, _ in bounds]
        first = np.arange(runs, dtype=np.int64) * size
        last, more = first.copy(), np.ones(runs, np.uint8)
        pending = np.zeros(1, RECORD)
        while True:
            for run in np.flatnonzero((first == last) & (more == 1)):
                length = min(size, bounds[run][1] - next_read[run])
                first[run] = run * size
                last[run] = first[run] + length
                self._file.read(next_read[run], buffers[first[run] : last[run]])
                next_read[run] += length
                more[run] = next_read[run] < bounds[run][1]
            out = np.empty(size, RECORD)
            written = merge(buffers, first, last, more, as_values, pending, out)
            if written:
                yield out[:written]
            if not more.any() and (first == last).all():
                break
        yield pending
