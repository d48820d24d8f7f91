r"""ARPA files: `\data\` with how many n-grams there are, a section for each length, `\end\`.

Read are those of KenLM, SRILM and IRSTLM: a back-off that is missing is 1 (its logarithm 0), and behind the longest
n-grams there may be one of 0; -inf is -100, the logarithm of 0; blanks may be tabs or spaces; any text before `\data\`
is a comment; <UNK> is <unk>; 1-grams that are missing among <unk>, <s> and </s> have probability 0. What cannot be
mended is refused with its line. So are IRSTLM's iARPA, whose probabilities are not summed yet, and its qARPA.
"""

import re
import warnings
from typing import BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from wv_cli import _arpa
from wv_cli.errors import BadFile, FormatWarning, show_bytes
from wv_cli.io.input import Input
from wv_cli.lm.config import LARGEST_ORDER
from wv_cli.lm.levels import Levels
from wv_cli.lm.model import LOG_ZERO, NgramModel, Ngrams, unpack_model
from wv_cli.lm.vocabulary import SPECIAL
from wv_cli.words import WordList

_BLOCK = 1 << 16  # n-grams printed at a time
IRSTLM = re.compile(rb"(iARPA|qARPA)\b.*")
_SIZE = re.compile(rb"ngram\s+(\d{1,4})\s*=\s*(\d{1,18})")
_UPPER = "<UNK>"
_PROBLEMS = {
    _arpa.STOP_NUMBER: "expected a logarithm of 99 or less",
    _arpa.STOP_POSITIVE: "expected a logarithm of a probability, 0 or less",
    _arpa.STOP_UNKNOWN_WORD: "one of its words is not among the 1-grams",
    _arpa.STOP_DUPLICATE: "the word was listed before; remove one of them",
}
Ids = NDArray[np.int32]
Floats = NDArray[np.float32]


def write(stream: BinaryIO, given: Ngrams, _: int | None) -> None:
    """Writes a model with the shortest numbers that read back to the same float32."""
    model = unpack_model(given)
    trie, words = model.trie, model.words
    if words.find(_UPPER) >= 0:
        warnings.warn(f"the word {_UPPER} will be read as <unk>, by KenLM, too", FormatWarning, stacklevel=2)
    sizes = "".join(f"ngram {length}={size}\n" for length, size in enumerate(trie.sizes, 1))
    stream.write(f"\\data\\\n{sizes}\n".encode())
    for length in range(1, trie.order + 1):
        stream.write(f"\\{length}-grams:\n".encode())
        nodes = trie.level(length)
        for begin in range(nodes.start, nodes.stop, _BLOCK):
            end = min(begin + _BLOCK, nodes.stop)
            backoff = model.backoff[begin:end] if length < trie.order else None
            part = trie.rows_of(length, slice(begin, end))
            stream.write(_arpa.format_lines(part, words.blob, words.starts, model.prob[begin:end], backoff))
            trie.shelf.let_go()
        stream.write(b"\n")
    stream.write(b"\\end\\\n")


def read(source: Input) -> NgramModel:
    """Reads a model. Raises BadFile with the line of what is wrong, warns of what was mended."""
    return _Reader(source).read()


