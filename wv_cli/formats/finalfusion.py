"""finalfusion's files (.fifu), version 0: words, n-grams and vectors, as they are or quantised, in chunks.

    "FiFu", version 0, n, n identifiers of chunks; then each chunk: identifier, length in bytes (8), content
    1  words           their number (8); each: its length, its bytes
    3  with n-grams    number (8), minn, maxn, exponent of the number of buckets; words as above
    7  of fastText     the same with the number of buckets
    8  listed n-grams  number of words (8), of n-grams (8), minn, maxn; words; n-grams as words, each with its row (8)
    2  matrix          rows (8), columns, type; 1 to 4 bytes up to a multiple of 4; float32
    4  quantised       projection?, norms?, blocks, columns, centroids, rows (8), types; padding; projection
                       (columns^2), centroids of each block, norms (rows), codes (rows x blocks)
    5  metadata, 6  norms

(4 bytes each where nothing else is said, little-endian.) Sources: finalfusion.github.io/spec and, where that differs
from what is written, finalfusion-rust 0.18 and finalfusion-python 0.7, whose orders of numbers these are; the latter
gives chunk 8 a length that leaves out the rows of its n-grams, so that either length is taken.

Vectors are what finalfusion itself gives for a word: where it keeps norms apart they are of unit length. Written:
chunks 1 and 2.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from wv_cli._floattext import first_not_finite
from wv_cli.errors import BadFile, WvError, show_bytes
from wv_cli.formats.audit import RowAudit
from wv_cli.formats.base import Format, FormatWarning, ReadOptions, WriteOptions
from wv_cli.formats.header import MAX_DIM
from wv_cli.formats.report import Report
from wv_cli.formats.skipping import WAY_OUT
from wv_cli.system import memory
from wv_cli.system.input import Input
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import DenseMatrix, Matrix
from wv_cli.vectors.finalfusion import (
    FinalfusionSubwords,
    Indexer,
    QuantizedRows,
    by_fasttext_hash,
    by_hash,
    index_names,
)
from wv_cli.words import WordList, is_utf8

MAGIC = b"FiFu"
_WORDS, _MATRIX, _HASHED, _QUANTISED, _METADATA, _NORMS, _OF_FASTTEXT, _LISTED = 1, 2, 3, 4, 5, 6, 7, 8
_MOST_CHUNKS = 16
_BYTE_TYPE, _FLOAT_TYPE = 1, 10
_BLOCK_ROWS = 1 << 14


class _Reader:
    """Takes numbers from the bytes of a file, and says where they end too soon."""

    def __init__(self, name: str, data: memoryview) -> None:
        self.name, self.data, self.at = name, data, 0

    def refuse(self, problem: str, byte: int | None = None) -> NoReturn:
        raise BadFile(self.name, problem, byte=self.at if byte is None else byte)

    def take(self, size: int, what: str) -> memoryview:
        if size > len(self.data) - self.at:
            self.refuse(f"expected {size:,} bytes of {what}, found {len(self.data) - self.at:,}: the file is cut short")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, what: str, size: int = 4) -> int:
        return int.from_bytes(self.take(size, what), "little")

    def floats(self, shape: tuple[int, ...], what: str, *, finite: bool = True) -> NDArray[np.float32]:
        begin, count = self.at, int(np.prod([1, *shape], dtype=object))
        values = np.frombuffer(self.take(4 * count, what), "<f4")
        if not values.flags.aligned:
            values = values.copy()
        if finite and not np.isfinite(values).all():
            bad = int(np.flatnonzero(~np.isfinite(values))[0])
            self.refuse(f"expected finite numbers in {what}, found {values[bad]}", begin + 4 * bad)
        return values.reshape(shape)

    def pad(self) -> None:
        self.take(4 - self.at % 4, "padding")

    def texts(self, count: int, what: str, *, numbered: bool = False) -> tuple[list[bytes], list[int], list[int]]:
        """(texts, the row of each if they are `numbered`, the byte where each begins)."""
        least = 4 + 8 * numbered
        if count > (len(self.data) - self.at) // least:
            self.refuse(f"expected {count:,} {what}, found {len(self.data) - self.at:,} bytes: too few")
        texts, rows, starts = [], [], []
        for _ in range(count):
            starts.append(self.at)
            texts.append(bytes(self.take(self.number(what), what)))
            rows += [self.number(what, 8)] if numbered else []
        return texts, rows, starts


@dataclass(frozen=True, eq=False)
class _File:
    """`starts` are the bytes where the words begin; `norms`: whether there are any apart. `indexer` None: there are
    no n-grams."""

    words: WordList
    starts: list[int]
    rows: Matrix
    minn: int
    maxn: int
    indexer: Indexer | None
    norms: bool

    def embeddings(self, name: str, limit: int | None) -> Embeddings:
        """Raises WvError for more than there is memory for."""
        count = len(self.words) if limit is None else min(limit, len(self.words))
        if isinstance(self.rows, DenseMatrix):
            matrix = np.array(self.rows.values[:count])
        else:
            memory.require(4 * count * self.rows.shape[1], f"{name}: {count:,} vectors", "read fewer with --limit")
            blocks = (np.arange(first, min(first + _BLOCK_ROWS, count)) for first in range(0, count, _BLOCK_ROWS))
            matrix = np.concatenate([np.empty((0, self.rows.shape[1]), np.float32), *map(self.rows.take, blocks)])
        subwords = None
        if self.indexer is not None:
            subwords = FinalfusionSubwords(self.words, self.minn, self.maxn, self.indexer, self.rows)
        words = self.words if count == len(self.words) else self.words[:count]
        return Embeddings(words, matrix, subwords)


def sniff(head: bytes) -> bool:
    return head.startswith(MAGIC)


def _parsed(source: Input, *, finite: bool = True) -> _File:
    """`finite`: numbers of words are looked at, too, not only those of n-grams. Raises BadFile."""
    reader = _Reader(source.name, source.contents())
    if bytes(reader.take(4, "the header")) != MAGIC:
        reader.refuse(f"expected a finalfusion file, found {show_bytes(bytes(reader.data[:4]))}", 0)
    if (version := reader.number("the version")) != 0:
        reader.refuse(f"expected version 0, found {version}", 4)
    chunks = reader.number("the number of chunks")
    if not 1 <= chunks <= _MOST_CHUNKS:
        reader.refuse(f"expected 1 to {_MOST_CHUNKS} chunks, found {chunks}", 8)
    reader.take(4 * chunks, "the identifiers of chunks")
    vocabulary: tuple[WordList, list[int], int, int, Indexer | None, int] | None = None
    rows: Matrix | None = None
    norms = False
    while reader.at < len(reader.data):
        begin, kind, length = reader.at, reader.number("a chunk"), reader.number("a chunk", 8)
        content = reader.at
        expected = [length]
        if kind in (_WORDS, _HASHED, _OF_FASTTEXT, _LISTED) and vocabulary is None:
            vocabulary, unsaid = _vocabulary(reader, kind)
            expected.append(length + unsaid)
        elif kind in (_MATRIX, _QUANTISED) and rows is None:
            rows = _matrix(reader, finite=finite) if kind == _MATRIX else _quantised(reader)
        elif kind in (_METADATA, _NORMS):
            reader.take(length, "a chunk")
            norms = norms or kind == _NORMS
        else:
            reader.refuse(f"expected words and a matrix, once each, found a chunk of kind {kind}", begin)
        if reader.at - content not in expected:
            reader.refuse(f"expected a chunk of {length:,} bytes, found {reader.at - content:,}", begin)
    if vocabulary is None or rows is None:
        reader.refuse("expected words and a matrix of their vectors, found the end of the file")
    words, starts, minn, maxn, indexer, behind = vocabulary
    if rows.shape[0] != len(words) + behind:
        problem = f"expected {len(words) + behind:,} rows for {len(words):,} words and {behind:,} of n-grams"
        reader.refuse(f"{problem}, found {rows.shape[0]:,}", 0)
    if not finite and isinstance(rows, DenseMatrix) and not np.isfinite(rows.values[len(words) :]).all():
        reader.refuse("expected finite numbers in the matrix, found others in the rows of n-grams", 0)
    return _File(words, starts, rows, minn, maxn, indexer, norms)


def _vocabulary(reader: _Reader, kind: int) -> tuple[tuple[WordList, list[int], int, int, Indexer | None, int], int]:
    """((words, where each begins, minn, maxn, what finds n-grams, how many rows these have), bytes of the chunk that
    its length may leave out)."""
    count = reader.number("words", 8)
    ngrams = reader.number("n-grams", 8) if kind == _LISTED else 0
    minn, maxn, indexer, behind, begin = 0, 0, None, 0, reader.at
    if kind != _WORDS:
        minn, maxn = reader.number("minn"), reader.number("maxn")
        if not 1 <= minn <= maxn:
            reader.refuse(f"expected n-grams of 1 or more characters, found {minn} to {maxn}", begin)
    if kind in (_HASHED, _OF_FASTTEXT):
        value, most = reader.number("buckets"), 40 if kind == _HASHED else (1 << 32) - 1
        if not 1 <= value <= most:
            reader.refuse(f"expected a number of buckets from 1 to {most:,}, found {value:,}", begin + 8)
        behind = 1 << value if kind == _HASHED else value
        indexer = by_hash(value) if kind == _HASHED else by_fasttext_hash(value)
    texts, _, starts = reader.texts(count, "words")
    words = WordList.of(texts)
    if kind == _LISTED:
        keys, rows, places = reader.texts(ngrams, "n-grams", numbered=True)
        for row, place in zip(rows, places, strict=True):
            if row >= ngrams:
                reader.refuse(f"expected rows from 0 to {ngrams - 1:,}, found an n-gram with {row:,}", place)
        behind = max(rows, default=-1) + 1
        indexer = index_names(
            {key.decode("utf-8", "surrogateescape"): row for key, row in zip(keys, rows, strict=True)}
        )
    return (words, starts, minn, maxn, indexer, behind), 8 * ngrams


def _matrix(reader: _Reader, *, finite: bool) -> Matrix:
    begin = reader.at
    rows, dim, kind = reader.number("rows", 8), reader.number("columns"), reader.number("the type")
    if kind != _FLOAT_TYPE or not 1 <= dim <= MAX_DIM:
        reader.refuse(
            f"expected float32 (type {_FLOAT_TYPE}) in 1 to {MAX_DIM} columns, found type {kind}, {dim}", begin
        )
    reader.pad()
    return DenseMatrix(reader.floats((rows, dim), "the matrix", finite=finite))


def _quantised(reader: _Reader) -> Matrix:
    begin = reader.at
    projected, scaled = reader.number("the projection"), reader.number("the norms")
    blocks, dim, centroids = (reader.number(what) for what in ("blocks", "columns", "centroids"))
    rows, codes_type, kind = reader.number("rows", 8), reader.number("the types"), reader.number("the types")
    sane = projected in (0, 1) and scaled in (0, 1) and 1 <= blocks <= dim <= MAX_DIM and dim % blocks == 0
    if not sane or not 1 <= centroids <= 256 or (codes_type, kind) != (_BYTE_TYPE, _FLOAT_TYPE):
        found = f"{blocks} blocks of {dim} columns, {centroids} centroids, types {codes_type} and {kind}"
        reader.refuse(f"expected codes of a byte (type 1) for blocks of float32 (type 10), found {found}", begin)
    reader.pad()
    projection = reader.floats((dim, dim), "the projection") if projected else None
    quantizers = reader.floats((blocks, centroids, dim // blocks), "the centroids")
    norms = reader.floats((rows,), "the norms") if scaled else None
    largest = _largest(quantizers) * (1 if norms is None else _largest(norms))
    largest *= 1 if projection is None else dim * _largest(projection)
    if largest > float(np.finfo(np.float32).max):
        problem = f"expected centroids, projection and norms whose product is a float32, found up to {largest:.3g}"
        reader.refuse(problem, begin)
    place = reader.at
    codes = np.frombuffer(reader.take(rows * blocks, "the codes"), np.uint8).reshape(rows, blocks)
    if rows and codes.max() >= centroids:
        bad = int(np.flatnonzero(codes.reshape(-1) >= centroids)[0])
        reader.refuse(f"expected codes below {centroids}, found {codes.reshape(-1)[bad]}", place + bad)
    return QuantizedRows(codes, quantizers, projection, norms)


def _largest(values: NDArray[np.float32]) -> float:
    return float(np.abs(values).max(initial=0))


def read(source: Input, options: ReadOptions) -> Embeddings:
    file = _parsed(source, finite=options.limit is None and options.bad_rows == "error")
    if file.norms:
        message = f"{source.name}: its vectors are of unit length; the lengths that it keeps apart are left out"
        warnings.warn(message, FormatWarning, stacklevel=2)
    result = file.embeddings(source.name, options.limit)
    if options.bad_rows == "error" and (bad := first_not_finite(result.matrix)) is not None:
        problem = f"row {bad[0] + 1}: expected finite numbers, found {result.matrix[bad]}{WAY_OUT}"
        raise BadFile(source.name, problem)
    return result


def check(source: Input, report: Report) -> None:
    file = _parsed(source)
    vectors = file.embeddings(source.name, None)
    report.rows, report.dim, report.promised_rows = len(vectors), vectors.dim, len(vectors)
    audit = RowAudit(report, "byte")
    audit.add(file.words.blob, np.diff(file.words.starts), vectors.matrix, file.starts.__getitem__)


def require_words(words: WordList, name: str) -> None:
    """Raises WvError for a word that is not UTF-8 or stands twice, which finalfusion refuses."""
    for row, problem in refused_words(words):
        message = f"{name}: row {row + 1}: {problem}, which finalfusion cannot keep{WAY_OUT}"
        raise WvError(message)


def refused_words(words: WordList) -> Iterator[tuple[int, str]]:
    """(row, problem) of each word that finalfusion refuses."""
    seen: set[bytes] = set()
    for row in range(len(words)):
        word = words.bytes_at(row)
        problem = "stands in an earlier row, too" if word in seen else "" if is_utf8(word) else "is not UTF-8"
        if problem:
            yield row, f"the word {show_bytes(word)} {problem}"
        seen.add(word)


def write(stream: BinaryIO, embeddings: Embeddings, options: WriteOptions) -> None:
    words = [embeddings.words.bytes_at(row) for row in range(len(embeddings))]
    table = b"".join(len(word).to_bytes(4, "little") + word for word in words)
    header = MAGIC + _packed((0, 4), (2, 4), (_WORDS, 4), (_MATRIX, 4))
    header += _packed((_WORDS, 4), (8 + len(table), 8), (len(words), 8)) + table
    padding = 4 - (len(header) + 4 + 8 + 16) % 4
    stream.write(header + _packed((_MATRIX, 4), (16 + padding + 4 * len(words) * embeddings.dim, 8)))
    stream.write(_packed((len(words), 8), (embeddings.dim, 4), (_FLOAT_TYPE, 4)) + bytes(padding))
    for first, last in pairwise([*range(0, len(words), _BLOCK_ROWS), len(words)]):
        stream.write(np.ascontiguousarray(embeddings.matrix[first:last], "<f4").data)


def _packed(*numbers: tuple[int, int]) -> bytes:
    """Numbers of so many bytes each."""
    return b"".join(value.to_bytes(size, "little") for value, size in numbers)


FORMAT = Format(
    name="finalfusion",
    what="a finalfusion file",
    summary="finalfusion's chunks; read with n-grams, quantised or not; written as words and a matrix",
    suffixes=(".fifu",),
    text=False,
    loses=(
        "read: metadata, and the lengths of vectors where they are kept apart. Written: n-grams; words that are not "
        "UTF-8 or stand twice. Words that are empty or hold a space, tab, newline or NUL (--escape keeps them)"
    ),
    sniff=sniff,
    read=read,
    check=check,
    write=write,
    require_words=require_words,
    refused_words=refused_words,
    skips=True,
)
