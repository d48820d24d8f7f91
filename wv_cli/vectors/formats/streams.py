"""Vectors a block at a time, read as often as needed: for files larger than memory.

Formats with a `stream` (word2vec-binary, word2vec-text, glove-text, npy) are read anew for every pass, through a small
buffer. Standard input and the other formats are read into memory once.
"""

import os
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from wv_cli._floattext import first_not_finite
from wv_cli.errors import UsageError, WvError, show_bytes
from wv_cli.io.input import Input, open_input
from wv_cli.io.output import commit_together, open_output
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.file_options import WORD2VEC_PRECISION, BadRowsName, Precision
from wv_cli.vectors.formats import default_threads, find_readable, format_for_output, load, require_skips, sniff_input
from wv_cli.vectors.formats.base import Format, ReadOptions, Stream, WriteOptions, count_lost_rows, warn_of_lost_rows
from wv_cli.vectors.formats.beside import find_vectors, mark_of, open_beside, read_words
from wv_cli.vectors.formats.escape import escape_words, require_writable
from wv_cli.words import WordList, concatenate_words

_BLOCK_VALUES = 1 << 20


class WordsRepeated(Exception):
    """A word came twice: what was made of the blocks of RowSource.distinct() is to be made again, of new ones."""


class RowSource:
    """The vectors of a file: `rows` of `dim` numbers, `blocks()` gives them in order, as often as it is called. A block
    is valid until the next one is taken. Rows that no header tells for certain are counted in the first whole pass, or
    in one of their own when they are asked for before. Raises what formats.load raises."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        limit: int | None = None,
        bad_rows: BadRowsName = "error",
    ) -> None:
        path = find_vectors(path)
        self.name = os.fspath(path) if os.fspath(path) != "-" else "standard input"
        self._path, self._limit, self._bad_rows = path, limit, bad_rows
        self._loaded: Embeddings | None = None
        self._words: WordList | None = None
        self._rows: int | None = None
        self._repeated: NDArray[np.int64] | None = None  # rows whose word an earlier one has; None: not looked for yet
        chosen = find_readable(format)
        if os.fspath(path) != "-":
            if limit is not None and limit < 1:
                message = f"the limit must be at least 1 row, not {limit}"
                raise UsageError(message)
            with open_input(path) as source:
                chosen = chosen or sniff_input(source)
                if bad_rows == "skip":
                    require_skips(chosen, self.name)
                if self._is_streamed(chosen):
                    assert chosen.stream is not None
                    mark = mark_of(chosen, source)
                    first = chosen.stream(source, self._options())
                    self._rows, self.dim = first.rows, first.dim
                    if first.rows is not None:
                        self._words = read_words(chosen, path, first.rows, whole=limit is None, mark=mark)
        self._format = chosen
        if chosen is None or os.fspath(path) == "-" or not self._is_streamed(chosen):
            self._loaded = load(path, format=chosen.name if chosen else None, limit=limit, bad_rows=bad_rows)
            self._rows, self.dim = len(self._loaded), self._loaded.dim
            self._repeated = np.empty(0, np.int64)  # they are left out

    def _is_streamed(self, row: Format) -> bool:
        """Not where bad rows are told by their numbers, and words stand elsewhere."""
        return row.stream is not None and not (self._bad_rows == "skip" and row.words_ending)

    @property
    def rows(self) -> int:
        if self._rows is None:
            for _ in self.blocks():
                pass
        assert self._rows is not None
        return self._rows

    def blocks(self) -> Iterator[Embeddings]:
        if self._loaded is not None:
            yield from _slices(self._loaded)
            return
        with open_input(self._path) as source:
            done = 0
            for block in self._stream(source).blocks:
                words = self._words[done : done + len(block)] if self._words is not None else block.words
                done += len(block)
                yield Embeddings(words, block.matrix)
            if self._rows not in (None, done):
                raise WvError(self._changed_message())
            self._rows = done

    def distinct(self, most: int | None = None) -> Iterator[Embeddings]:
        """The blocks with the first row of each word alone, and of these rows the first `most`. The first time it may
        raise WordsRepeated at its end: only then all words are known."""
        known, words = self._repeated, []
        left, first = most, 0
        for block in self.blocks():
            rows = np.arange(first, first + len(block))
            first += len(block)
            rows = rows[:left] if known is None else rows[~np.isin(rows, known)][:left]
            if known is None:
                words.append(block.words[: len(rows)])
            if len(rows) < len(block):
                places = rows - (first - len(block))
                block = Embeddings(block.words.take(places), block.matrix[places])
            yield block
            left = None if left is None else left - len(block)
            if left == 0:
                break
        if known is not None:
            return
        repeated = _repeated_rows(words)
        if left != 0:
            self._repeated = repeated
        elif len(repeated):
            self.look_for_repeated()
        if len(repeated):
            raise WordsRepeated

    @property
    def repeated_rows(self) -> int:
        """The rows whose word an earlier one has, as far as they have been looked for."""
        return len(self._repeated) if self._repeated is not None else 0

    def look_for_repeated(self) -> None:
        """Reads all words, unless that has been done."""
        if self._repeated is None:
            self._repeated = _repeated_rows([block.words for block in self.blocks()])

    def _stream(self, source: Input) -> Stream:
        assert self._format is not None and self._format.stream is not None
        stream = self._format.stream(source, self._options())
        if stream.dim != self.dim or stream.rows not in (None, self._rows):
            raise WvError(self._changed_message())
        return stream

    def _options(self) -> ReadOptions:
        return ReadOptions(self._limit, default_threads(), bad_rows=self._bad_rows)

    def _changed_message(self) -> str:
        return f"{self.name}: the file was changed while it was read"


def _repeated_rows(words: list[WordList]) -> NDArray[np.int64]:
    if not words:
        return np.empty(0, np.int64)
    whole = concatenate_words(*words)
    return np.setdiff1d(np.arange(len(whole)), whole.first_rows(), assume_unique=True)


def _slices(embeddings: Embeddings) -> Iterator[Embeddings]:
    step = max(1, _BLOCK_VALUES // embeddings.dim)
    for first in range(0, len(embeddings), step):
        last = min(first + step, len(embeddings))
        yield Embeddings(embeddings.words[first:last], embeddings.matrix[first:last])


def save_blocks(
    path: str | os.PathLike[str],
    rows: int,
    dim: int,
    blocks: Iterable[Embeddings],
    *,
    format: str | None = None,
    precision: Precision = WORD2VEC_PRECISION,
    escape: bool = False,
) -> None:
    """As formats.save, but of blocks that hold `rows` rows together; a word or number that cannot be kept is found when
    its block comes, and then nothing is left of the new file. Formats without a header of their own for this are not
    written. Raises UsageError, WvError."""
    row = format_for_output(path, format)
    if row.header is None or row.write_rows is None:
        message = f"{path}: {row.name} cannot be written in blocks; choose word2vec-text, word2vec-binary or npy"
        raise UsageError(message)
    name = "standard output" if os.fspath(path) == "-" else os.fspath(path)
    options = WriteOptions(precision, default_threads())
    with commit_together(), open_output(path) as stream, open_beside(row, path, stream) as beside:
        stream.write(row.header(rows, dim))
        done = lost = 0
        for block in blocks:
            words, matrix = block.words, block.matrix
            if escape:
                words = escape_words(words)
            else:
                require_writable(words, row.name, name, done)
            bad = first_not_finite(matrix)
            if bad is not None:
                message = (
                    f"{name}: row {done + bad[0] + 1}: expected finite numbers, found {matrix[bad]} for the word "
                    f"{show_bytes(words.bytes_at(bad[0]))}; nothing was written"
                )
                raise WvError(message)
            row.write_rows(stream, Embeddings(words, np.ascontiguousarray(matrix)), options)
            lost += count_lost_rows(matrix, row, precision)
            if row.words_ending:
                beside.add(words)
            done += len(block)
    warn_of_lost_rows(name, lost)
