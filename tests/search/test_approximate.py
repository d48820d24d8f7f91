"""Approximate search: what an index proposes, in the order and with the scores of the exact search."""

import numpy as np
import pytest

from wv_cli.errors import WvError
from wv_cli.search.approximate import Approximate, tune
from wv_cli.search.config import IndexConfig
from wv_cli.search.indexes import KINDS, block_size, build, kind_of, library
from wv_cli.search.neighbours import Neighbours

SIZES = {"hnsw": 3000, "ivf-pq": 10_000, "flat": 500}


@pytest.fixture(scope="module", params=SIZES)
def made(request):
    """(the vectors, their exact index, the approximate one) of groups of near vectors, not of unit length."""
    random = np.random.default_rng(5)
    n, dim = SIZES[request.param], 12
    centres = random.standard_normal((40, dim))
    matrix = centres[random.integers(0, 40, n)] + 0.5 * random.standard_normal((n, dim))
    exact = Neighbours(matrix * random.uniform(0.1, 9, (n, 1)), threads=1)
    config = IndexConfig(kind=request.param, threads=1, links=16)
    return exact, Approximate(build(exact, config), exact, threads=1, factor=20), config


def asked(exact, count=60):
    return [[int(row)] for row in np.linspace(0, len(exact) - 1, count)]


def test_scores_are_those_of_the_exact_search(made):
    exact, search, _ = made
    rows, scores = search.nearest(asked(exact), 5)
    unit = exact.unit_rows(np.arange(len(exact)))
    for (row,), found, cosines in zip(asked(exact), rows, scores, strict=True):
        assert row not in found and len(set(found.tolist())) == 5
        np.testing.assert_allclose(cosines, unit[found] @ unit[row], atol=1e-6)
        assert (np.diff(cosines) <= 0).all()


def test_most_of_the_nearest_are_found(made):
    exact, search, _ = made
    if search.kind.knob:
        search.turn(search.most)
    truth = exact.nearest(asked(exact), 5)[0]
    found = search.nearest(asked(exact), 5)[0]
    shared = np.mean([len(set(a) & set(b)) for a, b in zip(truth.tolist(), found.tolist(), strict=True)]) / 5
    assert shared > 0.8


def test_sums_and_vectors_from_beyond(made):
    """A query of several rows with weights, one of them no row at all, is what the exact search takes it for."""
    exact, search, _ = made
    if search.kind.knob:
        search.turn(search.most)
    beyond = exact.unit_rows([7]) * 3
    query = [[0, 5, len(exact)]]
    options = {"weights": [[1, -1, 1]], "beyond": beyond}
    rows, scores = search.nearest(query, 4, **options)
    np.testing.assert_allclose(scores[0, 0], exact.nearest(query, 4, **options)[1][0, 0], atol=1e-6)
    assert not {0, 5} & set(rows[0].tolist())


def test_more_than_there_is(made):
    exact, search, _ = made
    rows, scores = search.nearest([[0]], len(exact) + 3)
    assert rows.shape == (1, len(exact) + 3) and rows[0, -1] == -1 and scores[0, -1] == -np.inf


def test_an_index_is_searched_whole(made):
    with pytest.raises(ValueError, match="in part"):
        made[1].nearest([[0]], 1, rows=5)


def test_the_least_that_reaches_the_recall(made):
    exact, search, _ = made
    good = tune(search, exact, 5, recall=0.9, queries=200, seed=1)
    assert good.recall >= 0.9 and good.queries == 200 and good.per_second > 0
    again = search.nearest(asked(exact), 5)[0]
    truth = exact.nearest(asked(exact), 5)[0]
    shared = np.mean([len(set(a) & set(b)) for a, b in zip(truth.tolist(), again.tolist(), strict=True)]) / 5
    assert shared > 0.8
    if search.kind.knob:
        thorough = search.searched[search.kind.knob]
        tune(search, exact, 5, recall=0.3, queries=200, seed=1)
        assert search.searched[search.kind.knob] <= thorough
    else:
        assert good.recall == 1


def test_no_more_thorough_than_the_recall_needs(made):
    exact, search, _ = made
    if not search.kind.knob:
        return
    found = tune(search, exact, 5, recall=0.9, queries=200, seed=1)
    rows = [[int(row)] for row in np.sort(np.random.default_rng(1).choice(len(exact), 200, replace=False))]
    least = exact.nearest(rows, 5)[1][:, -1:] - 1e-5
    value = search.searched[search.kind.knob]
    assert (search.nearest(rows, 5)[1] >= least).mean() == pytest.approx(found.recall)
    if value > 1:
        search.turn(value - max(1, value // 16))
        assert (search.nearest(rows, 5)[1] >= least).mean() < 0.9


def test_a_recall_out_of_reach(made):
    exact, search, _ = made
    if search.kind.knob:
        search.kind = type(search.kind)(**{**vars(search.kind), "most": lambda index: 1, "codes": False})
        search.factor = 1
        with pytest.raises(WvError, match=r"at its most thorough the index finds 0.*raise --links"):
            tune(search, exact, 100, recall=1.0, queries=50, seed=1)


def test_an_index_of_other_vectors(made):
    exact, search, config = made
    search.require_of("own", "own.vec")
    random = np.random.default_rng(8)
    other = Neighbours(random.standard_normal((len(exact), exact.dim)).astype(np.float32), threads=1)
    with pytest.raises(WvError, match=r"NAME: was made of other vectors than those of v\.vec; make it again"):
        Approximate(build(exact, config), other, threads=1).require_of("NAME", "v.vec")
    with pytest.raises(ValueError, match="for vectors of 9 x 12"):
        Approximate(build(exact, config), Neighbours(np.ones((9, 12), np.float32)))


def test_the_same_seed_gives_the_same_index(made):
    exact, _, config = made
    faiss = library()
    assert (
        faiss.serialize_index(build(exact, config)).tobytes() == faiss.serialize_index(build(exact, config)).tobytes()
    )


def test_progress_is_told_to_the_end(made):
    exact, _, config = made
    told = []
    build(exact, config, lambda done, total: told.append((done, total)))
    assert told[-1] == (len(exact), len(exact))


def test_too_few_rows_for_product_codes():
    few = Neighbours(np.eye(8, dtype=np.float32))
    with pytest.raises(WvError, match="9,984 rows are the least, and found 8; choose hnsw or flat"):
        build(few, IndexConfig(kind="ivf-pq"))


@pytest.mark.parametrize(("dim", "most", "expected"), [(300, 4, 4), (100, 8, 5), (101, 4, 1), (6, 4, 3), (2, 9, 2)])
def test_blocks_divide_the_dimension(dim, most, expected):
    assert block_size(dim, most) == expected


def test_only_indexes_of_inner_products_are_known():
    faiss = library()
    assert kind_of(faiss.IndexFlatL2(4)) is None and kind_of(faiss.IndexFlatIP(4)) is KINDS["flat"]
    assert kind_of(faiss.IndexLSH(4, 8)) is None
