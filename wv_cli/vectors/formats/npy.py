"""NumPy's own file of one array (.npy): a matrix of vectors, such as sentence vectors of another program.

The words are beside it, in NAME.words.txt, one a line; when there is no such file the rows are called 0, 1, 2, ...
A digest of that file stands in the header, as a comment of Python's behind the dictionary, which NumPy skips:
`{...}  # words 0123456789abcdef`. Files without it are read as well.
Read: version 1 to 3 of the format, two axes, float16, float32 or float64 of either byte order, in C order; the
numbers become float32. Python objects are refused: they are a pickle, that is, a program. Written: float32.
"""

import ast
import io
import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli._floattext import first_not_finite
from wv_cli.errors import BadFile
from wv_cli.io.input import Input
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.base import Format, ReadOptions, Stream, WriteOptions
from wv_cli.vectors.formats.header import MAX_DIM
from wv_cli.vectors.formats.report import Report
from wv_cli.vectors.formats.skipping import BadRows
from wv_cli.words import WordList

MAGIC = b"\x93NUMPY"
_BLOCK_VALUES = 1 << 18
_LONGEST_HEADER = 1 << 16
_HEADER_BYTES = 128  # of what is written here: the longest dictionary and the comment fit
_MARK = b"  # words "


def sniff(head: bytes) -> bool:
    return head.startswith(MAGIC)


def number_words(first: int, count: int) -> WordList:
    """The words "first", "first + 1", ..."""
    text = [b"%d" % row for row in range(first, first + count)]
    return WordList.from_words(text)


def _read_header(source: Input, options: ReadOptions | None = None) -> tuple[tuple[int, int], np.dtype[np.floating]]:
    """Takes the header; (shape, type of the numbers), of the rows that `options` take. Raises BadFile."""
    start = source.read(8)
    length_bytes = 2 if start[6:7] == b"\x01" else 4
    if not start.startswith(MAGIC) or start[6:7] not in (b"\1", b"\2", b"\3"):
        raise BadFile(source.name, f"expected a NumPy array of version 1 to 3, found {start!r}", byte=0)
    length = int.from_bytes(source.read(length_bytes), "little")
    text = source.read(min(length, _LONGEST_HEADER))
    try:
        facts = ast.literal_eval(text.decode("latin-1").strip())
        shape, order, name = tuple(facts["shape"]), facts["fortran_order"], facts["descr"]
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError):
        raise BadFile(source.name, "expected the header of a NumPy array, found something else", byte=8) from None
    if not isinstance(name, str) or not re.fullmatch(r"[<>=]f[248]", name):
        step = "convert it with astype('float32')"
        if name == "|u1":
            step = "wv reads codes of wv hash from .codes; packed ones are for other programs"
        problem = f"expected an array of float16, float32 or float64, found {name!r}; {step}"
        raise BadFile(source.name, problem, byte=8)
    if len(shape) != 2 or not all(type(size) is int and size >= 0 for size in shape):
        raise BadFile(source.name, f"expected an array of two axes, rows x dim, found the shape {shape}", byte=8)
    if not 1 <= shape[1] <= MAX_DIM:
        raise BadFile(source.name, f"expected a dimension of 1 to {MAX_DIM}, found {shape[1]}", byte=8)
    if order and min(shape) > 1:
        problem = "expected rows one after the other, found columns (Fortran order); save numpy.ascontiguousarray(x)"
        raise BadFile(source.name, problem, byte=8)
    kind: np.dtype[np.floating] = np.dtype(name)
    row_bytes = shape[1] * kind.itemsize
    expected = source.position + shape[0] * row_bytes
    if options is not None and options.bad_rows == "skip" and source.size is not None and source.size < expected:
        whole = (source.size - source.position) // row_bytes
        BadRows(source.name).note(f"expected {shape[0]} rows, found {whole}: the file was cut short; they were read")
        return (whole if options.limit is None else min(options.limit, whole), shape[1]), kind
    if options is not None and options.limit is not None and options.limit <= shape[0]:
        shape = (options.limit, shape[1])
        least = source.position + shape[0] * row_bytes
        expected = least if source.size is None else max(least, source.size)
    if source.size is not None and source.size != expected:
        problem = f"expected {expected} bytes for {shape[0]} rows of {shape[1]} numbers, found {source.size} bytes"
        raise BadFile(source.name, problem, byte=min(source.size, expected))
    return shape, kind


