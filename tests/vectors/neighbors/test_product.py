"""Product codes searched as codes: the cosines of what they stand for, on every instruction set."""

import numpy as np
import pytest

from tests.reference import product, search
from wv_cli import _cpu
from wv_cli.vectors.neighbors.product import ProductNeighbors

ISAS = pytest.mark.parametrize("isa", _cpu.usable())
SHAPES = [(1, 1), (7, 2), (8, 3), (16, 5), (17, 17), (31, 4), (100, 2), (100, 7), (300, 20)]


def made(seed, n, dim, dsub, whole=False):
    random = np.random.default_rng(seed)
    codes = random.integers(0, 256, (n, -(-dim // dsub)), np.uint8)
    values = random.integers(-2, 3, 256 * dim) if whole else random.standard_normal(256 * dim)
    return codes, values.astype(np.float32)


@ISAS
@pytest.mark.parametrize(("dim", "dsub"), SHAPES)
def test_cosines_are_those_of_the_decoded_vectors(isa, dim, dsub):
    codes, centroids = made(dim, 333, dim, dsub)
    matrix = search.unit(product.decode(codes, dim, dsub, centroids))
    queries = np.random.default_rng(1).standard_normal((37, dim)).astype(np.float32)
    exact = search.unit(queries) @ matrix.T
    index = ProductNeighbors(codes, dim, dsub, centroids, isa=isa)
    for rows in (333, 5):  # the lengths are found in the first search and kept
        hits, scores = index.top_k(queries, 4, rows=rows, exclude=[[0]] * len(queries))
        np.testing.assert_allclose(scores, np.take_along_axis(exact, hits.astype(np.int64), axis=1), atol=2e-6)
        best = np.sort(exact[:, 1:rows], axis=1)[:, ::-1][:, :4]
        np.testing.assert_allclose(scores, best, atol=2e-6)
        assert not (hits == 0).any() and hits.max() < rows
    np.testing.assert_allclose(index.unit_rows([0, 332]), matrix[[0, 332]], atol=1e-6)


@ISAS
def test_ties_go_to_the_lowest_row_whatever_the_threads(isa):
    codes, centroids = made(5, 40_000, 6, 2, whole=True)
    codes //= 64  # few different ones: the same vector stands in many rows
    queries = np.random.default_rng(2).integers(-3, 4, (20, 6)).astype(np.float32)
    alone = [ProductNeighbors(codes, 6, 2, centroids, threads=1, isa=isa).top_k(query, 9) for query in queries]
    for threads in (1, 2):
        hits, scores = ProductNeighbors(codes, 6, 2, centroids, threads=threads, isa=isa).top_k(queries, 9)
        np.testing.assert_array_equal(hits, np.concatenate([each for each, _ in alone]))
        np.testing.assert_array_equal(scores, np.concatenate([each for _, each in alone]))
    for line in hits.tolist():
        same = (codes == codes[line[0]]).all(axis=1)
        assert line[0] == int(np.flatnonzero(same)[0])


@ISAS
@pytest.mark.parametrize("size", [1e-38, 1e-20, 1e20, 3e37])
def test_no_size_of_the_centroids_leaves_the_numbers(isa, size):
    codes, centroids = made(3, 50, 9, 4)
    queries = np.random.default_rng(2).standard_normal((3, 9)).astype(np.float32)
    want = ProductNeighbors(codes, 9, 4, centroids, isa=isa).top_k(queries, 5)
    found = ProductNeighbors(codes, 9, 4, centroids * np.float32(size), isa=isa).top_k(queries, 5)
    np.testing.assert_array_equal(found[0], want[0])
    np.testing.assert_allclose(found[1], want[1], atol=1e-5)


@ISAS
def test_zero_vectors_are_near_nothing(isa):
    codes, centroids = made(4, 20, 4, 2)
    blocks = centroids.reshape(2, 256, 2)
    blocks[:, 7] = 0
    codes[3] = 7
    hits, scores = ProductNeighbors(codes, 4, 2, centroids, isa=isa).top_k(np.ones((1, 4)), 20)
    assert scores[0][hits[0] == 3] == 0
    none = ProductNeighbors(codes, 4, 2, np.zeros_like(centroids), isa=isa)
    assert (none.top_k(np.ones((1, 4)), 20)[1] == 0).all()
