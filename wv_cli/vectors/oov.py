"""Words that are not listed: what can compose vectors of them, and numbers for them behind the rows of a matrix."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Subwords(Protocol):
    """What can compose vectors of words it does not list; see wv_cli.vectors.fasttext."""

    def oov_vector(self, word: str | bytes, /) -> NDArray[np.float32] | None:
        """(dim,); None for a word that is listed, and for one of which no part is known."""


class OovRows:
    """Gives words that are not listed numbers from `first` on, as if their vectors stood behind a matrix of `first`
    rows."""

    def __init__(self, first: int, dim: int, subwords: Subwords | None) -> None:
        self.first, self._dim, self._subwords = first, dim, subwords
        self._numbers: dict[str, int] = {}
        self._vectors: list[NDArray[np.float32]] = []

    def __len__(self) -> int:
        return len(self._vectors)

    def row(self, word: str) -> int:
        """The number of `word`; -1 when no vector can be composed."""
        number = self._numbers.get(word)
        if number is None:
            vector = self._subwords.oov_vector(word) if self._subwords is not None else None
            number = -1
            if vector is not None and np.isfinite(vector).all():
                number = self.add(vector)
            self._numbers[word] = number
        return number

    def add(self, vector: NDArray[np.float32]) -> int:
        """The number of a vector (dim,) that no word has."""
        self._vectors.append(vector)
        return self.first + len(self._vectors) - 1

    def vectors(self) -> NDArray[np.float32]:
        """(len(self), dim), in the order of the numbers."""
        return np.array(self._vectors, np.float32).reshape(-1, self._dim)
