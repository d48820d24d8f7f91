"""gensim's readers of text: the sentences of files, as lists of tokens."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from os import PathLike, fspath
from pathlib import Path
from typing import IO

from wv_cli._text import check_utf8
from wv_cli.errors import BadFile, UsageError
from wv_cli.text.sentences import spool_sentences
from wv_cli.text.source import Source

_LONGEST = 10_000


class LineSentence:
    """The lines of a text file, plain or compressed; each is a list of words, cut after `max_sentence_length`. `limit`
    reads only the first lines. `source` is a path or an open binary file, and can be iterated again and again. Words
    are divided at Unicode's white space, as by gensim. Raises WvError while it is iterated."""

    def __init__(
        self, source: str | PathLike[str] | IO[bytes], max_sentence_length: int = _LONGEST, limit: int | None = None
    ) -> None:
        self.source = fspath(source) if isinstance(source, str | PathLike) else source
        self.max_sentence_length, self.limit = max_sentence_length, limit

    def __iter__(self) -> Iterator[list[str]]:
        for line in islice(self.lines(), self.limit):
            words = line.split()
            for first in range(0, len(words), self.max_sentence_length):
                yield words[first : first + self.max_sentence_length]

    def lines(self) -> Iterator[str]:
        """The lines, empty ones too."""
        if isinstance(self.source, str):
            return chain.from_iterable(map(_lines, self._paths(self.source)))
        self.source.seek(0)
        return _decode(self.source, str(getattr(self.source, "name", "source")))

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


class Text8Corpus:
    """The words of a text, whatever its lines, in lists of `max_sentence_length`. Raises WvError while it is
    iterated."""

    def __init__(self, fname: str | PathLike[str], max_sentence_length: int = _LONGEST) -> None:
        self.fname, self.max_sentence_length = fspath(fname), max_sentence_length

    def __iter__(self) -> Iterator[list[str]]:
        words = chain.from_iterable(LineSentence(self.fname))
        while part := list(islice(words, self.max_sentence_length)):
            yield part


def _lines(path: str) -> Iterator[str]:
    return _decode(_byte_lines(path), path)


def _byte_lines(path: str) -> Iterator[bytes]:
    carry = b""
    for chunk in Source([path]):
        *whole, carry = (carry + chunk).split(b"\n")
        yield from whole
    if carry:
        yield carry


def _decode(lines: Iterable[bytes], name: str) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            problem = f"expected UTF-8 text, found the byte 0x{line[error.start]:02x}; convert it with iconv"
            raise BadFile(name, problem, line=number) from None


# What gensim's str.split() divides words at and C does not, and NUL, which it takes for a letter.
_CONTROLS = [b"\0", b"\x1c", b"\x1d", b"\x1e", b"\x1f"]
_SPACES = [character.encode() for character in "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"]
_THIN_SPACES = re.compile(b"\xe2\x80[\x80-\x8a]")


@contextmanager
def divided_file(corpus_file: str | PathLike[str]) -> Iterator[str]:
    """The path of a file with the lines of `corpus_file`, whose words are divided as gensim divides them: `corpus_file`
    itself where that is so. Raises BadFile for a NUL and for bytes that are no UTF-8, WvError."""
    path = fspath(corpus_file)
    if not any(map(_is_special, _overlap(Source([path])))):
        yield path
        return
    with spool_sentences(_divide(path), may_be_empty=True) as made:
        yield made


def _divide(path: str) -> Iterator[list[str]]:
    for number, line in enumerate(_lines(path), 1):
        if "\0" in line:
            problem = "expected words without NUL, found one in a word, which gensim keeps; remove it: tr -d '\\0'"
            raise BadFile(path, problem, line=number)
        yield line.split()


def _overlap(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The chunks, each behind the last bytes of the one before, which may begin a character."""
    before = b""
    for chunk in chunks:
        yield before + chunk
        before = chunk[-3:]


def _is_special(chunk: bytes) -> bool:
    """Whether a chunk of a text has what C and gensim divide otherwise, or what is no UTF-8."""
    if any(byte in chunk for byte in _CONTROLS):
        return True
    if chunk.isascii():
        return False
    # The first bytes may be the end of a character.
    start = next((at for at, byte in enumerate(chunk[:3]) if byte & 0xC0 != 0x80), 3)
    is_damaged = check_utf8(memoryview(chunk)[start:])[0] > 0
    return is_damaged or any(space in chunk for space in _SPACES) or _THIN_SPACES.search(chunk) is not None
