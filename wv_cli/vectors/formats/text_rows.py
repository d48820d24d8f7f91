"""Text rows `word number number ...`: the body that word2vec's and GloVe's text formats share, read, written,
explained.

Not the headers: those are in word2vec_text.py and glove_text.py. Blocks of whole lines are parsed by several threads
into one matrix. A row's word may hold spaces (gensim writes such words): where a header promises `dim` numbers, the
last `dim` fields are those. Without a header, or where all rows hold more numbers than it promises, the field before
them must be no number; nobody can tell such a word from a row that is too long, and it is refused.
"""

import re
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from wv_cli import _floattext
from wv_cli.errors import BadFile, FormatWarning, show_bytes
from wv_cli.io.input import BLOCK_BYTES, LONGEST_LINE, Input
from wv_cli.io.threads import new_pool
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.file_options import Precision
from wv_cli.vectors.formats.skipping import WAY_OUT, BadRows
from wv_cli.vectors.formats.store import RowStore
from wv_cli.words import WordList

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_Rows = tuple[bytes, tuple[NDArray[np.float32], NDArray[np.int64]] | None, int]
_BLANKS = re.compile(rb"[ \t]+")  # wv_is_blank of core/separators.h
_BLOCK_VALUES = 1 << 16
_ROWS_LOOKED_AT = 10
_GOOD_ROWS = 1 << 12  # read at once where bad ones may stand between them


def split_fields(line: bytes) -> list[bytes]:
    """The fields of a row as the C reader sees them: separated by spaces and tabs, nothing else (a no-break space is
    part of a word)."""
    return [part for part in _BLANKS.split(line.rstrip(b"\r\n")) if part]


def first_field(line: bytes) -> bytes:
    found = re.compile(rb"[^ \t]+").search(line)
    return found[0] if found else b""


def count_numbers(fields: list[bytes]) -> int:
    """How many fields at the end are numbers, the first field (a word in any case) not counted."""
    count = 0
    for part in reversed(fields[1:]):
        if _floattext.parse_float(part) is None:
            break
        count += 1
    return count


def are_rows(head: bytes, dim: int) -> bool:
    """Whether the first lines of `head` are a word and `dim` numbers each; of a line that `head` cuts, as far as it
    goes."""
    lines = head.split(b"\n", _ROWS_LOOKED_AT)
    whole, rest = lines[:_ROWS_LOOKED_AT][: len(lines) - 1], lines[-1]
    rows = [split_fields(line) for line in whole]
    if not rows:
        fields = split_fields(rest)[:-1]
        return 10 < len(fields) <= dim + 1 and count_numbers(fields) == len(fields) - 1
    return all(count_numbers(fields) >= dim for fields in rows)


def are_longer(rows: bytes, dim: int) -> bool:
    """Whether the first lines of `rows`, two or more, all end with more than `dim` numbers: then `dim` is wrong."""
    lines = rows.split(b"\n", _ROWS_LOOKED_AT)[:-1]
    return len(lines) > 1 and all(count_numbers(split_fields(line)) > dim for line in lines)


def _last_fields(line: bytes, count: int) -> list[bytes]:
    # A line may be a hundred megabytes long; no number is longer than a thousand bytes.
    return split_fields(line[-1100 * count :])[-count:]


def explain(line: bytes, dim: int) -> tuple[str, str]:
    """(kind, problem) of a row that could not be read as a word and `dim` finite numbers."""
    line = line.rstrip(b"\r")
    promised = f"{dim} number{'s' if dim > 1 else ''}"
    found = _floattext.count_fields(line) - 1
    if found < 0:
        return "blank line", f"expected a word and {promised}, found a blank line"
    if line[:1] in b" \t" and found < dim:
        return "no word", f"expected a word and {promised}, found a row that begins with a space: its word is missing"
    word = show_bytes(first_field(line))
    for at, part in enumerate(_last_fields(line, dim) if found >= dim else [], 1):
        value = _floattext.parse_float(part)
        if value is None:
            hint = "; decimals need a point, not a comma" if re.fullmatch(rb"-?\d+,\d+", part) else ""
            return "not a number", f"expected {promised}, found {show_bytes(part)} as number {at}{hint}"
        if not np.isfinite(value):
            return "not finite", f"expected finite numbers, found {show_bytes(part)} as number {at} of the word {word}"
    return "ragged row", f"expected {promised} after the word {word}, found {found}"


@dataclass
class _Task:
    """A block handed to a thread. `made` is where its rows go when that is no RowStore: (matrix, lengths)."""

    future: "Future[tuple[int, int, int, int]]"
    block: bytearray
    size: int
    first_row: int
    made: tuple[NDArray[np.float32], NDArray[np.int64]] | None


