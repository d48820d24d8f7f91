"""Records in the order in which they are trained: tiles of the count matrix, cut into chunks, shuffled.

A training step takes two rows of a kilobyte each; in random order they come from memory, in a tile (some thousand
words x some thousand contexts) from the cache. Each tile's records are dealt out to chunks, and every iteration draws a
new order of all chunks and of the records in each. Beyond `memory` bytes chunks lie in a file without a name, and
training holds no more of the records than one chunk a thread.

Nothing here depends on --memory or --threads: the same counts give the same chunks.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._glove import RECORD, TILE_RECORD, tiles
from wv_cli.errors import WvError
from wv_cli.io.spill import Closeable
from wv_cli.models.glove.record_runs import RecordFile

CHUNK_RECORDS = 1 << 14
_BAND_RECORDS = 1 << 21  # records ordered at a time
ORDERING_BYTES = _BAND_RECORDS * (RECORD.itemsize + TILE_RECORD.itemsize)  # 48 MB, gone before training begins
_RANGE_WORDS = 1024
_RANGE_SHARE = 8
_MOST_RANGE_WORDS = 1 << 16  # records in a tile have 16-bit coordinates


def chunk_rules() -> dict[str, object]:
    """What decides, beside the counts, which record is in which chunk."""
    ranges = [_RANGE_WORDS, _RANGE_SHARE, _MOST_RANGE_WORDS]
    return {"chunk_records": CHUNK_RECORDS, "band_records": _BAND_RECORDS, "range_words": ranges}


def word_ranges(words: int) -> NDArray[np.int32]:
    """The first word of each range, and `words`: 1,024 words each, then growing with the rank. Rows of rare words are
    seldom used twice in a tile, however small it is, and the number of tiles stays in the thousands."""
    firsts = [0]
    while firsts[-1] < words:
        firsts.append(firsts[-1] + min(max(_RANGE_WORDS, firsts[-1] // _RANGE_SHARE), _MOST_RANGE_WORDS))
    firsts[-1] = words
    return np.array(firsts, np.int32)


class TileStore(Closeable):
    """Chunks of records; `chunks` is (n, 4) int64: first row, first column (words from 0), first record, records.
    Use as a context, which closes the file."""

    def __init__(self, records: Iterable[NDArray[Any]], words: int, beside: str | None, memory: int = 0) -> None:
        """Reads a whole sorted stream of records. Raises WvError when there are none or they cannot be kept."""
        self._ranges = word_ranges(words)
        self._range_of = np.repeat(np.arange(len(self._ranges) - 1, dtype=np.uint16), np.diff(self._ranges))
        self._file = RecordFile(beside, TILE_RECORD, memory)
        self._chunks: list[NDArray[np.int64]] = []
        try:
            self._fill(records)
        except BaseException:
            self.close()
            raise
        if not self._chunks:
            message = "there are no co-occurrences to train on: every line of the text holds one known word at most"
            raise WvError(message)
        self.chunks = np.concatenate(self._chunks)
        self.records = int(self.chunks[:, 3].sum())

    def close(self) -> None:
        self._file.close()

    def _fill(self, records: Iterable[NDArray[Any]]) -> None:
        band = np.empty(_BAND_RECORDS, RECORD)
        self._ordered = np.empty(_BAND_RECORDS, TILE_RECORD)
        used, band_range = 0, -1
        for block in records:
            position = 0
            while position < len(block):
                row_range = int(self._range_of[block["row"][position] - 1])
                if row_range != band_range or used == len(band):
                    self._store(band[:used], band_range)
                    used, band_range = 0, row_range
                last_row = self._ranges[row_range + 1]  # rows count from 1
                end = int(np.searchsorted(block["row"], last_row, side="right"))
                taken = min(end - position, len(band) - used)
                band[used : used + taken].view(np.complex128)[:] = block[position : position + taken].view(
                    np.complex128
                )
                used += taken
                position += taken
        self._store(band[:used], band_range)
        del self._ordered

    def _store(self, band: NDArray[Any], row_range: int) -> None:
        """Orders records of one range of rows by column range and writes them."""
        if len(band) == 0:
            return
        first_row = int(self._ranges[row_range])
        counts = tiles(band, first_row, self._range_of, self._ranges[:-1], CHUNK_RECORDS, self._ordered)
        begin = self._file.length
        self._file.append(self._ordered[: len(band)])
        for column_range in np.flatnonzero(counts):
            size = int(counts[column_range])
            number = -(-size // CHUNK_RECORDS)
            sizes = size // number + (np.arange(number) < size % number)
            chunks = np.empty((number, 4), np.int64)
            chunks[:, 0], chunks[:, 1] = first_row, self._ranges[column_range]
            chunks[:, 2], chunks[:, 3] = begin + np.cumsum(sizes) - sizes, sizes
            self._chunks.append(chunks)
            begin += size

    def read(self, chunk: int, out: NDArray[Any]) -> NDArray[Any]:
        """The records of a chunk; `out`, of CHUNK_RECORDS, is where they are put when they are on disk."""
        first, count = (int(x) for x in self.chunks[chunk, 2:])
        return self._file.read(first, out[:count])
