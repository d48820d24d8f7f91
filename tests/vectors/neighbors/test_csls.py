"""CSLS by the search of cosines against the whole matrix of scores."""

import numpy as np
import pytest

from tests.reference.csls import csls
from wv_cli.vectors.neighbors.csls import Csls, mean_cosines, mutual
from wv_cli.vectors.neighbors.exact import Neighbors


def drawn(n, dim, seed):
    random = np.random.default_rng(seed)
    # One direction that all share, as in real vectors: there are hubs.
    return (random.standard_normal((n, dim)) * random.uniform(0.1, 9, (n, 1)) + random.random(dim)).astype(np.float32)


def asked(x, y, k, threads=1):
    xs, ys = (Neighbors(rows, threads=threads) for rows in (x, y))
    return Csls(ys, mean_cosines(y, xs, k)).top_k(x, 5)


@pytest.mark.parametrize(("n", "m", "dim", "k"), [(1, 7, 3, 1), (300, 200, 8, 10), (90, 500, 33, 4), (9000, 50, 5, 60)])
def test_the_order_is_that_of_the_reference(n, m, dim, k):
    x, y = drawn(n, dim, 1), drawn(m, dim, 2)
    scores = csls(x, y, min(k, n))
    found = asked(x, y, k)
    best = np.sort(scores, axis=1)[:, : -min(5, m) - 1 : -1]
    np.testing.assert_allclose(np.take_along_axis(scores, found[:, : min(5, m)], axis=1), best, atol=1e-5)
    np.testing.assert_array_equal(found, asked(x, y, k, threads=2))


def test_the_penalty_matters():
    """A hub near to everything is the nearest of many by cosine, of few by CSLS."""
    random = np.random.default_rng(1)
    x, y = (random.standard_normal((n, 20)).astype(np.float32) + 0.5 for n in (300, 200))
    y[0] = 1
    nearest = Neighbors(y, threads=1).top_k(x, 1)[0][:, 0]
    assert (nearest == 0).sum() > 3 * (asked(x, y, 10)[:, 0] == 0).sum()


def test_zero_rows_and_rows_that_are_no_vectors():
    x, y = drawn(40, 6, 1), drawn(30, 6, 2)
    y[3], y[5], x[2] = np.nan, 0, np.inf
    found = asked(x, y, 3)
    assert not (found == 3).any() and (found[2] == -1).all() and (np.delete(found, 2, axis=0) >= 0).all()
    sane = np.delete(np.arange(40), 2)
    scores = csls(x[sane], np.delete(y, 3, axis=0), 3)
    np.testing.assert_array_equal(found[sane, 0], np.delete(np.arange(30), 3)[scores.argmax(axis=1)])


def test_fewer_rows_than_asked():
    assert asked(drawn(4, 3, 1), drawn(2, 3, 2), 10)[:, 2:].tolist() == [[-1] * 3] * 4
    nothing = np.empty((0, 3), np.float32)
    assert asked(drawn(4, 3, 1), nothing, 10).tolist() == [[-1] * 5] * 4
    assert mutual(nothing, drawn(4, 3, 1)).shape == (0, 2)


def test_mutual_pairs():
    x, y = drawn(300, 8, 1), drawn(200, 8, 2)
    scores = csls(x, y, 10)
    forth, back = scores.argmax(axis=1), scores.argmax(axis=0)
    expected = [(i, j) for i, j in enumerate(forth.tolist()) if back[j] == i]
    assert mutual(x, y, k=10, threads=1).tolist() == [list(pair) for pair in expected] and len(expected) > 50
