"""Output rows of a classifier that are private to a thread: where, how much memory; many threads learn as one."""

import numpy as np
import pytest

from wv_cli import _word2vec
from wv_cli.io.matrices import MatrixAllocator
from wv_cli.models.config import SupervisedConfig
from wv_cli.models.replicas import OutputReplicas, replica_bytes
from wv_cli.models.supervised import Supervised
from wv_cli.text.config import VocabConfig
from wv_cli.text.labeled import encode_labeled

LABELS = 60


@pytest.fixture(scope="module")
def corpus(slice_text, tmp_path_factory):
    """Six words on both sides of one of the most frequent ones, which is the label."""
    words = slice_text.read_text().split()[:250_000]
    names, counts = np.unique(words, return_counts=True)
    frequent = set(names[np.argsort(-counts)[:LABELS]])
    path = tmp_path_factory.mktemp("labels") / "lines.txt"
    places = [i for i in range(6, len(words) - 6, 7) if words[i] in frequent]
    lines = [f"__label__{words[i]} {' '.join(words[i - 6 : i] + words[i + 1 : i + 7])}" for i in places]
    path.write_text("\n".join(lines) + "\n")
    return encode_labeled([str(path)], VocabConfig(min_count=1))


def config_of(threads, **changes):
    return SupervisedConfig(dim=16, lr=0.5, epochs=4, threads=threads, **changes)


@pytest.mark.parametrize("loss", SupervisedConfig.options()["loss"].choices)
def test_threads_have_their_own_where_every_example_changes_all(loss):
    assert OutputReplicas.for_threads(config_of(1, loss=loss), 100) is None
    for threads in (2, 8, 64):
        replicas = OutputReplicas.for_threads(config_of(threads, loss=loss), 100)
        needed = replica_bytes(config_of(threads, loss=loss), 100)
        if loss in ("ns", "hs"):
            assert replicas is None and needed == 0
            continue
        assert replicas.interval == {2: 64, 8: 16, 64: 4}[threads]
        assert replicas.share.shape == (100,) and np.all((replicas.share > 1 / threads) & (replicas.share <= 1))
        assert needed == threads * 2 * 100 * 64


def test_not_of_so_many_labels_that_copies_do_not_fit():
    config = config_of(2)
    assert replica_bytes(config, (1 << 24) // 64) > 0
    assert OutputReplicas.for_threads(config, (1 << 24) // 64 + 1) is None


class Asked(MatrixAllocator):
    """Memory that notes what it was asked for."""

    def require(self, needed, matrices, advice):
        self.__dict__["needed"] = needed


def test_the_copies_count_as_memory(corpus):
    needed = []
    for threads in (1, 2):
        allocator = Asked()
        Supervised(config_of(threads), 1, corpus, allocator=allocator)
        needed.append(allocator.needed)
    assert needed[1] - needed[0] == replica_bytes(config_of(2), LABELS) > 0


def test_the_rows_of_the_model_to_write_are_no_copies(corpus):
    model = Supervised(config_of(1), 1, corpus)
    assert np.shares_memory(model.fasttext_model().input.values, model.input)


def test_what_a_thread_has_learnt_is_the_model_s_once_it_flushes(corpus):
    model = Supervised(config_of(2), 1, corpus)
    model.starts = _word2vec.block_starts(corpus.ids, 200, 2**31 - 1)  # fewer examples than between two exchanges
    worker = model.worker()
    model.train_step(0, worker)
    assert not model.output.any()
    model.flush(worker)
    assert model.output.any()


def loss_of(corpus, threads, **changes):
    """Mean loss of the last epoch when so many workers take turns of 40 lines or so."""
    model = Supervised(config_of(threads, **changes), 1, corpus)
    model.starts = _word2vec.block_starts(corpus.ids, 500, 2**31 - 1)
    workers = [model.worker() for _ in range(threads)]
    totals = np.zeros(2)
    for step in range(model.steps):
        loss, examples, _, _ = model.train_step(step, workers[step % threads])
        if step >= model.steps - model.epoch_steps:
            totals += loss, examples
    for worker in workers:
        model.flush(worker)
    return totals[0] / totals[1]


@pytest.mark.parametrize("loss", ["softmax", "ova"])
def test_many_threads_learn_as_one(loss, corpus, monkeypatch):
    one = loss_of(corpus, 1, loss=loss)
    for threads in (2, 8, 32):
        assert loss_of(corpus, threads, loss=loss) == pytest.approx(one, rel=0.1), threads
    full = lambda threads, lr, updates: np.ones(len(updates), np.float32)  # noqa: E731
    monkeypatch.setattr("wv_cli.models.replicas.added_fraction", full)
    monkeypatch.setattr("wv_cli.models.replicas._LEAST_BETWEEN", 64)
    assert not loss_of(corpus, 32, loss=loss) < 1.5 * one, "more seldom, and added in full"
