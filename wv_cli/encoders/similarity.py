"""How close vectors are, by the measures of sentence-transformers: the larger, the closer.

cosine      a b / (|a| |b|), 0 for a zero vector
dot         a b
euclidean   - |a - b|
manhattan   - sum |a_i - b_i|
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders.base import unit_rows

Floats = NDArray[np.float64]


def _dot(one: Floats, other: Floats) -> Floats:
    product: Floats = (one * other).sum(axis=1)
    return product


def _euclidean(one: Floats, other: Floats) -> Floats:
    distance: Floats = np.linalg.norm(one - other, axis=1)
    return -distance


def _manhattan(one: Floats, other: Floats) -> Floats:
    distance: Floats = np.abs(one - other).sum(axis=1)
    return -distance


# Of the vectors in the same row; one row is compared with all of the other array.
SIMILARITIES: Mapping[str, Callable[[Floats, Floats], Floats]] = MappingProxyType(
    {"cosine": _dot, "dot": _dot, "euclidean": _euclidean, "manhattan": _manhattan}
)


def compare_all(first: Any, second: Any, measure: str) -> NDArray[np.float32]:
    """(rows of `first`, rows of `second`) similarities of vectors; one vector is one row. Raises ValueError for vectors
    of other lengths than each other."""
    one, other = _rows(first, measure), _rows(second, measure)
    if one.ndim != 2 or other.ndim != 2 or one.shape[1] != other.shape[1]:
        message = f"expected two arrays of vectors of the same length, found the shapes {one.shape}, {other.shape}"
        raise ValueError(message)
    compare = SIMILARITIES[measure]
    if compare is _dot:
        return np.asarray(one @ other.T, np.float32)
    found = np.empty((len(one), len(other)), np.float32)
    for row in range(len(one)):
        found[row] = compare(one[row, None], other)
    return found


def compare_pairs(first: Any, second: Any, measure: str) -> NDArray[np.float32]:
    """(rows,) similarities of the vectors in the same row. Raises ValueError for arrays of different shapes."""
    one, other = _rows(first, measure), _rows(second, measure)
    if one.ndim != 2 or one.shape != other.shape:
        message = f"expected two arrays of the same shape, found {one.shape}, {other.shape}"
        raise ValueError(message)
    return SIMILARITIES[measure](one, other).astype(np.float32)


def _rows(vectors: Any, measure: str) -> Floats:
    """As a matrix; for cosines of unit length."""
    rows = np.atleast_2d(np.asarray(vectors, np.float64))
    return unit_rows(rows) if measure == "cosine" and rows.ndim == 2 else rows
