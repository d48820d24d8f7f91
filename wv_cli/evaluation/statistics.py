"""The statistics behind the scores, in float64. Not here: what is measured.

Everything that cannot be computed is NaN, never an exception: the caller knows the reason and says it.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wv_cli.vectors.correlation import correlation

Z95 = 1.959963984540054  # the standard normal's 97.5 % point: two-sided 95 %

_BLOCK = 1 << 22  # draws at a time
_SAME = 1e-9  # sums of an item that differ less are rounded differently

Interval = tuple[float, float]
NO_INTERVAL: Interval = (math.nan, math.nan)


def spearman_interval(rho: float, n: int) -> Interval:
    """95 % interval of a Spearman correlation: Fisher's z with the standard error sqrt((1 + rho^2 / 2) / (n - 3)) of
    Bonett & Wright 2000. NaN for n <= 3."""
    if n <= 3 or math.isnan(rho):
        return NO_INTERVAL
    if abs(rho) == 1:
        return rho, rho
    half = Z95 * math.sqrt((1 + rho * rho / 2) / (n - 3))
    return math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half)


def wilson_interval(successes: int, n: int) -> Interval:
    """95 % interval of a share (Wilson 1927), as fractions. NaN for n = 0."""
    if n == 0:
        return NO_INTERVAL
    share, z2 = successes / n, Z95 * Z95
    center = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return (center - half if successes else 0.0), (center + half if successes < n else 1.0)


def spearman_resamples(gold: ArrayLike, systems: ArrayLike, resamples: int, seed: int = 1) -> NDArray[np.float64]:
    """(resamples, systems) Spearman correlations of each of `systems` (systems, n) with `gold` (n,), on items drawn
    with replacement, the same ones for all systems: differences of columns are paired bootstrap differences. Ranks
    are taken anew in every resample. NaN where a resample is constant."""
    values = [np.unique(row, return_inverse=True)[1] for row in (np.asarray(gold), *np.asarray(systems))]
    n = len(values[0])
    random = np.random.default_rng(seed)
    result = np.full((resamples, len(values) - 1), np.nan)
    for resample in result:
        drawn = random.integers(0, n, n) if n else np.zeros(0, np.int64)
        # Twice the average ranks less their mean, as in spearman(): from the counts of equal values, without sorting.
        ranks = []
        for value in values:
            picked = value[drawn]
            counts = np.bincount(picked)
            ranks.append((2 * np.cumsum(counts) - counts - n)[picked])
        for system, rank in enumerate(ranks[1:]):
            if n and np.ptp(rank) and np.ptp(ranks[0]):
                resample[system] = correlation(rank.astype(np.float64), ranks[0].astype(np.float64))
    return result


def percentile_interval(values: NDArray[np.float64]) -> Interval:
    """95 % interval of resampled values; NaN when fewer than half of them could be computed."""
    finite = values[np.isfinite(values)]
    if 2 * len(finite) < len(values) or not len(finite):
        return NO_INTERVAL
    low, high = np.percentile(finite, [2.5, 97.5])
    return float(low), float(high)


def _draw_blocks(items: int, resamples: int) -> list[int]:
    """The sizes of blocks of draws that keep memory small."""
    step = max(1, _BLOCK // max(1, items))
    return [b - a for a, b in pairwise([*range(0, resamples, step), resamples])]


def ratio_interval(sums: NDArray[np.float64], counts: NDArray[np.float64], resamples: int, seed: int) -> Interval:
    """95 % bootstrap interval of sum(sums) / sum(counts), items drawn with replacement. NaN for fewer than two items
    and for 0 resamples."""
    if len(sums) < 2 or not resamples:
        return NO_INTERVAL
    random = np.random.default_rng(seed)
    means = []
    for size in _draw_blocks(len(sums), resamples):
        drawn = random.integers(0, len(sums), (size, len(sums)))
        events = counts[drawn].sum(axis=1)
        means.append(sums[drawn].sum(axis=1) / np.where(events, events, np.nan))
    return percentile_interval(np.concatenate(means))


def randomization_p(differences: NDArray[np.float64], resamples: int, seed: int) -> float | None:
    """p of no difference: how often the sum is as far from 0 when each item's difference takes either sign."""
    if len(differences) < 2 or not resamples:
        return None
    differences = np.where(np.abs(differences) < _SAME, 0, differences)
    random = np.random.default_rng(seed)
    seen, far = abs(float(differences.sum())) * (1 - 1e-12), 0
    for size in _draw_blocks(len(differences), resamples):
        signs = random.integers(0, 2, (size, len(differences)), np.int8) * 2 - 1
        far += int(np.count_nonzero(np.abs(signs @ differences) >= seen))
    return (far + 1) / (resamples + 1)


@dataclass(frozen=True)
class Test:
    """A two-sided test of `no difference`. `statistic`: Steiger's Z; for McNemar the number of discordant pairs."""

    __test__ = False  # not for pytest

    statistic: float
    p: float


def steiger(r1: float, r2: float, r12: float, n: int, *, ranks: bool = False) -> Test:
    """Steiger's Z (1980, eq. 14) for two correlations with the same third variable, measured on the same n items: r1
    and r2 of two systems with the gold standard, r12 of the systems with each other. NaN for n <= 3 or a missing
    correlation.

    `ranks`: the correlations are Spearman's, whose Fisher z varies 1 + rho^2 / 2 times as much as Pearson's (Bonett &
    Wright 2000, as in spearman_interval). Without it a test of two equally good systems at 5 % rejects 5.8 to 8.3 % of
    the time (rho .5 to .85, bivariate normal), with it 3.6 to 4.7 %."""
    if n <= 3 or any(math.isnan(r) for r in (r1, r2, r12)):
        return Test(math.nan, math.nan)
    if r1 == r2:
        return Test(0.0, 1.0)
    mean2 = ((r1 + r2) / 2) ** 2
    psi = r12 * (1 - 2 * mean2) - mean2 / 2 * (1 - 2 * mean2 - r12 * r12)
    covariance = psi / (1 - mean2) ** 2 if mean2 < 1 else math.nan
    if abs(r1) == 1 or abs(r2) == 1 or not covariance < 1:
        return Test(math.nan, math.nan)
    spread = 1 + mean2 / 2 if ranks else 1.0
    z = (math.atanh(r1) - math.atanh(r2)) * math.sqrt((n - 3) / (2 - 2 * covariance) / spread)
    return Test(z, math.erfc(abs(z) / math.sqrt(2)))


def mcnemar(first_only: int, second_only: int) -> Test:
    """McNemar's exact test: of the items only one of two systems has right, are both equally often the one?"""
    n = first_only + second_only
    log_half = n * math.log(0.5)
    tail = math.fsum(
        math.exp(math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + log_half)
        for i in range(min(first_only, second_only) + 1)
    )
    return Test(float(n), min(1.0, 2 * tail))
