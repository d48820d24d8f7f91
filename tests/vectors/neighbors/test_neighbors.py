"""Neighbors: exact cosines and analogies, the same whatever the threads and batches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import search as reference
from wv_cli import _cpu
from wv_cli.errors import BadFile, UsageError
from wv_cli.vectors.neighbors.exact import METHODS, Neighbors

ISAS = pytest.mark.parametrize("isa", _cpu.usable())


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def assert_best(found, matrix, queries, k, exclude=None, tolerance=3e-6):
    """The cosines are right, and nothing better was left out."""
    hits, scores = found
    rows, asked = reference.unit(matrix), reference.unit(queries)
    np.testing.assert_allclose(scores, reference.top_k(rows, asked, k, exclude)[1], atol=tolerance)
    exact = asked @ rows.T
    for i, line in enumerate(hits):
        real = line[line >= 0]
        assert len(set(real)) == len(real)
        np.testing.assert_allclose(scores[i, : len(real)], exact[i, real], atol=tolerance)


@ISAS
@pytest.mark.parametrize("dim", [1, 7, 16, 33, 100, 300])
def test_top_k_against_the_reference(isa, dim):
    matrix, queries = normal(1, 700, dim), normal(2, 45, dim)
    found = Neighbors(matrix, isa=isa).top_k(queries, 12)
    assert found[0].dtype == np.int32 and found[1].dtype == np.float32 and found[0].shape == (45, 12)
    assert_best(found, matrix, queries, 12)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_top_k_of_any_size(data):
    n, dim, count = (data.draw(st.integers(1, limit)) for limit in (70, 20, 20))
    k = data.draw(st.integers(1, 80))
    matrix, queries = normal(data.draw(st.integers(0, 99)), n, dim), normal(7, count, dim)
    matrix[data.draw(st.integers(0, n - 1))] = 0
    exclude = [data.draw(st.lists(st.integers(0, n - 1), max_size=n)) for _ in range(count)]
    assert_best(Neighbors(matrix, threads=1).top_k(queries, k, exclude=exclude), matrix, queries, k, exclude)


@ISAS
def test_answers_do_not_depend_on_threads_or_company(isa):
    """Bit by bit: one thread or three, one query or a hundred, rows anywhere."""
    matrix = normal(3, 20_000, 19)
    matrix[10_001:10_101] = matrix[:100]  # equal rows far apart
    queries = np.concatenate([matrix[:60], normal(4, 40, 19)])
    whole = Neighbors(matrix, threads=1, isa=isa).top_k(queries, 10)
    assert (whole[1][:60, 0] == whole[1][:60, 1]).all()
    assert (whole[0][:60, 0] == np.arange(60)).all(), "ties go to the lowest row"
    assert (whole[0][:60, 1] == np.arange(60) + 10_001).all()
    threads = Neighbors(matrix, threads=3, isa=isa)
    for i in range(0, 100, 9):
        single = threads.top_k(queries[i], 10)
        for got, want in zip(single, whole, strict=True):
            np.testing.assert_array_equal(got[0], want[i])
    ids = np.random.default_rng(5).integers(0, len(matrix), (3, 900))
    for method in METHODS:
        first = Neighbors(matrix, threads=1, isa=isa).analogies(*ids, 3, method=method)
        for got, want in zip(threads.analogies(*ids, 3, method=method), first, strict=True):
            np.testing.assert_array_equal(got, want)
        for got, want in zip(threads.analogies(*ids[:, 5], 3, method=method), first, strict=True):
            np.testing.assert_array_equal(got[0], want[5])


@ISAS
@pytest.mark.parametrize("method", METHODS)
def test_analogies_against_the_reference(isa, method):
    matrix = normal(6, 900, 40)
    matrix[17] = 0
    index = Neighbors(matrix, isa=isa)
    a, b, c = np.random.default_rng(7).integers(0, 900, (3, 700))  # more distinct words than one batch takes
    a[0] = b[1] = c[2] = 17
    hits, scores = index.analogies(a, b, c, 4, method=method)
    rows = reference.unit(matrix)
    want_hits, want = reference.analogies(rows, a, b, c, 4, method)
    if method == "3cosadd":
        want = want / np.linalg.norm(rows[b] - rows[a] + rows[c], axis=1, keepdims=True)
    np.testing.assert_allclose(scores, want, rtol=1e-4, atol=3e-6)
    assert (hits == want_hits).mean() > 0.99  # the rest are ties within rounding
    for asked in (a, b, c):
        assert not (hits == asked[:, None]).any()


def test_analogy_batches_cover_every_question():
    matrix = normal(8, 3000, 8)
    index = Neighbors(matrix)
    a, b, c = np.random.default_rng(9).integers(0, 3000, (3, 2500))
    hits, _ = index.analogies(a, b, c)
    some = np.arange(0, 2500, 101)
    np.testing.assert_array_equal(hits[some], index.analogies(a[some], b[some], c[some])[0])
    assert (hits >= 0).all()


def test_many_queries_are_searched_in_batches():
    matrix = normal(10, 50, 6)
    queries = normal(11, 5000, 6)
    hits, _ = Neighbors(matrix).top_k(queries, 1)
    np.testing.assert_array_equal(hits[:, 0], (reference.unit(queries) @ reference.unit(matrix).T).argmax(axis=1))


def test_only_the_first_rows():
    matrix, queries = normal(12, 100, 5), normal(13, 4, 5)
    index = Neighbors(matrix)
    hits, scores = index.top_k(queries, 5, rows=30)
    np.testing.assert_array_equal(hits, Neighbors(matrix[:30]).top_k(queries, 5)[0])
    assert index.analogies([40], [50], [60], 90, rows=10)[0].max() == 9
    hits, scores = index.top_k(queries, 40, rows=30)
    assert (hits[:, 30:] == -1).all() and (scores[:, 30:] == -np.inf).all()
    assert index.top_k(queries, 5, rows=0)[0].tolist() == [[-1] * 5] * 4
    np.testing.assert_array_equal(index.top_k(queries, 5, rows=1000)[0], index.top_k(queries, 5)[0])


def test_zero_and_broken_vectors():
    matrix = normal(14, 40, 6)
    matrix[3], matrix[4, 2], matrix[5, 0] = 0, np.nan, np.inf
    index = Neighbors(matrix)
    hits, scores = index.top_k(matrix[[0, 3, 4]], 40)
    assert sorted(hits[0].tolist()) == sorted([-1, -1, *(set(range(40)) - {4, 5})])
    assert scores[0][hits[0] == 3] == 0
    assert (scores[1][:38] == 0).all() and hits[1].tolist()[:6] == [0, 1, 2, 3, 6, 7]
    assert (hits[2] == -1).all()
    assert (index.analogies([4], [1], [2], 3)[0] == -1).all()
    assert (index.analogies([3], [3], [3], 1)[1] == 0).all()


def test_nothing_to_search():
    empty = Neighbors(np.zeros((0, 5)))
    assert empty.top_k(np.ones((2, 5)), 3)[0].tolist() == [[-1] * 3] * 2
    index = Neighbors(normal(1, 9, 5))
    assert index.top_k(np.ones((2, 5)), 0)[0].shape == (2, 0)
    assert index.top_k(np.zeros((0, 5)), 4)[0].shape == (0, 4)
    assert index.analogies([], [], [], 4)[0].shape == (0, 4)


def test_any_layout_of_the_matrix_gives_the_same():
    matrix, queries = normal(15, 60, 7), normal(16, 3, 7)
    want = Neighbors(matrix).top_k(queries, 5)
    wide = np.zeros((60, 16), np.float32)
    wide[:, :7] = matrix
    read_only = matrix.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"x" + matrix.tobytes(), np.uint8)[1:].view(np.float32).reshape(60, 7)
    reverse = np.ascontiguousarray(matrix[::-1])[::-1]
    for layout in (wide[:, :7], read_only, unaligned, reverse, np.asfortranarray(matrix), matrix.astype(np.float64)):
        before = layout.copy()
        for got, expected in zip(Neighbors(layout).top_k(queries, 5), want, strict=True):
            np.testing.assert_array_equal(got, expected)
        assert (layout == before).all()


def records(matrix):
    """The rows at odd addresses in a block of bytes, and where each begins."""
    words = [b"w" * (i % 7) + b" " for i in range(len(matrix))]
    data = b"".join(word + row.tobytes() for word, row in zip(words, matrix, strict=True))
    starts = np.cumsum([0, *(len(word) + 4 * matrix.shape[1] for word in words)])[:-1]
    return memoryview(data), starts + [len(word) for word in words]


@ISAS
def test_rows_in_bytes_give_what_a_matrix_gives(isa):
    for dim in (1, 7, 16, 33, 100):
        matrix, queries = normal(dim, 500, dim), normal(17, 20, dim)
        matrix[7] = 0
        data, offsets = records(matrix)
        found, index = (
            Neighbors.of_bytes(data, offsets, dim, isa=isa),
            Neighbors(matrix, isa=isa),
        )
        for _ in range(2):  # the lengths are found in the first search and kept
            for got, want in zip(found.top_k(queries, 5), index.top_k(queries, 5), strict=True):
                np.testing.assert_array_equal(got, want)
        asked = [1, 2], [3, 4], [5, 7]
        for got, want in zip(found.analogies(*asked, 3), index.analogies(*asked, 3), strict=True):
            np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(found.unit_rows([499, 7, 0]), index.unit_rows([499, 7, 0]))


def test_a_row_that_is_no_vector_is_refused_when_it_is_met():
    matrix = normal(19, 60, 5)
    matrix[40, 2], matrix[50, 0] = np.nan, np.inf

    def refuse(row):
        raise BadFile("file", f"row {row}")

    index = Neighbors.of_bytes(*records(matrix), 5, refuse=refuse)
    assert (index.top_k(matrix[:2], 3, rows=40)[0] >= 0).all()
    assert np.isfinite(index.unit_rows([3, 39, 59])).all()
    with pytest.raises(BadFile, match="row 50"):
        index.unit_rows([50, 3])
    with pytest.raises(BadFile, match="row 40"):
        index.top_k(matrix[:2], 3)
    with pytest.raises(BadFile, match="row 40"):
        index.analogies([1], [2], [3])


def test_no_row_lies_outside_of_the_bytes():
    data, offsets = records(normal(20, 9, 5))
    for moved in (-offsets[0] - 1, 1):
        with pytest.raises(ValueError, match="a row lies outside of the bytes"):
            Neighbors.of_bytes(data, offsets + moved, 5)


def test_misuse_is_refused():
    index = Neighbors(normal(18, 20, 4))
    with pytest.raises(ValueError, match=r"queries of shape \(5,\) do not fit vectors of 4 numbers"):
        index.top_k(np.zeros(5))
    with pytest.raises(ValueError, match="1 lists of excluded rows for 2 queries"):
        index.top_k(np.zeros((2, 4)), exclude=[[1]])
    with pytest.raises(UsageError, match="unknown analogy method '3cosdiv'"):
        index.analogies([1], [2], [3], method="3cosdiv")
    for bad in (-1, 20):
        with pytest.raises(IndexError, match="row numbers must be 0 to 19"):
            index.analogies([1], [bad], [3])
