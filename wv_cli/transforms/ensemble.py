"""Vectors of the same words from several models as one: unit rows side by side, then the principal axes.

    X = [x_1 / |x_1|, x_2 / |x_2|, ...]    X' X = V diag(l) V'    Y = X V_dim

as Yin & Schuetze 2016 (arXiv 1508.04257, CONC and SVD): models that err differently correct each other. The mean is
left in, as cosines of word vectors are asked with it. Sums are float64, a block of rows at a time. Not here: how the
models are trained.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

_BLOCK = 1 << 14


def concatenate(parts: Sequence[Matrix], dim: int) -> Matrix:
    """(rows, dim): the first `dim` principal axes of the parts' unit rows, (rows, any) each; side by side as they are
    when they have no more numbers than that. A row of zeros counts as zeros. The largest component of an axis is
    positive, so that files are reproducible."""
    rows, wide = len(parts[0]), sum(part.shape[1] for part in parts)
    starts = range(0, rows, _BLOCK)
    if wide <= dim:
        return np.concatenate([_side_by_side(parts, start) for start in starts]).astype(np.float32)
    moments = np.zeros((wide, wide))
    for start in starts:
        block = _side_by_side(parts, start)
        moments += block.T @ block
    axes = np.linalg.eigh(moments)[1][:, ::-1][:, :dim]
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0)
    axes = axes * np.where(largest < 0, -1.0, 1.0)
    result = np.empty((rows, dim), np.float32)
    for start in starts:
        result[start : start + _BLOCK] = _side_by_side(parts, start) @ axes
    return result


def as_long_as(rows: Matrix, others: Matrix) -> Matrix:
    """(rows, dim): the rows, each as long as the same row of `others`, (rows, any). Joined rows are all about as long,
    which no cosine of words sees, but means of words do: in a trained model words that say little are short."""
    result = np.empty(rows.shape, np.float32)
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        lengths = np.linalg.norm(others[block].astype(np.float64), axis=1, keepdims=True)
        result[block] = _unit(rows[block]) * lengths
    return result


def plus_contexts(words: Matrix, contexts: Matrix) -> Matrix:
    """(rows, dim): the sum of a model's word vectors and its context vectors, (rows, dim) each, all of length one.
    Levy, Goldberg & Dagan 2015, section 3.3, add them as long as they are."""
    result = np.empty(words.shape, np.float32)
    for start in range(0, len(words), _BLOCK):
        block = slice(start, start + _BLOCK)
        result[block] = _unit(words[block]) + _unit(contexts[block])
    return result


def _side_by_side(parts: Sequence[Matrix], start: int) -> NDArray[np.float64]:
    return np.hstack([_unit(part[start : start + _BLOCK]) for part in parts])


def _unit(rows: Matrix) -> NDArray[np.float64]:
    wide = rows.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: NDArray[np.float64] = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0)
    return unit
