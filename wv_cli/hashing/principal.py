"""Hashers from the principal components of centered rows: pcah (their signs) and itq (their signs after the rotation
that loses least; Gong, Lazebnik 2011, Iterative quantization).

ITQ minimises |sgn(V R) - V R|^2 over rotations R, V the projected rows, by turns: B = sgn(V R); R from the SVD of B' V.
Neither step can raise the error; `errors` has it for every turn.
"""

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.hashing.base import Train, require_rows
from wv_cli.hashing.config import HashConfig
from wv_cli.hashing.linear import Projections

_BLOCK_ROWS = 1 << 14
_RANK_CUT = 1e-10  # of the largest eigenvalue


def pcah(method: str, x: NDArray[np.float32], config: HashConfig, train: Train) -> Projections:
    """Raises UsageError for more bits than the rows have directions."""
    return Projections(np.ascontiguousarray(principal_axes(x, config.length, method).T, np.float32))


def itq(method: str, x: NDArray[np.float32], config: HashConfig, train: Train) -> Projections:
    """Raises UsageError as pcah."""
    axes = principal_axes(x, config.length, method)
    axes = axes @ rotation(x, axes, config.iterations, config.seed)[0]
    return Projections(np.ascontiguousarray(axes.T, np.float32))


def principal_axes(x: NDArray[np.float32], count: int, method: str) -> NDArray[np.float64]:
    """(dim, count): the directions of most variance of x about its mean, of unit length, most first; the largest number
    of each is positive."""
    n, dim = x.shape
    require_rows(n, count + 1, method, f"{count} bits")
    mean = x.mean(axis=0, dtype=np.float64)
    covariance = np.zeros((dim, dim))
    for start in range(0, n, _BLOCK_ROWS):
        block = x[start : start + _BLOCK_ROWS] - mean
        covariance += block.T @ block
    values, axes = np.linalg.eigh(covariance)
    rank = int((values > _RANK_CUT * values[-1]).sum()) if values[-1] > 0 else 0
    if count > rank:
        message = (
            f"{method} has at most a bit per direction in which the vectors differ, {rank} of {dim} here, not {count}; "
            "lower --length or choose lsh"
        )
        raise UsageError(message)
    chosen = axes[:, ::-1][:, :count]
    largest = np.take_along_axis(chosen, np.abs(chosen).argmax(axis=0)[None], axis=0)
    signed: NDArray[np.float64] = chosen * np.sign(largest)
    return signed


def rotation(
    x: NDArray[np.float32], axes: NDArray[np.float64], iterations: int, seed: int
) -> tuple[NDArray[np.float64], list[float]]:
    """(R (count, count), errors): ITQ's rotation from a random start, and the mean squared error of the signs before
    each turn and after the last."""
    count = axes.shape[1]
    projected = np.concatenate([x[start : start + _BLOCK_ROWS] @ axes for start in range(0, len(x), _BLOCK_ROWS)])
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((count, count)))[0]
    errors = []
    for iteration in range(iterations + 1):
        product, error = np.zeros((count, count)), 0.0
        for start in range(0, len(x), _BLOCK_ROWS):
            block = projected[start : start + _BLOCK_ROWS]
            turned = block @ turn
            signs = np.where(turned > 0, 1.0, -1.0)
            error += float(np.square(signs - turned).sum())
            product += signs.T @ block
        errors.append(error / (len(x) * count))
        if iteration < iterations:
            left, _, right = np.linalg.svd(product)
            turn = right.T @ left.T
    return turn, errors
