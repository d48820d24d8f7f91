"""What exact searches by cosine have in common, whatever their rows are: vectors or codes that stand for vectors."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wv_cli import _search
from wv_cli.io.host import processors
from wv_cli.io.memory import allocate_aligned
from wv_cli.vectors.neighbors.topk import Asked, Exact, Hits, combine_rows, exclusions, in_batches

_BATCH = 2048  # queries searched in one pass over the rows, at most


class Packed:
    """Unit vectors (count, dim) as the kernels want queries: side by side in `panels`."""

    def __init__(self, vectors: NDArray[np.float32], isa: str | None) -> None:
        self.count = len(vectors)
        lanes = _search.lanes(isa)
        self.panels = allocate_aligned((-(-self.count // lanes), vectors.shape[1], lanes))
        _search.pack(vectors, self.panels, isa)

    def thresholds(self) -> NDArray[np.float32]:
        """What a score must beat to enter a heap that is empty; nothing does after the last query."""
        thresholds = np.full(self.panels.shape[0] * self.panels.shape[2], np.inf, np.float32)
        thresholds[: self.count] = -np.inf
        return thresholds


class Cosines(Exact):
    """Exact search of `n` rows that are vectors of `dim` numbers or stand for such. `threads` 0 means all
    processors; `isa` names an instruction set, for tests."""

    def __init__(self, n: int, dim: int, *, threads: int, isa: str | None) -> None:
        self.threads = threads or processors()
        self.dim, self._n, self._isa = dim, n, isa

    def __len__(self) -> int:
        return self._n

    def unit_rows(self, rows: ArrayLike, beyond: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """The unit vectors (len(rows), dim) of rows; numbers from len(self) on are rows of `beyond` (m, dim), of any
        length. Raises IndexError."""
        numbers = np.asarray(rows, np.int64)
        self._require_known(numbers, beyond)
        inside = numbers < self._n
        if inside.all():
            return self._unit(numbers)
        unit = np.empty((len(numbers), self.dim), np.float32)
        unit[inside] = self._unit(numbers[inside])
        if beyond is not None:
            others = np.array(beyond[numbers[~inside] - self._n], np.float32)
            _search.normalize(others, others, self._isa)
            unit[~inside] = others
        return unit

    def stand_for(
        self, asked: Asked, weights: Sequence[Sequence[float]] | None, beyond: NDArray[Any] | None
    ) -> NDArray[np.float32]:
        """(queries, dim) The mean of each query's unit vectors."""
        return combine_rows(asked, weights, lambda numbers: self.unit_rows(numbers, beyond), mean_of)

    def top_k(
        self,
        queries: ArrayLike,
        k: int = 10,
        *,
        exclude: Sequence[Iterable[int]] | None = None,
        rows: int | None = None,
    ) -> Hits:
        """The k rows of highest cosine with each query: (rows (q, k) int32, cosines (q, k) float32), best first.

        queries: (q, dim), normalized here. exclude: for each query the rows it must not get. rows: search only the
        first so many. Positions that cannot be filled (k > rows, NaN) have row -1 and score -inf. Raises ValueError for
        shapes that do not fit.
        """
        vectors = np.array(queries, np.float32, ndmin=2)
        if vectors.ndim != 2 or vectors.shape[1] != self.dim:
            message = f"queries of shape {np.shape(queries)} do not fit vectors of {self.dim} numbers"
            raise ValueError(message)
        if exclude is not None and len(exclude) != len(vectors):
            message = f"{len(exclude)} lists of excluded rows for {len(vectors)} queries"
            raise ValueError(message)
        n = self._rows_to_search(rows)
        _search.normalize(vectors, vectors, self._isa)

        def search(batch: slice, k: int) -> Hits:
            queries = Packed(vectors[batch], self._isa)
            return self._top_k(queries, k, *exclusions(exclude, queries.count, batch), n)

        return in_batches(len(vectors), k, n, _BATCH, search)

    @abstractmethod
    def part(self, rows: NDArray[np.int64]) -> "Cosines":
        """An index of some rows, which are not copied unless they are codes."""

    @abstractmethod
    def _unit(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """The unit vectors of rows."""

    @abstractmethod
    def _top_k(self, queries: Packed, k: int, starts: NDArray[np.int64], excluded: NDArray[np.int32], n: int) -> Hits:
        """top_k of the first n rows, 1 at least; starts and excluded are topk.exclusions."""

    def _rows_to_search(self, rows: int | None) -> int:
        """The rows to look at; none of vectors without numbers."""
        n = len(self) if self.dim else 0
        return n if rows is None else max(0, min(rows, n))

    def _require_known(self, numbers: NDArray[np.int64], beyond: NDArray[np.float32] | None) -> None:
        known = self._n + (len(beyond) if beyond is not None else 0)
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < known):
            message = f"row numbers must be 0 to {known - 1}"
            raise IndexError(message)


def mean_of(rows: NDArray[np.float32], weights: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """(dim,) of (n, dim)."""
    mean: NDArray[np.float32] = (rows if weights is None else rows * weights[:, None]).mean(axis=0)
    return mean
