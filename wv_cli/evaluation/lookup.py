"""Words of a data set -> rows of the vectors, under the case policy; and lines of a data file."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from wv_cli.embeddings import Embeddings
from wv_cli.errors import BadFile
from wv_cli.text.source import Source
from wv_cli.words import WordList, decode


class Lookup:
    """`case` is EvalConfig.case. Under every policy the first of equal words is the one that is found.

    `pool`: the rows that can be found, and so the rows that can be answers: a word that stands in the file twice, or in
    a second spelling under fold-first, is there once.
    """

    def __init__(self, words: WordList, case: str) -> None:
        self._case = case
        self._rows: dict[str, int] = {}
        fold = case == "fold-first"
        for row, word in enumerate(words):
            self._rows.setdefault(word.casefold() if fold else word, row)

    @property
    def pool(self) -> NDArray[np.int64]:
        return np.fromiter(self._rows.values(), np.int64, len(self._rows))

    def row(self, word: str) -> int:
        """The row of `word`, -1 when it has none."""
        if self._case == "fold-first":
            word = word.casefold()
        elif self._case == "lower":
            word = word.lower()
        return self._rows.get(word, -1)

    def rows(self, items: Iterable[tuple[str, ...]], width: int) -> NDArray[np.int64]:
        """(items, width) rows, -1 for words without one."""
        found = [[self.row(word) for word in item] for item in items]
        return np.array(found, np.int64).reshape(len(found), width)


def restricted(embeddings: Embeddings, count: int) -> Embeddings:
    """The first `count` words; all when it is 0 or there are no more."""
    if not 0 < count < len(embeddings):
        return embeddings
    words = embeddings.words
    starts = words.starts[: count + 1]
    return Embeddings(WordList(words.blob[: starts[-1]], starts), embeddings.matrix[:count])


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
