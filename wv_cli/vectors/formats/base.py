"""What a file format is to the rest of the program: one row of the table FORMATS (wv_cli.vectors.heads)."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import FormatWarning, UsageError
from wv_cli.io.compression import COMPRESSIONS, inner_name
from wv_cli.io.input import Input
from wv_cli.io.places import is_stream
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.file_options import WORD2VEC_PRECISION, BadRowsName, Precision
from wv_cli.vectors.formats.report import Report
from wv_cli.vectors.heads import SUFFIXES, WORDS_ENDINGS

FASTTEXT_PRECISION = -5


@dataclass(frozen=True)
class ReadOptions:
    """`limit`: read only the first rows (None: all). `threads`: how many parse at once. `mapped`: numbers may stay in
    the mapped file and be checked when they are used, for who uses them once or few of them. `bad_rows`: those that
    cannot be read raise BadFile, or are left out with a FormatWarning."""

    limit: int | None = None
    threads: int = 1
    mapped: bool = False
    bad_rows: BadRowsName = "error"


class WriteOptions(NamedTuple):
    """`precision` concerns the text formats only."""

    precision: Precision = WORD2VEC_PRECISION
    threads: int = 1


class Stream(NamedTuple):
    """A file read a block at a time: `rows` of `dim` numbers in all, as its header and the limit tell; None where
    they do not, or not for certain."""

    rows: int | None
    dim: int
    blocks: Iterator[Embeddings]


class Format(NamedTuple):
    """`sniff` looks at a file's first bytes (up to formats.SNIFF_BYTES). `loses` says what the format cannot keep, for
    the guides. `text` formats go to a terminal and take a precision. `read` raises BadFile with the line or the byte;
    `check` reports all it finds instead. A format without `write` is only read, one without `read` is only written.

    Files larger than memory: `stream` is a `read` in blocks; `header(rows, dim)` and then `write_rows` for each block
    write what `write` writes at once. In formats of WORDS_ENDINGS a second file takes the words, one a line, its name
    made by words_path. `mark_words` puts the digest of that file into a written one, so that
    `words_mark`, given the first bytes, can tell which words belong to it; None: it does not say.

    `skips`: bad rows can be left out, by `stream` and, in a format without one or with `words_ending`, by `read`, which
    then gives rows that are not finite.

    `what` a file of it is, where that is not vectors. `certain` is for formats that are text: sniff among vector files
    may guess, where running text is expected it must be beyond doubt. `utf8`: words must be UTF-8. `package` is what
    writing needs."""

    name: str
    summary: str
    text: bool
    loses: str
    sniff: Callable[[bytes], bool]
    read: Callable[[Input, ReadOptions], Embeddings] | None
    check: Callable[[Input, Report], None] | None
    write: Callable[[BinaryIO, Embeddings, WriteOptions], None] | None = None
    stream: Callable[[Input, ReadOptions], Stream] | None = None
    header: Callable[[int, int], bytes] | None = None
    write_rows: Callable[[BinaryIO, Embeddings, WriteOptions], None] | None = None
    mark_words: Callable[[BinaryIO, str], None] | None = None
    words_mark: Callable[[bytes], str | None] | None = None
    skips: bool = False
    what: str = ""
    certain: Callable[[bytes], bool] | None = None
    utf8: bool = False
    package: str = ""

    @property
    def suffixes(self) -> tuple[str, ...]:
        return SUFFIXES.get(self.name, ())

    @property
    def words_ending(self) -> str:
        return WORDS_ENDINGS.get(self.name, "")

    @property
    def holds(self) -> str:
        """What a file of this format is, for messages."""
        return self.what or f"{self.name} vectors"

    def what_is(self, head: bytes) -> str | None:
        """The same of a file that begins with `head`, None when it is not of this format."""
        return self.holds if self.sniff(head) else None

    def what_is_certainly(self, head: bytes) -> str | None:
        """The same beyond doubt: a file that begins with `head` cannot be running text."""
        return self.holds if (self.certain or self.sniff)(head) else None

    def require_precision(self, precision: Precision) -> None:
        """Raises UsageError for decimals asked of a format whose numbers are raw, and so exact."""
        if not self.text and precision != "exact":
            message = f"--precision has no effect on {self.name}, whose raw float32 keeps every bit; leave it out"
            raise UsageError(message)

    def words_path(self, path: str) -> str | None:
        """Where the words of `path` are when they are not in it, None when they are, or `path` is a stream or a
        device."""
        if not self.words_ending or is_stream(path):
            return None
        name = inner_name(path)
        stem = next((name.removesuffix(suffix) for suffix in self.suffixes if name.endswith(suffix)), path)
        return stem + self.words_ending

    def stands_beside(self, path: str) -> bool:
        """Whether `path` is the second file of one of this format that is there."""
        stem = path.removesuffix(self.words_ending)
        return stem != path and any(
            Path(stem + suffix + packed).is_file() for suffix in self.suffixes for packed in ("", *COMPRESSIONS)
        )


def count_lost_rows(matrix: NDArray[np.float32], row: Format, precision: Precision) -> int:
    """Rows that are not zero, but are written as zeros in the decimals of a text."""
    if not row.text or precision == "exact":
        return 0
    largest = np.maximum(matrix.max(axis=1), -matrix.min(axis=1))
    return int(np.count_nonzero((largest > 0) & (largest < 0.5 * 0.1**precision)))


def warn_of_lost_rows(name: str, lost: int) -> None:
    if lost:
        rows = "the numbers of 1 row are" if lost == 1 else f"the numbers of {lost:,} rows are"
        message = f"{name}: {rows} too small for the decimals and became zeros; choose the precision exact"
        warnings.warn(message, FormatWarning, stacklevel=3)
