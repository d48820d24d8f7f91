"""word2vec's binary format (.bin): a text header `rows dim`, then for each row: word, space, dim raw float32.

Written as word2vec writes it, with a newline after each row; gensim writes none; both are read (newlines before a
word are skipped, as word2vec's own tools and gensim do). The floats are little-endian, as on every machine these
files come from.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from wv_cli import _floattext
from wv_cli.errors import BadFile, show_bytes
from wv_cli.io.input import Input, open_input
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.audit import RowAudit
from wv_cli.vectors.formats.base import Format, ReadOptions, Stream, WriteOptions
from wv_cli.vectors.formats.header import Header, header_line, looks_like_text, parse_header, read_header
from wv_cli.vectors.formats.report import Report
from wv_cli.vectors.formats.skipping import WAY_OUT, BadRows, count_skipped, skips
from wv_cli.vectors.formats.store import RowStore
from wv_cli.vectors.mapped_rows import MappedRows
from wv_cli.words import WordList

_BLOCK_BYTES = 1 << 20
# A word of one byte, its space, and the numbers; the last newline may be missing.
_LEAST_WORD = 2


def sniff(head: bytes) -> bool:
    header = parse_header(head)
    return header is not None and not looks_like_text(head[header.size :], header)


@dataclass
class Run:
    """`count` rows from row `first` on, read to the start of the buffers; or the row there that could not be
    read, with the reason `stop` and the bytes `data` it begins with. `offset` is where that is in the file, `size`
    its bytes."""

    first: int
    count: int
    words: bytes
    stop: int
    offset: int
    size: int
    data: bytes = b""


class RecordReader:
    """Reads at most `most` rows through one buffer, into the matrix and lengths that `buffers(first row)` gives. After
    it `rest` holds what was read too much, which begins at `offset`."""

    def __init__(self, source: Input, dim: int, most: int) -> None:
        self.source, self.dim, self.most = source, dim, most
        self.offset = source.position
        self.rest = b""

    def runs(self, buffers: Callable[[int], tuple[NDArray[np.float32], NDArray[np.int64]]]) -> Iterator[Run]:
        buffer = bytearray(_BLOCK_BYTES)
        base, start, end, rows = self.offset, 0, 0, 0
        while rows < self.most:
            # What is left of a row moves to the front; its rest is read behind it.
            buffer[: end - start] = buffer[start:end]
            base, start, end = base + start, 0, end - start
            if 2 * end > len(buffer):
                # A new one: a profiler may hold views of this, and what others see cannot grow.
                buffer = buffer + bytes(len(buffer))
            with memoryview(buffer) as view:
                got = self.source.readinto(view[end:])
            end += got
            if got == 0:
                yield Run(rows, 0, b"", _floattext.STOP_PARTIAL, base, end, bytes(buffer[:end]))
                break
            stop = _floattext.STOP_NONE
            while rows < self.most and start < end and stop != _floattext.STOP_PARTIAL:
                found, consumed, word_bytes, stop = _floattext.read_rows(buffer, start, end, *buffers(rows), True)
                if found:
                    words = bytes(buffer[start : start + word_bytes])
                    yield Run(rows, found, words, _floattext.STOP_NONE, base + start, consumed)
                rows, start = rows + found, start + consumed
                if stop in (_floattext.STOP_NOT_FINITE, _floattext.STOP_LONG_WORD):
                    data = bytes(buffer[start:end])
                    size = data.index(b" ") + 1 + 4 * self.dim if stop == _floattext.STOP_NOT_FINITE else len(data)
                    yield Run(rows, 0, b"", stop, base + start, size, data[:size])
                    if stop == _floattext.STOP_LONG_WORD:
                        return
                    rows, start = rows + 1, start + size
        self.rest, self.offset = bytes(buffer[start:end]), base + start


def read(source: Input, options: ReadOptions) -> Embeddings:
    header = read_header(source)
    header.require_size(source, options.limit, row_bytes=_LEAST_WORD + 4 * header.dim)
    most = header.rows if options.limit is None else min(options.limit, header.rows)
    whole = options.limit is None or options.limit > header.rows
    if options.mapped and source.size is not None:
        return _records(source, header, most, whole=whole)
    store = RowStore(header.dim, most if source.size is not None else None)
    reader = RecordReader(source, header.dim, most)
    rows = 0

    def buffers(first: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        store.reserve(min(most, first + 1))
        last = min(most, store.capacity)
        return store.matrix[first:last], store.lengths[first:last]

    for run in reader.runs(buffers):
        if run.stop != _floattext.STOP_NONE:
            raise BadFile(source.name, explain(run, header)[1] + WAY_OUT, byte=run.offset)
        store.add_words(run.words)
        rows = run.first + run.count
    if whole:
        _require_end(source, header, reader.rest + source.peek(64), reader.offset)
    return store.finish(rows)


def read_mapped(path: str) -> Embeddings:
    """Reads a whole file whose numbers stay in the mapping."""
    with open_input(path) as source:
        return read(source, ReadOptions(mapped=True))


def _records(source: Input, header: Header, most: int, *, whole: bool) -> MappedRows:
    """The rows where they are; their numbers are looked at only when the file is damaged, for where that begins."""
    first, data = source.position, source.contents()
    offsets, lengths = np.empty(most, np.int64), np.empty(most, np.int64)
    words = np.empty(max(0, len(data) - 4 * header.dim * most), np.uint8)
    rows, consumed, word_bytes, stop = _floattext.find_rows(data, header.dim, offsets, words, lengths)
    offsets, starts = offsets[:rows], np.zeros(rows + 1, np.int64)
    np.cumsum(lengths[:rows], out=starts[1:])

    def refuse(row: int) -> NoReturn:
        begin = int(offsets[row - 1]) + 4 * header.dim if row else 0
        record = bytes(data[begin : int(offsets[row]) + 4 * header.dim])
        run = Run(row, 0, b"", _floattext.STOP_NOT_FINITE, first + begin, len(record), record)
        raise BadFile(source.name, explain(run, header)[1] + WAY_OUT, byte=run.offset)

    origin = source.origin(read_mapped) if most == header.rows else None
    records = MappedRows(WordList(words[:word_bytes].tobytes(), starts), data, offsets, header.dim, refuse, origin)
    at = first + consumed
    try:
        if rows < most:
            lost = b"" if stop == _floattext.STOP_LONG_WORD else bytes(data[consumed:])
            run = Run(rows, 0, b"", stop or _floattext.STOP_PARTIAL, at, len(data) - consumed, lost)
            raise BadFile(source.name, explain(run, header)[1] + WAY_OUT, byte=at)
        if whole:
            _require_end(source, header, bytes(data[consumed : consumed + _BLOCK_BYTES]), at)
    except BadFile:
        records.require_finite()
        raise
    return records


def _require_end(source: Input, header: Header, rest: bytes, offset: int) -> None:
    """rest: what stands behind the last row, or the beginning of it; `offset` is where."""
    if rest.strip(b"\n"):
        problem = _excess(source, header, offset) + "; `wv check` tells more, --limit takes the rows it promises"
        raise BadFile(source.name, problem, byte=offset)


def stream(source: Input, options: ReadOptions) -> Stream:
    header = read_header(source)
    if skips(options):
        bad = BadRows(source.name)
        return count_skipped(bad, Stream(None, header.dim, _good_blocks(source, header, options.limit, bad)))
    header.require_size(source, options.limit, row_bytes=_LEAST_WORD + 4 * header.dim)
    most = header.rows if options.limit is None else min(options.limit, header.rows)
    whole = options.limit is None or options.limit > header.rows
    return Stream(most, header.dim, _blocks(source, header, most, whole=whole))


def _good_blocks(source: Input, header: Header, limit: int | None, bad: BadRows) -> Iterator[Embeddings]:
    reader = RecordReader(source, header.dim, header.rows)
    count = max(1, min(header.rows, _BLOCK_BYTES // (4 * header.dim)))
    matrix, lengths = np.empty((count, header.dim), np.float32), np.empty(count, np.int64)
    rows = 0
    for run in reader.runs(lambda first: (matrix[: header.rows - first], lengths[: header.rows - first])):
        if run.stop == _floattext.STOP_NONE:
            take = run.count if limit is None else min(run.count, limit - rows)
            starts = np.zeros(run.count + 1, np.int64)
            np.cumsum(lengths[: run.count], out=starts[1:])
            yield Embeddings(WordList(run.words, starts)[:take], matrix[:take])
            rows += take
            if rows == limit:
                return
        elif run.stop == _floattext.STOP_NOT_FINITE:
            bad.add(explain(run, header)[1], byte=run.offset)
        else:
            bad.note(f"byte {run.offset}: {explain(run, header)[1]}; {header.rows - run.first} rows were skipped")
            return
    if (reader.rest + source.peek(64)).strip(b"\n"):
        bad.note(f"byte {reader.offset}: {_excess(source, header, reader.offset)}; they were skipped")


def _blocks(source: Input, header: Header, most: int, *, whole: bool) -> Iterator[Embeddings]:
    reader = RecordReader(source, header.dim, most)
    count = max(1, min(most, _BLOCK_BYTES // (4 * header.dim)))
    matrix, lengths = np.empty((count, header.dim), np.float32), np.empty(count, np.int64)
    for run in reader.runs(lambda first: (matrix[: most - first], lengths[: most - first])):
        if run.stop != _floattext.STOP_NONE:
            raise BadFile(source.name, explain(run, header)[1] + WAY_OUT, byte=run.offset)
        starts = np.zeros(run.count + 1, np.int64)
        np.cumsum(lengths[: run.count], out=starts[1:])
        yield Embeddings(WordList(run.words, starts), matrix[: run.count])
    if whole:
        _require_end(source, header, reader.rest + source.peek(64), reader.offset)


def check(source: Input, report: Report) -> None:
    header = read_header(source)
    report.promised_rows, report.dim = header.rows, header.dim
    reader = RecordReader(source, header.dim, header.rows)
    audit = RowAudit(report, "byte")
    count = max(1, min(header.rows, _BLOCK_BYTES // (4 * header.dim)))
    matrix, lengths = np.empty((count, header.dim), np.float32), np.empty(count, np.int64)
    for run in reader.runs(lambda first: (matrix[: header.rows - first], lengths[: header.rows - first])):
        report.rows = run.first + run.count
        if run.stop == _floattext.STOP_NONE:
            offsets = _row_offsets(run, lengths[: run.count], header.dim)
            audit.add(run.words, lengths[: run.count], matrix[: run.count], offsets.__getitem__)
            continue
        kind, text = explain(run, header)
        report.add(kind, text, byte=run.offset)
        if run.stop != _floattext.STOP_NOT_FINITE:
            return
        report.rows += 1
    if (reader.rest + source.peek(64)).strip(b"\n"):
        report.add("trailing data", _excess(source, header, reader.offset), byte=reader.offset)


def _row_offsets(run: Run, lengths: NDArray[np.int64], dim: int) -> list[int]:
    """Where the words of a run begin. A newline before each of them but the file's first is what word2vec writes."""
    sizes = lengths + 1 + 4 * dim
    newlines = run.size - int(sizes.sum())
    ends = np.cumsum(sizes + (newlines >= run.count - 1 > 0 or newlines == run.count))
    first = run.offset + (newlines == run.count)
    return [first, *(first + ends[:-1]).tolist()]


