"""Correlations of scores with people's judgements, in float64: Pearson's, Spearman's, and their p-values.

What cannot be computed is NaN, never an exception: the caller knows the reason and says it.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray


def average_ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Ranks from 1; equal values share the average of their places."""
    _, inverse, counts = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's correlation, two passes; NaN for fewer than two values, a constant, or values that are not finite."""
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if _nothing_to_correlate(a, b):
        return math.nan
    # Scaled first, so that neither tiny nor huge values leave float64 when they are squared.
    a, b = a / np.abs(a).max(), b / np.abs(b).max()
    return correlation(a - a.mean(), b - b.mean())


def _nothing_to_correlate(x: NDArray[np.float64], y: NDArray[np.float64]) -> bool:
    return len(x) < 2 or not (np.isfinite(x).all() and np.isfinite(y).all()) or np.ptp(x) == 0 or np.ptp(y) == 0


def correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Of values whose mean is zero, not all of them zero."""
    r = float(x @ y) / math.sqrt(float(x @ x) * float(y @ y))
    return max(-1.0, min(1.0, r))


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's correlation of the average ranks, which is right with ties; the shortcut 1 - 6 sum d^2 / (n^3 - n) is
    not. NaN as for pearson."""
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if _nothing_to_correlate(a, b):
        return math.nan
    # Twice the ranks less their mean are whole numbers, and so are their products: the sums are exact, in any order.
    return correlation(2 * average_ranks(a) - len(a) - 1, 2 * average_ranks(b) - len(b) - 1)


def two_sided_p(r: float, n: int) -> float:
    """The probability that n unrelated pairs correlate as much as `r` or more, in either direction, by Student's t with
    n - 2 degrees of freedom. NaN for n < 3."""
    if n < 3 or math.isnan(r):
        return math.nan
    return _incomplete_beta((n - 2) / 2, 0.5, (1 - r) * (1 + r))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function, 0 to 1 (Numerical Recipes, section 6.4)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # where the fraction converges slowly
        return 1 - _incomplete_beta(b, a, 1 - x)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    # The continued fraction, by Lentz's method.
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return math.exp(scale) * fraction / a
