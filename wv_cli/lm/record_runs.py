"""Sorted runs of records of n-grams (csrc/core/ngrams.h): rows of order + 2 int32."""

import numpy as np
from numpy.typing import NDArray

from wv_cli._lm import merge
from wv_cli.io.runs import SortedRuns

Records = NDArray[np.int32]


def ngram_runs(beside: str | None, order: int, memory: int) -> SortedRuns:
    """See SortedRuns; the counts of equal records are added up."""
    return SortedRuns(
        beside,
        "n-grams",
        np.zeros((1, order + 2), np.int32),
        memory,
        lambda records, first, last, more, pending, out: merge(order, records, first, last, more, pending[0], out),
    )
