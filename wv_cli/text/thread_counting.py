"""Words of a text counted by several threads: exactly those of one, in its order.

One thread reads; the text comes in pieces that end where words do. Each of the others counts some of the pieces in a
table of its own, and notes how many words it knew after each, so that the piece in which a word was seen first is known
for every table. The tables are added up in the order of first sight.
"""

from collections.abc import Iterable, Iterator
from queue import Queue

import numpy as np
from numpy.typing import NDArray

from wv_cli import _encoder, _text
from wv_cli.io.threads import new_pool, raise_start_errors
from wv_cli.text.source import Source
from wv_cli.text.vocab import Tally
from wv_cli.words import WordList

_AHEAD = 2  # pieces that wait for a thread
_MOST_THREADS = 4  # count as fast as one thread reads; each has a table of nearly all words
_LARGEST_TABLE = 1 << 26  # bytes: over a million words; larger ones go on alone, or each thread would have them all
LEAST_BYTES = 1 << 22  # a shorter text is counted before threads have begun

Piece = list[memoryview]  # parts of a text, one behind the other


class _Table:
    """The words that one thread has counted. `words_after[i]` is how many it knew after the piece `pieces[i]`. Beyond
    `largest` bytes, where there is such a bound, it counts no more."""

    def __init__(self, largest: int | None) -> None:
        self.encoder = _encoder.Encoder(keep_ids=False)
        self._largest = largest
        self.pieces: list[int] = []
        self.words_after: list[int] = []

    def count(self, waiting: "Queue[tuple[int, Piece] | None]") -> None:
        """Counts what comes until None does, or the table is full. Raises what the encoder raises, when the last has
        come: who puts pieces there does not wait for a thread that has ended."""
        failure: Exception | None = None
        while not self._is_full() and (given := waiting.get()) is not None:
            number, piece = given
            try:
                for part in piece if failure is None else ():
                    self.encoder.feed(part)
            except Exception as error:
                failure = error
            self.pieces.append(number)
            self.words_after.append(self.encoder.words)
        if failure is not None:
            raise failure

    def _is_full(self) -> bool:
        return self._largest is not None and self.encoder.words_bytes >= self._largest

    def finish(self) -> None:
        """Ends the word and the line that the last piece has begun."""
        self.encoder.finish()
        self.words_after[-1] = self.encoder.words

    def first_pieces(self) -> NDArray[np.int64]:
        """The piece in which each word was seen first."""
        each = np.searchsorted(self.words_after, np.arange(self.encoder.words), side="right")
        return np.array(self.pieces, np.int64)[each]

    def take_vocabulary(self) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]:
        """The words, and their counts; nothing is left here."""
        found = self.encoder.vocabulary()
        self.encoder.forget_words()
        return found


def tally_in_threads(source: Source, threads: int) -> Tally:
    """All words of a text, perhaps none, in order of first sight. Raises what Source raises."""
    threads = min(threads, _MOST_THREADS)
    tables = [_Table(_LARGEST_TABLE if number else None) for number in range(threads)]
    waiting: Queue[tuple[int, Piece] | None] = Queue(_AHEAD * threads)
    number = -1
    with raise_start_errors(), new_pool(threads) as pool:
        try:
            counting = [pool.submit(table.count, waiting) for table in tables]
            for number, piece in enumerate(_whole_words(source)):
                waiting.put((number, piece))
        finally:
            for _ in tables:
                waiting.put(None)
        for each in counting:
            each.result()
    for table in tables:
        if table.pieces[-1:] == [number]:
            table.finish()
    tokens, lines = (sum(getattr(table.encoder, name) for table in tables) for name in ("tokens", "lines"))
    words, counts = _add_up(tables)
    return Tally(words, counts, lines - source.divided, tokens)


def _whole_words(chunks: Iterable[bytes]) -> Iterator[Piece]:
    """The text in pieces that end in a separator, but for the last one."""
    begun: Piece = []
    for chunk in chunks:
        whole = memoryview(chunk)
        end = _text.last_separator(whole) + 1
        if end:
            yield [*begun, whole[:end]]
            begun = []
        if end < len(whole):
            begun.append(whole[end:])
    if begun:
        yield begun


def _add_up(tables: list[_Table]) -> tuple[WordList, NDArray[np.int64]]:
    pieces = np.concatenate([table.first_pieces() for table in tables])
    found = [table.take_vocabulary() for table in tables]
    counts = np.concatenate([each for _, _, each in found])
    ends = np.concatenate([np.diff(starts) for _, starts, _ in found]).cumsum()
    # A piece is one table's, whose words are in order of first sight already.
    order = np.argsort(pieces, kind="stable")
    every = WordList(b"".join(blob for blob, _, _ in found), np.append(0, ends)).take(order)
    words = _text.WordMap()
    ids = words.add(every.blob, every.starts)
    sums = np.zeros(len(words), np.int64)
    np.add.at(sums, ids, counts[order])
    return WordList(*words.words()), sums
