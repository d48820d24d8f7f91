"""The product quantizer: the kernel against its float64 reference on every instruction set; what codes owe their
rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests.reference import product as reference
from wv_cli import _cpu, _product
from wv_cli.errors import WvError
from wv_cli.io import memory
from wv_cli.vectors.fasttext import DenseMatrix
from wv_cli.vectors.formats import load
from wv_cli.vectors.quantizer import CENTROIDS, SAMPLE, ProductQuantizer, QuantMatrix

ISA = pytest.mark.parametrize("isa", _cpu.usable())


def scratch(size):
    return memory.zeros(1, -(-size // 4))[0].view(np.uint8)


def train(x, first, width, iterations, seed=1, isa=None):
    """(centroids, errors) of one block by the kernel."""
    centroids, errors = np.empty(CENTROIDS * width, np.float32), np.empty(iterations)
    room = scratch(_product.train_scratch_bytes(len(x), width, isa))
    done = _product.train(x, np.arange(len(x)), first, width, seed, centroids, errors, room, isa)
    return centroids.reshape(CENTROIDS, width), errors[:done]


def error_of(x, quantizer, codes):
    return float(((quantizer.decode(codes).astype(np.float64) - x) ** 2).sum())


@pytest.fixture(scope="module")
def vectors(slice_vectors):
    return load(str(slice_vectors)).matrix


@ISA
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 8, 17])
@pytest.mark.parametrize("points", [300, 1025, 2100])
def test_start_and_first_iteration_equal_the_reference(isa, width, points):
    x = np.random.default_rng(width).normal(3, 1, (points, width + 3)).astype(np.float32)
    expected, errors = reference.train(x[:, 2 : 2 + width], 1, 5, first=2)
    centroids, found = train(x, 2, width, 1, seed=5, isa=isa)
    assert found == pytest.approx(errors, rel=1e-4, abs=1e-7 * points)
    # A point halfway between two centroids may go to either, which moves those two.
    assert (np.abs(centroids - expected).max(axis=1) < 1e-4).mean() > 0.98


@ISA
@pytest.mark.parametrize("width", [1, 2, 4, 7])
def test_error_falls_every_iteration_as_the_references(isa, width):
    x = np.random.default_rng(width).standard_t(4, (3000, width)).astype(np.float32)
    _, expected = reference.train(x, 12, 1)
    _, errors = train(x, 0, width, 12, isa=isa)
    assert (np.diff(errors) < 0)[:-1].all()
    assert errors[: len(expected)] == pytest.approx(expected[: len(errors)], rel=0.01)


@ISA
def test_codes_are_the_nearest_centroids(isa):
    random = np.random.default_rng(1)
    for dim, dsub in [(1, 1), (5, 2), (16, 4), (33, 8), (100, 2), (3, 7)]:
        x = random.normal(0, 1, (333, dim)).astype(np.float32)
        quantizer = ProductQuantizer(dim, dsub, random.normal(0, 1, CENTROIDS * dim).astype(np.float32))
        codes = quantizer.encode(x, isa=isa)
        for m in range(quantizer.nsub):
            table = reference.distances(x[:, m * dsub : (m + 1) * dsub].astype(np.float64), quantizer.block(m))
            chosen = table[np.arange(len(x)), codes[:, m]]
            assert chosen == pytest.approx(table.min(axis=1), rel=1e-4, abs=1e-5)


def test_a_large_common_offset_costs_no_precision():
    """|c|^2 - 2 x.c alone would lose the differences between points that lie far from zero."""
    x = (1000 + np.random.default_rng(1).normal(0, 0.1, (4000, 2))).astype(np.float32)
    quantizer = ProductQuantizer.fit(x, 2)
    near = ProductQuantizer.fit(x - 1000, 2)
    here, there = (error_of(a, q, q.encode(a)) for a, q in [(x, quantizer), (x - 1000, near)])
    assert here == pytest.approx(there, rel=0.05)


@settings(max_examples=40, deadline=None)
@given(
    arrays.arrays(
        np.float32, st.tuples(st.integers(1, CENTROIDS), st.integers(1, 9)), elements=st.floats(-8, 8, width=16)
    ),
    st.integers(1, 10),
)
def test_few_rows_are_kept_exactly(x, dsub):
    """As exactly as float32 can tell them apart: a point's squared distance is |c|^2 - 2 x.c + |x|^2 of the points less
    their mean, which is rounded by some units of the largest square, and nearer points may share a centroid."""
    quantizer = ProductQuantizer.fit(x, dsub)
    apart = np.square(quantizer.decode(quantizer.encode(x)).astype(np.float64) - x)
    centered = np.square(x - x.mean(axis=0, dtype=np.float64))
    for first in range(0, x.shape[1], dsub):
        block = slice(first, first + dsub)
        rounding = (min(dsub, 9) + 4) * 2.0**-23 * centered[:, block].sum(axis=1).max() + 1e-12
        assert apart[:, block].sum(axis=1).max() <= rounding


def test_few_distinct_rows_among_many():
    x = np.repeat(np.arange(12, dtype=np.float32).reshape(4, 3), 500, axis=0)
    quantizer = ProductQuantizer.fit(x, 2)
    np.testing.assert_allclose(quantizer.decode(quantizer.encode(x)), x, atol=1e-5)


@pytest.mark.parametrize(("dim", "dsub"), [(1, 1), (5, 2), (8, 2), (3, 8), (10, 4)])
def test_decode_walks_the_layout_of_the_files(dim, dsub):
    random = np.random.default_rng(dim)
    quantizer = ProductQuantizer(dim, dsub, random.normal(0, 1, CENTROIDS * dim).astype(np.float32))
    codes = random.integers(0, 256, (9, quantizer.nsub)).astype(np.uint8)
    expected = reference.decode(codes, dim, dsub, quantizer.centroids)
    np.testing.assert_array_equal(quantizer.decode(codes), expected)
    assert [quantizer.block(m).shape[1] for m in range(quantizer.nsub)][-1] == quantizer.last_dsub
    norms = ProductQuantizer(1, 1, random.normal(0, 1, CENTROIDS).astype(np.float32))
    norm_codes = random.integers(0, 256, 9).astype(np.uint8)
    matrix = QuantMatrix(codes, quantizer, norm_codes, norms)
    expected *= norms.centroids[norm_codes][:, None]
    np.testing.assert_allclose(matrix.take([3, 3, 0]), expected[[3, 3, 0]], rtol=1e-6)
    np.testing.assert_allclose(matrix.dense(), expected, rtol=1e-6)
    with pytest.raises(IndexError):
        matrix.take([9])


def test_result_does_not_depend_on_threads(vectors):
    one, two = (ProductQuantizer.fit(vectors, 3, threads=threads, iterations=3) for threads in (1, 3))
    np.testing.assert_array_equal(one.centroids, two.centroids)
    np.testing.assert_array_equal(one.encode(vectors), one.encode(vectors, threads=3))
    other = ProductQuantizer.fit(vectors, 3, seed=2, iterations=3)
    assert (other.centroids != one.centroids).any()


def test_smaller_blocks_and_norms_apart_lower_the_error(vectors):
    errors = {}
    for dsub in (1, 2, 4, 8):
        quantizer = ProductQuantizer.fit(vectors, dsub)
        errors[dsub] = error_of(vectors, quantizer, quantizer.encode(vectors))
    assert errors[1] < errors[2] < errors[4] < errors[8]
    scaled = vectors * np.random.default_rng(1).lognormal(0, 1.5, (len(vectors), 1)).astype(np.float32)
    whole, apart = (QuantMatrix.fit(DenseMatrix(scaled), 2, norms_apart=apart) for apart in (False, True))
    relative = [((matrix.dense() - scaled) ** 2).sum(axis=1) / (scaled**2).sum(axis=1) for matrix in (whole, apart)]
    assert np.median(relative[1]) < 0.5 * np.median(relative[0])


def test_a_table_with_few_filled_rows_learns_from_those(vectors):
    mostly_zero = np.zeros((2 * SAMPLE, vectors.shape[1]), np.float32)
    mostly_zero[:: 2 * SAMPLE // len(vectors)][: len(vectors)] = vectors
    few, all_ = (QuantMatrix.fit(DenseMatrix(x), 4) for x in (mostly_zero, vectors))
    filled = mostly_zero.any(axis=1)
    errors = ((few.dense() - mostly_zero) ** 2).sum(axis=1)
    assert errors[filled].sum() < 1.1 * ((all_.dense() - vectors) ** 2).sum()
    assert errors[~filled].max() < 0.1 * (vectors**2).sum(axis=1).mean()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_cannot_be_quantized_is_refused(bad):
    x = np.ones((300, 4), np.float32)
    x[17, 2] = bad
    with pytest.raises(WvError, match=r"row 17 .*NaN or infinity"):
        ProductQuantizer.fit(x, 2)
    with pytest.raises(WvError, match="row 17"):
        ProductQuantizer.fit(np.ones_like(x), 2).encode(x)
    with pytest.raises(WvError, match="no vectors"):
        ProductQuantizer.fit(x[:0], 2)
    with pytest.raises(ValueError, match="do not fit"):
        ProductQuantizer(4, 2, np.zeros(5, np.float32))
