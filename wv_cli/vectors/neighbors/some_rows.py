"""Exact search that answers with some rows only, while all rows can be asked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.vectors.neighbors.topk import Asked, Exact, Hits


class SomeRows:
    """A topk.Index whose answers are those of `whole` among `rows`, ascending and each once."""

    def __init__(self, whole: Exact, rows: NDArray[np.int64]) -> None:
        self.whole, self._part, self._rows = whole, whole.part(rows), rows

    def __len__(self) -> int:
        return len(self.whole)

    def nearest(
        self,
        asked: Asked,
        k: int,
        *,
        weights: Sequence[Sequence[float]] | None = None,
        beyond: NDArray[Any] | None = None,
        rows: int | None = None,
    ) -> Hits:
        """As Index.nearest."""
        first = None if rows is None else int(np.searchsorted(self._rows, rows))
        left_out = [self._places(each) for each in asked]
        queries = self.whole.stand_for(asked, weights, beyond)
        hits, scores = self._part.top_k(queries, k, exclude=left_out, rows=first)
        found = np.where(hits >= 0, self._rows[hits], -1) if len(self._rows) else hits
        return found.astype(np.int32), scores

    def _places(self, asked: Sequence[int]) -> list[int]:
        """Where those of the asked rows that can be answers stand among them."""
        places = np.searchsorted(self._rows, np.asarray(asked, np.int64))
        return [place for place, row in zip(places.tolist(), asked, strict=True) if self._has(place, row)]

    def _has(self, place: int, row: int) -> bool:
        return place < len(self._rows) and int(self._rows[place]) == row
