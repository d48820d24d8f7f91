"""Words of texts and data sets -> rows of vectors, under a rule for upper and lower case. Queries as users type them
are looked up by spelling.find_queries."""

from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.oov import OovRows

Case = Literal["fold-first", "lower", "none"]


class Lookup:
    """case: `fold-first` takes upper and lower case for one, `lower` looks words up in lower case, `none` as written.
    Under every rule the first of equal words is the one that is found.

    A word that is not listed gets a number of `oov`, unless `subwords` is false.

    `pool`: the rows that can be found, and so the rows that can be answers: a word that stands in the file twice, or in
    a second spelling under fold-first, is there once.
    """

    def __init__(self, embeddings: Embeddings, case: Case = "fold-first", *, subwords: bool = True) -> None:
        self._case = case
        self._rows: dict[str, int] = {}
        fold = case == "fold-first"
        for row, word in enumerate(embeddings.words):
            self._rows.setdefault(word.casefold() if fold else word, row)
        self.oov = OovRows(len(embeddings), embeddings.dim, embeddings.subwords if subwords else None)

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
