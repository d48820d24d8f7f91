"""Words that a table in memory had no room for: in a file without a name, divided by hash, counted part by part."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from wv_cli import _encoder
from wv_cli.io.spill import Closeable, Spool
from wv_cli.text.word_runs import Rows
from wv_cli.words import WordList

_TABLE_SHARE = 3  # of memory is a table's: it doubles when it is full, and then its words are taken out
_SEGMENTS_SHARE = 16  # is that of segments not yet in the file, which are copied once
_AT_ONCE = 1 << 16  # words of a table that are handed on together


class SpilledWords(Closeable):
    """What the `spill` of a table receives, and `keep` moves to a file in the folder of `beside`. Counting it takes
    about `memory` bytes, with a file for the words that again find no room. Use as a context, or close it. Methods
    raise WvError when the disk is full."""

    def __init__(self, beside: str | None, memory: int, level: int = 0) -> None:
        self.spill = _encoder.Spill(level, memory // _TABLE_SHARE)
        self._beside, self._memory, self._level = beside, memory, level
        self._file = Spool(beside, "the counts of words")
        self._starts: list[NDArray[np.int64]] = []  # (parts + 1,) places in the file, of the segments kept at a time
        self._end = 0

    def close(self) -> None:
        self._file.close()

    def __bool__(self) -> bool:
        """Whether any word was spilled."""
        return bool(self._end or self.spill.nbytes)

    def keep(self) -> None:
        """Moves what was spilled to the file once it has its share of memory."""
        if self.spill.nbytes > self._memory // _SEGMENTS_SHARE:
            self._move()

    def _move(self) -> None:
        self._file.require_disk_space(self.spill.nbytes)
        segments, starts = self.spill.take()
        self._file.write(segments, self._end)
        self._starts.append(starts + self._end)
        self._end += len(segments)

    def rows(self) -> Iterator[Rows]:
        """The words that were spilled, each once."""
        if not self:
            return
        self._move()
        for part in range(_encoder.PARTS):
            with SpilledWords(self._beside, self._memory, self._level + 1) as deeper:
                yield from self._count(part, deeper)
                yield from deeper.rows()

    def _count(self, part: int, deeper: "SpilledWords") -> Iterator[Rows]:
        counts = _encoder.StreamCounts(deeper.spill)
        for starts in self._starts:
            segment = np.empty(int(starts[part + 1] - starts[part]), np.uint8)
            self._file.fill(segment, int(starts[part]))
            counts.add(segment)
            deeper.keep()
        found = counts.vocabulary()
        del counts
        yield from table_rows(*found)


def table_rows(
    blob: bytes, starts: NDArray[np.int64], counts: NDArray[np.int64], firsts: NDArray[np.int64] | None = None
) -> Iterator[Rows]:
    """The words of a table with their counts and where each was seen first, in pieces. Without `firsts` they were seen
    in this order."""
    words = WordList(blob, starts)
    for begin in range(0, len(counts), _AT_ONCE):
        end = min(begin + _AT_ONCE, len(counts))
        places = np.arange(begin, end) if firsts is None else firsts[begin:end]
        yield Rows(words[begin:end], np.column_stack([-counts[begin:end], places]))
