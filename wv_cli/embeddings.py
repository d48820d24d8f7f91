"""Embeddings: words and their vectors, as read from or written to a file."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.words import WordList


@dataclass(frozen=True)
class Embeddings:
    """`matrix` is (len(words), dim) float32, row i the vector of word i; it may be memory-mapped and read-only, and its
    rows may be padded (a view with a larger row stride)."""

    words: WordList
    matrix: NDArray[np.float32]

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.words) != self.matrix.shape[0]:
            message = f"{len(self.words)} words do not fit a matrix of shape {self.matrix.shape}"
            raise ValueError(message)

    @property
    def dim(self) -> int:
        return int(self.matrix.shape[1])

    def __len__(self) -> int:
        return len(self.words)
