"""Rows that cannot be read: counted, named with their places, and left out."""

import warnings
from collections.abc import Iterator

import numpy as np

from wv_cli.errors import BadFile, FormatWarning, show_bytes
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.base import ReadOptions, Stream
from wv_cli.vectors.formats.store import RowStore
from wv_cli.words import WordList, is_utf8

WAY_OUT = "; `wv convert --bad-rows skip` leaves such rows out"
_SHOWN = 3  # rows are told with their places


class BadRows:
    """Counts the rows of the file `name` that cannot be read; FormatWarning names the first of them."""

    def __init__(self, name: str) -> None:
        self.name, self.count = name, 0
        self._first = ""

    def add(self, problem: str, *, line: int | None = None, byte: int | None = None) -> None:
        """One more row, left out."""
        place = f"line {line}: " if line is not None else f"byte {byte}: " if byte is not None else ""
        self._first = self._first or f"{place}{problem}"
        self.count += 1
        if self.count <= _SHOWN:
            self.note(f"{place}{problem}; skipped")

    def note(self, text: str) -> None:
        """Tells what is odd about the file as a whole."""
        warnings.warn(f"{self.name}: {text}", FormatWarning, stacklevel=3)

    def finish(self, good: int) -> None:
        """Tells how many rows were left out, of a file with so many `good` ones. Raises BadFile when it has none."""
        if self.count and not good:
            problem = f"none of its {self.count:,} rows can be read; {self._first}"
            raise BadFile(self.name, problem)
        if self.count > _SHOWN:
            self.note(f"{self.count:,} rows cannot be read and were skipped")


def count_skipped(bad: BadRows, stream: Stream) -> Stream:
    """The stream of the good rows, which says at its end how many rows were left out."""

    def blocks() -> Iterator[Embeddings]:
        good = 0
        for block in stream.blocks:
            good += len(block)
            yield block
        bad.finish(good)

    return stream._replace(rows=None, blocks=blocks())


def collect(stream: Stream) -> Embeddings:
    """All rows of a stream."""
    store, rows = RowStore(stream.dim, None), 0
    for block in stream.blocks:
        store.reserve(rows + len(block))
        store.matrix[rows : rows + len(block)] = block.matrix
        store.lengths[rows : rows + len(block)] = np.diff(block.words.starts)
        store.add_words(block.words.blob[block.words.starts[0] : block.words.starts[-1]])
        rows += len(block)
    return store.finish(rows)


def finite_rows(embeddings: Embeddings, bad: BadRows) -> Embeddings:
    """The rows without nan and infinity; the others are told by their numbers."""
    finite = np.array(np.isfinite(embeddings.matrix).all(axis=1))
    if finite.all():
        bad.finish(len(embeddings))
        return embeddings
    for row in np.flatnonzero(~finite).tolist():
        vector = embeddings.matrix[row]
        at = int(np.flatnonzero(~np.isfinite(vector))[0])
        bad.add(f"row {row + 1}: expected finite numbers, found {vector[at]} as number {at + 1}")
    bad.finish(int(finite.sum()))
    kept = np.flatnonzero(finite)
    return Embeddings(embeddings.words.take(kept), embeddings.matrix[kept], embeddings.subwords)


def keepable_rows(embeddings: Embeddings, refused: Iterator[tuple[int, str]], name: str) -> Embeddings:
    """The rows whose words an output can keep: none of those that are `refused`, each with what is wrong."""
    bad, rows = BadRows(name), set()
    for row, problem in refused:
        bad.add(f"row {row + 1}: {problem}")
        rows.add(row)
    kept = np.array([row for row in range(len(embeddings)) if row not in rows], np.int64)
    bad.finish(len(kept))
    return Embeddings(embeddings.words.take(kept), embeddings.matrix[kept]) if rows else embeddings


def words_beyond_utf8(words: WordList) -> Iterator[tuple[int, str]]:
    """(row, problem) of each word that is not UTF-8."""
    for row in range(len(words)):
        if not is_utf8(word := words.bytes_at(row)):
            yield row, f"the word {show_bytes(word)} is not UTF-8"


def skips(options: ReadOptions) -> bool:
    return options.bad_rows == "skip"
