"""The search kernels on every instruction set against their float64 references.

Small whole numbers have exact inner products in float32, so there the kernel must agree with the reference to the last
bit and in the order of ties; real numbers are compared within rounding.
"""

from itertools import pairwise

import numpy as np
import pytest

from tests.reference import search as reference
from wv_cli import _cpu, _search
from wv_cli.io.memory import allocate_aligned

DIMS = [1, 7, 8, 15, 16, 17, 31, 33, 100, 300]
NO_HIT = np.iinfo(np.int32).max
ISAS = pytest.mark.parametrize("isa", _cpu.usable())


def whole_numbers(seed, rows, dim):
    """Few different values, many equal rows: ties everywhere."""
    random = np.random.default_rng(seed)
    matrix = random.integers(-2, 3, (rows, dim)).astype(np.float32)
    matrix[random.integers(0, rows, rows // 2)] = matrix[random.integers(0, rows, rows // 2)]
    return matrix


def heap(count, k):
    return np.full((count, k), -np.inf, np.float32), np.full((count, k), NO_HIT, np.int32)


def ordered(scores, hits):
    order = np.lexsort((hits, -scores), axis=1)
    hits = np.take_along_axis(hits, order, axis=1)
    return np.where(hits == NO_HIT, -1, hits), np.take_along_axis(scores, order, axis=1)


def as_they_are(rows):
    """Rows that count as unit vectors."""
    return _search.Rows(rows, np.ones(len(rows)))


def scratch(search):
    return allocate_aligned((search.scratch_bytes,), np.uint8)


def kernel_top_k(isa, rows, queries, k, exclude=None, cuts=()):
    count, lanes = len(queries), _search.lanes(isa)
    panels = allocate_aligned((-(-count // lanes), rows.shape[1], lanes))
    _search.pack(queries, panels, isa)
    thresholds = np.full(len(panels) * lanes, np.inf, np.float32)
    thresholds[:count] = -np.inf
    lists = [sorted(rows) for rows in exclude] if exclude else [[]] * count
    starts = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    scores, hits = heap(count, k)
    forbidden = np.array([row for rows in lists for row in rows], np.int32)
    search = _search.TopK(as_they_are(rows), panels, thresholds, scores, hits, starts, forbidden, isa)
    edges = [0, *cuts, len(rows)]
    for start, end in pairwise(edges):
        search.scan(start, end, scratch(search))
    return ordered(scores, hits)


def kernel_analogies(isa, rows, a, b, c, k, method):
    ids, questions = np.unique(np.stack([a, b, c], axis=1), return_inverse=True)
    scores, hits = heap(len(a), k)
    search = _search.Analogies(
        as_they_are(rows),
        np.ascontiguousarray(rows[ids]),
        ids.astype(np.int32),
        questions.reshape(-1, 3).astype(np.int32),
        method,
        np.full(len(a), -np.inf, np.float32),
        scores,
        hits,
        isa,
    )
    search.scan(0, len(rows), allocate_aligned((search.scratch_bytes,), np.uint8))
    return ordered(scores, hits)


@ISAS
@pytest.mark.parametrize("dim", DIMS)
def test_top_k_is_exact_with_ties_at_every_size(isa, dim):
    for rows, queries, k in [(1, 1, 1), (5, 3, 2), (11, 16, 11), (13, 17, 20), (40, 33, 5), (257, 40, 10)]:
        matrix, asked = whole_numbers(dim + rows, rows, dim), whole_numbers(dim - rows + 1000, queries, dim)
        hits, scores = kernel_top_k(isa, matrix, asked, k)
        expected_hits, expected_scores = reference.top_k(matrix, asked, k)
        np.testing.assert_array_equal(scores, expected_scores)
        np.testing.assert_array_equal(hits, expected_hits)


@ISAS
def test_top_k_of_many_blocks_and_ranges(isa):
    """More rows than one block of the second-level cache holds, in ranges of odd lengths."""
    matrix, asked = whole_numbers(1, 5000, 33), whole_numbers(2, 35, 33)
    expected = reference.top_k(matrix, asked, 12)
    for cuts in [(), (1,), (7, 2500, 2511, 4999)]:
        hits, scores = kernel_top_k(isa, matrix, asked, 12, cuts=cuts)
        np.testing.assert_array_equal(scores, expected[1])
        np.testing.assert_array_equal(hits, expected[0])


@ISAS
def test_top_k_leaves_out_excluded_rows(isa):
    random = np.random.default_rng(3)
    matrix, asked = whole_numbers(3, 150, 9), whole_numbers(4, 21, 9)
    exclude = [set(random.integers(0, 150, random.integers(0, 60)).tolist()) for _ in asked]
    exclude[5] = set(range(150))
    expected = reference.top_k(matrix, asked, 8, exclude)
    hits, scores = kernel_top_k(isa, matrix, asked, 8, exclude)
    np.testing.assert_array_equal(scores, expected[1])
    np.testing.assert_array_equal(hits, expected[0])
    assert (hits[5] == -1).all()


@ISAS
def test_rows_may_be_padded_or_unaligned(isa):
    matrix, asked = whole_numbers(5, 77, 10), whole_numbers(6, 9, 10)
    expected = kernel_top_k(isa, matrix, asked, 5)
    wide = np.full((77, 23), 9, np.float32)
    view = wide[:, 3:13]
    view[:] = matrix
    for got, want in zip(kernel_top_k(isa, view, asked, 5), expected, strict=True):
        np.testing.assert_array_equal(got, want)


@ISAS
def test_nan_and_infinity_are_never_found_and_never_crash(isa):
    matrix, asked = whole_numbers(7, 60, 5), whole_numbers(8, 20, 5)
    matrix[[3, 30, 59]] = np.nan
    asked[4] = np.nan
    expected = reference.top_k(matrix, asked, 7)
    hits, _ = kernel_top_k(isa, matrix, asked, 7)
    np.testing.assert_array_equal(hits, expected[0])
    assert (hits[4] == -1).all()
    assert not np.isin(hits, [3, 30, 59]).any()
    everything = np.full((25, 5), np.nan, np.float32)
    assert (kernel_top_k(isa, everything, asked, 3)[0] == -1).all()


@ISAS
@pytest.mark.parametrize("dim", DIMS)
def test_analogies_are_exact_with_ties_at_every_size(isa, dim):
    random = np.random.default_rng(dim)
    for rows, questions, k in [(4, 1, 1), (13, 5, 13), (127, 30, 3), (129, 40, 10), (300, 7, 2)]:
        matrix = whole_numbers(rows + dim, rows, dim)
        a, b, c = random.integers(0, rows, (3, questions))
        hits, scores = kernel_analogies(isa, matrix, a, b, c, k, "3cosadd")
        expected_hits, expected_scores = reference.analogies(matrix, a, b, c, k, "3cosadd")
        np.testing.assert_array_equal(scores, expected_scores)
        np.testing.assert_array_equal(hits, expected_hits)


@ISAS
@pytest.mark.parametrize("dim", DIMS)
def test_3cosmul_agrees_within_rounding(isa, dim):
    random = np.random.default_rng(dim)
    matrix = reference.unit(random.standard_normal((200, dim))).astype(np.float32)
    a, b, c = random.integers(0, 200, (3, 25))
    hits, scores = kernel_analogies(isa, matrix, a, b, c, 6, "3cosmul")
    expected = reference.analogies(matrix, a, b, c, 6, "3cosmul")[1]
    np.testing.assert_allclose(scores, expected, rtol=3e-4)
    for i, abc in enumerate(zip(a, b, c, strict=True)):
        exact = reference.analogy_scores(matrix, *abc, "3cosmul")
        np.testing.assert_allclose(scores[i], exact[hits[i]], rtol=3e-4)
        assert not set(hits[i]) & set(abc)


@ISAS
def test_normalize(isa):
    random = np.random.default_rng(9)
    for dim in DIMS:
        matrix = random.standard_normal((9, dim)).astype(np.float32)
        matrix[1] = 0
        matrix[2] = matrix[2] * np.float32(1e30)
        matrix[3] = matrix[3] * np.float32(1e-38)
        matrix[4, -1] = np.nan
        matrix[5, 0] = -np.inf
        out = np.full((9, dim + 3), 7, np.float32)
        _search.normalize(matrix, out[:, :dim], isa)
        np.testing.assert_allclose(out[:, :dim], reference.unit(matrix), atol=1e-6, equal_nan=True)
        assert (out[:, dim:] == 7).all()
        _search.normalize(matrix, matrix, isa)
        np.testing.assert_array_equal(matrix, out[:, :dim])


@ISAS
def test_wrong_shapes_are_refused_before_memory_is_touched(isa):
    rows, lanes = whole_numbers(1, 20, 4), _search.lanes(isa)
    panels, thresholds = allocate_aligned((1, 4, lanes)), np.full(lanes, -np.inf, np.float32)
    scores, hits = heap(2, 3)
    starts, none = np.zeros(3, np.int64), np.zeros(0, np.int32)
    good = [as_they_are(rows), panels, thresholds, scores, hits, starts, none]
    search = _search.TopK(*good, isa)
    for start, end in [(-1, 5), (0, 21), (6, 5)]:
        with pytest.raises(ValueError, match="out of range"):
            search.scan(start, end, scratch(search))
    for place, bad in [
        (0, as_they_are(rows[:, :3])),
        (1, allocate_aligned((2, 4, lanes))),
        (2, thresholds[:-1]),
        (4, hits[:1]),
        (5, np.array([0, 5, 0])),
        (5, np.array([0, 1, 1])),
    ]:
        with pytest.raises(ValueError, match=r"shape|stand|ascend"):
            _search.TopK(*[bad if i == place else value for i, value in enumerate(good)], isa)
    for bad in (rows[:, ::2], rows[::-1], rows[:0]):
        with pytest.raises(ValueError, match=r"contiguous|follow|nothing"):
            as_they_are(bad)
    with pytest.raises(ValueError, match="one scale for each row"):
        _search.Rows(rows, np.ones(3))
    words = np.ascontiguousarray(rows[:3])
    arguments = [as_they_are(rows), words, np.arange(3, dtype=np.int32), np.array([[0, 1, 3]], np.int32), "3cosadd"]
    with pytest.raises(ValueError, match="out of range"):
        _search.Analogies(*arguments, thresholds[:1], scores[:1], hits[:1], isa)
