"""Reference implementations of the statistics, in plain Python with exact fractions where that is possible."""

import math
from fractions import Fraction


def average_ranks(values):
    """By definition: the number of smaller values, plus half of (the number of equal ones, itself included, plus 1)."""
    return [Fraction(2 * sum(v < x for v in values) + sum(v == x for v in values) + 1, 2) for x in values]


def correlation(x, y):
    """Pearson's, from exact sums."""
    x, y = [Fraction(v) for v in x], [Fraction(v) for v in y]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    covariance = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    variances = sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y)
    if variances == 0:
        return math.nan
    return math.copysign(math.sqrt(covariance * covariance / variances), covariance)


def spearman(x, y):
    return correlation(average_ranks(x), average_ranks(y))


def binomial_two_sided(successes, n):
    """P(a fair coin is at least as far from n / 2), exactly."""
    tail = sum(math.comb(n, i) for i in range(min(successes, n - successes) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**n)))
