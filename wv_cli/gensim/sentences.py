"""gensim's LineSentence and PathLineSentences: the sentences of files, one a line, as lists of tokens."""

from collections.abc import Iterator
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import IO

from wv_cli.errors import UsageError
from wv_cli.text.source import Source
from wv_cli.words import decode, split_words

_LONGEST = 10_000


class LineSentence:
    """The lines of a text file, plain or compressed; each is a list of words, cut after `max_sentence_length`. `limit`
    reads only the first lines. `source` is a path or an open binary file, and can be iterated again and again. Raises
    WvError while it is iterated."""

    def __init__(
        self, source: str | PathLike[str] | IO[bytes], max_sentence_length: int = _LONGEST, limit: int | None = None
    ) -> None:
        self.source = fspath(source) if isinstance(source, str | PathLike) else source
        self.max_sentence_length, self.limit = max_sentence_length, limit

    def __iter__(self) -> Iterator[list[str]]:
        for line in islice(self._lines(), self.limit):
            words = split_words(decode(line.rstrip(b"\n")))
            for first in range(0, len(words), self.max_sentence_length):
                yield words[first : first + self.max_sentence_length]

    def _lines(self) -> Iterator[bytes]:
        if isinstance(self.source, str):
            return _lines(self._paths(self.source))
        self.source.seek(0)
        return iter(self.source)

    def _paths(self, source: str) -> list[str]:
        return [source]


class PathLineSentences(LineSentence):
    """The same of the files in a folder, in the order of their names, or of one file."""

    def _paths(self, source: str) -> list[str]:
        path = Path(source)
        if not path.is_dir():
            return [source]
        found = sorted(str(each) for each in path.iterdir() if each.is_file())
        if not found:
            message = f"{source}: no files in this folder"
            raise UsageError(message)
        return found


def _lines(paths: list[str]) -> Iterator[bytes]:
    carry = b""
    for chunk in Source(paths):
        *whole, carry = (carry + chunk).split(b"\n")
        yield from whole
    if carry:
        yield carry
