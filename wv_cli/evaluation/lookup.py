"""Words of a data set -> rows of the vectors, under the case policy; and lines of a data file."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile
from wv_cli.evaluation.config import EvalConfig
from wv_cli.text.source import Source
from wv_cli.vectors.embeddings import Embeddings, OovRows
from wv_cli.words import WordList, decode


class Lookup:
    """Under every policy the first of equal words is the one that is found.

    A word that is not listed gets a number of `oov`, unless config.subwords is false.

    `pool`: the rows that can be found, and so the rows that can be answers: a word that stands in the file twice, or in
    a second spelling under fold-first, is there once.
    """

    def __init__(self, embeddings: Embeddings, config: EvalConfig) -> None:
        self._case = config.case
        self._rows: dict[str, int] = {}
        fold = config.case == "fold-first"
        for row, word in enumerate(embeddings.words):
            self._rows.setdefault(word.casefold() if fold else word, row)
        self.oov = OovRows(len(embeddings), embeddings.dim, embeddings.subwords if config.subwords else None)

    @property
    def pool(self) -> NDArray[np.int64]:
        return np.fromiter(self._rows.values(), np.int64, len(self._rows))

    def row(self, word: str, *, compose: bool = True) -> int:
        """The row of `word`, -1 when it has none; with `compose` perhaps a number of `oov`."""
        if self._case == "fold-first":
            word = word.casefold()
        elif self._case == "lower":
            word = word.lower()
        row = self._rows.get(word, -1)
        return self.oov.row(word) if row < 0 and compose else row

    def rows(self, items: Iterable[tuple[str, ...]], width: int, *, composed: int | None = None) -> NDArray[np.int64]:
        """(items, width) rows, -1 for words without one. Only the first `composed` words of an item may be composed of
        subwords (None: all); they get numbers of `oov`."""
        most = width if composed is None else composed
        found = [[self.row(word, compose=i < most) for i, word in enumerate(item)] for item in items]
        return np.array(found, np.int64).reshape(len(found), width)

    def note(self, name: str) -> list[str]:
        """What a report should say about words of `name` that were composed."""
        count = len(self.oov)
        words = "1 word that is" if count == 1 else f"{count:,} words that are"
        return [f"{name}: {words} not listed were composed of subwords; --no-subwords leaves them out"] if count else []


def restricted(embeddings: Embeddings, count: int) -> Embeddings:
    """The first `count` words; all when it is 0 or there are no more."""
    if not 0 < count < len(embeddings):
        return embeddings
    words = embeddings.words
    starts = words.starts[: count + 1]
    restricted_words = WordList(words.blob[: starts[-1]], starts)
    return Embeddings(restricted_words, embeddings.matrix[:count], embeddings.subwords)


def data_lines(path: str) -> list[str]:
    """The lines of a data file, plain or compressed, without line ends and byte order mark; `-` is standard input.
    Raises WvError when it cannot be read."""
    return decode(b"".join(Source([path]))).removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").split("\n")


class Malformed:
    """The lines of one data file that hold no item: the first is remembered, under `strict` it is an error."""

    def __init__(self, path: str, strict: bool, expected: str) -> None:
        self._path, self._strict, self._expected = path, strict, expected
        self.count = 0
        self._first = ""

    def add(self, line_number: int, line: str) -> None:
        """Raises BadFile under `strict`."""
        found = line if len(line) <= 60 else f"{line[:60]}..."
        problem = f"expected {self._expected}, found {found!r}"
        if self._strict:
            raise BadFile(self._path, problem, line=line_number)
        self._first = self._first or f"line {line_number}: {problem}"
        self.count += 1

    def notes(self) -> list[str]:
        if not self.count:
            return []
        lines = "1 malformed line was" if self.count == 1 else f"{self.count:,} malformed lines were"
        return [f"{self._path}: {lines} left out; the first, {self._first}"]
