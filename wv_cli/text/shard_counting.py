"""Counts of a text that an executor's tasks read in shards: of words, and records sorted by row and column.

All sums are of integers, so they are those of one pass over the whole text, to the bit; words stand in its order. What
is held where:

    words      a task adds up those of two neighbors, until one list of all is fetched
    records    never in one place: a task gives a piece of a shard's, up to a bound, then the next of the same shard;
               this process holds two of them, then the buffers of merging; the runs wait in a file without a name
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._glove import RECORD
from wv_cli.io.events import OnProgress
from wv_cli.io.executor import Executor, Held
from wv_cli.io.runs import Records, pair_runs
from wv_cli.text.corpus import require_words
from wv_cli.text.input_files import expand_inputs
from wv_cli.text.inputs import Texts
from wv_cli.text.parts import shards
from wv_cli.text.vocab import Tally, add_up

SHARD_BYTES = 1 << 26  # of text in which a task counts words: a second of work, a few megabytes of words
_PIECE_BYTES = 1 << 27  # of records that a task gives at once
_PIECE_SHARE = 4  # of the memory of merging a piece may take
_LEAST_PIECE = 1 << 16

# counted(part, row, *values of what is held): the records of a part of a text from a row on, rows counted from 0, as
# RECORD arrays with int64 units in the place of values, sorted across the whole stream, every pair once; a block is
# valid until the next is asked for.
Counted = Callable[..., Iterator[Records]]


class Divided:
    """Texts as the shards that tasks read, each of `most` bytes or so, and how much of them has been read. `names` are
    what was asked for, `texts` the files that this has been found to be."""

    def __init__(self, texts: Texts, most: int, progress: OnProgress | None = None, *, whole_lines: bool) -> None:
        """Raises WvError for what several processes cannot read."""
        paths = expand_inputs(texts)
        self.names, self.texts = texts.inputs, replace(texts, inputs=paths)
        self._progress = progress
        self._bytes = []
        self.parts = []
        for shard in shards(paths, most, whole_lines=whole_lines):
            self._bytes.append(shard.bytes)
            self.parts.append(texts.of_shard(shard))
        self._read = 0

    def after(self, place: int) -> None:
        """Tells of one more that is read."""
        self._read += self._bytes[place]
        if self._progress is not None:
            self._progress(self._read, sum(self._bytes))


def words_of(executor: Executor, divided: Divided, count: Callable[[Texts], Tally]) -> Tally:
    """The words that `count` finds in every shard, added up by the tasks. Raises EmptyVocabulary, WvError."""
    whole = executor.reduce("count words", count, divided.parts, added_up, divided.after)
    require_words(whole.tokens_read if whole is not None else 0, divided.names)
    assert whole is not None, "it has words"
    return whole


def added_up(one: Tally, other: Tally) -> Tally:
    return add_up([one, other])


def piece_bytes(memory: int) -> int:
    """Of the records that a task gives at once to a process that may take `memory` bytes to merge them."""
    return max(min(_PIECE_BYTES, memory // _PIECE_SHARE), _LEAST_PIECE)


def records_of(
    executor: Executor,
    what: str,
    counted: Counted,
    parts: Sequence[Texts],
    *held: Held,
    memory: int,
    beside: str | None,
) -> Iterator[Records]:
    """The records of all parts as one stream, equal pairs added up. Merging takes `memory` bytes, a piece that comes
    piece_bytes() or so (and what copies are made of it on the way); what waits is in a file beside `beside`. A
    shard whose records are more than a piece is counted again for the next one. Raises WvError."""
    give = partial(_piece, counted, max(piece_bytes(memory) // RECORD.itemsize, 1))

    first = executor.map(what, give, [(part, 0) for part in parts], *held)

    def pieces(part: Texts) -> Iterator[Records]:
        records, row = next(first)
        yield records
        while row is not None:
            ((records, row),) = executor.map(what, give, [(part, row)], *held)
            yield records

    with pair_runs(beside, what, memory, as_values=False) as runs:
        for part in parts:
            runs.add(pieces(part))
        yield from runs.merge()


def _piece(counted: Counted, most: int, asked: tuple[Texts, int], *held: Any) -> tuple[Records, int | None]:
    """The next records of a part, `most` and a block at most but for one row, and the row with which the rest begins,
    None where there is none."""
    part, row = asked
    whole = np.empty(0, np.uint8)
    waiting: list[NDArray[np.uint8]] = []
    length = 0
    for block in counted(part, row, *held):
        waiting.append(block.view(np.uint8).copy())  # as bytes: NumPy copies records field by field
        length += len(block)
        if length <= most:
            continue
        whole, waiting = np.concatenate([whole, *waiting]), []
        records = whole.view(RECORD)
        last = int(records["row"][-1])  # which may go on in the next block
        if end := int(np.searchsorted(records["row"], last)):
            return records[:end], last - 1
    return np.concatenate([whole, *waiting]).view(RECORD), None
