"""Sorted runs of records of pairs of words (RECORD of csrc/wv_cli/_glove.pyx) that do not fit in memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._glove import RECORD, merge
from wv_cli.system.runs import SortedRuns

Records = NDArray[Any]


class PairRuns(SortedRuns):
    """See SortedRuns; the values of equal pairs are added up: as int64 units, or `as_values`, float64."""

    def __init__(self, beside: str | None, what: str, memory: int, *, as_values: bool) -> None:
        super().__init__(beside, what, np.zeros(1, RECORD), memory)
        self._as_values = as_values

    def merge(
        self,
        records: Records,
        first: NDArray[np.int64],
        last: NDArray[np.int64],
        more: NDArray[np.uint8],
        pending: Records,
        out: Records,
    ) -> int:
        return merge(records, first, last, more, self._as_values, pending, out)
