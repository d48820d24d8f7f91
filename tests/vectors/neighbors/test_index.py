"""What every index does alike: rows asked together, rows beyond it, weights, lists that cannot be filled."""

import numpy as np
import pytest

from wv_cli.vectors.neighbors.codes import CodeNeighbors, pack_bits, pack_positions, unpack_bits
from wv_cli.vectors.neighbors.exact import Neighbors
from wv_cli.vectors.neighbors.product import ProductNeighbors
from wv_cli.vectors.neighbors.reranking import Reranker
from wv_cli.vectors.neighbors.some_rows import SomeRows
from wv_cli.vectors.neighbors.topk import make_empty_hits, merge

N = 60
random = np.random.default_rng(1)
MATRIX = random.standard_normal((N, 12)).astype(np.float32)
BITS = MATRIX @ random.standard_normal((12, 80)) > 0
POSITIONS = np.argsort(-(MATRIX @ random.standard_normal((12, 50))), axis=1)[:, :6]
POSITIONS = np.sort(POSITIONS, axis=1).astype(np.int32)


def vectors():
    return Neighbors(MATRIX), MATRIX


def dense():
    return CodeNeighbors(80, 0, pack_bits(BITS)), pack_bits(BITS)


def sparse():
    return CodeNeighbors(50, 6, POSITIONS), POSITIONS


def product():
    codes = np.random.default_rng(3).integers(0, 256, (N, 3), np.uint8)
    return ProductNeighbors(codes, 12, 5, random.standard_normal(256 * 12).astype(np.float32)), MATRIX


def reranked():
    """Of the codes, in the order of vectors that stand in another order."""
    order = np.random.default_rng(2).permutation(N)
    return Reranker(dense()[0], Neighbors(MATRIX[order]), np.argsort(order), N), None


def padded():
    """Rows with numbers between them."""
    matrix = np.full((N, 16), np.nan, np.float32)
    matrix[:, :12] = MATRIX
    return Neighbors(matrix[:, :12]), MATRIX


def records():
    """Rows as they lie in a file, at any byte."""
    data = b"".join(b"word " + row.tobytes() for row in MATRIX)
    return Neighbors.of_bytes(memoryview(data), np.arange(N) * (5 + 48) + 5, 12), MATRIX


every_index = pytest.mark.parametrize("make", [vectors, dense, sparse, product, reranked])


@every_index
def test_asked_rows_are_left_out_and_lists_are_whole(make):
    index, _ = make()
    assert len(index) == N
    hits, scores = index.nearest([[3], [4, 5], [6, 6, 7]], N + 4)
    assert hits.shape == scores.shape == (3, N + 4)
    for asked, line, values in zip([{3}, {4, 5}, {6, 7}], hits, scores, strict=True):
        filled = N - len(asked)
        assert set(line[:filled].tolist()) == set(range(N)) - asked
        assert (line[filled:] == -1).all() and (values[filled:] == -np.inf).all()
        order = sorted(range(filled), key=lambda i: (-values[i], line[i]))
        assert order == list(range(filled)), "best first, ties to the lowest row"
    few = index.nearest([[3]], 5, rows=10)[0]
    assert few.max() < 10 and 3 not in few


@every_index
def test_company_changes_nothing(make):
    index, _ = make()
    together = index.nearest([[1], [2, 3], [4]], 7)
    for i, asked in enumerate([[1], [2, 3], [4]]):
        for one, all_ in zip(index.nearest([asked], 7), together, strict=True):
            np.testing.assert_array_equal(one[0], all_[i])


@pytest.mark.parametrize("make", [vectors, dense, sparse])
def test_rows_beyond_the_index_are_asked_like_its_own(make):
    index, data = make()
    beyond = data[[8, 9]].copy()
    for own, other in [([8], [N]), ([9], [N + 1]), ([8, 20], [N, 20])]:
        found = index.nearest([other], N, beyond=beyond)
        expected = index.nearest([own], N)
        kept = [i for i, row in enumerate(found[0][0]) if row >= 0 and row not in own]
        np.testing.assert_array_equal(found[0][0][kept], expected[0][0][: len(kept)])
        np.testing.assert_array_equal(found[1][0][kept], expected[1][0][: len(kept)])
        assert own[0] in found[0][0], "what stands beyond excludes no row"


@every_index
def test_weights(make):
    """Equal weights are none; a row added and taken away again leaves the others."""
    index, _ = make()
    plain = index.nearest([[1, 2, 3]], 9)
    weighted = index.nearest([[1, 2, 3]], 9, weights=[[2, 2, 2]])
    np.testing.assert_array_equal(weighted[0], plain[0])
    np.testing.assert_allclose(weighted[1], plain[1], atol=1e-6)
    less = index.nearest([[1, 2, 2]], 9, weights=[[1, 1, -1]])[0][0].tolist()
    assert less == [row for row in index.nearest([[1]], 10)[0][0].tolist() if row != 2][:9]


@pytest.mark.parametrize("make", [vectors, dense, sparse, product, padded, records])
def test_some_rows_answer_as_the_whole_without_the_others(make):
    index, data = make()
    rows = np.array([0, 3, 4, 17, 40, N - 1])
    some = SomeRows(index, rows)
    beyond = None if data is None else data[[8]].copy()
    asked = [[3], [4, 5], [9], *([[N]] if beyond is not None else [])]
    for first in (None, 18, 1):
        found = some.nearest(asked, 5, beyond=beyond, rows=first)
        every = index.nearest(asked, N, beyond=beyond, rows=first)
        for hits, scores, all_hits, all_scores in zip(*found, *every, strict=True):
            kept = np.flatnonzero(np.isin(all_hits, rows))[:5]
            assert hits[: len(kept)].tolist() == all_hits[kept].tolist() and (hits[len(kept) :] == -1).all()
            np.testing.assert_allclose(scores[: len(kept)], all_scores[kept], atol=1e-6)


def test_reranking_is_the_exact_order_of_the_candidates():
    index, _ = reranked()
    exact = Neighbors(MATRIX).nearest([[5], [6, 7]], 10)
    found = index.nearest([[5], [6, 7]], 10)
    np.testing.assert_array_equal(found[0], exact[0])
    np.testing.assert_allclose(found[1], exact[1], atol=1e-6)
    few = Reranker(dense()[0], Neighbors(MATRIX), np.arange(N), 4).nearest([[5]], 4)[0][0]
    assert set(few.tolist()) == set(dense()[0].nearest([[5]], 4)[0][0].tolist())


def test_merge_takes_the_best_of_all():
    first, second = make_empty_hits(1, 2, np.iinfo(np.int32).max), make_empty_hits(1, 2, np.iinfo(np.int32).max)
    first[0][0, 0], first[1][0, 0] = 7, 0.5
    second[0][0], second[1][0] = [9, 2], [0.75, 0.5]
    hits, scores = merge([first, second], 4)
    assert hits.tolist() == [[9, 2, 7, -1]] and scores[0].tolist() == [0.75, 0.5, 0.5, -np.inf]


def test_bits_and_positions_are_packed_alike():
    bits = np.zeros((N, 50), np.bool_)
    np.put_along_axis(bits, POSITIONS.astype(np.int64), True, axis=1)
    np.testing.assert_array_equal(pack_positions(POSITIONS, 50), pack_bits(bits))
    np.testing.assert_array_equal(unpack_bits(pack_bits(bits), 50), bits)
