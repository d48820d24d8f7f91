"""The second file of formats that hold numbers only: the words, one a line, in the order of the rows.

Format.words_path says where it is. A format that is read has default words, the row numbers 0, 1, 2, ...: they
need no file, unless there is one of former words, which would then be wrong.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from wv_cli.errors import BadFile, WvError
from wv_cli.formats.base import Format
from wv_cli.system.output import open_output, reason
from wv_cli.words import WordList


def read_words(row: Format, path: str | os.PathLike[str], rows: int, *, whole: bool) -> WordList | None:
    """The first `rows` words beside `path`, None when the format keeps its words itself or there is no such file.
    `whole`: there must not be more of them. Raises BadFile when there are too few or too many."""
    name = row.words_path(os.fspath(path))
    if name is None or not Path(name).is_file():
        return None
    try:
        lines = Path(name).read_bytes().split(b"\n")
    except OSError as error:
        message = f"{name}: cannot read: {reason(error)}"
        raise WvError(message) from error
    if lines[-1] == b"":
        lines.pop()
    if len(lines) < rows or (whole and len(lines) > rows):
        problem = (
            f"expected a word a line for the {rows} rows of {path}, found {len(lines)} lines; remove or correct it"
        )
        raise BadFile(name, problem, line=min(len(lines), rows) + 1)
    return WordList.of(lines[:rows])


class Words:
    """The words of an output, collected until all are there."""

    def __init__(self) -> None:
        self.parts: list[WordList] = []

    def add(self, words: WordList) -> None:
        self.parts.append(words)

    def text(self) -> bytes:
        return b"".join(b"".join(words.bytes_at(i) + b"\n" for i in range(len(words))) for words in self.parts)


@contextlib.contextmanager
def open_beside(row: Format, path: str | os.PathLike[str]) -> Iterator[Words]:
    """Takes the words of an output and, when the block ends without an exception, writes them beside it if they belong
    there."""
    words = Words()
    yield words
    name = row.words_path(os.fspath(path))
    if name is None:
        return
    text = words.text()
    if row.read is not None and not Path(name).exists():
        rows = sum(len(part) for part in words.parts)
        if text == "".join(f"{i}\n" for i in range(rows)).encode():
            return
    with open_output(name) as stream:
        stream.write(text)
