"""Affine maps against the plain product in float64, on every instruction set."""

import numpy as np
import pytest

from wv_cli import _affine, _cpu
from wv_cli.io.memory import allocate_aligned

ISAS = pytest.mark.parametrize("isa", _cpu.usable())
SIZES = [(1, 1), (7, 15), (8, 8), (16, 3), (17, 33), (31, 16), (33, 17), (100, 100), (300, 50)]


def mapped(x, mean, matrix, isa, cuts=()):
    out = np.full((len(x), matrix.shape[1]), 7, np.float32)
    job = _affine.Affine(x, mean, matrix, out, isa)
    for start, end in zip((0, *cuts), (*cuts, len(x)), strict=True):
        job.apply(start, end, allocate_aligned((job.scratch_bytes,), np.uint8))
    return out


@ISAS
@pytest.mark.parametrize(("dim", "columns"), SIZES)
def test_the_product_in_float64_rounded_once(isa, dim, columns):
    random = np.random.default_rng(dim)
    for rows in (1, 11, 12, 13, 97, 205):
        x = (random.standard_normal((rows, dim)) + 1e4).astype(np.float32)
        mean = x.mean(axis=0, dtype=np.float64)
        matrix = random.standard_normal((dim, columns)) * 10.0 ** random.integers(-6, 6, columns)
        want = (x - mean) @ matrix
        found = mapped(x, mean, matrix, isa)
        np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-11 * np.abs(want).max())
        wide = np.full((rows, dim + 3), np.nan, np.float32)
        wide[:, :dim] = x
        np.testing.assert_array_equal(mapped(wide[:, :dim], mean, matrix, isa, cuts=(rows // 3,)), found)


@ISAS
def test_numbers_beyond_float32_and_none(isa):
    x = np.array([[1, 2], [np.inf, 0], [np.nan, 1]], np.float32)
    with np.errstate(all="ignore"):
        found = mapped(x, np.zeros(2), np.array([[1e300, 1], [0, 1]]), isa)
    assert np.isinf(found[0, 0]) and found[0, 1] == 3 and np.isinf(found[1, 1]) and np.isnan(found[2]).all()


def test_wrong_shapes_are_refused():
    x, mean, matrix, out = np.ones((5, 3), np.float32), np.zeros(3), np.eye(3), np.ones((5, 3), np.float32)
    for bad in ((x[:, :2], mean, matrix, out), (x, mean[:2], matrix, out), (x, mean, matrix, out[:4])):
        with pytest.raises(ValueError, match="shapes differ"):
            _affine.Affine(*bad)
    job = _affine.Affine(x, mean, matrix, out)
    with pytest.raises(ValueError, match="out of range"):
        job.apply(2, 6, allocate_aligned((job.scratch_bytes,), np.uint8))
    with pytest.raises(ValueError, match="scratch"):
        job.apply(0, 5, allocate_aligned((64,), np.uint8))
