"""Contrast of text pairs: the reference against autograd's losses and finite differences, the kernel against the
reference on every instruction set, and rows that Adam moves without touching them."""

import threading

import numpy as np
import pytest

from tests.conftest import GOLDEN
from tests.reference.pairs import Contrast, adam_step, loss_and_gradient, masked
from wv_cli import _cpu, _pairs
from wv_cli.io import memory

LEVELS = (4, 8, 12)
CASES = {
    "mnrl": (2, Contrast([12], [1])),
    "mnrl_scale10": (2, Contrast([12], [1], 10)),
    "symmetric": (2, Contrast([12], [1], symmetric=True)),
    "hard": (4, Contrast([12], [1])),
    "masked": (2, Contrast([12], [1])),
    "matryoshka": (2, Contrast(LEVELS, [1, 1, 1])),
    "matryoshka_weighted": (2, Contrast(LEVELS, [0.25, 0.5, 1])),
    "matryoshka_symmetric": (2, Contrast(LEVELS, [1, 1, 1], symmetric=True)),
}
# (pairs, dim, levels, hard negatives, symmetric): sizes around blocks, tiles and registers.
SIZES = [
    (1, 1, (1,), 0, False),
    (2, 7, (7,), 0, True),
    (33, 100, (8, 31, 33, 100), 0, True),
    (95, 15, (8, 15), 2, False),
    (97, 17, (16, 17), 1, True),
    (200, 300, (100, 300), 0, False),
]


@pytest.fixture(scope="module")
def golden():
    return np.load(GOLDEN / "pair-losses.npz")


def columns_of(golden, count):
    names = ("anchor", "positive", "negative1", "negative2")[:count]
    return [
        [part.tolist() for part in np.split(golden[f"{name}.ids"], golden[f"{name}.starts"][1:-1])] for name in names
    ]


def numbers_of(*columns):
    numbers: dict[tuple[int, ...], int] = {}
    return [[numbers.setdefault(tuple(text), len(numbers)) for text in column] for column in columns]


def mask_of(columns):
    negatives = [column[pair] for pair in range(len(columns[0])) for column in columns[2:]]
    return masked(*numbers_of(columns[0], [*columns[1], *negatives]))


def run_of(table, columns, contrast, *, distinct=False, threads=1, isa=None, **optimizer):
    """(a run on one batch, its table); with `distinct` no text equals another."""
    texts = [column[pair] for pair in range(len(columns[0])) for column in columns]
    (same,) = numbers_of(texts)
    rows = memory.zeros(len(table), memory.pad_width(table.shape[1]))
    rows[:, : table.shape[1]] = table
    run = _pairs.Run(
        ids=np.array([id for text in texts for id in text], np.int32),
        starts=np.cumsum([0, *map(len, texts)]).astype(np.int64),
        same=np.arange(len(texts), dtype=np.int32) if distinct else np.array(same, np.int32),
        columns=len(columns),
        table=rows,
        last=np.zeros(len(table), np.int32),
        dim=table.shape[1],
        levels=contrast.levels,
        weights=contrast.weights,
        scale=contrast.scale,
        symmetric=contrast.symmetric,
        batch=len(columns[0]),
        threads=threads,
        isa=isa,
        **optimizer,
    )
    return run, rows


def kernel_gradient(table, columns, contrast, *, threads=1, **how):
    """The loss and, from a step so long that rounding says nothing, its gradient."""
    run, rows = run_of(table, columns, contrast, threads=threads, **how)
    run.take(np.arange(len(columns[0])), 1, 1e6)
    others = [threading.Thread(target=run.work, args=(thread,)) for thread in range(1, threads)]
    for other in others:
        other.start()
    run.work(0)
    for other in others:
        other.join()
    return run.loss() / len(columns[0]), (table - rows[:, : table.shape[1]].astype(np.float64)) / 1e6


def drawn(pairs, dim, negatives, rows=50):
    """Texts of up to eight tokens, some empty and some equal, and a table that float32 holds exactly."""
    random = np.random.default_rng(pairs)
    columns = [
        [random.integers(0, rows, random.integers(0, 9)).tolist() for _ in range(pairs)] for _ in range(2 + negatives)
    ]
    return random.standard_normal((rows, dim)).astype(np.float32).astype(np.float64), columns


@pytest.mark.parametrize("name", CASES)
def test_the_reference_has_autograds_losses(golden, name):
    count, contrast = CASES[name]
    columns = columns_of(golden, count)
    loss, gradient = loss_and_gradient(golden["E"], columns, contrast, mask_of(columns) if name == "masked" else None)
    assert abs(loss - golden[f"{name}.loss"]) < 1e-12
    np.testing.assert_allclose(gradient, golden[f"{name}.grad"], rtol=0, atol=1e-12)


