"""Sorted runs of records that do not fit in memory: one file without a name, merged in as many passes as it takes.

All runs stand in the same file one behind the other, so however many there are, one file descriptor is open.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._glove import RECORD, merge
from wv_cli.io.spill import Closeable, Spool

Records = NDArray[Any]

# step(records, first, last, more, pending, out), one of merging the runs records[first[r]:last[r]]: moves `first` on
# until `out` is full or a run that has `more` is at its end. Equal records are added up in `pending`, the last one
# found, which is not yet in `out`. Returns the number of records written to `out`.
Step = Callable[[Records, NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8], Records, Records], int]

_LEAST_BUFFER = 1024  # records of each run held while merging
_MOST_RUNS = 256


class SortedRuns(Closeable):
    """Sorted runs waiting to be merged by `step` with `memory` bytes, in the folder of `beside`. `record` is an array
    of one record, zero: a structure, or a row of numbers; `what` they are, in messages. Use as a context."""

    def __init__(self, beside: str | None, what: str, record: Records, memory: int, step: Step) -> None:
        self._record, self._step = record, step
        self._spool = Spool(beside, what)
        self._length = 0
        self._bounds: list[tuple[int, int]] = []
        self._capacity = max(memory // (2 * record.nbytes), 4 * _LEAST_BUFFER)
        self._most = max(min(self._capacity // _LEAST_BUFFER - 1, _MOST_RUNS), 2)

    def close(self) -> None:
        self._spool.close()

    def __len__(self) -> int:
        return len(self._bounds)

    def add(self, records: Iterable[Records]) -> None:
        """Keeps one sorted run, given in blocks."""
        begin = self._length
        for block in records:
            if len(block):
                self._spool.write(block.view(np.uint8).reshape(-1), self._length * self._record.nbytes)
            self._length += len(block)
        if self._length > begin:
            self._bounds.append((begin, self._length))

    def merge(self) -> Iterator[Records]:
        """All runs as one. Equal records are added up in the order of the runs."""
        while len(self._bounds) > self._most:
            # Neighbors are merged, so that the order of adding stays that of the runs.
            groups = [self._bounds[first : first + self._most] for first in range(0, len(self._bounds), self._most)]
            self._bounds = []
            for group in groups:
                if len(group) == 1:
                    self._bounds += group
                else:
                    self.add(self._merge(group))
        yield from self._merge(self._bounds)

    def _merge(self, bounds: list[tuple[int, int]]) -> Iterator[Records]:
        if not bounds:
            return
        size = min(self._capacity // (len(bounds) + 1), max(end - begin for begin, end in bounds))
        buffers, pending = self._empty(len(bounds) * size), np.zeros_like(self._record)
        next_read = [begin for begin, _ in bounds]
        first = np.arange(len(bounds), dtype=np.int64) * size
        last, more = first.copy(), np.ones(len(bounds), np.uint8)
        while True:
            for run in np.flatnonzero((first == last) & (more == 1)).tolist():
                length = min(size, bounds[run][1] - next_read[run])
                first[run], last[run] = run * size, run * size + length
                piece = buffers[first[run] : last[run]]
                self._spool.fill(piece.view(np.uint8).reshape(-1), next_read[run] * self._record.nbytes)
                next_read[run] += length
                more[run] = next_read[run] < bounds[run][1]
            out = self._empty(size)
            if written := self._step(buffers, first, last, more, pending, out):
                yield out[:written]
            if not more.any() and (first == last).all():
                break
        yield pending

    def _empty(self, records: int) -> Records:
        return np.empty((records, *self._record.shape[1:]), self._record.dtype)


def pair_runs(beside: str | None, what: str, memory: int, *, as_values: bool) -> SortedRuns:
    """See SortedRuns; the values of equal pairs are added up: as int64 units, or `as_values`, float64."""
    return SortedRuns(
        beside,
        what,
        np.zeros(1, RECORD),
        memory,
        lambda records, first, last, more, pending, out: merge(records, first, last, more, as_values, pending, out),
    )
