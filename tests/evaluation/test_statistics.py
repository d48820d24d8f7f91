"""The statistics against exact references, and against constants worked out by hand or taken from the literature."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import statistics as reference
from wv_cli.evaluation.statistics import (
    mcnemar,
    spearman_interval,
    steiger,
    wilson_interval,
)
from wv_cli.vectors.correlation import average_ranks, pearson, spearman, two_sided_p

few_levels = st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3)), min_size=2, max_size=60)


@given(st.lists(st.integers(-5, 5), max_size=50))
def test_average_ranks(values):
    assert average_ranks(values).tolist() == [float(rank) for rank in reference.average_ranks(values)]


@settings(max_examples=200)
@given(few_levels)
def test_correlations_with_ties(items):
    x, y = zip(*items, strict=True)
    for ours, exact in ((pearson, reference.correlation), (spearman, reference.spearman)):
        assert ours(x, y) == pytest.approx(exact(x, y), abs=1e-12, nan_ok=True)


@given(st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=40, unique=True))
def test_a_reversal_is_exactly_minus_one(values):
    gold = sorted(values)
    assert spearman(gold, gold) == 1
    assert spearman(gold, gold[::-1]) == -1


def test_by_hand():
    # Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: covariance 4.5, variances 4.5 and 5.
    assert spearman([1, 2, 2, 9], [1, 2, 3, 4]) == pytest.approx(4.5 / math.sqrt(4.5 * 5), abs=1e-15)
    assert pearson([1, 2, 3], [2, 1, 6]) == pytest.approx(4 / math.sqrt(2 * 14), abs=1e-15)


def test_the_shortcut_for_ties_is_not_used():
    """With few levels, as the similarities of sparse codes have, 1 - 6 sum d^2 / (n^3 - n) is far off."""
    random = np.random.default_rng(1)
    gold = random.integers(0, 51, 3000)  # MEN has 51 levels
    model = np.floor(2 * (gold / 51 * 0.6 + random.random(3000) * 0.4))
    ordinal = np.argsort(np.argsort(model, kind="stable")) - np.argsort(np.argsort(gold, kind="stable"))
    shortcut = 1 - 6 * np.sum(ordinal.astype(float) ** 2) / (3000.0**3 - 3000)
    exact = reference.spearman(model[:300].tolist(), gold[:300].tolist())
    assert spearman(model[:300], gold[:300]) == pytest.approx(exact, abs=1e-12)
    assert abs(spearman(model, gold) - shortcut) > 0.08


def test_far_from_zero_and_out_of_square_range():
    """Two passes: what a one-pass formula loses is kept, and squares may leave float64."""
    x = np.array([1.0, 2, 4, 8, 16])
    y = np.array([3.0, 1, 5, 2, 9])
    want = pearson(x, y)
    assert pearson(x + 1e9, y) == pytest.approx(want, abs=1e-6)
    assert pearson(x * 1e200, y * 1e-200) == pytest.approx(want, abs=1e-14)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([], []),
        ([1], [1]),
        ([1, 1, 1], [1, 2, 3]),
        ([0.1] * 3, [1, 2, 3]),
        ([1, 2], [1, math.nan]),
        ([math.inf, 2], [1, 2]),
    ],
)
def test_what_has_no_correlation_is_nan(x, y):
    assert math.isnan(pearson(x, y)) and math.isnan(spearman(x, y)) and math.isnan(spearman(y, x))


def test_spearman_interval():
    """Half-widths for WS353, SimLex-999 and MEN at usual scores."""
    for rho, n, half in [(0.70, 353, 0.060), (0.35, 999, 0.056), (0.75, 3000, 0.0185)]:
        low, high = spearman_interval(rho, n)
        assert low < rho < high and (high - low) / 2 == pytest.approx(half, abs=0.001)
    assert spearman_interval(-0.5, 30) == tuple(-x for x in reversed(spearman_interval(0.5, 30)))
    assert spearman_interval(1.0, 10) == (1.0, 1.0)
    assert all(math.isnan(x) for x in (*spearman_interval(0.5, 3), *spearman_interval(math.nan, 50)))


def test_wilson_interval():
    assert wilson_interval(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson_interval(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert wilson_interval(10, 10)[1] == 1
    low, high = wilson_interval(6134, 12268)
    assert (high - low) / 2 == pytest.approx(0.0088, abs=1e-4)
    assert all(math.isnan(x) for x in wilson_interval(0, 0))


def test_steiger():
    """The smallest differences that are significant at .05 on WS353 when the models' scores correlate so and so."""
    for r12, difference in [(0.5, 0.065), (0.8, 0.045), (0.9, 0.033), (0.95, 0.024)]:
        assert steiger(0.7 + difference / 2, 0.7 - difference / 2, r12, 353).p == pytest.approx(0.05, abs=0.015)
    forth, back = steiger(0.7, 0.6, 0.8, 100), steiger(0.6, 0.7, 0.8, 100)
    assert forth.statistic == -back.statistic > 0 and forth.p == back.p
    assert steiger(0.7, 0.7, 1.0, 100).p == 1
    for nothing in [steiger(0.7, 0.6, 0.8, 3), steiger(math.nan, 0.6, 0.8, 99), steiger(1.0, 0.6, 0.6, 99)]:
        assert math.isnan(nothing.p)


