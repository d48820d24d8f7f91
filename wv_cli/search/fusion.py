"""Reciprocal-rank fusion of ranked lists (Cormack, Clarke and Buettcher 2009)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_RANK_CONSTANT = 60


def fuse_ranks(lists: Sequence[NDArray[Any]], weights: Sequence[float]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """(rows, ascending, and their scores) of lists of rows, each best first. A score is the sum of weight / (60 + rank)
    over the lists; a list that lacks the row adds nothing."""
    rows, places = np.unique(np.concatenate(lists), return_inverse=True)
    gains = [
        weight / (_RANK_CONSTANT + np.arange(1, len(each) + 1)) for each, weight in zip(lists, weights, strict=True)
    ]
    sums: NDArray[np.float64] = np.zeros(len(rows))
    np.add.at(sums, places, np.concatenate(gains))
    return rows, sums
