"""Training by options alone: the session they make, what is refused, and that it is the run `wv train` makes."""

import signal
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tests.commands.made import training_job
from wv_cli import train
from wv_cli.commands.models import MODELS
from wv_cli.errors import Interrupted, TimedOut, UsageError
from wv_cli.models.training.progress import Totals
from wv_cli.models.training.run import Outcome
from wv_cli.vectors.formats import load

SMALL = {"dim": 8, "epochs": 1, "min_count": 5, "threads": 1}


@pytest.fixture
def text(slice_text, tmp_path):
    path = tmp_path / "text.txt"
    with slice_text.open("rb") as lines:
        path.write_bytes(b"".join(islice(lines, 300)))
    return path


def test_options_reach_the_config_the_vocabulary_and_the_job():
    made = training_job("in.txt", Path("out.vec"), "cbow", "fasttext", maxn=5, min_count=3, max_time=9.0, meta=False)
    assert made.reading.inputs == ("in.txt",) and made.outputs.outputs == ("out.vec",)
    assert (made.config.model, made.config.minn, made.config.maxn, made.config.lr) == ("cbow", 3, 5, 0.05)
    assert made.reading.words.min_count == 3 and made.resume.max_time == 9 and made.invocation.meta is False
    made = training_job(["a", "b"], "out.vec", save_output_vectors=Path("o.vec"), init=None, loss=None)
    assert (made.reading.inputs, made.outputs.save_output_vectors) == (("a", "b"), "o.vec")
    assert (made.first.init, made.config.loss) == (None, "ns")


def test_a_classifier_knows_which_options_were_given():
    made = training_job("in.txt", "out.bin", "supervised", lr=0.5, dim=None, autotune_validation="v.txt", max_vocab=9)
    assert made.search.fixed == ("lr",) and made.search.autotune_validation == "v.txt"
    assert made.reading.words.min_count == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "supervised", "window": 5}, "--window has no effect with --model supervised"),
        (
            {"model": "supervised", "save_output_vectors": "x"},
            "--save-output-vectors has no effect with --model superv",
        ),
        ({"model": "cbow", "pretrained": "x"}, "--pretrained has no effect with --model cbow"),
        ({"model": "lbl", "preset": "word2vec"}, "--preset has no effect with --model lbl, whose defaults are its own"),
        (
            {"model": "supervised", "preset": "word2vec"},
            "--preset word2vec does not exist for --model supervised; choose from fasttext, quality",
        ),
        (
            {"model": "supervised", "loss": "nce"},
            "--loss nce does not exist for --model supervised; choose",
        ),
        ({"model": "skipgrm"}, "unknown model 'skipgrm'; did you mean 'skipgram'?"),
        ({"preset": "fastext"}, "unknown preset 'fastext'; did you mean 'fasttext'?"),
        ({"epoch": 3}, "no such option epoch; did you mean epochs?"),
        ({"vector_size": 9}, "no such option vector_size; did you mean dim?"),
        ({"workers": 2}, "no such option workers; did you mean threads?"),
        ({"wordNgrams": 2}, "no such option wordNgrams; did you mean word_ngrams?"),
        ({"hs": 1}, "no such option hs; did you mean loss='hs'?"),
        ({"sg": 1}, "no such option sg; did you mean model='skipgram' or 'cbow'?"),
        ({"config": 1}, "no such option config; help(wv_cli.train) shows"),
        ({"max_seconds": 1}, "no such option max_seconds; "),
    ],
    ids=str,
)
def test_what_a_model_has_not_is_refused(options, message):
    with pytest.raises(UsageError) as caught:
        training_job("in.txt", "out.vec", **options)
    assert str(caught.value).startswith(message)


def test_every_option_of_a_config_is_taken():
    for name, row in MODELS.items():
        defaults = {key: each.default for key, each in row.config.options().items() if key != "model"} | {"threads": 3}
        made = training_job("in.txt", "out.bin", name, **defaults).config
        assert {key: getattr(made, key) for key in defaults} == defaults


