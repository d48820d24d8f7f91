"""Several models written as one: its n-grams have the interpolated probabilities, and those of a context sum to 1."""

import json

import numpy as np
import pytest

from wv_cli import lm_mix
from wv_cli.lm.asking import SENTENCE
from wv_cli.lm.files import load, load_ngrams
from wv_cli.lm.interpolation import interpolate
from wv_cli.lm.model import unpack_model
from wv_cli.lm.scoring import Scorer

TEXTS = {
    "a": "the cat sat on the mat\na cat ate the fish\nthe dog sat on the cat\nthe cat sat\n",
    "b": "a dog ran to the house\nthe dog sat on the house\na dog ate\n",
}
WEIGHTS = 0.7, 0.3
ASKED = b"the cat sat on the house\na dog sat on the mat\nthe zebra ate a fish\n"


@pytest.fixture(params=[("kneser-ney", 3, 3), ("witten-bell", 3, 2), ("add-k", 2, 4)], ids=lambda each: each[0])
def models(request, wv, tmp_path):
    method, *orders = request.param
    for (name, text), order in zip(TEXTS.items(), orders, strict=True):
        (tmp_path / name).write_text(text)
        options = ["--order", order, "--smoothing", method, "-q"]
        options += ["--discount-fallback"] if method == "kneser-ney" else []
        done = wv("lm", "train", tmp_path / name, "-o", tmp_path / f"{name}.arpa", *options)
        assert done.returncode == 0, done.stderr
    return [unpack_model(load_ngrams(tmp_path / f"{name}.arpa")) for name in TEXTS]


def events(model):
    return next(Scorer(model).read([ASKED]))


def test_the_mixture_of_what_is_listed(models):
    mixed = interpolate(models, WEIGHTS)
    own = [events(model) for model in models]
    found = events(mixed)
    longest = mixed.order
    probability = sum(
        weight * np.where(each.oov, 0, 10.0 ** np.asarray(each.scores, float))
        for weight, each in zip(WEIGHTS, own, strict=True)
    )
    listed = (np.asarray(found.lengths) == longest) & ~found.oov
    assert listed.sum() >= 3
    np.testing.assert_allclose(10.0 ** np.asarray(found.scores)[listed], probability[listed], rtol=1e-5)
    words = {word for model in models for word in model.words}
    assert set(mixed.words) == words and len(mixed.words) == len(words)
    sizes = [{tuple(map(model.words.__getitem__, row)) for row in model.trie.rows(2)} for model in (*models, mixed)]
    assert sizes[2] == sizes[0] | sizes[1]


def test_probabilities_sum_to_1(models):
    mixed = interpolate(models, WEIGHTS)
    asked = mixed.scorer
    for text in ("", "the", "the cat", "a dog ate", "sat on", "house"):
        ids = np.array([mixed.words.find(word) for word in text.split()], np.int32)
        state = asked.score(ids, asked.begin(True), True)[2] if len(ids) else asked.begin(True)
        probabilities = np.delete(10.0 ** asked.all(state).astype(float), SENTENCE)  # that of <s> stands for nothing
        assert probabilities.sum() == pytest.approx(1, abs=1e-4)


def test_one_model_twice_is_that_model(models):
    mixed = interpolate([models[0], models[0]], (0.4, 0.6))
    np.testing.assert_allclose(mixed.prob, models[0].prob, atol=1e-5)
    assert mixed.trie.sizes == models[0].trie.sizes
    np.testing.assert_allclose(events(mixed).scores, events(models[0]).scores, atol=1e-3)


def test_no_probability_is_above_1_where_the_weights_round_up(models):
    given = (0.7, 0.2, 0.1)
    weights = [weight / sum(given) for weight in given]  # as the command divides them
    assert sum(weights) > 1
    assert interpolate([models[0], models[1], models[0]], weights).prob.max() == 0  # KenLM reads no file with more


