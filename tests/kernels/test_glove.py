"""The GloVe kernel against its float64 reference on every instruction set, and the reference against finite
differences."""

import numpy as np
import pytest

from tests.reference.glove import Reference, cost, shuffled
from wv_cli import _cpu, _glove
from wv_cli.io.memory import pad_width, zeros

WORDS = 19


def run_both(
    isa, dim, *, eta=0.05, bias_lr=1.0, clip=100.0, clip_biases=True, x_max=20.0, alpha=0.75, size=0.5, chunks=5, n=150
):
    random = np.random.default_rng(dim)
    w, c = (random.normal(0, size / np.sqrt(dim), (WORDS, dim + 1)).astype(np.float32) for _ in range(2))
    half = pad_width(dim + 2)
    flat = [zeros(WORDS, 2 * half) for _ in range(2)]
    for matrix, values, bias in [(flat[0], w, dim), (flat[1], c, dim + 1)]:
        rows = matrix.reshape(WORDS, 2, half)
        rows[:, 0, :dim], rows[:, 0, bias], rows[:, 0, 2 * dim + 1 - bias] = values[:, :dim], values[:, dim], 1
        rows[:, 1] = 1
        rows[:, 1, bias], rows[:, 1, 2 * dim + 1 - bias] = (eta / (bias_lr or eta)) ** 2, 1e30
    reference = Reference(w.astype(float), c.astype(float), eta, bias_lr, clip, x_max, alpha, clip_biases)
    options = {"eta": eta, "clip": clip, "clipped": None if clip_biases else dim, "x_max": x_max, "alpha": alpha}
    run = _glove.Run(words=flat[0], contexts=flat[1], seed=9, isa=isa, **options)
    scratch = zeros(1, -(-run.scratch_bytes(n) // 4))[0]
    total = 0.0
    for chunk in range(chunks):
        records = np.zeros(n, _glove.TILE_RECORD)
        records["row"], records["column"] = random.integers(0, WORDS - 4, n), random.integers(0, WORDS - 2, n)
        records["count"] = random.uniform(0.1, 3, n) ** 4
        total += run.chunk(records, 4, 2, 7, chunk, scratch)
        for k in shuffled(n, 9, 7, chunk):
            reference.step(records["row"][k] + 4, records["column"][k] + 2, float(records["count"][k]))
    return reference, [matrix.reshape(WORDS, 2, half) for matrix in flat], total


def compare(isa, dim, **options):
    reference, (w, c), total = run_both(isa, dim, **options)
    tolerance = {"atol": 2e-4, "rtol": 2e-4}
    for rows, values, squares, bias in [
        (w, reference.w, reference.w_squares, dim),
        (c, reference.c, reference.c_squares, dim + 1),
    ]:
        np.testing.assert_allclose(rows[:, 0, :dim], values[:, :dim], **tolerance)
        np.testing.assert_allclose(rows[:, 0, bias], values[:, dim], **tolerance)
        np.testing.assert_allclose(rows[:, 1, :dim], squares[:, :dim], **tolerance)
        assert (rows[:, 0, 2 * dim + 1 - bias] == 1).all(), "the constant beside the bias must stay 1"
        assert not rows[:, 0, dim + 2 :].any(), "the padding must stay zero"
    assert total == pytest.approx(reference.cost, rel=1e-4)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("dim", [1, 7, 13, 14, 15, 16, 31, 50, 62, 100, 200, 300])
def test_kernel_equals_reference(isa, dim):
    compare(isa, dim)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize(
    "options",
    [{"bias_lr": 0}, {"bias_lr": 0.3}, {"eta": 0.2}, {"alpha": 0}, {"x_max": 1e6}, {"size": 4, "clip": 100}],
    ids=str,
)
def test_options(isa, options):
    compare(isa, 20, **options)


@pytest.mark.parametrize("isa", _cpu.usable())
def test_the_clip_bounds_every_coordinate(isa):
    """Biases included."""
    compare(isa, 20, clip=0.05, size=2)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("dim", [1, 15, 16, 17, 31, 100])
def test_the_clip_leaves_the_biases_alone_as_in_gloves_program(isa, dim):
    compare(isa, dim, clip=0.05, size=2, clip_biases=False)


def test_gradients_of_the_twin_are_those_of_the_cost():
    random = np.random.default_rng(3)
    reference = Reference(random.normal(size=(1, 6)), random.normal(size=(1, 6)), 0.05, 1, 100, 10, 0.75)
    for count in (0.2, 3.0, 50.0):
        _, *gradients = reference.gradients(0, 0, count)
        for matrix, gradient in zip((reference.w, reference.c), gradients, strict=True):
            for d in range(6):
                costs = []
                for move in (1e-6, -1e-6):
                    matrix[0, d] += move
                    w, c = reference.w[0], reference.c[0]
                    costs.append(cost(w[:-1], c[:-1], w[-1], c[-1], count, 10, 0.75))
                    matrix[0, d] -= move
                assert gradient[d] == pytest.approx((costs[0] - costs[1]) / 2e-6, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("isa", _cpu.usable())
def test_nan_in_a_row_shows_in_the_cost(isa):
    half = pad_width(12)
    w, c = zeros(3, 2 * half), zeros(3, 2 * half)
    w[:, half:] = c[:, half:] = 1
    w[1, 3] = np.nan
    run = _glove.Run(words=w, contexts=c, eta=0.05, clip=100, x_max=10, alpha=0.75, seed=1, isa=isa)
    records = np.array([(0, 0, 2.0), (1, 1, 2.0)], _glove.TILE_RECORD)
    scratch = zeros(1, -(-run.scratch_bytes(2) // 4))[0]
    assert not np.isfinite(run.chunk(records, 0, 0, 0, 0, scratch))


def test_rows_and_scratch_are_checked():
    w, c = zeros(3, 32), zeros(3, 32)
    run = _glove.Run(words=w, contexts=c, eta=0.05, clip=100, x_max=10, alpha=0.75, seed=1)
    records = np.array([(2, 2, 1.0)], _glove.TILE_RECORD)
    scratch = zeros(1, -(-run.scratch_bytes(1) // 4))[0]
    with pytest.raises(ValueError, match="beyond the matrices"):
        run.chunk(records, 1, 0, 0, 0, scratch)
    with pytest.raises(ValueError, match="scratch"):
        run.chunk(records, 0, 0, 0, 0, scratch[:4])
    with pytest.raises(ValueError, match="33 coordinates"):
        _glove.Run(words=w, contexts=c, eta=0.05, clip=100, clipped=33, x_max=10, alpha=0.75, seed=1)
    with pytest.raises(ValueError, match="fit each other"):
        _glove.Run(words=w, contexts=zeros(4, 32), eta=0.05, clip=100, x_max=10, alpha=0.75, seed=1)
