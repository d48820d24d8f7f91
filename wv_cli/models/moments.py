"""Moments: how many rows there are, their mean and their scatter about it, in one pass, in float64.

Each block of rows is centred at its own mean, its scatter is one matrix product, and blocks (or shards of a file,
counted on different machines) are joined by the formula of Chan, Golub & LeVeque 1979. Neither sum(x x^T) - n m m^T,
which cancels when the mean is large, nor a recursion on a running mean, which is not exact, nor float32 sums.
"""

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile, WvError
from wv_cli.models.arrays import fact, load_arrays, save_arrays

_BLOCK_VALUES = 1 << 18  # 2 MB of float64: what the processor's caches hold


@dataclass(frozen=True, eq=False)
class Moments:
    """`rows` were seen with a weight above zero, of `weight` in all (the same number when every row weighs 1). `mean`
    is (dim,), `scatter` (dim, dim): sum of weight (x - mean) (x - mean)^T."""

    rows: int
    weight: float
    mean: NDArray[np.float64]
    scatter: NDArray[np.float64]

    @classmethod
    def none(cls, dim: int) -> "Moments":
        return cls(0, 0.0, np.zeros(dim), np.zeros((dim, dim)))

    @property
    def dim(self) -> int:
        return len(self.mean)

    @property
    def covariance(self) -> NDArray[np.float64]:
        """(dim, dim), with the divisor `weight`: the maximum-likelihood estimate, as in the whitening paper's eq. 10.
        A divisor of n - 1 would only rescale all whitened rows alike."""
        return self.scatter / self.weight

    def joined(self, other: "Moments") -> "Moments":
        """The moments of both sets of rows. Raises WvError when their dimensions differ."""
        if self.dim != other.dim:
            message = f"moments of {self.dim} and of {other.dim} dimensions cannot be joined"
            raise WvError(message)
        if not other.rows:
            return self
        if not self.rows:
            return other
        weight = self.weight + other.weight
        apart = other.mean - self.mean
        mean = self.mean + apart * (other.weight / weight)
        between = np.outer(apart, apart) * (self.weight * other.weight / weight)
        return Moments(self.rows + other.rows, weight, mean, self.scatter + other.scatter + between)

    def with_rows(self, matrix: NDArray[np.floating], weights: NDArray[np.float64] | None = None) -> "Moments":
        """The moments with the rows of `matrix` (n, dim) added; `weights` (n,) are finite and not negative, None: all
        1. Rows of weight 0 count for nothing."""
        total = self
        step = max(1, _BLOCK_VALUES // max(1, self.dim))
        room = np.empty((min(step, len(matrix)), self.dim))
        for first in range(0, len(matrix), step):
            part = matrix[first : first + step]
            total = total.joined(_block(part, None if weights is None else weights[first : first + step], room))
        return total

    def save(self, path: str | os.PathLike[str]) -> None:
        facts = {"rows": self.rows, "weight": self.weight}
        save_arrays(path, "moments", facts, {"mean": self.mean, "scatter": self.scatter})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Moments":
        """Raises BadFile, WvError."""
        facts, arrays = load_arrays(path, "moments", ("mean", "scatter"))
        mean, scatter = arrays["mean"], arrays["scatter"]
        if mean.ndim != 1 or not len(mean) or scatter.shape != (len(mean), len(mean)):
            raise BadFile(path, f"a mean of shape {mean.shape} and a scatter of {scatter.shape} do not fit", line=2)
        rows, weight = fact(path, facts, "rows", int), fact(path, facts, "weight", float)
        if rows < 0 or weight < 0 or not np.array_equal(scatter, scatter.T) or (np.diagonal(scatter) < 0).any():
            raise BadFile(path, "counts below zero or a scatter that is none: the file is damaged; make it again")
        return cls(rows, weight, mean, scatter)


def _block(rows: NDArray[np.floating], weights: NDArray[np.float64] | None, room: NDArray[np.float64]) -> Moments:
    """Two passes over rows that are in the cache. `room` is scratch of at least their size."""
    if weights is not None and not (weights > 0).all():
        rows, weights = rows[weights > 0], weights[weights > 0]
    count = len(rows)
    if not count:
        return Moments.none(room.shape[1])
    x = room[:count]
    x[...] = rows
    each = np.ones(count) if weights is None else weights
    weight = float(count) if weights is None else float(weights.sum())
    mean = (each @ x) / weight
    x -= mean
    # What rounding left of the sum of the differences: a second step makes the mean exact to the last bits.
    rest = (each @ x) / weight
    mean += rest
    x -= rest
    if weights is not None:
        x *= np.sqrt(weights)[:, None]
    return Moments(count, weight, mean, x.T @ x)
