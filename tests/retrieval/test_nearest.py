"""The nearest int8 rows against float64, on every instruction set; batches, ties, and rows that are no answers."""

import numpy as np
import pytest

from wv_cli import _cpu, _search
from wv_cli.io.memory import allocate_aligned
from wv_cli.retrieval.model import nearest, to_int8

ISAS = pytest.mark.parametrize("isa", _cpu.usable())


def make_rows(n, dim, seed=1):
    random = np.random.default_rng(seed)
    return to_int8(random.standard_normal((n, dim)).astype(np.float32)), random


@ISAS
@pytest.mark.parametrize("dim", [1, 7, 8, 15, 16, 17, 31, 33, 100, 300])
@pytest.mark.parametrize("n", [1, 3, 63, 64, 65, 200])
def test_they_are_those_of_float64(isa, dim, n):
    (rows, norms), random = make_rows(n, dim)
    queries = random.standard_normal((6, dim)).astype(np.float32)
    hits, scores = nearest(rows, norms, queries, 20, isa)
    wide = rows.astype(np.float64)
    cosines = (
        queries / np.linalg.norm(queries, axis=1, keepdims=True) @ (wide / np.linalg.norm(wide, axis=1)[:, None]).T
    )
    k = min(20, n)
    np.testing.assert_allclose(scores[:, :k], -np.sort(-cosines, axis=1)[:, :k], atol=1e-6)
    np.testing.assert_allclose(np.take_along_axis(cosines, hits[:, :k].astype(int), 1), scores[:, :k], atol=1e-6)
    assert all(len(set(each.tolist())) == k for each in hits[:, :k])


@ISAS
def test_a_query_has_the_same_answer_in_every_batch(isa):
    (rows, norms), random = make_rows(300, 50)
    queries = random.standard_normal((11, 50)).astype(np.float32)
    together = nearest(rows, norms, queries, 9, isa)
    for i in range(len(queries)):
        hits, scores = nearest(rows, norms, queries[i : i + 1], 9, isa)
        assert hits[0].tolist() == together[0][i].tolist() and scores[0].tolist() == together[1][i].tolist()


@ISAS
def test_ties_go_to_the_lowest_row(isa):
    (rows, norms), random = make_rows(10, 33)
    rows, norms = np.tile(rows, (20, 1)), np.tile(norms, 20)
    hits, scores = nearest(rows, norms, random.standard_normal((5, 33)).astype(np.float32), 7, isa)
    for each, found in zip(hits, scores, strict=True):
        assert each.tolist() == [each[0] + 10 * i for i in range(7)] and len(set(found.tolist())) == 1


@ISAS
def test_rows_without_a_length_are_no_answers(isa):
    (rows, norms), random = make_rows(70, 16)
    norms[::2] = 0
    norms[1] = np.nan
    hits, _ = nearest(rows, norms, random.standard_normal((5, 16)).astype(np.float32), 70, isa)
    for each in hits:
        assert sorted(each[:34].tolist()) == list(range(3, 70, 2)) and (each[34:] == -1).all()


def test_shapes_are_checked():
    rows, norms = np.ones((4, 20), np.int8), np.full(4, 200, np.float32)
    queries, scores, hits = allocate_aligned((2, 32)), np.zeros((2, 3), np.float32), np.zeros((2, 3), np.int32)
    for wrong in (
        (rows, norms[:3], queries, scores, hits), (rows, norms, queries[:, :16].copy(), scores, hits),
        (rows, norms, queries, scores[:1], hits), (rows, norms, queries, scores, hits[:, :2].copy()),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"differ|width"):
            _search.int8_top_k(wrong[0], wrong[1], 127, *wrong[2:])
