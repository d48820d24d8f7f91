"""The kernels of hashing, BioHash and search over codes against their references, on every instruction set."""

import numpy as np
import pytest

from tests.reference import codes as reference
from wv_cli import _cpu, _hashing, _search
from wv_cli.io.memory import allocate_aligned
from wv_cli.vectors.codes import Codes
from wv_cli.vectors.neighbors.codes import CodeNeighbors, pack_bits, unpack_bits
from wv_cli.words import WordList

every_isa = pytest.mark.parametrize("isa", _cpu.usable())
SIZES = [1, 7, 8, 15, 16, 17, 31, 33, 100, 300]


def small_integers(random, *shape):
    """Sums of products of these are exact in float32, whatever the order, and often equal."""
    return random.integers(-3, 4, shape).astype(np.float32)


def linear(weights, active, thresholds, isa):
    lanes = _search.lanes(isa)
    panels = allocate_aligned((-(-len(weights) // lanes), weights.shape[1], lanes))
    _search.pack(weights, panels, isa)
    kernel = _hashing.LinearHash(panels, len(weights), active, thresholds, isa)
    return kernel, allocate_aligned((kernel.scratch_bytes,), np.uint8)


@every_isa
@pytest.mark.parametrize("units", SIZES)
@pytest.mark.parametrize("dim", [1, 16, 33])
def test_codes(isa, units, dim):
    random = np.random.default_rng(units)
    weights, thresholds = small_integers(random, units, dim), small_integers(random, units)
    for n in (1, 5, 12, 49, 130):
        x = small_integers(random, n, dim)
        kernel, scratch = linear(weights, 0, thresholds, isa)
        out = np.empty((n, -(-units // 64)), np.uint64)
        kernel.bits(x, out, scratch)
        np.testing.assert_array_equal(unpack_bits(out, units), reference.bits(x, weights, thresholds))
        for active in sorted({1, (units + 1) // 2, units}):
            kernel, scratch = linear(weights, active, thresholds, isa)
            positions = np.empty((n, active), np.int32)
            kernel.active(x, positions, scratch)
            np.testing.assert_array_equal(positions, reference.active(x, weights, active))


@every_isa
@pytest.mark.parametrize("units", [3, 16, 70, 300])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -3e38])
def test_a_code_has_its_active_positions_whatever_the_numbers(isa, units, bad):
    """Weights of -3e38 make sums of minus infinity, which beat nothing: no place of the code may be left unset."""
    for active in {1, (units + 1) // 2, units}:
        for rows in (np.full((5, 8), 2, np.float32), np.full((5, 8), np.nan, np.float32)):
            weights = np.full((units, 8), bad, np.float32)
            weights[1] = 1
            kernel, scratch = linear(weights, active, np.zeros(units, np.float32), isa)
            positions = np.full((5, active), -7, np.int32)
            kernel.active(rows, positions, scratch)
            assert positions.min() >= 0 and positions.max() < units
            assert (np.diff(positions, axis=1) > 0).all()
            if bad in (-np.inf, -3e38) and rows[0, 0] == 2:
                rest = [unit for unit in range(units) if unit != 1]
                assert positions.tolist() == [sorted([1, *rest[: active - 1]])] * 5


@every_isa
def test_a_code_does_not_depend_on_its_neighbors(isa):
    random = np.random.default_rng(1)
    x, weights = (random.standard_normal(shape).astype(np.float32) for shape in ((101, 70), (203, 70)))
    kernel, scratch = linear(weights, 9, np.zeros(203, np.float32), isa)
    whole = np.empty((101, 9), np.int32)
    kernel.active(x, whole, scratch)
    for row in range(101):
        alone = np.empty((1, 9), np.int32)
        kernel.active(x[row : row + 1], alone, scratch)
        np.testing.assert_array_equal(alone[0], whole[row])


@every_isa
@pytest.mark.parametrize(("p", "delta", "rank"), [(2, 0, 2), (2, 0.4, 2), (2, 0.4, 7), (3, 0, 2), (2.5, 0.2, 3)])
@pytest.mark.parametrize(("units", "dim"), [(7, 1), (17, 16), (40, 33), (101, 100)])
@pytest.mark.parametrize("normalize", [False, True])
def test_biohash(isa, p, delta, rank, units, dim, normalize):
    random = np.random.default_rng(units)
    stride = -(-dim // 16) * 16
    start, x = random.standard_normal((units, dim)), random.standard_normal((53, dim)).astype(np.float32)
    weights, effective = (allocate_aligned((units, stride)) for _ in range(2))
    weights[:], effective[:] = 0, 0
    weights[:, :dim] = start
    effective[:, :dim] = np.sign(start) * np.abs(start) ** (p - 1)
    shown = weights if p == 2 else effective
    kernel = _hashing.BioHash(weights[:, :dim], shown[:, :dim], rank, delta, p, normalize, isa)
    scratch = allocate_aligned((kernel.scratch_bytes(20),), np.uint8)
    scratch[:] = 0
    order = random.permutation(53).astype(np.int32)
    found = kernel.train(x, order, 20, 0.05, scratch)
    expected, energy = weights_of_twin(start.astype(np.float32), x[order], rank, delta, p, normalize)
    np.testing.assert_allclose(weights[:, :dim], expected, rtol=2e-4, atol=2e-5)
    assert found == pytest.approx(energy, rel=1e-4, abs=1e-3)


def weights_of_twin(weights, x, rank, delta, p, normalize):
    energy = 0.0
    for start in range(0, len(x), 20):
        weights, more = reference.biohash_batch(weights, x[start : start + 20], rank, delta, p, 0.05, normalize)
        energy += more
    return weights, energy


def dense(random, n, bits):
    """Few different codes, so that distances tie."""
    patterns = random.random((max(2, n // 3), bits)) < 0.5
    return patterns[random.integers(0, len(patterns), n)]


@every_isa
@pytest.mark.parametrize("bits", [1, 63, 64, 65, 128, 200, 256, 1000])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 100])
def test_hamming(isa, bits, n):
    random = np.random.default_rng(bits)
    rows = dense(random, n, bits)
    codes = Codes(WordList.from_words([str(i) for i in range(n)]), "x", bits, 0, pack_bits(rows))
    sets = [tuple(np.flatnonzero(row)) for row in rows]
    index = CodeNeighbors(codes.bits, codes.active, codes.data, threads=1, isa=isa)
    for count in (1, 3, 4, 9):
        asked = random.integers(0, n, count)
        exclude = [[int(row)] if i % 2 else [] for i, row in enumerate(asked)]
        for k in (1, 5, n):
            hits, scores = index.top_k(codes.data[asked], k, exclude=exclude)
            for i, row in enumerate(asked):
                expected = reference.nearest(sets, sets[row], k, exclude[i])
                assert [h for h in hits[i].tolist() if h >= 0] == [row for _, row in expected]
                np.testing.assert_allclose(scores[i, : len(expected)], [1 - d / bits for d, _ in expected], rtol=1e-6)
    expected = [[len(set(a) ^ set(sets[q])) for a in sets] for q in asked]
    np.testing.assert_array_equal(index.distances(codes.data[asked]), expected)


@every_isa
@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize(("bits", "active"), [(1, 1), (20, 3), (64, 64), (300, 16)])
def test_sparse(isa, index, bits, active):
    random, n = np.random.default_rng(bits), 90
    rows = np.array([np.sort(random.permutation(bits)[:active]) for _ in range(n)], np.int32)
    rows[n // 2 :] = rows[: n - n // 2]
    codes = Codes(WordList.from_words([str(i) for i in range(n)]), "x", bits, active, rows)
    search = CodeNeighbors(codes.bits, codes.active, codes.data, threads=1, index=index, isa=isa)
    assert search.indexed == index
    asked = random.integers(0, n, 5)
    hits, scores = search.top_k(rows[asked], 7, exclude=[[int(row)] for row in asked], rows=77)
    for i, row in enumerate(asked):
        expected = reference.nearest(rows[:77].tolist(), rows[row].tolist(), 7, [row])
        assert hits[i].tolist() == [row for _, row in expected]
        np.testing.assert_allclose(scores[i], [1 - d / 2 / active for d, _ in expected], rtol=1e-6)


@pytest.mark.parametrize("index", [False, True])
def test_threads_and_blocks_change_nothing(index):
    """100,000 codes: several threads, several blocks of the scan and of the index."""
    random, n = np.random.default_rng(3), 100_003
    rows = np.sort(random.integers(0, 40, (n, 3)) + 40 * np.arange(3), axis=1).astype(np.int32)
    codes = Codes(WordList(b"", np.zeros(n + 1, np.int64)), "x", 120, 3, rows)
    one, more = (
        CodeNeighbors(codes.bits, codes.active, codes.data, threads=threads, index=index) for threads in (1, 3)
    )
    queries = rows[random.integers(0, n, 6)]
    first = one.top_k(queries, 50)
    for a, b in zip(first, more.top_k(queries, 50), strict=True):
        np.testing.assert_array_equal(a, b)
    overlap = np.array([[np.isin(row, query).sum() for row in rows[:2000]] for query in queries[:2]])
    np.testing.assert_array_equal(one.distances(queries[:2])[:, :2000], 6 - 2 * overlap)
    for query in range(2):
        chosen = first[0][query]
        assert (np.diff(first[1][query]) <= 0).all() and len(set(chosen.tolist())) == 50


def test_mean_of_several_codes():
    bits = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0]], np.bool_)
    codes = Codes(WordList.from_words("abc"), "x", 4, 0, pack_bits(bits))
    index = CodeNeighbors(codes.bits, codes.active, codes.data)
    assert unpack_bits(index.majority(codes.data)[None], 4)[0].tolist() == [True, False, False, False]
    assert unpack_bits(index.majority(codes.data[:2])[None], 4)[0].tolist() == [True, True, True, False]
    sparse = Codes(WordList.from_words("abc"), "x", 9, 2, np.array([[1, 8], [2, 8], [2, 3]], np.int32))
    assert CodeNeighbors(sparse.bits, sparse.active, sparse.data).majority(sparse.data).tolist() == [2, 8]
    assert CodeNeighbors(sparse.bits, sparse.active, sparse.data).majority(sparse.data[[0, 2]]).tolist() == [1, 2]


def test_queries_of_another_kind():
    codes = Codes(WordList.from_words("abc"), "x", 9, 2, np.array([[1, 8], [2, 8], [2, 3]], np.int32))
    for queries in (codes.data[0], codes.data[:, :1], codes.pack_codes()):
        with pytest.raises(ValueError, match="no codes like"):
            CodeNeighbors(codes.bits, codes.active, codes.data).top_k(queries)
    with pytest.raises(ValueError, match="out of range"):
        CodeNeighbors(codes.bits, codes.active, codes.data, index=True).top_k(np.array([[1, 9]], np.int32))


def test_an_index_that_does_not_fit_is_refused():
    rows, queries = np.zeros(4, np.int32), np.zeros((1, 1), np.int32)
    heaps = np.zeros((1, 1), np.float32), np.zeros((1, 1), np.int32), np.zeros(2, np.int64), np.zeros(0, np.int32)
    for starts in ([0, 4, 3], [1, 2, 4], [0, 2, 5], [0, -1, 4]):
        with pytest.raises(ValueError, match="the index: "):
            _hashing.Overlap(np.array(starts), rows, 2, queries, *heaps)
