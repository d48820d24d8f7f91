"""Vectors left where they lie in a mapped file, word2vec's binary one: rows of raw float32 with words between them.

What a query needs of them is looked at, and only that: words and offsets are in memory, numbers are not. A row is
checked for NaN and infinity when it is.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from wv_cli._floattext import first_not_finite
from wv_cli.io.origin import Origin
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList

if TYPE_CHECKING:
    from wv_cli.vectors.neighbors.exact import Neighbors

_BLOCK_VALUES = 1 << 20


class MappedRows(Embeddings):
    """The numbers of row i are the `dim` float32 that begin offsets[i] bytes after the first of `data`. `refuse(row)`
    raises for a row that holds NaN or infinity. `origin` is the file when all its rows are there. `matrix` is a copy,
    made when it is first asked for."""

    def __init__(
        self,
        words: WordList,
        data: memoryview,
        offsets: NDArray[np.int64],
        dim: int,
        refuse: Callable[[int], NoReturn],
        origin: Origin | None = None,
    ) -> None:
        fields = {"words": words, "_data": data, "_offsets": offsets, "_dim": dim, "_refuse": refuse}
        fields |= {"_origin": origin}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """The file where it is as it was, else a copy of all rows."""
        kept = self._origin.reduce() if self._origin is not None else None
        return kept or (Embeddings, (self.words, self.matrix))

    _origin: Origin | None
    _data: memoryview
    _offsets: NDArray[np.int64]
    _dim: int
    _refuse: Callable[[int], NoReturn]

    def keep_rows(self, rows: NDArray[np.int64]) -> "MappedRows":
        """The vectors of these rows alone, still where they lie."""
        refuse = self._refuse
        return MappedRows(
            self.words.take(rows), self._data, self._offsets[rows], self._dim, lambda row: refuse(int(rows[row]))
        )

    @property
    def dim(self) -> int:
        return self._dim

    @cached_property
    def matrix(self) -> NDArray[np.float32]:
        matrix, done = np.empty((len(self), self._dim), np.float32), 0
        for block in self._blocks():
            matrix[done : done + len(block)] = block
            done += len(block)
        return matrix

    def require_finite(self) -> None:
        """Looks at all rows."""
        for _ in self._blocks():
            pass

    def row(self, row: int) -> NDArray[np.float32]:
        values: NDArray[np.float32] = self.take(np.array([row]))[0]
        return values

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        if not len(rows):
            return np.empty((0, self._dim), np.float32)
        at_any_byte = np.lib.stride_tricks.sliding_window_view(np.frombuffer(self._data, np.uint8), 4 * self._dim)
        values = at_any_byte[self._offsets[rows]].view("<f4").astype(np.float32, copy=False)
        bad = first_not_finite(values)
        if bad is not None:
            self._refuse(int(rows[bad[0]]))
        return values

    def exact(self, *, threads: int = 0) -> "Neighbors":
        from wv_cli.vectors.neighbors.exact import Neighbors

        return Neighbors.of_bytes(self._data, self._offsets, self._dim, threads=threads, refuse=self._refuse)

    def _blocks(self) -> Iterator[NDArray[np.float32]]:
        step = max(1, _BLOCK_VALUES // self._dim)
        for first in range(0, len(self), step):
            yield self.take(np.arange(first, min(first + step, len(self))))