def _blocks(
    source: Input, rows: int, dim: int, kind: np.dtype[np.floating], *, finite: bool = True
) -> Iterator[NDArray[np.float32]]:
    """The first `rows` rows, a block at a time. Raises BadFile for a short file and, if they must be `finite`, for NaN
    and infinity."""
    step = max(1, _BLOCK_VALUES // dim)
    buffer = np.empty((min(step, rows), dim), kind)
    for first in range(0, rows, step):
        block = buffer[: min(step, rows - first)]
        offset = source.position
        got = source.readinto(block.reshape(-1).view(np.uint8).data)
        if got < block.nbytes:
            row = first + got // (dim * kind.itemsize)
            raise BadFile(source.name, f"expected {rows} rows, found the end of the file in row {row + 1}", byte=offset)
        with np.errstate(over="ignore"):
            result = np.ascontiguousarray(block, np.float32)
        bad = first_not_finite(result) if finite else None
        if bad is not None:
            problem = f"row {first + bad[0] + 1}: expected finite numbers, found {block[bad]} as number {bad[1] + 1}"
            raise BadFile(source.name, problem, byte=offset + (bad[0] * dim + bad[1]) * kind.itemsize)
        yield result


def stream(source: Input, options: ReadOptions) -> Stream:
    (rows, dim), kind = _read_header(source, options)

    def blocks() -> Iterator[Embeddings]:
        done = 0
        for matrix in _blocks(source, rows, dim, kind):
            yield Embeddings(number_words(done, len(matrix)), matrix)
            done += len(matrix)

    return Stream(rows, dim, blocks())


def read(source: Input, options: ReadOptions) -> Embeddings:
    (rows, dim), kind = _read_header(source, options)
    parts = []
    matrix = np.empty((rows, dim), np.float32) if source.size is not None else None
    done = 0
    for block in _blocks(source, rows, dim, kind, finite=options.bad_rows == "error"):
        if matrix is None:
            parts.append(block.copy())
        else:
            matrix[done : done + len(block)] = block
        done += len(block)
    if matrix is None:
        matrix = np.concatenate([np.empty((0, dim), np.float32), *parts])
    return Embeddings(number_words(0, rows), matrix)


def check(source: Input, report: Report) -> None:
    (rows, dim), kind = _read_header(source)
    report.promised_rows, report.dim = rows, dim
    try:
        for matrix in _blocks(source, rows, dim, kind):
            for row in np.flatnonzero(~matrix.any(axis=1)).tolist():
                offset = source.position - (len(matrix) - row) * dim * kind.itemsize
                report.add("zero vector", "all numbers of this row are 0", byte=offset, note=True)
            report.rows += len(matrix)
    except BadFile as error:
        kind_of_fault = "not finite" if "finite" in error.problem else "truncated"
        report.add(kind_of_fault, error.problem, byte=error.byte)


def header(rows: int, dim: int, kind: bytes = b"<f4") -> bytes:
    """Padded with spaces to a multiple of 64 bytes, as NumPy does. `kind` is NumPy's name of the type."""
    text = b"{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }" % (kind, rows, dim)
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return MAGIC + b"\1\0" + len(text).to_bytes(2, "little") + text


def mark_words(stream: BinaryIO, digest: str) -> None:
    """Puts the digest at the end of the header of a file that has been written; standard output cannot go back."""
    if stream.seekable():
        comment = _MARK + digest.encode()
        stream.seek(_HEADER_BYTES - len(comment) - 1)
        stream.write(comment)
        stream.seek(0, io.SEEK_END)


def words_mark(head: bytes) -> str | None:
    line = head[:_HEADER_BYTES].partition(b"\n")[0]
    found = re.search(rb"}[ ]*" + _MARK + rb"([0-9a-f]{16}) *$", line) if sniff(head) else None
    return found[1].decode() if found else None


def write_rows(stream: BinaryIO, embeddings: Embeddings, options: WriteOptions) -> None:
    step = max(1, _BLOCK_VALUES // embeddings.dim)
    for first in range(0, len(embeddings), step):
        stream.write(np.ascontiguousarray(embeddings.matrix[first : first + step], "<f4").data)


def write(stream: BinaryIO, embeddings: Embeddings, options: WriteOptions) -> None:
    stream.write(header(len(embeddings), embeddings.dim))
    write_rows(stream, embeddings, options)


FORMAT = Format(
    name="npy",
    summary="a NumPy array of rows x dim; the words beside it in NAME.words.txt, without that file numbers from 0",
    text=False,
    loses=(
        "on standard output the words. Words that are empty or hold a space, tab, newline or NUL (--escape keeps "
        "them). Numbers of float64 are read as float32"
    ),
    sniff=sniff,
    read=read,
    check=check,
    write=write,
    stream=stream,
    header=header,
    write_rows=write_rows,
    mark_words=mark_words,
    words_mark=words_mark,
    skips=True,
    what="a NumPy array",
)
