"""`fasttext.util`: scores of answers, the nearest row, and models of fewer dimensions."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.fasttext.model import _FastText

_ROWS = 100_000  # that the directions are found in


def test(predictions: Iterable[Sequence[str]], labels: Iterable[Collection[str]], k: int = 1) -> tuple[float, float]:
    """(precision, recall) of the predicted labels of several lines."""
    right, lines, known = 0.0, 0, 0
    for predicted, true in zip(predictions, labels, strict=False):
        right += sum(label in true for label in predicted)
        lines, known = lines + 1, known + len(true)
    return right / (k * lines), right / known


def find_nearest_neighbor(
    query: NDArray[Any], vectors: NDArray[Any], ban_set: Collection[int], cossims: NDArray[Any] | None = None
) -> int:
    """The row of `vectors` with the largest product with `query`, none of `ban_set`; the products are written to
    `cossims`."""
    products = np.matmul(vectors, query, out=cossims)
    return next(int(row) for row in np.argsort(-products, kind="stable") if row not in ban_set)


def reduce_model(ft_model: _FastText, target_dim: int) -> _FastText:
    """The model itself, whose matrices now have the `target_dim` principal directions of its input rows."""
    rows = ft_model.get_input_matrix()
    first = rows[:_ROWS] - rows[:_ROWS].mean(axis=0, dtype=np.float32)
    _, directions = np.linalg.eigh(np.matmul(first.T, first) / max(len(first) - 1, 1))
    directions = directions[:, ::-1][:, :target_dim].astype(np.float32)
    ft_model.set_matrices(rows @ directions, ft_model.get_output_matrix() @ directions)
    return ft_model
