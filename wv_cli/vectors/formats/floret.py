"""floret's table of hashed n-grams (.floret), as text: a header of eight fields, then one row a line.

    bucket dim minn maxn hashCount hashSeed BOW EOW
    0 number number ...          to row bucket - 1

The file lists no words. It is read as vectors without rows whose `subwords` compose any word. A model of floret's mode
`fasttext` writes the same file, which its words' own rows and other hashes make useless; the file does not tell.
"""

import os
import re

import numpy as np

from wv_cli.errors import BadFile, show_bytes
from wv_cli.io.input import Input
from wv_cli.io.output import open_output
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.floret import MOST_HASHES, FloretTable
from wv_cli.vectors.formats.base import Format, ReadOptions
from wv_cli.vectors.formats.header import MAX_DIM
from wv_cli.vectors.formats.npy import number_words
from wv_cli.vectors.formats.report import Report
from wv_cli.vectors.formats.skipping import WAY_OUT
from wv_cli.vectors.formats.store import RowStore
from wv_cli.vectors.formats.text_check import TextCheck
from wv_cli.vectors.formats.text_rows import RowReader, peek_row, refuse_cut_row, write_rows
from wv_cli.words import WordList

HEADER = rb"(\d{1,10}) (\d{1,10}) (\d{1,10}) (\d{1,10}) (\d{1,10}) (\d{1,10}) (\S{1,64}) (\S{1,64})\r?\n"
_HEADER_BYTES = 256
_MOST_NGRAM = 255


def sniff(head: bytes) -> bool:
    return re.match(HEADER, head) is not None


def _read_header(source: Input) -> tuple[int, int, list[int], tuple[bytes, bytes]]:
    """(rows, dim, [minn, maxn, hashes, seed], (begin, end)). Raises BadFile."""
    found = re.match(HEADER, source.peek(_HEADER_BYTES))
    if found is None:
        problem = "expected `bucket dim minn maxn hashCount hashSeed BOW EOW` as floret writes it"
        raise BadFile(source.name, f"{problem}, found {show_bytes(source.peek(_HEADER_BYTES)[:80])}", line=1)
    rows, dim, *rest = map(int, found.groups()[:6])
    for name, value, low, high in [
        ("bucket", rows, 1, 2**31 - 1),
        ("dim", dim, 1, MAX_DIM),
        ("minn", rest[0], 0, _MOST_NGRAM),
        ("maxn", rest[1], rest[0], _MOST_NGRAM),
        ("hashCount", rest[2], 1, MOST_HASHES),
        ("hashSeed", rest[3], 0, 2**32 - 1),
    ]:
        if not low <= value <= high:
            raise BadFile(source.name, f"expected a {name} of {low} to {high}, found {value}", line=1)
    source.read(found.end())
    least = rows * (2 + 2 * dim)
    if source.size is not None and source.size - source.position < least - 1:
        problem = f"the header promises {rows:,} rows of {dim} numbers, at least {least:,} bytes; the file is shorter"
        raise BadFile(source.name, f"{problem}: it was cut", line=1)
    return rows, dim, rest, (found[7], found[8])


def read(source: Input, options: ReadOptions) -> Embeddings:
    rows, dim, (minn, maxn, hashes, seed), (begin, end) = _read_header(source)
    first_row = peek_row(source)
    store = RowStore(dim, rows if source.size is not None else None)
    reader = RowReader(source, dim, 2, options.threads, dim_is_known=True)
    try:
        reader.read(store, rows)
    except BadFile as error:  # without a row the others are in other places
        raise BadFile(source.name, error.problem.removesuffix(WAY_OUT), line=error.line) from None
    table = store.finish(reader.rows)
    if reader.rows < rows or reader.overfull:
        found = f"found {'more' if reader.overfull else reader.rows}"
        raise BadFile(source.name, f"the header promises {rows:,} rows, {found}", line=reader.rows + 2)
    refuse_cut_row(source, first_row, rows + 1)
    if table.words != (expected := number_words(0, rows)):
        row = next(i for i in range(rows) if table.words.bytes_at(i) != expected.bytes_at(i))
        problem = f"expected the number of the row, {row}, found {show_bytes(table.words.bytes_at(row))}"
        raise BadFile(source.name, problem, line=row + 2)
    subwords = FloretTable(table.matrix, minn, maxn, hashes, seed, begin, end)
    return Embeddings(WordList.from_words([]), np.empty((0, dim), np.float32), subwords)


def save_table(path: str | os.PathLike[str], table: FloretTable) -> None:
    """Writes the file, whole or not at all. Every number reads back to the same float32. Raises WvError."""
    rows, dim = table.matrix.shape
    sizes = (rows, dim, table.minn, table.maxn, table.hashes, table.seed)
    with open_output(path) as stream:
        stream.write(b" ".join([*(b"%d" % size for size in sizes), table.begin, table.end]) + b"\n")
        write_rows(stream, Embeddings(number_words(0, rows), table.matrix), "exact", 1, trailing_space=False)


def check(source: Input, report: Report) -> None:
    rows, dim, _, _ = _read_header(source)
    report.promised_rows = rows
    TextCheck(source, report, dim, 2, dim_is_known=True).run()
    if report.rows != rows:
        report.add("row count", f"the header promises {rows} rows, found {report.rows}", line=report.rows + 1)


FORMAT = Format(
    name="floret",
    what="floret's table of hashed n-grams",
    summary="floret's table of hashed n-grams: no words, a vector for any word that is asked",
    text=True,
    loses="its words: it has none. Written from another table of floret alone",
    sniff=sniff,
    read=read,
    check=check,
)