def test_steiger_by_hand():
    # r1 = .5, r2 = .3, r12 = .6, n = 103: mean^2 = .16, psi = .6 * .68 - .08 * (.68 - .36), c = psi / .84^2
    covariance = (0.6 * 0.68 - 0.08 * 0.32) / 0.84**2
    z = (math.atanh(0.5) - math.atanh(0.3)) * math.sqrt(100 / (2 - 2 * covariance))
    assert steiger(0.5, 0.3, 0.6, 103).statistic == pytest.approx(z, rel=1e-12)


@pytest.mark.parametrize(("n", "rho", "between"), [(353, 0.7, 0.9), (100, 0.85, 0.8)])
def test_steiger_of_ranks_holds_its_level(n, rho, between):
    """Two equally good systems, 3,000 times: at 5 % no more than 5 % of the tests may reject, nor far fewer. As if the
    correlations were Pearson's, 6.7 and 8.3 % do."""
    covariances = np.array([[1, rho, rho], [rho, 1, between], [rho, between, 1]])
    drawn = np.random.default_rng(1).standard_normal((3000, n, 3)) @ np.linalg.cholesky(covariances).T
    ranks = drawn.argsort(axis=1).argsort(axis=1) - (n - 1) / 2
    gold, first, second = (ranks[:, :, system] for system in range(3))
    pairs = (gold, first), (gold, second), (first, second)
    r1, r2, r12 = ((a * b).sum(axis=1) / (a * a).sum(axis=1) for a, b in pairs)
    tests = [steiger(*each, n, ranks=True).p for each in zip(r1.tolist(), r2.tolist(), r12.tolist(), strict=True)]
    rejected = np.mean(np.array(tests) < 0.05)
    assert 0.03 < rejected < 0.05


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar(first, second):
    assert mcnemar(first, second).p == pytest.approx(reference.binomial_two_sided(first, first + second), rel=1e-9)


def test_mcnemar_of_many():
    assert mcnemar(5000, 5000).p == 1
    assert mcnemar(4900, 5100).p == pytest.approx(0.0466, abs=2e-4)
    assert 0 <= mcnemar(100, 19_000).p < 1e-100


def test_p_values_of_correlations():
    """What SciPy 1.x gives: 2 * scipy.stats.t.sf(r * sqrt((n - 2) / (1 - r * r)), n - 2)."""
    expected = [
        (0.5, 10, 0.14111328125000006),
        (-0.97, 12, 1.8197729388597734e-07),
        (0.01, 5000, 0.47959900539314493),
        (0.2, 353, 0.000155187967308746),
        (0.9999, 3, 0.009003238189618389),
        (0.0, 7, 1.0),
        (1.0, 9, 0.0),
    ]
    for r, n, p in expected:
        assert two_sided_p(r, n) == pytest.approx(p, rel=1e-9)
    assert math.isnan(two_sided_p(0.5, 2)) and math.isnan(two_sided_p(math.nan, 9))
