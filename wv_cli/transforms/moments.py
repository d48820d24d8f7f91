"""Moments: how many rows there are, their mean and their scatter about it, in one pass, in float64.

Each block of rows is centered at its own mean, its scatter is one matrix product (of numbers that are in the cache),
and blocks, or shards of a file counted on different machines, are joined by the formula of Chan, Golub & LeVeque 1979.
Neither sum(x x^T) - n m m^T, which cancels when the mean is large, nor a recursion on a running mean, which is not
exact, nor float32 sums.
"""

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError
from wv_cli.io import container, memory
from wv_cli.io.input import open_input

_BLOCK_VALUES = 1 << 18  # 2 MB of float64: what the processor's caches hold
LARGEST = float(np.finfo(np.float32).max)  # of a mean of rows
_MOST_WEIGHT = 1e30


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
        """Raises WvError when the scatter, dim x dim, does not fit in memory."""
        memory.require(3 * 8 * dim * dim, f"the covariance of {dim:,} dimensions", "give vectors of fewer")
        return cls(0, 0.0, np.zeros(dim), np.zeros((dim, dim)))

    @property
    def dim(self) -> int:
        return len(self.mean)

    @property
    def covariance(self) -> NDArray[np.float64]:
        """(dim, dim), with the divisor `weight`: the maximum-likelihood estimate, as in the whitening paper's eq. 10.
        A divisor of n - 1 would only rescale all whitened rows alike."""
        return self.scatter / self.weight

    def merge(self, other: "Moments") -> "Moments":
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
        step = max(1, _BLOCK_VALUES // self.dim)
        buffer = np.empty((min(step, len(matrix)) + 1, self.dim))
        product = np.empty((self.dim, self.dim))
        rows, weight, mean, scatter = self.rows, self.weight, self.mean.copy(), self.scatter.copy()
        for first in range(0, len(matrix), step):
            part = matrix[first : first + step]
            each = np.ones(len(part)) if weights is None else weights[first : first + step]
            if weights is not None and not (each > 0).all():
                part, each = part[each > 0], each[each > 0]
            count = len(part)
            if not count:
                continue
            x = buffer[:count]
            x[...] = part
            block_weight = float(each.sum())
            block_mean = (each @ x) / block_weight
            x -= block_mean
            # What rounding left of the sum of the differences: a second step makes the mean exact to the last bits.
            rest = (each @ x) / block_weight
            block_mean += rest
            x -= rest
            if weights is not None:
                x *= np.sqrt(each)[:, None]
            # The join with what was before, as in merge(): its outer product is one more row of the matrix product.
            apart = block_mean - mean
            both = weight + block_weight
            buffer[count] = apart * np.sqrt(weight * (block_weight / both))
            mean += apart * (block_weight / both)
            np.matmul(buffer[: count + 1].T, buffer[: count + 1], out=product)
            scatter += product
            rows, weight = rows + count, both
        return Moments(rows, weight, mean, scatter)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Raises WvError."""
        facts = {"rows": self.rows, "weight": self.weight}
        container.save(path, "moments", facts, {"mean": self.mean, "scatter": self.scatter})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Moments":
        """Raises BadFile, WvError."""
        with open_input(path, "moments") as source:
            reader = container.Reader(source, "moments")
            dim = reader.expect({"mean": ("<f8", ("dim",)), "scatter": ("<f8", ("dim", "dim"))}, "moments")["dim"]
            rows, weight = reader.fact("rows", int, 0, 2**63 - 1), reader.fact("weight", float, 0, _MOST_WEIGHT)
            if dim < 1 or (rows == 0) != (weight == 0):
                reader.refuse(f"{rows} rows of {dim} numbers and weight {weight:g} do not fit together")
            arrays = reader.read()
            mean, scatter = arrays["mean"], arrays["scatter"]
            reader.require_finite({"mean": mean}, LARGEST)
            reader.require_finite({"scatter": scatter}, weight * (2 * LARGEST) ** 2)
            if not _is_scatter(scatter):
                reader.refuse("a scatter that is none: the file is damaged", reader.offset("scatter"))
        return cls(rows, weight, mean, scatter)


def _is_scatter(scatter: NDArray[np.float64]) -> bool:
    """Symmetric, and no two coordinates share more than they have: s_ij^2 <= s_ii s_jj, but for rounding."""
    own = np.diagonal(scatter)
    if not np.array_equal(scatter, scatter.T) or (own < 0).any():
        return False
    spread = np.sqrt(own)
    return bool((np.abs(scatter) <= np.outer(spread, spread) * (1 + 1e-6)).all())


def joined_moments(paths: tuple[str, ...]) -> Moments:
    """The sum of the moments of several files. Raises WvError when their dimensions differ."""
    first, *others = paths
    moments = Moments.load(first)
    for path in others:
        more = Moments.load(path)
        if more.dim != moments.dim:
            message = f"{path}: expected moments of {moments.dim} dimensions as in {first}, found {more.dim}"
            raise WvError(message)
        moments = moments.merge(more)
    return moments