def test_the_same_file_as_the_command_writes(wv, text, tmp_path):
    said = []
    metadata = train(text, tmp_path / "a.vec", log=lambda message, **facts: said.append(message), **SMALL)
    arguments = [word for name, value in SMALL.items() for word in (f"--{name.replace('_', '-')}", value)]
    done = wv("train", text, "-o", "b.vec", *arguments)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.vec").read_bytes() == (tmp_path / "b.vec").read_bytes()
    assert metadata["config"]["dim"] == 8 and metadata["words_per_second"] > 0 and "different ones" in said[0]
    with pytest.raises(UsageError, match="dim must be between 1 and 100000, not 0"):
        train(text, tmp_path / "c.vec", dim=0)


def test_a_run_that_stops_early_raises_and_goes_on(text, tmp_path):
    options = {**SMALL, "epochs": 40}
    train(text, tmp_path / "whole.vec", **options)
    with pytest.raises(TimedOut, match=r"stopped after max_time; go on with resume=True"):
        train(text, tmp_path / "part.vec", max_time=1e-6, **options)
    assert not (tmp_path / "part.vec").exists()
    train(text, tmp_path / "part.vec", resume=True, **options)
    assert (tmp_path / "part.vec").read_bytes() == (tmp_path / "whole.vec").read_bytes()


def test_a_signal_is_an_interruption():
    error = Outcome(3, Totals(), 1.0, signal.SIGTERM).ended_early("nothing was saved")
    assert isinstance(error, Interrupted) and error.exit_code == 143 and str(error) == "interrupted; nothing was saved"


def test_the_memory_that_is_said_is_of_matrices_text_and_words(text, tmp_path):
    told = {}
    train(text, tmp_path / "out.bin", log=lambda _, **facts: told.update(facts), **SMALL)
    counts = Counter(text.read_text().split())
    kept = {word: count for word, count in counts.items() if count >= 5}
    words = sum(len(word.encode()) + 16 for word in kept) + 8
    ends = sum(not kept.keys().isdisjoint(line.split()) for line in text.read_text().splitlines())
    assert told["text_bytes"] == 4 * (sum(kept.values()) + ends) + words
    assert told["model_bytes"] >= 2 * len(kept) * 16 * 4


def test_a_classifier_says_what_its_text_and_words_take(text, tmp_path):
    told = {}
    labeled = tmp_path / "labeled.txt"
    labeled.write_text("".join(f"__label__{n % 2} {line}\n" for n, line in enumerate(text.read_text().splitlines())))
    options = {"model": "supervised", "dim": 8, "epochs": 1, "threads": 1}
    train(labeled, tmp_path / "out.bin", log=lambda _, **facts: told.update(facts), **options)
    words = {*text.read_text().split(), "</s>"}
    ids = len(labeled.read_text().split()) + told["lines"]  # labels among them, and the end of each line
    of_words = sum(len(word.encode()) + 16 for word in words) + 8
    assert told["text_bytes"] == 4 * ids + of_words
    train(labeled, tmp_path / "3.bin", log=lambda _, **facts: told.update(facts), word_ngrams=3, **options)
    assert told["text_bytes"] == 4 * 3 * ids + of_words  # a row for each n-gram that can begin at an id


def test_all_rows_of_a_foreign_model_are_first_rows(tmp_path):
    """With nothing learnt, the vectors are those of the model, also of words that are in neither."""
    (tmp_path / "text").write_text("banana bandana cabana ban\n" * 9)
    options = {"dim": 6, "min_count": 1, "minn": 2, "maxn": 3, "buckets": 50, "sample": 0}
    train(str(tmp_path / "text"), str(tmp_path / "a.bin"), epochs=5, **options)
    first = load(tmp_path / "a.bin")
    train(str(tmp_path / "text"), str(tmp_path / "b.bin"), init=str(tmp_path / "a.bin"), epochs=0, **options)
    second = load(tmp_path / "b.bin")
    for word in ("banana", "cabana", "panama"):
        np.testing.assert_allclose(second[word], first[word], atol=1e-6)
    other = {**options, "buckets": 60}
    train(str(tmp_path / "text"), str(tmp_path / "c.bin"), init=str(tmp_path / "a.bin"), epochs=0, **other)
    assert not np.allclose(load(tmp_path / "c.bin")["panama"], first["panama"], atol=1e-3)
