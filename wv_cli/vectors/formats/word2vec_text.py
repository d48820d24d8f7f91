"""word2vec's text format (.vec, .txt): a header `rows dim`, then one row a line: `word number number ... `.

Written byte for byte as word2vec writes it: six decimals, a space after every number, the last one included. Read from
word2vec, fastText (.vec), gensim and GloVe (-write-header 1). GloVe's header counts one row too few, because of the
`<unk>` row it appends; such a file is read whole with a warning. Any other disagreement is an error.
"""

import warnings
from collections.abc import Iterator
from typing import BinaryIO

from wv_cli.errors import BadFile, FormatWarning
from wv_cli.io.input import Input
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.base import Format, ReadOptions, Stream, WriteOptions
from wv_cli.vectors.formats.header import Header, header_line, looks_like_text, parse_header, read_header
from wv_cli.vectors.formats.report import Report
from wv_cli.vectors.formats.skipping import BadRows, count_skipped, skips
from wv_cli.vectors.formats.store import RowStore
from wv_cli.vectors.formats.text_check import TextCheck
from wv_cli.vectors.formats.text_rows import (
    GoodRows,
    RowReader,
    are_longer,
    are_rows,
    peek_row,
    refuse_cut_row,
    write_rows,
)
from wv_cli.words import WordList

_LOOKED_AT = 1 << 16  # bytes of rows that tell whether the header's dimension can be true


def sniff(head: bytes) -> bool:
    header = parse_header(head)
    return header is not None and looks_like_text(head[header.size :], header)


def is_certain(head: bytes) -> bool:
    """Whether the header's promise is kept by the lines after it, which running text would not do."""
    header = parse_header(head)
    return header is not None and are_rows(head[header.size :], header.dim)


def _header(source: Input, options: ReadOptions) -> Header:
    header = read_header(source)
    if not skips(options):
        # The shortest row is a one-byte word, and a space and a digit for every number.
        header.require_size(source, options.limit, row_bytes=1 + 2 * header.dim, spare_bytes=1)
    return header


def _rows_wanted(header: Header, options: ReadOptions) -> tuple[int, bool]:
    """The rows to read, and whether to the end of the file: one row more than promised, for GloVe's <unk>."""
    limit = header.rows if options.limit is None else min(options.limit, header.rows)
    return limit, options.limit is None or options.limit > header.rows


def _dim_is_known(source: Input, header: Header) -> bool:
    return not are_longer(source.peek(_LOOKED_AT), header.dim)


def _row_reader(source: Input, header: Header, options: ReadOptions) -> RowReader:
    return RowReader(source, header.dim, 2, options.threads, dim_is_known=_dim_is_known(source, header))


def read(source: Input, options: ReadOptions) -> Embeddings:
    header = _header(source, options)
    first_row = peek_row(source)
    limit, whole = _rows_wanted(header, options)
    store = RowStore(header.dim, limit + whole if source.size is not None else None)
    reader = _row_reader(source, header, options)
    reader.read(store, limit + whole)
    result = store.finish(reader.rows)
    _judge_end(source, header, reader, first_row, options, result.words)
    return result


def _judge_end(
    source: Input, header: Header, reader: RowReader, first_row: bytes, options: ReadOptions, words: WordList
) -> None:
    """words: the last ones at least."""
    limit, whole = _rows_wanted(header, options)
    if reader.rows < limit:
        problem = (
            f"the header promises {header.rows} rows, found {reader.rows}: the file was cut short or the header is "
            "wrong; `wv check` tells more"
        )
        raise BadFile(source.name, problem, line=reader.rows + 1)
    if whole:
        refuse_cut_row(source, first_row, reader.rows + 1)
    if reader.rows > header.rows:
        if reader.overfull or words.bytes_at(len(words) - 1) != b"<unk>":
            problem = (
                f"the header promises {header.rows} rows, but another row follows; correct the first line "
                "or take the rows it promises with --limit"
            )
            raise BadFile(source.name, problem, line=header.rows + 2)
        message = (
            f"{source.name}: the header promises {header.rows} rows and {reader.rows} are there, the last one <unk>: "
            "GloVe counts so; all were read"
        )
        warnings.warn(message, FormatWarning, stacklevel=3)


def stream(source: Input, options: ReadOptions) -> Stream:
    header = _header(source, options)
    first_row = peek_row(source)
    limit, whole = _rows_wanted(header, options)
    if skips(options):
        bad = BadRows(source.name)
        reader = GoodRows(source, header.dim, 2, bad, dim_is_known=_dim_is_known(source, header))
        return count_skipped(bad, Stream(None, header.dim, _good_blocks(header, reader, options)))

    def blocks() -> Iterator[Embeddings]:
        reader, words = _row_reader(source, header, options), WordList.from_words([])
        for block in reader.blocks(limit + whole):
            words = block.words
            yield block
        _judge_end(source, header, reader, first_row, options, words)

    return Stream(None, header.dim, blocks())


def _good_blocks(header: Header, reader: GoodRows, options: ReadOptions) -> Iterator[Embeddings]:
    yield from reader.blocks(options.limit)
    found = reader.rows + reader.bad.count - reader.no_rows
    if found < header.rows and (options.limit is None or reader.rows < options.limit):
        reader.bad.note(f"the header promises {header.rows} rows, found {found}: the others are missing")
    elif found > header.rows:
        reader.bad.note(f"the header promises {header.rows} rows, found {found}: all were read")


def write(stream: BinaryIO, embeddings: Embeddings, options: WriteOptions) -> None:
    stream.write(header_line(len(embeddings), embeddings.dim))
    write_block(stream, embeddings, options)


def write_block(stream: BinaryIO, embeddings: Embeddings, options: WriteOptions) -> None:
    write_rows(stream, embeddings, options.precision, options.threads, trailing_space=True)


def check(source: Input, report: Report) -> None:
    header = read_header(source)
    report.promised_rows = header.rows
    rows = TextCheck(source, report, header.dim, 2, dim_is_known=_dim_is_known(source, header))
    rows.run()
    if report.rows < header.rows:
        text = f"the header promises {header.rows} rows, found {report.rows}: the file was cut or the header is wrong"
        report.add("row count", text, line=rows.line - 1)
    elif report.rows == header.rows + 1 and rows.last_word == b"<unk>":
        text = (
            f"the header promises {header.rows} rows, found {report.rows}: GloVe does not count <unk>; correct line 1"
        )
        report.add("row count", text, line=1)
    elif report.rows > header.rows:
        text = f"the header promises {header.rows} rows, found {report.rows}"
        report.add("row count", text, line=1)


FORMAT = Format(
    name="word2vec-text",
    summary="word2vec's text vectors: a header `rows dim`, then `word number ...`; fastText's .vec too",
    text=True,
    loses=(
        "all but six decimals of each number (--precision exact keeps every bit). Words that are empty or hold a "
        "space, tab, newline or NUL (--escape keeps them)"
    ),
    sniff=sniff,
    certain=is_certain,
    read=read,
    stream=stream,
    check=check,
    write=write,
    header=header_line,
    write_rows=write_block,
    skips=True,
)
