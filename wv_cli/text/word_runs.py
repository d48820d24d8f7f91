"""Words sorted by falling count that do not fit in memory: runs in files without a name, merged block by block.

Words are of any length, so a run is two streams: a table of numbers, with each word's length, and the letters.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.io.spill import Closeable, Spool
from wv_cli.words import WordList, concatenate_words

KEY, FIRST = range(2)
_LENGTH = 2  # the column of a run's table that rows in memory do not have
_COLUMNS = 3
_MOST_RUNS = 128  # merged at a time
_LEAST_BLOCK = 1 << 14  # bytes of each run in memory
_COPIES = 6  # of what is read, until what is merged is passed on
_WHAT = "the counts of words"
_Run = tuple[tuple[int, int], tuple[int, int]]  # where it begins and ends, in tables and letters


@dataclass(frozen=True, eq=False)
class Rows:
    """`numbers` is (len(words), 2) int64: what the words are sorted by, which is the count with a minus sign, then the
    place of a word's first sight, which parts equal counts."""

    words: WordList
    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def counts(self) -> NDArray[np.int64]:
        return -self.numbers[:, KEY]

    @property
    def nbytes(self) -> int:
        return len(self.words.blob) + self.words.starts.nbytes + self.numbers.nbytes

    def part(self, begin: int, end: int) -> "Rows":
        return Rows(self.words[begin:end], self.numbers[begin:end])

    def sort(self) -> "Rows":
        order = np.lexsort((self.numbers[:, FIRST], self.numbers[:, KEY]))
        return Rows(self.words.take(order), self.numbers[order])


def concatenate_rows(parts: list[Rows]) -> Rows:
    """Rows one behind the other."""
    return Rows(concatenate_words(*(part.words for part in parts)), np.concatenate([part.numbers for part in parts]))


class WordRuns(Closeable):
    """Sorted runs waiting to be merged with about `memory` bytes, in the folder of `beside`. Use as a context, or close
    it. Methods raise WvError when the disk is full."""

    def __init__(self, beside: str | None, memory: int) -> None:
        self._tables, self._letters = Spool(beside, _WHAT), Spool(beside, _WHAT)
        self._end = (0, 0)  # in tables and letters
        self._runs: list[_Run] = []
        self._memory = memory
        self._most = min(max(memory // (_COPIES * _LEAST_BLOCK), 2), _MOST_RUNS)

    def close(self) -> None:
        self._tables.close()
        self._letters.close()

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, blocks: Iterable[Rows]) -> None:
        """Writes one sorted run."""
        begin = rows, letters = self._end
        for block in blocks:
            self._tables.require_disk_space(len(block.words.blob) + len(block) * _COLUMNS * 8)
            table = np.column_stack([block.numbers, np.diff(block.words.starts)])
            self._tables.write(table.reshape(-1), rows * _COLUMNS)
            self._letters.write(np.frombuffer(block.words.blob, np.uint8), letters)
            rows, letters = rows + len(block), letters + len(block.words.blob)
        if rows > begin[0]:
            self._end = (rows, letters)
            self._runs.append((begin, self._end))

    def merge(self) -> Iterator[Rows]:
        """All runs as one."""
        while len(self._runs) > self._most:
            runs, self._runs = self._runs, []
            for first in range(0, len(runs), self._most):
                self.add(self._merge(runs[first : first + self._most]))
        yield from self._merge(self._runs)

    def _merge(self, runs: list[_Run]) -> Iterator[Rows]:
        size = max(self._memory // (_COPIES * max(len(runs), 1)), _LEAST_BLOCK)
        readers = [_Reader(self._tables, self._letters, begin, end[0], size) for begin, end in runs]
        while True:
            readers = [reader for reader in readers if reader.load()]
            if not readers:
                return
            # What stands behind the first block that ends may have to wait for that run's next.
            bound = min((reader.last_row for reader in readers if reader.more), default=None)
            yield concatenate_rows([reader.take(bound) for reader in readers]).sort()


class _Reader:
    """One run being read, about `size` bytes at a time."""

    def __init__(self, tables: Spool, letters: Spool, begin: tuple[int, int], end: int, size: int) -> None:
        self._tables, self._letters, self._size = tables, letters, size
        (self._row, self._letter), self._end = begin, end
        self._rows = Rows(WordList.from_words([]), np.empty((0, _LENGTH), np.int64))

    @property
    def more(self) -> bool:
        return self._row < self._end

    @property
    def last_row(self) -> tuple[int, int]:
        """Key and place of the last row in memory."""
        key, first = self._rows.numbers[-1].tolist()
        return key, first

    def load(self) -> bool:
        """Reads on when nothing is left in memory; whether there is something."""
        if not len(self._rows) and self.more:
            rows = min(max(self._size // (2 * 8 * _COLUMNS), 1), self._end - self._row)
            flat = np.empty(rows * _COLUMNS, np.int64)
            self._tables.fill(flat, self._row * _COLUMNS)
            table = flat.reshape(rows, _COLUMNS)
            starts = np.concatenate([[0], np.cumsum(table[:, _LENGTH])])
            rows = max(int(np.searchsorted(starts[1:], self._size // 2)), 1)
            table, starts = table[:rows], starts[: rows + 1]
            blob = np.empty(int(starts[-1]), np.uint8)
            self._letters.fill(blob, self._letter)
            self._rows = Rows(WordList(blob.tobytes(), starts), table[:, :_LENGTH])
            self._row, self._letter = self._row + rows, self._letter + len(blob)
        return len(self._rows) > 0

    def take(self, bound: tuple[int, int] | None) -> Rows:
        """The rows in memory that do not stand behind `bound`, all of them without one."""
        end = len(self._rows)
        if bound is not None:
            keys, firsts = self._rows.numbers[:, KEY], self._rows.numbers[:, FIRST]
            low, high = (int(np.searchsorted(keys, bound[0], side)) for side in ("left", "right"))
            end = low + int(np.searchsorted(firsts[low:high], bound[1], side="right"))
        taken, self._rows = self._rows.part(0, end), self._rows.part(end, len(self._rows))
        return taken
