"""Rows as they are read: a matrix and words that grow when the number of rows is not known or cannot be believed."""

import numpy as np

from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList

# Without a file size to hold a header against, memory follows the rows that really come.
_FIRST_BYTES = 1 << 24


class RowStore:
    """`matrix` (capacity, dim) and `lengths` (capacity) are filled from the front by the readers; `add_words` collects
    the words in the same order."""

    def __init__(self, dim: int, rows: int | None) -> None:
        """`rows`: how many will come, when that is certain."""
        self.dim = dim
        self.capacity = rows if rows is not None else max(1, _FIRST_BYTES // (4 * dim))
        self.matrix = np.empty((self.capacity, dim), np.float32)
        self.lengths = np.empty(self.capacity, np.int64)
        self._words: list[bytes] = []

    def reserve(self, rows: int) -> None:
        """Grows to hold `rows` rows in all. No view of matrix or lengths may be in use."""
        if rows > self.capacity:
            self._resize(max(rows, self.capacity + self.capacity // 2))

    def _resize(self, rows: int) -> None:
        # realloc moves large blocks by their page tables: no second copy in memory.
        self.matrix.resize((rows, self.dim), refcheck=False)
        self.lengths.resize(rows, refcheck=False)
        self.capacity = rows

    def add_words(self, packed: bytes) -> None:
        self._words.append(packed)

    def finish(self, rows: int) -> Embeddings:
        """The first `rows` rows; the store must not be used afterwards."""
        if rows != self.capacity:
            self._resize(rows)
        starts = np.zeros(rows + 1, np.int64)
        np.cumsum(self.lengths, out=starts[1:])
        return Embeddings(WordList(b"".join(self._words), starts), self.matrix)
