"""Fitting a table to sentence vectors: torch's losses and gradients, and what training reaches."""

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.transforms.distillation import LOSSES, Bags, fit_table, map_table

GOLD = np.load(GOLDEN / "distil-losses.npz")
TEXTS = np.split(GOLD["flat"], np.cumsum(GOLD["lengths"])[:-1])


@pytest.mark.parametrize("name", list(LOSSES))
def test_losses_and_gradients_of_torch(name):
    table, bags = GOLD["E"], Bags.from_texts(TEXTS)
    loss, of_means = LOSSES[name](bags.means(table), GOLD["Y"])
    tokens, rows = bags.gradient(of_means)
    gradient = np.zeros_like(table)
    gradient[tokens] = rows
    assert abs(loss - GOLD[f"{name}.loss"]) < 1e-12
    np.testing.assert_allclose(gradient, GOLD[f"{name}.grad"], rtol=0, atol=1e-14)
    for place in [(TEXTS[0][0], 2), (TEXTS[5][0], 0)]:  # a token of one text, one that a text has three times
        moved = []
        for step in (1e-5, -1e-5):
            changed = table.copy()
            changed[place] += step
            moved.append(LOSSES[name](bags.means(changed), GOLD["Y"])[0])
        assert abs((moved[0] - moved[1]) / 2e-5 - gradient[place]) < 1e-8


def drawn(texts=600, tokens=80, dim=6):
    random = np.random.default_rng(3)
    bags = Bags.from_texts([random.integers(0, tokens, random.integers(1, 9)) for _ in range(texts)])
    true = random.standard_normal((tokens, dim)).astype(np.float32)
    return bags, true, bags.means(true).astype(np.float32), random


def test_the_table_is_found_again():
    bags, true, targets, random = drawn()
    start = (true + 0.5 * random.standard_normal(true.shape)).astype(np.float32)
    for name in LOSSES:
        told: list[tuple[int, float]] = []

        def on_epoch(epoch, loss, told=told):
            told.append((epoch, loss))

        made = fit_table(start, bags, targets, loss=name, epochs=30, batch=50, lr=0.05, seed=1, on_epoch=on_epoch)
        before, after = (LOSSES[name](bags.means(table), targets)[0] for table in (start, made))
        floor = LOSSES[name](targets, targets)[0]
        assert after - floor < 0.1 * (before - floor), name
        assert [epoch for epoch, _ in told] == list(range(1, 31)) and told[-1][1] < told[0][1]
    again = fit_table(start, bags, targets, loss=name, epochs=30, batch=50, lr=0.05, seed=1)
    assert np.array_equal(again, made)
    other = fit_table(start, bags, targets, loss=name, epochs=30, batch=50, lr=0.05, seed=2)
    assert not np.array_equal(other, made)


def test_a_turned_table_is_turned_back():
    bags, true, targets, random = drawn()
    turned = (true @ np.linalg.qr(random.standard_normal((6, 6)))[0]).astype(np.float32)
    np.testing.assert_allclose(map_table(turned, bags, targets), true, atol=0.01)
    assert np.isfinite(map_table(np.zeros_like(true), bags, targets)).all()
