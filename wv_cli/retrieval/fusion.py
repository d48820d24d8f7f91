"""Ranked lists of several systems joined into one: a document's score is the sum of its gains in the lists.

The gain of a list is either 1 / (60 + rank), that of reciprocal-rank fusion (Cormack, Clarke and Buettcher 2009), or
the score of the document in standard deviations, as in the sum of normalized scores (Montague and Aslam 2001).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_RANK_CONSTANT = 60
_SHORTEST = 100  # scores that the deviation is taken of: that of one answer alone would be 0


def gains_of_ranks(scores: NDArray[Any]) -> NDArray[np.float64]:
    """Of scores that are in order, best first."""
    return 1 / (_RANK_CONSTANT + np.arange(1, len(scores) + 1))


def gains_of_scores(scores: NDArray[Any], depth: int | None = None) -> NDArray[np.float64]:
    """How far each score lies above the lowest of the list, in standard deviations of the list, which are the first
    `depth` scores (None: all). A list of fewer than 100 scores is filled up with 0, or with the lowest score where that
    is below 0: what the system did not find."""
    first = scores[:depth]
    lowest = float(first.min(initial=0) if len(first) < _SHORTEST else first.min())
    filled = np.full(max(_SHORTEST, len(first)), lowest)
    filled[: len(first)] = first
    deviation = filled.std()
    gains: NDArray[np.float64] = (scores.astype(np.float64) - lowest) / (deviation if deviation else 1)
    return gains


GAINS: dict[str, Callable[[NDArray[Any]], NDArray[np.float64]]] = {
    "ranks": gains_of_ranks,
    "scores": gains_of_scores,
}


def fuse(
    lists: Sequence[NDArray[Any]], gains: Sequence[NDArray[np.float64]], weights: Sequence[float]
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """(rows, ascending, and their scores) of lists of rows: the sums of weight * gain. A list that lacks the row adds
    nothing."""
    rows, places = np.unique(np.concatenate(lists), return_inverse=True)
    sums: NDArray[np.float64] = np.zeros(len(rows))
    np.add.at(sums, places, np.concatenate([weight * each for weight, each in zip(weights, gains, strict=True)]))
    return rows, sums
