"""WordList: an immutable sequence of words in one block of bytes.

Words are bytes in the files; in Python they are str decoded as UTF-8 with `surrogateescape`, so invalid UTF-8 survives
a round trip unchanged. Two million words as Python objects would cost 150 MB and a second; as one blob they cost what
they are long, and the kernels and file formats read and write the blob directly.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from wv_cli._text import SEPARATORS, WordMap, gather

# What separates the words of a line. A newline ends it and is left alone: a typed word may hold one.
LINE_SEPARATORS = SEPARATORS.replace(b"\n", b"").decode()
_SCANS = 8  # words that are looked for one by one, each in a thirtieth of the time that a look-up table takes
_LETTERS = 64  # compared one by one over all words; few words share as many
_WORD = re.compile(f"[^{re.escape(LINE_SEPARATORS)}]+")
_NO_BYTES = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # surrogates but those of surrogateescape
_AT_ONCE = 1 << 16  # words encoded at once


def encode(word: str) -> bytes:
    """The bytes of a word or a text. Lone surrogates that stand for no byte become U+FFFD, as those of JSON do."""
    try:
        return word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return _NO_BYTES.sub("\ufffd", word).encode("utf-8", "surrogateescape")


def decode(word: bytes | bytearray) -> str:
    return word.decode("utf-8", "surrogateescape")


def split_words(line: str) -> list[str]:
    """The words of a line, separated as the tokenizer separates those of a text: not, as by str.split(), at a no-break
    space, which is part of a word."""
    return _WORD.findall(line)


def each_word(line: str) -> Iterator[str]:
    """split_words, one at a time: a line of megabytes does not become millions of words in memory."""
    return (match.group() for match in _WORD.finditer(line))


class WordList(Sequence[str]):
    """`blob` holds the words end to end; word i is blob[starts[i]:starts[i + 1]] (starts: int64, n + 1 entries)."""

    def __init__(self, blob: bytes, starts: NDArray[np.int64]) -> None:
        self.blob = blob
        self.starts = starts
        self._index: tuple[WordMap, NDArray[np.int64]] | dict[bytes, int] | None = None
        self._scanned = 0

    def __reduce__(self) -> tuple[type["WordList"], tuple[bytes, NDArray[np.int64]]]:
        return WordList, (self.blob, self.starts)

    @classmethod
    def from_words(cls, words: Iterable[str | bytes]) -> "WordList":
        each, parts, lengths = iter(words), [], [np.zeros(1, np.int64)]
        while block := [encode(word) if isinstance(word, str) else word for word in islice(each, _AT_ONCE)]:
            parts.append(b"".join(block))
            lengths.append(np.array([len(word) for word in block], np.int64))
        return cls(b"".join(parts), np.cumsum(np.concatenate(lengths)))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """Of memory, without what finds a word."""
        return len(self.blob) + self.starts.nbytes

    def bytes_at(self, index: int) -> bytes:
        return self.blob[self.starts[index] : self.starts[index + 1]]

    def __iter__(self) -> Iterator[str]:
        starts = self.starts.tolist()
        return (decode(self.blob[start:end]) for start, end in pairwise(starts))

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> "WordList": ...
    def __getitem__(self, index: int | slice) -> "str | WordList":
        if isinstance(index, slice):
            first, last, step = index.indices(len(self))
            if step != 1:
                return self.take(np.arange(first, last, step))
            starts = self.starts[first : max(first, last) + 1]
            return WordList(self.blob[starts[0] : starts[-1]], starts - starts[0])
        if not -len(self) <= index < len(self):
            message = f"word index {index} out of range for {len(self)} words"
            raise IndexError(message)
        return decode(self.bytes_at(index % len(self)))

    def take(self, indices: NDArray[np.integer]) -> "WordList":
        """The words with these indices, in this order. Raises IndexError."""
        return WordList(*gather(self.blob, self.starts, np.ascontiguousarray(indices, np.int64)))

    def find(self, word: str | bytes) -> int:
        """Index of `word`, -1 when absent; of a word listed twice the first. The look-up table is made when the
        first few words have been looked for without one."""
        text = encode(word) if isinstance(word, str) else word
        return int(self.find_all(WordList(text, np.array([0, len(text)], np.int64)))[0])

    def find_all(self, words: "WordList") -> NDArray[np.int64]:
        """find() for every word of a list."""
        index = self._index
        if index is None:
            self._scanned += len(words)
            if self._scanned <= _SCANS:
                return np.array([self._scan(words.bytes_at(i)) for i in range(len(words))], np.int64)
            index = self._index = self._new_index()
        if isinstance(index, dict):
            return np.array([index.get(words.bytes_at(i), -1) for i in range(len(words))], np.int64)
        if not words._fit_a_map():
            odd = [i for i in range(len(words)) if not (word := words.bytes_at(i)) or b"\0" in word]
            result = np.full(len(words), -1, np.int64)
            plain = np.delete(np.arange(len(words)), odd)
            if len(plain):
                result[plain] = self.find_all(words.take(plain))
            return result
        ids, first = index[0].find(words.blob, words.starts), index[1]
        return np.where(ids >= 0, first[ids], -1)

    def beginning_with(self, prefix: bytes) -> NDArray[np.int64]:
        """The indices, ascending, of the words that begin with `prefix`."""
        return self._begin_with(prefix, np.flatnonzero(np.diff(self.starts) >= len(prefix)))

    def _begin_with(self, prefix: bytes, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of the rows, whose words are not shorter than `prefix`."""
        letters = np.frombuffer(self.blob, np.uint8)
        for position, byte in enumerate(prefix[:_LETTERS]):
            if not len(rows):
                break
            rows = rows[letters[self.starts[rows] + position] == byte]
        if len(prefix) > _LETTERS:  # of the few that are left, all at once
            begins = self.starts[rows].tolist()
            rows = rows[np.array([self.blob[begin : begin + len(prefix)] == prefix for begin in begins], bool)]
        return rows

    def _scan(self, word: bytes) -> int:
        """find() without a table."""
        found = self._begin_with(word, np.flatnonzero(np.diff(self.starts) == len(word)))
        return int(found[0]) if len(found) else -1

    def first_rows(self) -> NDArray[np.int64]:
        """The indices, ascending, of the words that no earlier word equals."""
        return np.flatnonzero(self.find_all(self) == np.arange(len(self)))

    def is_a_vocabulary(self) -> bool:
        """Whether every word is listed once and is one that a text can hold."""
        if not self._fit_a_map():
            return False
        found = WordMap(len(self))
        found.add(self.blob, self.starts)
        return len(found) == len(self)

    def _fit_a_map(self) -> bool:
        """A WordMap takes no empty words and no NUL; hardly any list has them."""
        return b"\0" not in self.blob and bool(np.diff(self.starts).all())

    def _new_index(self) -> tuple[WordMap, NDArray[np.int64]] | dict[bytes, int]:
        if not len(self) or not self._fit_a_map():
            indices: dict[bytes, int] = {}
            for i in range(len(self)):
                indices.setdefault(self.bytes_at(i), i)
            return indices
        words = WordMap(len(self))
        ids = words.add(self.blob, self.starts)
        first = np.empty(len(words), np.int64)
        first[ids[::-1]] = np.arange(len(self) - 1, -1, -1)
        return words, first

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.find(word) >= 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordList):
            return NotImplemented
        return self.blob == other.blob and np.array_equal(self.starts, other.starts)

    __hash__ = None  # type: ignore[assignment]


def is_utf8(word: bytes) -> bool:
    try:
        word.decode()
    except UnicodeDecodeError:
        return False
    return True


def concatenate_words(*lists: WordList) -> WordList:
    """The words of all, one list after the other."""
    ends = np.cumsum([0, *(each.starts[-1] for each in lists)])
    starts = [each.starts[1:] + end for each, end in zip(lists, ends, strict=False)]
    return WordList(b"".join(each.blob for each in lists), np.concatenate([ends[:1], *starts]))
