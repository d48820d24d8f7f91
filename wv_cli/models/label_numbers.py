"""Labels that are numbers, such as `__label__3`: a scale, on which a text stands at its expected number."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)
_ADDED = 1e-5  # fastText adds it to each probability


def read_numbers(labels: Sequence[str], prefix: str, model: str) -> NDArray[np.float64]:
    """(labels,) The numbers that labels are behind their prefix. Raises UsageError for one that is no number."""
    names = [label.removeprefix(prefix) for label in labels]
    numbers = np.array([float(name) if _NUMBER.fullmatch(name) else np.nan for name in names])
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        example = f"such as {prefix}3"
        raise UsageError(f"{model}: expected labels that are numbers, {example}, found {labels[int(wrong[0])]}")
    return numbers


def expected_numbers(
    numbers: NDArray[np.float64],
    labels: NDArray[np.int32],
    probabilities: NDArray[np.float32],
    found: NDArray[np.int32],
) -> NDArray[np.float64]:
    """(texts,) The mean of the `numbers` that labels are, weighted by fastText's probabilities, which need not come to
    1. `labels` and `probabilities` are (texts, all labels), of which the first `found` count. NaN where none does."""
    counts = np.arange(labels.shape[1]) < found[:, None]
    weights = np.where(counts, np.maximum(probabilities.astype(np.float64) - _ADDED, 0), 0)
    with np.errstate(invalid="ignore"):
        expected: NDArray[np.float64] = (weights * numbers[labels]).sum(axis=1) / weights.sum(axis=1)
    return expected
