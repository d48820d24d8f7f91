"""Records in a random order, in bounded memory: every order is equally likely (Rao 1961, Sandelius 1962).

The records are shuffled and kept chunk by chunk as they come. Then each draws, without being looked at, one of as many
blocks; how many of a chunk draw the next block is a binomial number, and which ones does not matter, since the chunk is
in random order already: the next ones. A block is put together, shuffled and passed on.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._glove import RECORD
from wv_cli.models.glove.record_runs import RecordFile

Records = NDArray[Any]

_CHUNK_RECORDS = (1 << 16, 1 << 20)  # at least and at most: 1 to 16 MB


class Shuffle:
    """Reads a whole stream of records, of any length; `records` tells how many. Beyond `memory` bytes they wait in a
    file without a name in the folder of `beside`. The same seed and memory give the same order."""

    def __init__(self, blocks: Iterable[Records], seed: int, memory: int, beside: str | None) -> None:
        """Raises WvError when the records cannot be kept, and what `blocks` raises."""
        self._random = np.random.default_rng(seed)
        self._file = RecordFile(beside, memory=memory)
        low, high = _CHUNK_RECORDS
        size = min(max(memory // RECORD.itemsize, low), high)
        self._sizes: list[int] = []
        try:
            for chunk in _chunks(blocks, size):
                self._mix(chunk)
                self._file.append(chunk)
                self._sizes.append(len(chunk))
        except BaseException:
            self._file.close()
            raise
        self.records = self._file.length

    def blocks(self) -> Iterator[Records]:
        """The records in their new order, once. Raises WvError when they cannot be read back."""
        left = np.array(self._sizes, np.int64)
        next_read = np.cumsum(left) - left
        with closing(self._file):
            for blocks_left in range(len(left), 0, -1):
                taken = self._random.binomial(left, 1 / blocks_left)
                block = np.empty(int(taken.sum()), RECORD)
                filled = 0
                for first, count in zip(next_read.tolist(), taken.tolist(), strict=True):
                    part = block[filled : filled + count]
                    if count:
                        part.view(np.complex128)[:] = self._file.read(first, part).view(np.complex128)
                    filled += count
                left -= taken
                next_read += taken
                self._mix(block)
                yield block

    def _mix(self, records: Records) -> None:
        self._random.shuffle(records.view(np.complex128))  # as wide as a record and many times as fast


def _chunks(blocks: Iterable[Records], size: int) -> Iterator[Records]:
    """The records in arrays of `size`, the last of them shorter; each is the caller's until the next is asked for."""
    chunk, used = np.empty(size, RECORD), 0
    for block in blocks:
        position = 0
        while position < len(block):
            taken = min(size - used, len(block) - position)
            chunk[used : used + taken].view(np.complex128)[:] = block[position : position + taken].view(np.complex128)
            used += taken
            position += taken
            if used == size:
                yield chunk
                used = 0
    if used:
        yield chunk[:used]