def explain(run: Run, header: Header) -> tuple[str, str]:
    """(kind, problem) of the row that ended a run."""
    row = f"row {run.first + 1} of {header.rows}"
    if run.stop == _floattext.STOP_PARTIAL:
        further = f" {run.size} bytes further on" if run.data.strip(b"\n") else ""
        return (
            "truncated",
            f"expected {row}, found the end of the file{further}: it was cut short or the header is wrong",
        )
    if run.stop == _floattext.STOP_LONG_WORD:
        limit = _floattext.BINARY_WORD_LIMIT
        text = f"{row}: expected a word and a space, found no space in {limit} bytes; the damage is before this place"
        return "lost place", text
    word, _, values = run.data.lstrip(b"\n").partition(b" ")
    numbers = np.frombuffer(values, "<f4")
    at = int(np.flatnonzero(~np.isfinite(numbers))[0])
    return (
        "not finite",
        f"{row}: expected finite numbers, found {numbers[at]} as number {at + 1} of the word {show_bytes(word)}",
    )


def _excess(source: Input, header: Header, offset: int) -> str:
    left = "" if source.size is None else f"{source.size - offset} "
    return f"expected the end of the file after the {header.rows} rows its header promises, found {left}more bytes"


def write(stream: BinaryIO, embeddings: Embeddings, options: WriteOptions) -> None:
    stream.write(header_line(len(embeddings), embeddings.dim))
    write_rows(stream, embeddings, options)


def write_rows(stream: BinaryIO, embeddings: Embeddings, options: WriteOptions) -> None:
    for piece in packed_rows(embeddings):
        stream.write(piece)


def packed_rows(embeddings: Embeddings) -> Iterator[memoryview]:
    """The rows as bytes, a megabyte or so at a time."""
    matrix, words = embeddings.matrix, embeddings.words
    step = max(1, _BLOCK_BYTES // (4 * embeddings.dim))
    for first in range(0, len(words), step):
        last = min(first + step, len(words))
        word_bytes = int(words.starts[last] - words.starts[first])
        out = np.empty(word_bytes + (last - first) * (2 + 4 * embeddings.dim), np.uint8)
        size = _floattext.pack_rows(matrix, words.blob, words.starts, first, last, out.data)
        yield out.data[:size]


FORMAT = Format(
    name="word2vec-binary",
    summary="word2vec's binary vectors: a header `rows dim`, then `word ` and raw float32",
    text=False,
    loses="words that are empty or hold a space, tab, newline or NUL (--escape keeps them)",
    sniff=sniff,
    read=read,
    check=check,
    write=write,
    stream=stream,
    header=header_line,
    write_rows=write_rows,
    skips=True,
)
