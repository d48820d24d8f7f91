"""gensim's LineSentence and PathLineSentences: the sentences of files, one a line, as lists of tokens."""

from collections.abc import Iterator
from itertools import islice
from os import PathLike, fspath
from pathlib import Path

from wv_cli.errors import UsageError
from wv_cli.text.source import Source
from wv_cli.words import decode, split_words

_LONGEST = 10_000


class LineSentence:
    """The lines of a text file, plain or compressed; each is a list of words, cut after `max_sentence_length`. `limit`
    reads only the first lines. It can be iterated again and again. Raises WvError while it is iterated."""

    def __init__(
        self, source: str | PathLike[str], max_sentence_length: int = _LONGEST, limit: int | None = None
    ) -> None:
        self.source, self.max_sentence_length, self.limit = fspath(source), max_sentence_length, limit

    def __iter__(self) -> Iterator[list[str]]:
        return _sentences(self._paths(), self.max_sentence_length, self.limit)

    def _paths(self) -> list[str]:
        return [self.source]


class PathLineSentences(LineSentence):
    """The same of the files in a folder, in the order of their names, or of one file."""

    def _paths(self) -> list[str]:
        path = Path(self.source)
        if not path.is_dir():
            return [self.source]
        found = sorted(str(each) for each in path.iterdir() if each.is_file())
        if not found:
            message = f"{self.source}: no files in this folder"
            raise UsageError(message)
        return found


def _sentences(paths: list[str], longest: int, limit: int | None) -> Iterator[list[str]]:
    for line in islice(_lines(paths), limit):
        words = split_words(decode(line))
        for first in range(0, len(words), longest):
            yield words[first : first + longest]


def _lines(paths: list[str]) -> Iterator[bytes]:
    carry = b""
    for chunk in Source(paths):
        *whole, carry = (carry + chunk).split(b"\n")
        yield from whole
    if carry:
        yield carry