class RowReader:
    """Reads the rows after a header.

    `first_line` is the line number of the first row. Where the `dim` is known, words may end with a number. `most`
    stops the reading after so many rows; `overfull` tells whether there was more, `rows` how many there are. Raises
    BadFile with the line.
    """

    def __init__(self, source: Input, dim: int, first_line: int, threads: int, *, dim_is_known: bool = False) -> None:
        self.source, self.dim, self.first_line, self._dim_is_known = source, dim, first_line, dim_is_known
        self.threads = 1 if source.size is not None and source.size <= BLOCK_BYTES else threads
        self.rows = 0
        self.overfull = False
        self._blank_line: int | None = None

    def read(self, store: RowStore, most: int | None) -> None:
        """All rows, into `store`."""
        for words, _, _ in self._read(most, store):
            store.add_words(words)

    def blocks(self, most: int | None) -> Iterator[Embeddings]:
        """The rows a block at a time."""
        for words, made, rows in self._read(most, None):
            assert made is not None
            starts = np.zeros(rows + 1, np.int64)
            np.cumsum(made[1][:rows], out=starts[1:])
            yield Embeddings(WordList(words, starts), made[0][:rows])

    def _read(self, most: int | None, store: RowStore | None) -> Iterator[_Rows]:
        """(words, what _Task made, rows) of each block, in order; with a `store` the rows lie there."""
        pending: deque[_Task] = deque()
        submitted = 0
        with make_pool(self.threads) as pool:
            for block, size in self.source.line_blocks():
                # No more rows than the shortest possible ones, so that a wrong dimension allocates little.
                take = min(_floattext.count_lines(block, 0, size), size // (2 * self.dim + 2) + 1)
                if most is not None:
                    take = min(take, most - submitted)
                if store is None:
                    views = np.empty((take, self.dim), np.float32), np.empty(take, np.int64)
                else:
                    if submitted + take > store.capacity:
                        yield from self._take_results(pending, 0)
                        store.reserve(submitted + take)
                    rows = slice(submitted, submitted + take)
                    views = store.matrix[rows], store.lengths[rows]
                future = pool.submit(_floattext.read_rows, block, 0, size, *views, False, self._dim_is_known)
                pending.append(_Task(future, block, size, submitted, None if store else views))
                del views  # of a store that will grow
                submitted += take
                yield from self._take_results(pending, self.threads if self.threads > 1 else 0)
                if self.overfull:
                    break
            yield from self._take_results(pending, 0)

    def _take_results(self, pending: deque[_Task], leave: int) -> Iterator[_Rows]:
        """The results of the oldest blocks, in order, until `leave` are left."""
        while len(pending) > leave:
            task = pending.popleft()
            rows, consumed, word_bytes, stop = task.future.result()
            rest = bytes(memoryview(task.block)[consumed : task.size])
            blank = not rest.strip(b" \t\r\n")
            if self._blank_line is not None and (rows or not blank):
                raise BadFile(self.source.name, explain(b"", self.dim)[1], line=self._blank_line)
            self.rows = task.first_row + rows
            if rows:
                yield bytes(memoryview(task.block)[:word_bytes]), task.made, rows
            if rest and blank:
                # Blank lines are harmless at the end of a file, and only there.
                self._blank_line = self._blank_line or self.first_line + self.rows
            elif rest and stop == _floattext.STOP_NONE:
                self.overfull = True
            elif rest:
                self._refuse(rest, is_last=not pending)

    def _refuse(self, rest: bytes, is_last: bool) -> None:
        line = rest[: rest.index(b"\n")]
        problem = explain(line, self.dim)[1]
        if is_last and self.source.newline_missing and len(rest) == len(line) + 1:
            problem += "; the file ends in the middle of this row: it was cut short, make or copy it again"
        raise BadFile(self.source.name, problem + WAY_OUT, line=self.first_line + self.rows)


class GoodRows:
    """Reads the rows after a header as RowReader does, in one thread, and leaves out those that `bad` counts. `rows`
    is how many were read, `no_rows` how many of the bad ones are blank lines."""

    def __init__(self, source: Input, dim: int, first_line: int, bad: BadRows, *, dim_is_known: bool = False) -> None:
        self.source, self.dim, self.bad, self._dim_is_known = source, dim, bad, dim_is_known
        self.rows, self.no_rows = 0, 0
        self._line, self._blank_lines, self._last_is_good = first_line, 0, True

    def blocks(self, most: int | None) -> Iterator[Embeddings]:
        """The good rows a block at a time, `most` at most."""
        first_row = peek_row(self.source)
        held: Embeddings | None = None  # the last number of a file may be cut, which shows at its end
        for block, size in self.source.line_blocks():
            for rows in self._good(block, size, most):
                if held is not None:
                    yield held
                held = rows
            if self.rows == most:
                break
        if held is not None:
            yield self._without_cut_row(held, first_row, most)

    def _good(self, block: bytearray, size: int, most: int | None) -> Iterator[Embeddings]:
        start = 0
        while start < size and self.rows != most:
            # No more rows than the shortest possible ones.
            take = min(_floattext.count_lines(block, start, size), (size - start) // (2 * self.dim + 2) + 1, _GOOD_ROWS)
            take = take if most is None else min(take, most - self.rows)
            matrix, lengths = np.empty((take, self.dim), np.float32), np.empty(take, np.int64)
            rows, consumed, word_bytes, stop = _floattext.read_rows(
                block, start, size, matrix, lengths, False, self._dim_is_known
            )
            if rows:
                self._last_is_good = True
                self._close_blank_lines()
                starts = np.zeros(rows + 1, np.int64)
                np.cumsum(lengths[:rows], out=starts[1:])
                yield Embeddings(WordList(bytes(block[start : start + word_bytes]), starts), matrix[:rows])
            self.rows, self._line, start = self.rows + rows, self._line + rows, start + consumed
            if stop != _floattext.STOP_NONE:
                end = block.index(b"\n", start)
                line = bytes(block[start:end])
                if line.strip(b" \t\r"):
                    self._last_is_good = False
                    self._close_blank_lines()
                    self.bad.add(explain(line, self.dim)[1], line=self._line)
                else:
                    self._blank_lines += 1
                self._line, start = self._line + 1, end + 1

    def _close_blank_lines(self) -> None:
        """Blank lines are harmless at the end of a file, and only there."""
        for line in range(self._line - self._blank_lines, self._line):
            self.bad.add(explain(b"", self.dim)[1], line=line)
        self.no_rows += self._blank_lines
        self._blank_lines = 0

    def _without_cut_row(self, rows: Embeddings, first_row: bytes, most: int | None) -> Embeddings:
        fault = last_row_fault(self.source, first_row) if self.rows != most and self._last_is_good else None
        if fault == CUT_NUMBER:
            self.bad.add(fault, line=self._line - 1)
            self.rows -= 1
            return Embeddings(rows.words[:-1], rows.matrix[:-1])
        if fault:
            self.bad.note(f"line {self._line - 1}: {fault}")
        return rows


class InlinePool:
    """What ThreadPoolExecutor does, at once: one thread needs no other, and small files no threads."""

    def __enter__(self) -> "InlinePool":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(
        self, function: Callable[Arguments, Result], /, *arguments: Arguments.args, **named: Arguments.kwargs
    ) -> "Future[Result]":
        from concurrent.futures import Future

        done: Future[Result] = Future()
        done.set_result(function(*arguments, **named))
        return done


def make_pool(threads: int) -> "InlinePool | ThreadPoolExecutor":
    return new_pool(threads) if threads > 1 else InlinePool()


def peek_row(source: Input) -> bytes:
    """The next line, without its newline, left unread."""
    size = 1 << 16
    while b"\n" not in (head := source.peek(size)) and len(head) == size and size < LONGEST_LINE:
        size *= 4
    return head.partition(b"\n")[0]


CUT_NUMBER = "expected a space and a line end after the last number, found the end of the file: it was cut short"
UNSURE_END = "the last row has no line end; if the file was cut, its last number is wrong"


def last_row_fault(source: Input, first_row: bytes) -> str | None:
    """A number at the very end of a file may be cut: 0.12 for 0.123456. CUT_NUMBER when the first row, which ends with
    a space as word2vec and fastText write it, proves that; UNSURE_END when nothing tells; None when all is well."""
    if not source.newline_missing or source.last_byte in b" \t\r":
        return None
    return CUT_NUMBER if first_row.rstrip(b"\r").endswith(b" ") else UNSURE_END


def refuse_cut_row(source: Input, first_row: bytes, last_line: int) -> None:
    """Raises BadFile for a last number that was cut, warns when that cannot be told."""
    fault = last_row_fault(source, first_row)
    if fault == CUT_NUMBER:
        raise BadFile(source.name, fault, line=last_line)
    if fault:
        warnings.warn(f"{source.name}:{last_line}: {fault}", FormatWarning, stacklevel=2)


def decimals(precision: Precision) -> int:
    return 0 if precision == "exact" else int(precision)


def write_rows(
    stream: BinaryIO, embeddings: Embeddings, precision: Precision, threads: int, *, trailing_space: bool
) -> None:
    """Writes all rows, formatted by several threads, in order."""
    digits = decimals(precision)
    matrix, words = embeddings.matrix, embeddings.words
    step = max(1, _BLOCK_VALUES // embeddings.dim)

    def format_rows(first: int) -> memoryview:
        last = min(first + step, len(words))
        word_bytes = int(words.starts[last] - words.starts[first])
        out = np.empty(word_bytes + (last - first) * _floattext.row_capacity(embeddings.dim), np.uint8)
        size = _floattext.format_rows(matrix, words.blob, words.starts, first, last, digits, trailing_space, out.data)
        return out.data[:size]

    with make_pool(threads) as pool:
        pending: deque[Future[memoryview]] = deque()
        for first in range(0, len(words), step):
            pending.append(pool.submit(format_rows, first))
            if len(pending) > threads:
                stream.write(pending.popleft().result())
        while pending:
            stream.write(pending.popleft().result())
