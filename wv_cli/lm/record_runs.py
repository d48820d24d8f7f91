"""Sorted runs of records of n-grams (csrc/core/ngrams.h): rows of order + 2 int32."""

import numpy as np
from numpy.typing import NDArray

from wv_cli._lm import merge
from wv_cli.system.runs import SortedRuns

Records = NDArray[np.int32]


class Runs(SortedRuns):
    """See SortedRuns; the counts of equal records are added up."""

    def __init__(self, beside: str | None, order: int, memory: int) -> None:
        super().__init__(beside, "n-grams", np.zeros((1, order + 2), np.int32), memory)
        self._order = order

    def merge(
        self,
        records: Records,
        first: NDArray[np.int64],
        last: NDArray[np.int64],
        more: NDArray[np.uint8],
        pending: Records,
        out: Records,
    ) -> int:
        return merge(self._order, records, first, last, more, pending[0], out)
