"""A table trained on pairs: optimizers on touched rows against all rows, orders, resumes, threads."""

from dataclasses import replace

import numpy as np
import pytest

from tests.reference.pairs import Contrast, adam_step, loss_and_gradient, masked
from wv_cli.models.pairs import BatchOrder, FirstRows, PairCorpus, PairModel
from wv_cli.models.sentence_config import PairsConfig
from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads

CONFIG = PairsConfig(dim=8, nested="4", batch=6, epochs=5, lr=0.05)
ROWS, PAIRS = 40, 20


@pytest.fixture(scope="module")
def corpus():
    """Few tokens a text, so that most rows are not touched in most steps; the last three never are."""
    random = np.random.default_rng(3)
    texts = [random.integers(0, ROWS - 3, random.integers(1, 4)).astype(np.int32) for _ in range(2 * PAIRS)]
    starts = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    return PairCorpus(np.concatenate(texts), starts, np.arange(2 * PAIRS, dtype=np.int32), 2, ROWS, "digest")


def trained(config, corpus, first=None, steps=None):
    model = PairModel(config, corpus, first)
    worker = model.worker()
    losses = [model.train_step(step, worker)[0] for step in range(model.steps if steps is None else steps)]
    model.flush(worker)
    return model, losses


def dense(model, corpus, steps, adagrad):
    """What the same steps do to all rows, in float64, and the losses."""
    config = model.config
    table = PairModel(config, corpus).table[:, : config.dim].astype(np.float64)
    mean, square, sums, losses = np.zeros_like(table), np.zeros_like(table), np.zeros(len(table)), []
    for step in range(steps):
        epoch, place = divmod(step, model.epoch_steps)
        order = np.random.default_rng((config.seed, epoch)).permutation(len(corpus))
        pairs = order[place * config.batch : (place + 1) * config.batch]
        columns = [
            [corpus.ids[corpus.starts[text] : corpus.starts[text + 1]].tolist() for text in pairs * 2 + side]
            for side in (0, 1)
        ]
        same = [corpus.same[pairs * 2].tolist(), corpus.same[pairs * 2 + 1].tolist()]
        loss, gradient = loss_and_gradient(table, columns, Contrast(config.levels, [1, 1]), masked(*same))
        losses.append(loss * len(pairs))
        if adagrad:
            sums += (gradient**2).mean(axis=1)
            table -= model.rate(step) * gradient / (np.sqrt(sums) + 1e-8)[:, None]
        else:
            adam_step(table, mean, square, gradient, step + 1, model.rate(step), (0.9, 0.999))
    return table, losses


@pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
@pytest.mark.parametrize("steps", [1, 7, 20])
def test_rows_move_as_if_all_were_updated_in_every_step(optimizer, steps, corpus):
    config = replace(CONFIG, optimizer=optimizer)
    model, losses = trained(config, corpus, steps=steps)
    table, wanted = dense(model, corpus, steps, optimizer == "adagrad")
    np.testing.assert_allclose(losses, wanted, rtol=1e-4, atol=1e-5)
    touched = model.matrix().any(axis=1)
    assert touched[:-3].sum() > 10 and not touched[-3:].any()
    np.testing.assert_allclose(model.matrix()[touched], table[touched], rtol=0, atol=2e-5)


def test_the_rate_rises_and_falls(corpus):
    model = PairModel(CONFIG, corpus)
    rates = [model.rate(step) for step in range(model.steps)]
    assert model.steps == 20 and rates[:4] == pytest.approx([0, 0.025, 0.05, 0.05 * 17 / 18])
    assert rates[-1] == pytest.approx(0.05 / 18)


@pytest.mark.parametrize("files", [(20,), (13, 7), (2, 14, 4), (5, 5, 5, 5)])
def test_a_batch_has_pairs_of_one_file_where_there_are_enough(files, corpus):
    orders = BatchOrder(1, replace(corpus, files=files), 6)
    one, two = orders.for_epoch(0), orders.for_epoch(1)
    assert sorted(one) == list(range(PAIRS)) and list(one) != list(two)
    assert list(orders.for_epoch(0)) == list(one)
    file_of = np.repeat(np.arange(len(files)), files)
    pure = [len(set(file_of[one[start : start + 6]])) == 1 for start in range(0, PAIRS - 5, 6)]
    assert sum(pure) >= sum(count // 6 for count in files)
    if len(files) == 1:
        assert list(one) == list(BatchOrder(1, corpus, 6).for_epoch(0))


def test_it_learns(corpus):
    _, losses = trained(replace(CONFIG, epochs=60, lr=0.2), corpus)
    assert sum(losses[-4:]) < 0.3 * sum(losses[:4])


def test_threads_change_no_byte(corpus):
    one, _ = trained(CONFIG, corpus)
    three, _ = trained(replace(CONFIG, threads=3), corpus)
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(array, three.arrays()[name])


def test_a_run_that_stops_goes_on_to_the_byte(corpus):
    whole, _ = trained(CONFIG, corpus)
    part, _ = trained(CONFIG, corpus, steps=9)
    other = PairModel(CONFIG, corpus)
    for name, array in part.arrays().items():
        other.arrays()[name][...] = array
    train(Threads(other, 1, 9))
    np.testing.assert_array_equal(whole.matrix(), other.matrix())


def test_given_rows_stay_and_tell_the_size_of_the_others(corpus):
    known = np.arange(ROWS) % 2 == 0
    first = FirstRows(np.full((known.sum(), 8), 0.25, np.float32), known)
    model = PairModel(CONFIG, corpus, first)
    assert model.lr == pytest.approx(0.05 * 0.25)
    assert np.std(model.table[~known, :8]) == pytest.approx(0.25, rel=0.2)
    matrix = model.matrix()  # of a table that nothing has touched
    assert (matrix[known] == 0.25).all() and not matrix[~known].any()
