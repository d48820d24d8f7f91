"""What a file format is to the rest of the program: one frozen row of the table in wv_cli/formats/__init__.py."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, Literal

from wv_cli.embeddings import Embeddings
from wv_cli.formats.input import Input
from wv_cli.formats.report import Report

# Decimals of every number (1 .. 9), or the shortest text that reads back to the same float32.
Precision = int | Literal["exact"]
WORD2VEC_PRECISION = 6


class FormatWarning(UserWarning):
    """A file was read whole, but something about it deserves the user's eye. Commands show it as a note."""


@dataclass(frozen=True)
class ReadOptions:
    """`limit`: read only the first rows (None: all). `threads`: how many parse at once."""

    limit: int | None = None
    threads: int = 1


@dataclass(frozen=True)
class WriteOptions:
    """`precision` concerns the text formats only."""

    precision: Precision = WORD2VEC_PRECISION
    threads: int = 1


@dataclass(frozen=True)
class Format:
    """`sniff` looks at a file's first bytes (up to formats.SNIFF_BYTES). `suffixes` choose the format of a file to be
    written. `loses` says what the format cannot keep, for help texts and the README. `text` formats go to a terminal
    and take a precision. `read` raises BadFile with a place; `check` reports all it finds instead. A format without
    `write` is only read."""

    name: str
    summary: str
    suffixes: tuple[str, ...]
    text: bool
    loses: str
    sniff: Callable[[bytes], bool]
    read: Callable[[Input, ReadOptions], Embeddings]
    check: Callable[[Input, Report], None]
    write: Callable[[BinaryIO, Embeddings, WriteOptions], None] | None = None
