"""Perplexity: KenLM's figures, mixtures, tests between models, vocabularies that do not compare."""

import math

import numpy as np
import pytest

from tests.lm.golden import FOLDER, TINY, trained
from wv_cli.errors import UsageError, WvError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.evaluation.config import PerplexityConfig
from wv_cli.lm.config import LmConfig
from wv_cli.lm.files import save
from wv_cli.lm.interpolation import em_step, fitted_weights, mix_scores
from wv_cli.words import WordList

TEST = str(FOLDER / "wiki.test200.txt.xz")
SENTENCES = str(FOLDER / "sentences20.txt")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name, config in {
        "o5": LmConfig(order=5),
        "o2": LmConfig(order=2),
        "wb": LmConfig(order=3, smoothing="witten-bell"),
    }.items():
        save(str(folder / f"{name}.lm"), trained(TINY, config).model)
    few = WordList.from_words(["the", "of", "and", "in"])
    save(str(folder / "few.lm"), trained(TINY, LmConfig(order=2, limit_vocab="x"), few).model)
    return folder


def report(models, names, data=(TEST,), **options):
    vectors = [Vectors(str(models / f"{name}.lm"), lambda: None) for name in names.split()]
    return TASKS["perplexity"].run(vectors, data, PerplexityConfig(**options))


def test_figures_of_kenlm(models):
    found = report(models, "o5", [TEST, SENTENCES])
    first, second = found.rows
    assert first["perplexity"] == pytest.approx(1068.060196, rel=1e-6)
    assert first["perplexity_without_oov"] == pytest.approx(294.787451, rel=1e-6)
    assert (first["events"], first["oov"]) == (10645, 3151)
    assert second["perplexity"] == pytest.approx(119.933023, rel=1e-6)
    assert second["perplexity_without_oov"] == pytest.approx(65.106268, rel=1e-6)
    assert (second["events"], second["oov"]) == (145, 15)
    for row in found.rows:
        assert row["low"] < row["perplexity"] < row["high"]
        assert 2 ** row["bits"] == pytest.approx(row["perplexity"]) == pytest.approx(10 ** -row["mean_log10"])
    assert [score for _, score in found.scores] == [row["mean_log10"] for row in found.rows]


def test_a_mixture_is_no_worse_than_its_parts_where_it_was_fitted(models):
    found = report(models, "o5 o2 wb", mix=TEST)
    rows = found.rows
    assert any(f"{TEST} is fitted on, too" in note for note in found.notes)
    assert not any("fitted on" in note for note in report(models, "o5 o2", mix=SENTENCES).notes)
    assert [row["model"].rpartition("/")[2] for row in rows] == ["o5.lm", "o2.lm", "wb.lm", "mixture"]
    assert rows[3]["perplexity"] < min(row["perplexity"] for row in rows[:3])
    assert rows[3]["difference"] < 0 and 0 < rows[3]["p"] <= 1
    assert rows[0]["difference"] == 0 and rows[0]["p"] is None
    assert rows[1]["difference"] == pytest.approx(math.log2(rows[1]["perplexity"] / rows[0]["perplexity"]))


def test_a_model_against_itself_differs_in_nothing(models):
    rows = report(models, "o2 o2", [SENTENCES]).rows
    assert rows[1]["difference"] == 0 and rows[1]["p"] == 1


def test_vocabularies_that_do_not_compare(models):
    with pytest.raises(UsageError, match=r"o5\.lm lists 4,392 words and .*few\.lm 7, .*--common-vocab"):
        report(models, "o5 few")
    rows = report(models, "o5 few", common_vocab=True).rows
    assert rows[0]["events"] == rows[1]["events"] < 5000
    assert rows[0]["perplexity"] == rows[0]["perplexity_without_oov"]
    assert rows[1]["p"] == 1 / 1001  # so far off that no draw is as far


def test_the_same_seed_gives_the_same_interval(models):
    first, second, third = (report(models, "o2", seed=seed).rows[0] for seed in (1, 1, 2))
    assert first == second != third
    without = report(models, "o2 wb", resamples=0).rows
    assert math.isnan(without[0]["low"]) and without[1]["p"] is None


def test_weights_rise_to_the_top():
    """Every step makes the events more probable; at the end no other weights do better."""
    random = np.random.default_rng(3)
    scores = np.log10(random.dirichlet([1, 1, 1], 500).T * [[0.2], [0.5], [0.9]])
    weights, before = np.full(3, 1 / 3), -np.inf
    for _ in range(20):
        now = mix_scores(scores, weights).sum()
        assert now >= before
        before, weights = now, em_step(10.0**scores, weights)
    best = fitted_weights(scores)
    top = mix_scores(scores, best).sum()
    assert best.sum() == pytest.approx(1) and top >= before
    for other in random.dirichlet([1, 1, 1], 50):
        assert mix_scores(scores, other).sum() <= top + 1e-6


def test_a_mixture_of_one_is_it():
    scores = np.array([[-1.5, -99.0, -0.25]], np.float32)
    assert fitted_weights(scores).tolist() == [1.0]
    assert mix_scores(scores, np.array([1.0])).tolist() == pytest.approx(scores[0].tolist())


def test_texts_without_sentences(models, tmp_path):
    empty = tmp_path / "empty.txt"
    empty.touch()
    for options in ({"data": [str(empty)]}, {"mix": str(empty)}):
        with pytest.raises(WvError, match=r"empty\.txt: no text"):
            report(models, "o2", **options)
