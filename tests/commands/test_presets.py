"""--preset: whose defaults hold, and the preset that trains several models in one run and joins them."""

import os
import signal
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tests.commands.made import training_job
from wv_cli import train
from wv_cli.errors import Interrupted, TimedOut, UsageError, WvError
from wv_cli.models.config import SupervisedConfig
from wv_cli.models.ensemble import Ensemble
from wv_cli.models.presets import WORD_PRESETS
from wv_cli.transforms.ensemble import as_long_as, concatenate, plus_contexts
from wv_cli.vectors import formats

OPTIONS = {"preset": "quality", "dim": 40, "epochs": 1, "min_count": 4, "meta": False}
MEMBERS = WORD_PRESETS["quality"].members


@pytest.fixture
def text(slice_text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with slice_text.open("rb") as lines:
        Path("text.txt").write_bytes(b"".join(islice(lines, 400)))
    return "text.txt"


def test_joined_rows_have_the_cosines_of_unit_rows_side_by_side():
    random = np.random.default_rng(1)
    parts = [random.normal(size=(40_000, dim)).astype(np.float32) * scale for dim, scale in ((5, 9), (7, 1e-3))]
    parts[0][3] = parts[1][3] = 0
    unit = [part / np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-30) for part in parts]
    wide = np.hstack(unit)
    assert np.allclose(concatenate(parts, 12), wide, atol=1e-6) and concatenate(parts, 99).shape == (40_000, 12)
    few = concatenate(parts, 4)
    u, s, _ = np.linalg.svd(wide.astype(np.float64), full_matrices=False)
    best = u[:, :4] * s[:4]
    assert few.dtype == np.float32 and few.shape == (40_000, 4) and not few[3].any()
    some = slice(0, 300)
    assert np.allclose(few[some] @ few[some].T, best[some] @ best[some].T, atol=1e-4)


def test_context_vectors_are_added_of_one_length():
    random = np.random.default_rng(2)
    words, contexts = (random.normal(size=(40_000, 5)).astype(np.float32) * scale for scale in (9, 1e-3))
    words[3] = 0
    unit = [rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30) for rows in (words, contexts)]
    assert np.allclose(plus_contexts(words, contexts), unit[0] + unit[1], atol=1e-6)


@pytest.mark.parametrize(("preset", "models"), [("balanced", 2), ("quality", 5)])
def test_a_preset_is_its_models_joined(text, preset, models):
    metadata = train(text, "all.npy", **{**OPTIONS, "preset": preset})
    members = WORD_PRESETS[preset].members
    assert len(members) == len(metadata["models"]) == models
    parts, lengths = [], []
    for member in members:
        own = {**WORD_PRESETS[preset].changes, **member.changes, "dim": 100, "epochs": 1, "min_count": 4}
        train(text, "one.npy", meta=False, save_output_vectors="contexts.npy", **own)
        rows = np.array(formats.load("one.npy").matrix)
        parts.append(plus_contexts(rows, formats.load("contexts.npy").matrix) if member.with_contexts else rows)
        lengths += [rows] if member.gives_length else []
    made = formats.load("all.npy")
    assert made.dim == 40 and np.array_equal(made.matrix, as_long_as(concatenate(parts, 40), lengths[0]))


def test_rows_get_the_lengths_of_others_and_keep_their_directions():
    random = np.random.default_rng(3)
    rows, others = (random.normal(size=(40_000, dim)).astype(np.float32) for dim in (5, 7))
    rows[3] = others[4] = 0
    made = as_long_as(rows, others)
    lengths = np.linalg.norm(others, axis=1, keepdims=True)
    assert not made[3].any() and not made[4].any()
    assert np.allclose(np.linalg.norm(np.delete(made, 3, 0), axis=1), np.delete(lengths[:, 0], 3), rtol=1e-5)
    assert np.allclose(made, rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30) * lengths, atol=1e-5)


def test_options_given_are_those_of_every_model(text):
    made = training_job(text, "a.vec", preset="quality", window=3, lr=0.01)
    assert {(model.window, model.lr, model.dim) for model in made.models} == {(3, 0.01, 100)}
    assert [model.epochs for model in made.models] == [10, 10, 15, 3, 3]
    assert {model.dim for model in training_job(text, "a.vec", preset="quality", dim=600).models} == {120}
    assert training_job(text, "a.vec", preset="fasttext").models[0].maxn == 6
    few = training_job(text, "a.vec", preset="balanced", sample=1e-5).models
    assert [(model.sample, model.epochs) for model in few] == [(1e-5, 5), (1e-5, 3)]


def test_a_classifier_has_a_preset_of_its_own(text):
    made = training_job(text, "a.bin", model="supervised", preset="quality", epochs=2)
    assert (made.config.lr, made.config.epochs, made.config.word_ngrams, made.config.dropout) == (1.0, 2, 2, 0.7)
    assert made.search.fixed == ("epochs",)
    own = training_job(text, "a.bin", model="supervised", preset="fasttext").config
    assert own == training_job(text, "a.bin", model="supervised").config == SupervisedConfig()


def test_the_preset_of_a_classifier_does_not_diverge(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(1)
    lines = [f"__label__{label} w{word}\n" for label, word in random.integers(0, 30, (1500, 2))]
    Path("noise.txt").write_text("".join(lines))
    found = train("noise.txt", "a.bin", model="supervised", preset="quality", threads=1)
    assert found["mean_loss"] < 2 * np.log(30)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_of_several_models_stops_and_goes_on(text, monkeypatch, threads):
    options = {**OPTIONS, "epochs": 2, "threads": threads}
    train(text, "whole.npy", **options)
    real, stops = Ensemble.train_step, set()

    def train_step(ensemble, step, worker):
        if step not in stops:
            stops.add(step)
            os.kill(os.getpid(), signal.SIGTERM)
        return real(ensemble, step, worker)

    monkeypatch.setattr(Ensemble, "train_step", train_step)
    while True:
        try:
            train(text, "parts.npy", resume=True, **options)
            break
        except Interrupted:
            assert Path("parts.npy.checkpoint").exists() and not Path("parts.npy").exists()
    assert len(stops) > len(MEMBERS) and not Path("parts.npy.checkpoint").exists()
    if threads == 1:
        assert Path("parts.npy").read_bytes() == Path("whole.npy").read_bytes()


def test_its_checkpoint_is_of_its_options(text):
    with pytest.raises(TimedOut):
        train(text, "a.npy", max_time=1e-6, **OPTIONS)
    with pytest.raises(WvError, match=r"another run .*window of model 1"):
        train(text, "a.npy", resume=True, window=3, **OPTIONS)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"model": "cbow"}, "trains skip-gram and CBOW; leave --model cbow out"),
        ({"minn": 2, "maxn": 5}, "--minn has no effect with --preset quality"),
        ({"loss": "hs"}, "--loss has no effect with --preset quality"),
        ({"init": "a.vec"}, "--init has no effect with --preset quality"),
        ({"validation": "pairs.txt"}, "--validation has no effect with --preset quality"),
        ({"save_output_vectors": "b.vec"}, "--save-output-vectors has no effect with --preset quality"),
        ({"to": "fasttext-bin"}, "gives vectors, not a model"),
    ],
)
def test_what_belongs_to_one_model_is_refused(text, options, problem):
    with pytest.raises(UsageError, match=problem):
        training_job(text, "a.bin", preset="quality", **options).validate()
