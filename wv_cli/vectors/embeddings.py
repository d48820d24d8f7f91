"""Embeddings: words and their vectors, as read from or written to a file, and vectors of words that are not listed."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli.words import WordList


class Subwords(Protocol):
    """What can compose vectors of words it does not list; see wv_cli.vectors.fasttext."""

    def oov_vector(self, word: str | bytes, /) -> NDArray[np.float32] | None:
        """(dim,); None for a word that is listed, and for one of which no part is known."""


@dataclass(frozen=True)
class Embeddings:
    """`matrix` is (len(words), dim) float32, row i the vector of word i; it may be memory-mapped and read-only, and its
    rows may be padded (a view with a larger row stride). `subwords` gives words that are not listed a vector."""

    words: WordList
    matrix: NDArray[np.float32]
    subwords: Subwords | None = None

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.words) != self.matrix.shape[0]:
            message = f"{len(self.words)} words do not fit a matrix of shape {self.matrix.shape}"
            raise ValueError(message)

    @property
    def dim(self) -> int:
        return int(self.matrix.shape[1])

    def __len__(self) -> int:
        return len(self.words)


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
                number = self.first + len(self._vectors)
                self._vectors.append(vector)
            self._numbers[word] = number
        return number

    def vectors(self) -> NDArray[np.float32]:
        """(len(self), dim), in the order of the numbers."""
        return np.array(self._vectors, np.float32).reshape(-1, self._dim)
