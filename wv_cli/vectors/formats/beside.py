"""The second file of formats that hold numbers only: the words, one a line, in the order of the rows.

Format.words_path says where it is. A format that is read has default words, the row numbers 0, 1, 2, ...: they
need no file, unless there is one of former words, which would then be wrong. Where the format can keep it, the file of
numbers holds a digest of the file of words, so that a pair of which one half was replaced is refused.
"""

import contextlib
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from wv_cli.errors import BadFile, FormatWarning, cannot_read
from wv_cli.io.folders import find_folder, static_root
from wv_cli.io.input import Input
from wv_cli.io.marks import split_lines
from wv_cli.io.output import open_output
from wv_cli.io.remote import is_remote
from wv_cli.vectors.formats.base import Format
from wv_cli.words import WordList

MODEL = "model.safetensors"  # the vectors in the folder of a static embedding
SETTINGS = (
    "tokenizer.json",
    "config.json",
    "modules.json",
    "config_sentence_transformers.json",
)  # the other files there
VOCABULARY = ("vectors", "key2row", "strings.json", "vectors.cfg")  # the files of a vocabulary for spaCy
_DIGEST_BYTES = 8
HEAD_BYTES = 256  # of a file: where words_mark finds the digest


def digest(text: bytes) -> str:
    """Of a file of words: 64 bits, 16 hexadecimal digits."""
    import hashlib

    return hashlib.blake2b(text, digest_size=_DIGEST_BYTES).hexdigest()


def mark_of(row: Format, source: Input) -> str | None:
    """The digest of the words that belong to an open file, of which nothing has been read; None when it has none."""
    return row.words_mark(source.peek(HEAD_BYTES)) if row.words_mark else None


def read_words(
    row: Format, path: str | os.PathLike[str], rows: int, *, whole: bool, mark: str | None = None
) -> WordList | None:
    """The first `rows` words beside `path`, None when the format keeps its words itself or there is no such file, which
    is worth a FormatWarning when `path` has the `mark` of one. `whole`: there must not be more of them. Raises BadFile
    when there are too few or too many, or others than those of the mark."""
    name = row.words_path(os.fspath(path))
    if name is None:
        return None
    if not Path(name).is_file():
        if mark is not None:
            message = f"{path}: its words were in {name}, which is not there; the rows are called 0, 1, 2, ..."
            warnings.warn(message, FormatWarning, stacklevel=2)
        return None
    try:
        text = Path(name).read_bytes()
    except OSError as error:
        raise cannot_read(name, error) from error
    # Words of ours may end with a carriage return; an editor of Windows puts one behind every word.
    as_written = mark is not None and digest(text) == mark
    lines = text.split(b"\n")[:-1] if as_written else split_lines(text)
    if len(lines) < rows or (whole and len(lines) > rows):
        problem = (
            f"expected a word a line for the {rows} rows of {path}, found {len(lines)} lines; remove or correct it"
        )
        raise BadFile(name, problem, line=min(len(lines), rows) + 1)
    if mark is not None and not as_written and digest(b"".join(line + b"\n" for line in lines)) != mark:
        problem = f"the words are not those {path} was written with; write both again or remove {name}"
        raise BadFile(name, problem)
    return WordList.from_words(lines[:rows])


class Words:
    """The words of an output, collected until all are there."""

    def __init__(self) -> None:
        self.parts: list[WordList] = []

    def add(self, words: WordList) -> None:
        self.parts.append(words)

    def text(self) -> bytes:
        return b"".join(b"".join(words.bytes_at(i) + b"\n" for i in range(len(words))) for words in self.parts)


@contextlib.contextmanager
def open_beside(row: Format, path: str | os.PathLike[str], numbers: BinaryIO) -> Iterator[Words]:
    """Takes the words of an output and, when the block ends without an exception, writes them beside it if they belong
    there, and their mark into `numbers`, the output, which is still open. For use in output.commit_together()."""
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
    if row.mark_words is not None:
        row.mark_words(numbers, digest(text))
    with open_output(name) as stream:
        stream.write(text)


def find_vectors(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """The file of vectors of a static embedding, given by its folder or by its name in the local hub cache; `path`
    itself where it is neither. Of what is on another machine a copy is made. Raises BadFile, WvError."""
    if is_remote(path):
        from wv_cli.io.remote_copies import local_copy

        path = local_copy(os.fspath(path))
    folder = find_folder(path)
    if not folder.is_dir():
        return path
    model = (static_root(folder) or folder) / MODEL
    return model if model.is_file() else folder


def static_folder(path: str | os.PathLike[str]) -> Path | None:
    """The folder of a static embedding with a tokenizer, given as for find_vectors; None for anything else. Raises
    BadFile, WvError."""
    folder = find_folder(path)
    root = (static_root(folder) or folder) if folder.is_dir() else folder
    return folder if (root / MODEL).is_file() and (root / "tokenizer.json").is_file() else None
