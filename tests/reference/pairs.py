"""Contrast of text pairs on static embeddings, in float64: the loss, its gradient, and Adam of all rows. See
csrc/kernels/pairs.c for the formulas. `columns` are the ids of anchors, positives, and hard negatives."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Contrast:
    """How pairs are contrasted. `same` tells equal texts of a column of anchors and one of candidates: those are no
    negatives."""

    levels: Sequence[int]
    weights: Sequence[float]
    scale: float = 20.0
    symmetric: bool = False


def mean_matrix(texts: Sequence[Sequence[int]], rows: int) -> Array:
    """(texts, rows): the share of every row in every text's mean."""
    found = np.zeros((len(texts), rows))
    for text, ids in enumerate(texts):
        for id in ids:
            found[text, id] += 1 / len(ids)
    return found


def masked(anchors: Sequence[int], candidates: Sequence[int]) -> NDArray[np.bool_]:
    """(pairs, candidates): which candidates are no negatives of a pair. The numbers tell texts apart."""
    pairs, count = len(anchors), len(candidates)
    found = np.equal.outer(candidates[:pairs], candidates)
    found[:, :pairs] |= np.equal.outer(anchors, anchors)
    found[np.arange(pairs), np.arange(pairs)] = False
    assert found.shape == (pairs, count)
    return found


def loss_and_gradient(
    table: Array, columns: Sequence[Sequence[Sequence[int]]], contrast: Contrast, mask: NDArray[np.bool_] | None = None
) -> tuple[float, Array]:
    """The mean loss of the pairs, and its gradient by the table."""
    pairs = len(columns[0])
    negatives = [column[pair] for pair in range(pairs) for column in columns[2:]]
    of_anchors = mean_matrix(columns[0], len(table))
    of_candidates = mean_matrix([*columns[1], *negatives], len(table))
    a, b = of_anchors @ table, of_candidates @ table
    da, db, loss = np.zeros_like(a), np.zeros_like(b), 0.0
    for level, weight in zip(contrast.levels, contrast.weights, strict=True):
        part, of_a, of_b = _level(a[:, :level], b[:, :level], contrast, mask)
        loss += weight * part
        da[:, :level] += weight * of_a
        db[:, :level] += weight * of_b
    return loss, of_anchors.T @ da + of_candidates.T @ db


def _level(a: Array, b: Array, contrast: Contrast, mask: NDArray[np.bool_] | None) -> tuple[float, Array, Array]:
    pairs, eye = len(a), np.eye(len(a), len(b))
    norm_a, norm_b = (np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-12) for each in (a, b))
    x, y = a / norm_a, b / norm_b
    scores = contrast.scale * x @ y.T
    allowed = scores if mask is None else np.where(mask, -np.inf, scores)
    loss, p = _softmax(allowed)
    g = (p - eye) / pairs
    if contrast.symmetric:
        by_column, q = _softmax(allowed[:, :pairs].T)
        loss = (loss + by_column) / 2
        g /= 2
        g[:, :pairs] += (q.T - np.eye(pairs)) / (2 * pairs)
    dx, dy = contrast.scale * g @ y, contrast.scale * g.T @ x
    return loss, _unscaled(dx, x, norm_a), _unscaled(dy, y, norm_b)


def _softmax(scores: Array) -> tuple[float, Array]:
    top = scores.max(axis=1, keepdims=True)
    sums = np.log(np.exp(scores - top).sum(axis=1, keepdims=True)) + top
    return float(np.mean(sums[:, 0] - np.diag(scores))), np.exp(scores - sums)


def _unscaled(gradient: Array, unit: Array, norm: Array) -> Array:
    return (gradient - unit * (unit * gradient).sum(axis=1, keepdims=True)) / norm


def adam_step(
    table: Array, mean: Array, square: Array, gradient: Array, step: int, lr: float, decays: tuple[float, float]
) -> None:
    """One step, from 1, of all rows, in place."""
    mean += (1 - decays[0]) * (gradient - mean)
    square += (1 - decays[1]) * (gradient**2 - square)
    table -= lr / (1 - decays[0] ** step) * mean / (np.sqrt(square / (1 - decays[1] ** step)) + 1e-8)
