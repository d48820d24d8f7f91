"""Records of co-occurrences that do not fit in memory, as they come; sorted ones wait in wv_cli.io.runs."""

import bisect
import mmap
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._glove import RECORD
from wv_cli.io.spill import Spool

Records = NDArray[Any]

WHAT = "co-occurrence counts"


class RecordFile:
    """Records in a file without a name beside `beside` (io.spill). Up to `memory` bytes there is no file: the
    records are kept in memory."""

    def __init__(self, beside: str | None, dtype: "np.dtype[Any]" = RECORD, memory: int = 0) -> None:
        self.dtype = dtype
        self.length = 0
        self._spool = Spool(beside, WHAT)
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
        self._spool.fill(out, first)
        return out

    def append_all(self, blocks: Iterable[Records]) -> Iterator[Records]:
        """Passes records on and appends them on the way."""
        for block in blocks:
            self.append(block)
            yield block

    def map_records(self) -> NDArray[np.uint8]:
        """All records, of which there are some, as they lie in the file: (length, bytes of a record), mapped even when
        the file is closed."""
        assert not self._held, "made without memory"
        size = self.length * self.dtype.itemsize
        with self._spool.errors():
            file = mmap.mmap(self._spool.descriptor, size, access=mmap.ACCESS_READ)
        return np.frombuffer(file, np.uint8).reshape(self.length, self.dtype.itemsize)

    def close(self) -> None:
        self._spool.close()
