"""Transport: exact costs against the reference implementation, and bounds that are never above them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import transport as reference
from wv_cli import _transport
from wv_cli.vectors.neighbors.transport import bound_costs, distances, least_cost

sizes = st.integers(1, 6)


def masses(random, n, total):
    """n whole numbers of at least 1 with this sum."""
    cuts = np.sort(random.choice(np.arange(1, total), n - 1, replace=False))
    return np.diff([0, *cuts, total]).astype(np.int64)


@given(sizes, sizes, st.integers(6, 40), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_twin_moves_for_the_same_cost(rows, columns, total, seed, ties):
    """Also where many ways cost the same or nothing."""
    random = np.random.default_rng(seed)
    cost = random.random((rows, columns))
    cost[random.random(cost.shape) < ties] = random.integers(0, 2)
    supply, demand = masses(random, rows, total), masses(random, columns, total)
    expected = reference.least_cost(cost.tolist(), supply.tolist(), demand.tolist())
    assert _transport.least_cost(cost, supply, demand) == pytest.approx(expected, abs=1e-9)


def test_assignments_of_hundreds():
    """Points that moved a little go back to where they came from; the sum of squares says so (Birkhoff)."""
    random = np.random.default_rng(3)
    points = random.random((300, 4))
    order = random.permutation(300)
    cost = ((points[:, None] - points[order][None]) ** 2).sum(axis=2)
    ones = np.ones(300, np.int64)
    assert _transport.least_cost(cost, ones, ones) == pytest.approx(0, abs=1e-12)
    supply, demand = np.arange(1, 301), np.arange(300, 0, -1)
    there = _transport.least_cost(cost, supply, demand)
    assert there == pytest.approx(_transport.least_cost(np.ascontiguousarray(cost.T), demand, supply))


def test_shares_of_counts():
    """Counts of any sums: what is moved are shares of each side."""
    cost = np.array([[0.0, 4.0], [2.0, 1.0]])
    moved = least_cost(cost, np.array([1, 1]), np.array([2, 1]))
    assert moved == pytest.approx(1 / 2 * 0 + 1 / 6 * 2 + 1 / 3 * 1)
    same = least_cost(cost, np.array([10, 10]), np.array([20, 10]))
    assert same == moved


@pytest.mark.parametrize(
    ("cost", "supply", "demand"),
    [
        (np.ones((2, 2)), [1, 1], [1, 1, 1]),
        (np.ones((2, 2)), [1, 1], [1, 2]),
        (np.ones((2, 2)), [2, 0], [1, 1]),
        (np.array([[1.0, np.nan], [1.0, 1.0]]), [1, 1], [1, 1]),
        (np.array([[1.0, -1.0], [1.0, 1.0]]), [1, 1], [1, 1]),
        (np.ones((0, 2)), [], [1, 1]),
    ],
)
def test_what_cannot_be_moved(cost, supply, demand):
    with pytest.raises(ValueError, match=r"masses|costs"):
        _transport.least_cost(cost, np.array(supply, np.int64), np.array(demand, np.int64))


def test_distances():
    random = np.random.default_rng(1)
    a, b = random.standard_normal((5, 7)).astype(np.float32), random.standard_normal((9, 7)).astype(np.float32)
    b[3] = a[2]
    expected = np.sqrt(((a[:, None].astype(float) - b[None]) ** 2).sum(axis=2))
    found = distances(a, b)
    np.testing.assert_allclose(found, expected, atol=1e-7)
    assert found[2, 3] == 0, "the same vector is at no distance"


@given(st.integers(0, 2**32 - 1))
def test_bounds_are_never_above(seed):
    random = np.random.default_rng(seed)
    cost = random.random((4, 12))
    counts = random.integers(1, 4, 4)
    lengths = random.integers(1, 6, 5)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.concatenate([np.sort(random.choice(12, n, replace=False)) for n in lengths])
    masses = random.integers(1, 4, len(columns))
    bounds = bound_costs(cost, counts, columns, masses, starts)
    for i in range(5):
        part = slice(starts[i], starts[i + 1])
        exact = least_cost(cost[:, columns[part]], counts, masses[part])
        assert bounds[i] <= exact + 1e-12
        if lengths[i] == 1:
            assert bounds[i] == pytest.approx(exact)
