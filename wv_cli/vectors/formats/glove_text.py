"""GloVe's text format: no header, one row a line: `word number number ...`, without a space at the end.

The dimension is the number of numbers that end the first row. GloVe's last row is `<unk>`, the vector for unknown
words; it is kept as an ordinary row. A file cut between two rows cannot be told from a whole one: there is no count.
"""

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

from wv_cli._floattext import parse_float
from wv_cli.errors import BadFile, FormatWarning, WvError, show_bytes
from wv_cli.io.input import Input
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.base import Format, ReadOptions, Stream, WriteOptions
from wv_cli.vectors.formats.header import parse_header
from wv_cli.vectors.formats.report import Report
from wv_cli.vectors.formats.skipping import BadRows, count_skipped, skips
from wv_cli.vectors.formats.store import RowStore
from wv_cli.vectors.formats.text_check import TextCheck
from wv_cli.vectors.formats.text_rows import (
    GoodRows,
    RowReader,
    are_rows,
    count_numbers,
    peek_row,
    refuse_cut_row,
    split_fields,
    write_rows,
)

_ONE_CUT_ROW = "a single row without a line end; if the file was cut, numbers are missing"
_ROWS_COUNTED = 20
_TABLE_DIM = 10  # a line of text does not end with so many numbers


def sniff(head: bytes) -> bool:
    line = head.partition(b"\n")[0]
    if parse_header(head) is not None or b"\0" in line:
        return False
    fields = split_fields(line)
    if b"\n" not in head and fields and parse_float(fields[-1]) is None:
        fields.pop()  # a number that the end of `head` cuts
    # `word number` is more likely a vocabulary, and rows of decimals only are vectors without words; for files that are
    # what they do not seem there is --from glove-text.
    has_words = any(b"." not in first or parse_float(first) is None for first in first_fields(head))
    return count_numbers(fields) > 1 and has_words


def is_certain(head: bytes) -> bool:
    """Whether the first lines are a word and the same number of decimal numbers each, so many that no running text has
    them."""
    line = head.partition(b"\n")[0]
    fields = split_fields(line)
    dim = count_numbers(fields)
    decimals = sum(b"." in field for field in fields[-dim:])
    return sniff(head) and dim >= _TABLE_DIM and 2 * decimals > dim and are_rows(head, dim)


def first_fields(head: bytes) -> list[bytes]:
    return [fields[0] for fields in map(split_fields, head.split(b"\n")) if fields]


def find_dim(source: Input, first_row: bytes, *, of_most: bool = False) -> int:
    """The dimension, from the first row or that `of_most` of the first ones. Raises BadFile when it holds no
    numbers."""
    dim = count_numbers(split_fields(first_row))
    if of_most:
        rows = source.peek(_ROWS_COUNTED * (len(first_row) + 1)).split(b"\n")[:-1]
        dims = Counter(count for row in rows if (count := count_numbers(split_fields(row))))
        dim = dims.most_common(1)[0][0] if dims else dim
    if dim == 0:
        problem = f"expected a word and numbers, found {show_bytes(first_row)}"
        raise BadFile(source.name, problem, line=1)
    return dim


def read(source: Input, options: ReadOptions) -> Embeddings:
    first_row = peek_row(source)
    dim = find_dim(source, first_row)
    store = RowStore(dim, None)
    if source.size is not None:
        # Rows are about as long as the first one; a wrong guess costs a little address space or a move.
        guess = source.size // (len(first_row) + 1) + source.size // (16 * len(first_row)) + 16
        store.reserve(min(guess, options.limit or guess))
    reader = RowReader(source, dim, 1, options.threads)
    reader.read(store, options.limit)
    _judge_end(source, options, reader, first_row)
    return store.finish(reader.rows)


def _judge_end(source: Input, options: ReadOptions, reader: RowReader, first_row: bytes) -> None:
    if options.limit is None or reader.rows < options.limit:
        refuse_cut_row(source, first_row, reader.rows)
    if reader.rows == 1 and source.newline_missing and source.last_byte == 32:
        warnings.warn(f"{source.name}: {_ONE_CUT_ROW}", FormatWarning, stacklevel=3)


def stream(source: Input, options: ReadOptions) -> Stream:
    first_row = peek_row(source)
    dim = find_dim(source, first_row, of_most=skips(options))
    if skips(options):
        bad = BadRows(source.name)
        return count_skipped(bad, Stream(None, dim, GoodRows(source, dim, 1, bad).blocks(options.limit)))

    def blocks() -> Iterator[Embeddings]:
        reader = RowReader(source, dim, 1, options.threads)
        yield from reader.blocks(options.limit)
        _judge_end(source, options, reader, first_row)

    return Stream(None, dim, blocks())


def no_header(rows: int, dim: int) -> bytes:
    """Raises WvError when there are no rows."""
    if not rows:
        message = "there are no rows to write, and glove-text has no header to say so"
        raise WvError(message)
    return b""


def write(stream: BinaryIO, embeddings: Embeddings, options: WriteOptions) -> None:
    stream.write(no_header(len(embeddings), embeddings.dim))
    write_block(stream, embeddings, options)


def write_block(stream: BinaryIO, embeddings: Embeddings, options: WriteOptions) -> None:
    write_rows(stream, embeddings, options.precision, options.threads, trailing_space=False)


def check(source: Input, report: Report) -> None:
    TextCheck(source, report, find_dim(source, peek_row(source)), 1).run()
    if report.rows == 1 and source.newline_missing and source.last_byte == 32:
        report.add("no line end", _ONE_CUT_ROW, line=1, note=True)


FORMAT = Format(
    name="glove-text",
    summary="GloVe's text vectors: no header, `word number ...`",
    text=True,
    loses=(
        "the number of rows (a file cut between rows looks whole). All but six decimals of each number "
        "(--precision exact keeps every bit). Words that are empty or hold a space, tab, newline or NUL "
        "(--escape keeps them)"
    ),
    sniff=sniff,
    certain=is_certain,
    read=read,
    stream=stream,
    check=check,
    write=write,
    header=no_header,
    write_rows=write_block,
    skips=True,
)
