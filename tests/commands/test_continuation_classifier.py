"""Classifiers that go on with other lines: old labels stay known, new ones are learnt."""

from pathlib import Path

import numpy as np
import pytest

import wv_cli
from wv_cli import train
from wv_cli.errors import UsageError, WvError
from wv_cli.io import container
from wv_cli.io.input import open_input
from wv_cli.vectors.formats.fasttext_read import load_model

OPTIONS = {"model": "supervised", "dim": 12, "epochs": 8, "lr": 0.3, "meta": False}
KINDS = {
    "softmax": {},
    "hs": {"loss": "hs"},
    "ns": {"loss": "ns"},
    "ova": {"loss": "ova"},
    "bigrams": {"word_ngrams": 2, "buckets": 5000},
    "subwords": {"minn": 2, "maxn": 3, "buckets": 5000, "min_count": 2},
}
EVERY = pytest.mark.parametrize("kind", KINDS)
FIRST, SECOND = ("the", "in", "of"), ("and", "to", "of")


@pytest.fixture(scope="module")
def lines(slice_text, tmp_path_factory):
    """Labels that can be learnt: one of a few words that the line has."""
    folder = tmp_path_factory.mktemp("labeled")
    pieces = [" ".join(words[i : i + 8]) for line in slice_text.read_text().splitlines()[:700]
              if (words := line.split()) for i in range(0, len(words), 8)]  # fmt: skip
    for name, labels, part in (("first", FIRST, pieces[::2]), ("second", SECOND, pieces[1::2])):
        found = [(label, piece) for piece in part for label in labels if label in piece.split()]
        text = "".join(f"__label__{label} {piece}\n" for label, piece in found[:1500])
        (folder / f"{name}.txt").write_text(text)
    for kind, options in KINDS.items():
        train(folder / "first.txt", folder / f"{kind}.bin", save_state=folder / f"{kind}.state", **OPTIONS, **options)
    return folder


@pytest.fixture
def here(lines, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lines


def rows(path):
    """Every row of a model by what it belongs to: its input rows by word and bucket, its output rows by label."""
    model = load_model(path)
    words, nwords = list(model.words), len(model.words)
    used = np.arange(model.input.shape[0])
    taken = model.input.take(used)
    named = {word: taken[i] for i, word in enumerate(words)}
    named |= {i - nwords: taken[i] for i in range(nwords, len(taken)) if taken[i].any()}
    return named, dict(zip(model.labels, model.output.take(np.arange(len(model.labels))), strict=True))


@EVERY
def test_without_training_all_rows_are_what_they_were(here, kind):
    train(here / "second.txt", "second.bin", continue_=here / f"{kind}.state", epochs=0, save_state="2.state")
    before, after = rows(here / f"{kind}.bin"), rows("second.bin")
    assert set(after[0]) > set(before[0]) and all(np.array_equal(after[0][k], row) for k, row in before[0].items())
    assert set(after[1]) == {f"__label__{label}" for label in (*FIRST, *SECOND)}
    if kind != "hs":
        assert all(np.array_equal(after[1][label], row) for label, row in before[1].items())
        assert not any(after[1][f"__label__{label}"].any() for label in ("and", "to"))
    train(here / "second.txt", "third.bin", continue_="2.state", epochs=0)
    again = rows("third.bin")
    assert all(np.array_equal(again[0][k], row) for k, row in after[0].items())


@EVERY
def test_new_labels_are_learnt_and_old_ones_stay(here, kind):
    train(here / "second.txt", "second.bin", continue_=here / f"{kind}.state", lr=0.2, epochs=8)
    classifier = wv_cli.load_classifier("second.bin")
    for name, least in (("first", 0.5), ("second", 0.7)):
        told = [line.split(" ", 1) for line in (here / f"{name}.txt").read_text().splitlines()]
        found = classifier.predict([text for _, text in told])
        right = np.mean(
            [best[0][0].removeprefix("__label__") in text.split() for best, (_, text) in zip(found, told, strict=True)]
        )
        assert right > least, name


def test_a_text_with_one_label_will_do(here):
    only = [line for line in (here / "second.txt").read_text().splitlines() if line.startswith("__label__to")]
    Path("one.txt").write_text("".join(f"{line}\n" for line in only))
    train("one.txt", "one.bin", continue_=here / "softmax.state")
    assert len(load_model("one.bin").labels) == 4
    with pytest.raises(WvError, match="needs at least two labels"):
        train("one.txt", "one.bin", **OPTIONS)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"word_ngrams": 2}, "word_ngrams is 1 in the state and 2 here"),
        ({"label_prefix": "__l"}, "label_prefix is __label__ in the state and __l here"),
        ({"loss": "hs"}, "loss is softmax in the state and hs here"),
        ({"pretrained": "x.vec"}, "pretrained has no effect with continue"),
        ({"autotune_validation": "x.txt"}, "continue_ has no effect with autotune_validation"),
        ({"model": "skipgram"}, "model is supervised in the state and skipgram here"),
    ],
    ids=str,
)
def test_what_does_not_go_together(here, given, message):
    with pytest.raises(UsageError) as error:
        train(here / "second.txt", "a.bin", continue_=here / "softmax.state", **given)
    assert message in str(error.value) and not list(Path().iterdir())


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("hs", lambda a: {"output": a["output"][:-1]}),
        ("bigrams", lambda a: {"input": a["input"][:-1]}),
        ("bigrams", lambda a: {"buckets": a["buckets"] + 5000}),
        ("bigrams", lambda a: {"buckets": a["buckets"] * 0}),
    ],
)
def test_rows_that_are_not_those_of_the_words(here, kind, change):
    with open_input(here / f"{kind}.state", "") as source:
        reader = container.Reader(source, "state")
        header, arrays = reader.header, reader.read()
    container.save("bad.state", "state", header, {**arrays, **change(arrays)})
    with pytest.raises(WvError, match="rows are not those of its words, labels and n-grams"):
        train(here / "second.txt", "a.bin", continue_="bad.state", meta=False)
    assert not Path("a.bin").exists()
