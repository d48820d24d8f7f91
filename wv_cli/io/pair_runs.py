"""Sorted runs of records of pairs of words (RECORD of csrc/wv_cli/_glove.pyx) that do not fit in memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._glove import RECORD, merge
from wv_cli.io.runs import SortedRuns

Records = NDArray[Any]


def pair_runs(beside: str | None, what: str, memory: int, *, as_values: bool) -> SortedRuns:
    """See SortedRuns; the values of equal pairs are added up: as int64 units, or `as_values`, float64."""
    return SortedRuns(
        beside,
        what,
        np.zeros(1, RECORD),
        memory,
        lambda records, first, last, more, pending, out: merge(records, first, last, more, as_values, pending, out),
    )
