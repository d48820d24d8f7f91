"""Where the ids of a text are kept while it is read: in memory, and beyond a limit in a file without a name."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from wv_cli import _encoder, _phrases
from wv_cli.io.spill import Spool
from wv_cli.text.source import Source

_HELD = 4 << 20  # bytes of ids held in memory between two writes
_BLOCK = 1 << 20  # ids in a block


def read_ids(source: Source, encoder: _encoder.Encoder, memory: int | None, spool: Spool) -> None:
    """Feeds a text to `encoder`; with more than `memory` bytes of ids all of them are in the spool in the end."""
    for chunk in source:
        encoder.feed(chunk)
        if memory is not None and encoder.ids_bytes > (_HELD if spool.is_open else memory):
            with spool.errors():
                encoder.drain(spool.descriptor)
    encoder.finish()
    if spool.is_open:
        with spool.errors():
            encoder.drain(spool.descriptor)


class IdStream:
    """Ids that can be walked through again and again, and joined, wherever read_ids has put them."""

    def __init__(self, encoder: _encoder.Encoder, spool: Spool) -> None:
        self._spool = spool
        self._ids: NDArray[np.int32] | None = None
        if not spool.is_open:
            self._ids = np.frombuffer(memoryview(encoder.take_stream()), np.int32)

    def blocks(self) -> Iterator[NDArray[np.int32]]:
        """The ids in pieces, each valid until the next."""
        if self._ids is not None:
            for start in range(0, len(self._ids), _BLOCK):
                yield self._ids[start : start + _BLOCK]
            return
        buffer = np.empty(_BLOCK, np.int32)
        position = 0
        while count := self._spool.read(buffer, position):
            yield buffer[:count]
            position += count

    def renumber(self, ids: NDArray[np.int32]) -> None:
        """Replaces every id i by ids[i]; line ends stay."""
        table = np.append(ids, np.int32(-1))  # where -1 finds itself
        position = 0
        for block in self.blocks():
            block[:] = table[block]
            if self._ids is None:
                self._spool.write(block, position)
            position += len(block)

    @property
    def ids(self) -> NDArray[np.int32] | None:
        """The ids in memory, which may be changed; None when they are in the spool."""
        return self._ids

    def join(self, joiner: _phrases.Joiner) -> None:
        """Replaces pairs of ids in place."""
        if self._ids is not None:
            self._ids = self._ids[: joiner.join(self._ids, self._ids)]
            return
        out = np.empty(_BLOCK + 1 + _phrases.MOST_CONNECTORS, np.int32)
        written = 0
        for block in self.blocks():
            count = joiner.join(block, out)
            self._spool.write(out[:count], written)
            written += count
        self._spool.truncate(written * out.itemsize)
