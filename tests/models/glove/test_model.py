"""The GloVe model on real text: it learns, repeats, resumes exactly, and threads agree."""

import numpy as np
import pytest

from wv_cli.errors import UsageError
from wv_cli.models.glove.config import GloveConfig
from wv_cli.models.glove.cooccurrence import count
from wv_cli.models.glove.model import Glove
from wv_cli.models.glove.tiles import TileStore
from wv_cli.models.training import checkpoint
from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import encode


@pytest.fixture(scope="module")
def corpus(slice_text):
    return encode([str(slice_text)], VocabConfig(min_count=10))


@pytest.fixture(scope="module")
def store(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiles")
    with TileStore(count(corpus, GloveConfig()), len(corpus.vocab), str(folder / "x")) as store:
        yield store


def model_of(corpus, store, **options):
    return Glove(
        GloveConfig(**{"dim": 24, "iterations": 4, "x_max": 10, **options}), corpus.vocab, store, corpus.digest
    )


def same(first, second):
    return all(np.array_equal(array, second.arrays()[name]) for name, array in first.arrays().items())


def test_learns_and_repeats(corpus, store):
    first, again, other = (model_of(corpus, store, seed=seed) for seed in (1, 1, 2))
    for model in (first, again, other):
        outcome = train(Threads(model))
        assert outcome.is_finished and outcome.totals.examples == 4 * store.records
    assert (np.diff(first.costs) < 0).all(), "the cost must fall from iteration to iteration"
    assert same(first, again) and not same(first, other)


def test_two_threads_learn_as_much(corpus, store):
    one, two = (model_of(corpus, store) for _ in range(2))
    train(Threads(one))
    assert train(Threads(two, 2)).totals.examples == 4 * store.records
    np.testing.assert_allclose(two.costs, one.costs, rtol=0.02)


def test_stopped_anywhere_and_resumed_from_disk_is_exact(corpus, store, tmp_path):
    whole, first = model_of(corpus, store), model_of(corpus, store)
    train(Threads(whole))
    worker = first.worker()
    stop = first.epoch_steps + 3
    for step in range(stop):
        first.train_step(step, worker)
    checkpoint.save(tmp_path / "c", first.identity(), {"next_step": stop, "isa": ""}, first.arrays())
    second = model_of(corpus, store, seed=1, threads=2)
    state = checkpoint.load(tmp_path / "c", second.identity(), second.arrays())
    train(Threads(second, first_step=state["next_step"]))
    assert same(whole, second)


def test_every_iteration_has_an_order_of_its_own(corpus, store):
    model = model_of(corpus, store)
    orders = [model.order.for_epoch(iteration).tolist() for iteration in range(3)]
    assert all(sorted(order) == list(range(model.epoch_steps)) for order in orders)
    assert len({tuple(order) for order in orders}) == 3 or model.epoch_steps < 4


def test_rows_without_a_record_keep_their_start(corpus, store):
    """As in GloVe's program; here no record at all has been trained."""
    model = model_of(corpus, store)
    dim = model.config.dim
    assert np.abs(model.words[:, 0, : dim + 1]).max() <= 0.5 / dim and model.words[:, 0, :dim].std() > 0.2 / dim
    assert (model.words[:, 1, :dim] == 1).all() and (model.contexts[:, 1, :dim] == 1).all()
    np.testing.assert_allclose(model.words[:, 1, dim], 0.05**2)
    assert (model.words[:, 0, dim + 1] == 1).all() and (model.contexts[:, 0, dim] == 1).all()


@pytest.mark.parametrize(
    "changes",
    [{"dim": 0}, {"window": 0}, {"x_max": 0}, {"alpha": float("nan")}, {"eta": 0}, {"bias_lr": -1}, {"iterations": 0}],
    ids=str,
)
def test_config_is_checked(changes):
    with pytest.raises(UsageError, match=f"--{next(iter(changes)).replace('_', '-')}"):
        GloveConfig(**changes).validate()