def test_the_command(models, wv, tmp_path):
    held, files = tmp_path / "held", [tmp_path / f"{name}.arpa" for name in TEXTS]
    held.write_text(TEXTS["a"])
    done = wv("lm", "mix", *files, "-o", tmp_path / "c.lm", "--weights", "7,3")
    assert (done.returncode, done.stdout) == (0, "") and done.stderr.startswith("mixture: 0.7000 ")
    np.testing.assert_allclose(events(load(tmp_path / "c.lm")).scores, events(interpolate(models, WEIGHTS)).scores)
    fitted = wv("lm", "mix", *files, "-o", tmp_path / "d.arpa", "--fit", held)
    assert fitted.returncode == 0 and float(fitted.stderr.split()[1]) > 0.9
    sidecar = json.loads((tmp_path / "d.arpa.meta.json").read_text())
    assert sidecar["models"] == [*map(str, files)] and sidecar["weights"][0] > 0.9
    for arguments, code, message in [
        (files[:1], 2, "expected two models or more, found one"),
        ([*files, "--weights", "1"], 2, "expected 2 numbers of 0 or more with commas between, one above 0; found 1"),
        ([*files, "--weights", "1,-1"], 2, "expected 2 numbers"),
        ([*files, "--weights", "1,1", "--fit", held], 2, "--weights and --fit cannot be used together"),
        ([*files, "-o", files[0]], 2, "is both read and written"),
        ([files[0], held], 1, "expected a language model"),
    ]:
        refused = wv("lm", "mix", *arguments)
        assert (refused.returncode, refused.stdout) == (code, "") and message in refused.stderr


def test_weights_are_fitted_to_words_as_the_models_have_them(wv, tmp_path):
    """A raw text by --tokenize, records, and a normalization: as the same text cut beforehand."""
    texts = {"a": "The cat sat, the dog ran.\nThe cat ate!\n", "b": "A dog ate, a dog sat.\nThe house: a house.\n"}
    files = [tmp_path / f"{name}.lm" for name in texts]
    for file, text in zip(files, texts.values(), strict=True):
        (tmp_path / "in.txt").write_text(text)
        options = ["--order", 2, "--tokenize", "unicode,lowercase", "--discount-fallback"]
        assert wv("lm", "train", tmp_path / "in.txt", "-o", file, *options).returncode == 0
    (tmp_path / "raw.txt").write_text("The CAT sat.\nA dog!\n")
    (tmp_path / "cut.txt").write_text("the cat sat .\na dog !\n")
    (tmp_path / "raw.jsonl").write_text('{"body": "The CAT sat."}\n{"body": "A dog!"}\n')
    (tmp_path / "upper.txt").write_text("THE CAT SAT .\nA DOG !\n")

    def fit(name, *options):
        return lm_mix(files, tmp_path / "c.lm", fit=str(tmp_path / name), **dict(options))["weights"]

    wanted = fit("cut.txt")
    assert wanted[1] > 0.1 and fit("raw.txt") != wanted
    for name, *options in (
        ("raw.txt", ("tokenize", "model")),
        ("raw.txt", ("tokenize", "unicode,lowercase")),
        ("raw.jsonl", ("tokenize", "model"), ("field", "body")),
        ("upper.txt", ("normalize", "datatrove")),
    ):
        assert fit(name, *options) == wanted, (name, options)
    told = wv("lm", "mix", *files, "-o", tmp_path / "c.lm", "--fit", tmp_path / "raw.txt")
    assert "a.lm: trained with --tokenize unicode,lowercase; give --tokenize model" in told.stderr
    for option in ("--field", "body"), ("--tokenize",), ("--normalize", "ccnet"), ("--tokenizer", files[0]):
        refused = wv("lm", "mix", *files, "-o", tmp_path / "d.lm", *option)
        assert refused.returncode == 2 and f"{option[0]} needs --fit" in refused.stderr
