"""`wv train --deterministic`: the same file from any number of threads, stopped and gone on with or not; that it learns
what free threads learn; where it is refused."""

import json
from itertools import islice

import numpy as np
import pytest

from tests.tiers import full
from wv_cli import train as run_session
from wv_cli.commands.models import MODELS
from wv_cli.errors import TimedOut, UsageError, WvError
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.deterministic import WORKERS, DeterministicWord2vec
from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import encode

SUBWORDS = {"minn": 3, "maxn": 4}
VARIANTS = [
    {},
    {"loss": "hs", **SUBWORDS},
    {"model": "cbow", "loss": "nce"},
    *full(
        {"loss": "hs"},
        {"loss": "nce"},
        {"loss": "hs_ns"},
        SUBWORDS,
        {"model": "cbow"},
        {"model": "cbow", "loss": "hs"},
        {"model": "cbow", **SUBWORDS},
    ),
    {"model": "cbow", "share_positions": True},
]


@pytest.fixture(scope="module")
def text(slice_text, tmp_path_factory):
    path = tmp_path_factory.mktemp("rounds") / "text.txt"
    with slice_text.open() as whole:
        path.write_text("".join(islice(whole, 800)))
    return path


def trained(text, output, **options):
    run_session(text, output, **{"dim": 20, "epochs": 2, "min_count": 2, "deterministic": True, **options})
    return output.read_bytes()


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_any_number_of_threads_writes_the_same_file_and_goes_on_with_any(variant, text, tmp_path):
    one = trained(text, tmp_path / "1.bin", **variant)
    for threads in (2, 3, 8, 9):
        assert trained(text, tmp_path / "more.bin", threads=threads, **variant) == one, threads
    assert trained(text, tmp_path / "free.bin", **{**variant, "deterministic": False}) != one
    with pytest.raises(TimedOut):
        trained(text, tmp_path / "part.bin", threads=2, max_time=1e-9, **variant)
    assert not (tmp_path / "part.bin").exists()
    assert trained(text, tmp_path / "part.bin", threads=3, resume=True, **variant) == one


def test_several_models_of_a_preset(text, tmp_path):
    one = trained(text, tmp_path / "1.bin", preset="quality", dim=100, epochs=1)
    assert trained(text, tmp_path / "2.bin", preset="quality", dim=100, epochs=1, threads=2) == one


def test_every_number_of_steps_goes_on_alike(text):
    """Stopped after each step: what a round leaves is in the arrays that a checkpoint has."""
    corpus = encode([str(text)], VocabConfig(min_count=2))
    whole = DeterministicWord2vec(Word2vecConfig(dim=8, epochs=2, deterministic=True), corpus)
    train(Threads(whole))
    parts = None
    for step in range(whole.steps):
        model = DeterministicWord2vec(Word2vecConfig(dim=8, epochs=2, deterministic=True, threads=1 + step % 3), corpus)
        if parts is not None:
            for array, saved in zip(model.arrays().values(), parts, strict=True):
                array[:] = saved
        model.train_step(step, model.worker())
        parts = [array.copy() for array in model.arrays().values()]
    assert parts is not None
    assert all(np.array_equal(*each) for each in zip(whole.arrays().values(), parts, strict=True))


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_save_changes_nothing(variant, threads, text):
    """Every stretch between two saves has threads of its own; what they find must not be what others have left."""
    corpus = encode([str(text)], VocabConfig(min_count=2))
    config = Word2vecConfig(dim=8, epochs=2, deterministic=True, threads=threads, **variant)
    whole, saved, random = (DeterministicWord2vec(config, corpus) for _ in range(3))
    train(Threads(whole))
    train(Threads(saved), save=lambda step: None, save_every=0)
    trainer, moments = Threads(random), np.random.default_rng(threads)
    while trainer.next_step < random.steps:
        trainer.train_until(int(moments.integers(trainer.next_step, random.steps)) + 1, None, lambda: False)
    for name, array in whole.arrays().items():
        assert np.array_equal(array, saved.arrays()[name]) and np.array_equal(array, random.arrays()[name]), name


def test_a_checkpoint_of_free_threads_does_not_go_on(text, tmp_path):
    with pytest.raises(TimedOut):
        trained(text, tmp_path / "a.bin", max_time=1e-9, deterministic=False)
    with pytest.raises(Exception, match="deterministic: False in the checkpoint, True now"):
        trained(text, tmp_path / "a.bin", resume=True)


@pytest.mark.parametrize(
    ("name", "what"),
    [("WORKERS", "workers"), ("_STEP_ROUNDS", "step_rounds"), ("_ROUND_VERSION", "round_version")],
)
def test_a_checkpoint_of_other_rounds_does_not_go_on(name, what, text, tmp_path, monkeypatch):
    with pytest.raises(TimedOut):
        trained(text, tmp_path / "a.bin", max_time=1e-9)
    monkeypatch.setattr(f"wv_cli.models.deterministic.{name}", 4)
    with pytest.raises(WvError, match=what):
        trained(text, tmp_path / "a.bin", resume=True)


def test_a_checkpoint_that_does_not_say_how_rounds_compute_does_not_go_on(text, tmp_path, monkeypatch):
    now = DeterministicWord2vec.schedule
    with monkeypatch.context() as older:
        said = "workers", "step_rounds", "version", "step_ids"
        older.setattr(DeterministicWord2vec, "schedule", lambda self: {name: now(self)[name] for name in said})
        with pytest.raises(TimedOut):
            trained(text, tmp_path / "a.bin", max_time=1e-9)
    with pytest.raises(WvError, match="round_version: None in the checkpoint, 2 now"):
        trained(text, tmp_path / "a.bin", resume=True)


def test_the_sidecar_says_how_many_workers(text, tmp_path):
    trained(text, tmp_path / "a.bin")
    metadata = json.loads((tmp_path / "a.bin.meta.json").read_text())
    assert metadata["rounds"] == {"workers": WORKERS, "ids": 500}
    assert metadata["config"]["deterministic"] is True


def test_learns_what_free_threads_learn(slice_text):
    corpus = encode([str(slice_text)], VocabConfig(min_count=5))
    losses = []
    for kind in (Word2vec, DeterministicWord2vec):
        model = kind(Word2vecConfig(dim=32, epochs=3, deterministic=kind is DeterministicWord2vec), corpus)
        losses.append(train(Threads(model)).totals)
    free, rounds = (each.loss / each.examples for each in losses)
    assert rounds == pytest.approx(free, rel=0.08)
    assert losses[0].tokens == losses[1].tokens


@pytest.mark.parametrize(
    "options", [{"loss": "softmax"}, {"loss": "ova"}, *({"model": name} for name in ("supervised", "doc2vec", "nplm"))]
)
def test_refused_where_it_does_not_apply(options, text, tmp_path):
    with pytest.raises(UsageError, match="deterministic"):
        trained(text, tmp_path / "a.bin", **options)
    assert not (tmp_path / "a.bin").exists()


def test_every_word_model_has_it_and_no_other():
    named = {name for name, row in MODELS.items() if "deterministic" in row.config.options()}
    assert named == {name for name, row in MODELS.items() if row.config is Word2vecConfig}


def test_bytes_needed_counts_the_copies():
    config = Word2vecConfig(deterministic=True)
    copies = DeterministicWord2vec.bytes_needed(config, 100_000) - Word2vec.bytes_needed(config, 100_000)
    assert copies == WORKERS * 500 * 7 * (112 * 4 + 8)