class _Reader:
    """`line` is the number of the line that is read next, at buffer[begin:end]."""

    def __init__(self, source: Input) -> None:
        self.name = source.name
        self.line = 1
        self._blocks = source.line_blocks()
        self._buffer, self._begin, self._end = bytearray(), 0, 0
        self._infinite = 0

    def read(self) -> NgramModel:
        sizes = self._header()
        words = _arpa.Reader(SPECIAL.blob, SPECIAL.starts)
        rows, *level = self._section(words, 1, sizes)
        blob, starts, listed = words.vocabulary()
        prob, backoff = np.full(len(listed), LOG_ZERO, np.float32), np.zeros(len(listed), np.float32)
        prob[rows[:, 0]], backoff[rows[:, 0]] = level
        levels = Levels(prob, backoff)
        for length in range(2, len(sizes) + 1):
            rows, prob, backoff = self._section(words, length, sizes)
            self._require_places(*levels.add(rows, prob, backoff))
        self._end_mark()
        self._warn(listed)
        return levels.model(WordList(blob, starts), self.name)

    def _header(self) -> list[int]:
        r"""How many n-grams of each length `\data\` promises; the section of 1-grams comes next."""
        while (line := self._next_line("\\data\\, with which an ARPA file begins")) != b"\\data\\":
            if found := IRSTLM.fullmatch(line):
                what = f"found IRSTLM's {found[1].decode()}; make an ARPA of it: compile-lm --text=yes FILE OUT.arpa"
                raise BadFile(self.name, f"expected an ARPA file, {what}", line=self.line - 1)
        sizes: list[int] = []
        while True:
            line = self._line("lines `ngram 1=COUNT`")
            if not line:
                if sizes:
                    return sizes
                continue
            if sizes and line == b"\\1-grams:":
                self._unread(line)
                return sizes
            found = _SIZE.fullmatch(line)
            if found is None or int(found[1]) != len(sizes) + 1:
                self._refuse(f"expected `ngram {len(sizes) + 1}=COUNT`", line)
            if len(sizes) == LARGEST_ORDER:
                self._refuse(f"expected n-grams of up to {LARGEST_ORDER} words", line)
            sizes.append(int(found[2]))

    def _section(self, words: _arpa.Reader, length: int, sizes: list[int]) -> tuple[Ids, Floats, Floats]:
        """(rows (n, length), prob (n,), backoff (n,)) of a section, as they stand."""
        title = f"\\{length}-grams:"
        line = self._next_line(title)
        if line != title.encode():
            self._refuse(f"expected {title}, the section of n-grams of this length", line)
        first = self.line
        parts: list[tuple[Ids, Floats, Floats]] = [self._empty(0, length)]
        left, stop = sizes[length - 1], _arpa.STOP_ALL
        while stop == _arpa.STOP_ALL and self._more():
            # A line of them has at least two bytes a word.
            part = self._empty(min(left, (self._end - self._begin) // (2 * length)) + 1, length)
            read, self._begin, infinite, stop = words.parse(
                self._buffer, self._begin, self._end, length < len(sizes), LOG_ZERO, *part
            )
            self.line += read
            self._infinite += infinite
            left -= read
            if left < 0:
                problem = f"the header promises {sizes[length - 1]:,} {length}-grams, and here is one more"
                raise BadFile(self.name, problem, line=first + sizes[length - 1])
            parts.append((part[0][:read], part[1][:read], part[2][:read]))
        if stop not in (_arpa.STOP_ALL, _arpa.STOP_SECTION):
            fields = f"a logarithm, {length} words" + (" and perhaps a back-off" if length < len(sizes) else "")
            self._refuse(_PROBLEMS.get(stop, f"expected {fields}"), self._line(""))
        if left:
            found = sizes[length - 1] - left
            problem = f"the header promises {sizes[length - 1]:,} {length}-grams, but the section ends after {found:,}"
            raise BadFile(self.name, problem, line=self.line)
        self._first = first
        rows, prob, backoff = (np.concatenate(each) for each in zip(*parts, strict=True))
        return rows, prob, backoff

    @staticmethod
    def _empty(size: int, length: int) -> tuple[Ids, Floats, Floats]:
        return np.empty((size, length), np.int32), np.empty(size, np.float32), np.empty(size, np.float32)

    def _require_places(self, order: Ids, parents: Ids, twice: int) -> None:
        """Raises BadFile for an n-gram that stands twice or whose context is no n-gram."""
        if twice >= 0:
            earlier, later = sorted(int(order[place]) for place in (twice - 1, twice))
            problem = f"the n-gram was listed in line {self._first + earlier}; remove one of them"
            raise BadFile(self.name, problem, line=self._first + later)
        if len(parents) and parents.min() < 0:
            place = int(order[parents < 0].min())
            problem = "the n-gram of all words but its last is not listed, so nothing leads to this one"
            raise BadFile(self.name, problem, line=self._first + place)

    def _end_mark(self) -> None:
        line = self._next_line("\\end\\")
        if line != b"\\end\\":
            self._refuse("expected \\end\\ after the longest n-grams of the header", line)

    def _warn(self, listed: NDArray[np.int64]) -> None:
        missing = [SPECIAL[i] for i in range(len(SPECIAL)) if not listed[i]]
        if missing:
            text = f"{self.name}: no 1-gram {' and '.join(missing)}: probability 0"
            warnings.warn(text, FormatWarning, stacklevel=4)
        if self._infinite:
            text = f"{self.name}: {self._infinite:,} numbers are -inf: taken for {LOG_ZERO:g}, the logarithm of 0"
            warnings.warn(text, FormatWarning, stacklevel=4)

    def _more(self) -> bool:
        """Whether there is a line; it stands in the buffer then."""
        if self._begin >= self._end:
            block: tuple[bytearray, int] | None = next(self._blocks, None)
            if block is None:
                return False
            (self._buffer, self._end), self._begin = block, 0
        return True

    def _next_line(self, expected: str) -> bytes:
        """The next line that is not blank."""
        line = self._line(expected)
        while not line:
            line = self._line(expected)
        return line

    def _line(self, expected: str) -> bytes:
        if not self._more():
            raise BadFile(self.name, f"expected {expected}, found the end of the file", line=self.line)
        newline = self._buffer.index(b"\n", self._begin)
        line = bytes(self._buffer[self._begin : newline]).strip()
        self._begin = newline + 1
        self.line += 1
        return line

    def _unread(self, line: bytes) -> None:
        self._begin = self._buffer.rindex(line, 0, self._begin)
        self.line -= 1

    def _refuse(self, problem: str, line: bytes) -> NoReturn:
        """Raises BadFile about the line that was read last."""
        raise BadFile(self.name, f"{problem}, found {show_bytes(line)}", line=self.line - 1)