def test_the_gradient_is_that_of_finite_differences():
    table, columns = drawn(9, 5, 1)
    contrast, mask = Contrast([2, 5], [0.5, 1], symmetric=True), mask_of(columns)
    _, gradient = loss_and_gradient(table, columns, contrast, mask)
    for row in range(0, len(table), 9):
        for number in range(table.shape[1]):
            sides = []
            for move in (1e-6, -1e-6):
                moved = table.copy()
                moved[row, number] += move
                sides.append(loss_and_gradient(moved, columns, contrast, mask)[0])
            assert abs((sides[0] - sides[1]) / 2e-6 - gradient[row, number]) < 1e-6 * max(1, np.abs(gradient).max())


@pytest.mark.parametrize("isa", _cpu.usable())
def test_the_kernel_is_the_reference(golden, isa):
    for name, (count, contrast) in CASES.items():
        loss, gradient = kernel_gradient(
            golden["E"], columns_of(golden, count), contrast, distinct=name != "masked", isa=isa
        )
        want = golden[f"{name}.grad"]
        assert abs(loss - golden[f"{name}.loss"]) < 1e-5, name
        assert np.abs(gradient - want).max() < 1e-5 * np.abs(want).max(), name
    for pairs, dim, levels, negatives, symmetric in SIZES:
        table, columns = drawn(pairs, dim, negatives)
        contrast = Contrast(levels, [1.0] * len(levels), symmetric=symmetric)
        wanted_loss, want = loss_and_gradient(table, columns, contrast, mask_of(columns))
        loss, gradient = kernel_gradient(table, columns, contrast, isa=isa)
        assert abs(loss - wanted_loss) < 1e-5 * max(1, wanted_loss), (pairs, dim)
        assert np.abs(gradient - want).max() <= 1e-5 * np.abs(want).max() + 1e-12, (pairs, dim)


def test_threads_change_no_bit():
    table, columns = drawn(200, 70, 1)
    contrast = Contrast([32, 70], [1, 1], symmetric=True)
    loss, gradient = kernel_gradient(table, columns, contrast)
    for threads in (2, 3, 5):
        other_loss, other = kernel_gradient(table, columns, contrast, threads=threads)
        assert other_loss == loss
        np.testing.assert_array_equal(other, gradient)


def test_texts_that_equal_a_pairs_own_are_no_negatives():
    """Two equal pairs and one more: each of the two has one negative, as in a batch without the other."""
    table, columns = drawn(3, 8, 0)
    columns = [[[1, 2], [1, 2], [3]], [[4], [4], [5, 6]]]
    contrast = Contrast([8], [1])
    loss, _ = kernel_gradient(table, columns, contrast)
    pair, _ = loss_and_gradient(table, [[[1, 2], [3]], [[4], [5, 6]]], contrast)
    assert loss < kernel_gradient(table, columns, contrast, distinct=True)[0] - 0.1
    assert loss == pytest.approx(loss_and_gradient(table, columns, contrast, mask_of(columns))[0], abs=1e-5)
    assert pair > 0


def reference_adam(golden, contrast, columns, rates, decays, clip):
    table = golden["E"].copy()
    mean, square = np.zeros_like(table), np.zeros_like(table)
    for step, lr in enumerate(rates, 1):
        _, gradient = loss_and_gradient(table, columns, contrast)
        norm = np.linalg.norm(gradient)
        adam_step(table, mean, square, gradient / (norm + 1e-6) if clip and norm > 1 else gradient, step, lr, decays)
    return table


def test_adam_is_the_trainers(golden):
    """AdamW of sentence-transformers' Trainer, without decay, cuts gradients longer than 1; the reference does, too."""
    columns = columns_of(golden, 2)
    found = reference_adam(golden, CASES["matryoshka"][1], columns, golden["adamw.lr"], (0.9, 0.999), clip=True)
    np.testing.assert_allclose(found, golden["adamw.E"], rtol=0, atol=1e-12)


def test_wrong_arguments_are_refused():
    table, columns = drawn(4, 8, 0)
    contrast = Contrast([8], [1])
    run, _ = run_of(table, columns, contrast)
    for pairs, step, what in [
        ([4], 1, "no such pair"),
        ([], 1, "as many as"),
        (range(5), 1, "as many"),
        ([0], 0, "step"),
    ]:
        with pytest.raises(ValueError, match=what):
            run.take(np.array(pairs, np.int64), step, 1.0)
    with pytest.raises(ValueError, match="no such thread"):
        run.work(1)
    for levels in ([4], [8, 8], [0, 8]):
        with pytest.raises(ValueError, match="levels"):
            run_of(table, columns, Contrast(levels, [1] * len(levels)))
    with pytest.raises(ValueError, match="tokens"):
        run_of(table[:10], columns, contrast)
