"""--validation: the best epoch is kept, patience ends a run, and a run that stops and goes on knows what it scored."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from wv_cli import train
from wv_cli.commands.validation import Items
from wv_cli.errors import BadFile, Interrupted, TimedOut, UsageError, WvError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.models.word2vec import Word2vec
from wv_cli.vectors import formats

OPTIONS = {"dim": 8, "epochs": 4, "min_count": 2, "lr": 0.1, "meta": False}


def trained(output="a.npy", **options):
    """(the metadata, what was said)."""
    said = []
    metadata = train("text.txt", output, log=lambda message, **more: said.append(message), **{**OPTIONS, **options})
    return metadata, said


def spearman(path):
    load = Vectors("vectors", lambda: formats.load(path))
    return TASKS["similarity"].run([load], ["pairs.txt"], TASKS["similarity"].config()).scores[0][1]


def test_the_file_tells_what_it_holds(folder):
    assert Items.read("pairs.txt").task == "similarity" and Items.read("questions.txt").task == "analogy"
    Path("plain.txt").write_text("a b c d\n")
    assert Items.read("plain.txt").task == "analogy"
    Path("simlex.txt").write_text("word1\tword2\tPOS\tSimLex999\nold\tnew\tA\t1.58\n")
    assert Items.read("simlex.txt").task == "similarity"
    Path("bad.txt").write_text("neither\n")
    with pytest.raises(BadFile, match="word word score"):
        Items.read("bad.txt")


def test_the_best_epoch_is_kept(folder, monkeypatch):
    scores = iter([0.1, 0.2, 0.5, 0.3, 0.4])  # the first is that of the vectors as they begin
    seen = []
    real = Items.score

    def score(items, vectors, threads):
        seen.append(np.array(vectors.matrix))
        real(items, vectors, threads)
        return next(scores)

    monkeypatch.setattr(Items, "score", score)
    metadata, said = trained(validation="pairs.txt")
    assert metadata["validation"]["scores"] == [0.2, 0.5, 0.3, 0.4] and metadata["validation"]["kept_epoch"] == 2
    assert np.array_equal(formats.load("a.npy").matrix, seen[2]) and not np.array_equal(seen[2], seen[4])
    assert said[-1].startswith("kept epoch 2 of 4") and "score the vectors on other data" in said[-1]


def test_what_is_said_is_the_score_of_what_is_written(folder):
    metadata, _ = trained(validation="pairs.txt")
    found = metadata["validation"]
    assert found["scores"][found["kept_epoch"] - 1] == max(found["scores"]) == pytest.approx(spearman("a.npy"))


def test_validation_alone_changes_nothing_of_the_last_epoch(folder):
    trained("plain.npy")
    metadata, _ = trained(validation="pairs.txt")
    if metadata["validation"]["kept_epoch"] == OPTIONS["epochs"]:
        assert Path("a.npy").read_bytes() == Path("plain.npy").read_bytes()


def test_patience_ends_the_run(folder, monkeypatch):
    scores = iter([0, 0.5, 0.4, 0.6, 0.6, 0.3])
    monkeypatch.setattr(Items, "score", lambda *_: next(scores))
    metadata, said = trained(validation="pairs.txt", patience=2, epochs=20)
    assert metadata["validation"]["scores"] == [0.5, 0.4, 0.6, 0.6, 0.3] and metadata["validation"]["kept_epoch"] == 3
    assert "kept epoch 3 of 5" in said[-1] and not Path("a.npy.checkpoint").exists()


@pytest.mark.parametrize("model", ["skipgram", "cbow"])
def test_a_run_that_stops_and_goes_on_keeps_the_same(folder, monkeypatch, model):
    options = {"validation": "pairs.txt", "model": model, "patience": 3, "epochs": 6}
    whole, _ = trained("whole.npy", **options)
    real, stops = Word2vec.train_step, set()

    def train_step(model, step, worker):
        if step not in stops:
            stops.add(step)
            os.kill(os.getpid(), signal.SIGTERM)
        return real(model, step, worker)

    monkeypatch.setattr(Word2vec, "train_step", train_step)
    metadata = None
    while metadata is None:
        try:
            metadata, _ = trained("parts.npy", resume=True, **options)
        except Interrupted:
            assert not Path("parts.npy").exists()
    assert len(stops) > 2 and metadata["validation"] == whole["validation"]
    assert Path("parts.npy").read_bytes() == Path("whole.npy").read_bytes()


def test_a_checkpoint_belongs_to_its_validation(folder):
    with pytest.raises(TimedOut):
        trained(validation="pairs.txt", max_time=1e-6)
    Path("pairs.txt").write_text("king queen 9\nman woman 8\none two 7\n")
    with pytest.raises(WvError, match=r"belongs to another run .*validation"):
        trained(validation="pairs.txt", resume=True)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"patience": 2}, "patience needs validation"),
        ({"patience": 0, "validation": "pairs.txt"}, "patience must be at least 1, not 0"),
        ({"validation": "pairs.txt", "epochs": 0}, "validation has no effect with epochs 0"),
        ({"validation": "pairs.txt", "model": "supervised"}, "validation has no effect with model supervised"),
    ],
)
def test_what_makes_no_sense_is_refused(folder, options, problem):
    with pytest.raises(UsageError, match=problem):
        trained("a.bin", **options)


def test_data_that_cannot_score_are_refused_before_the_training(folder):
    Path("pairs.txt").write_text("xyzzy plugh 3\n")
    with pytest.raises(WvError, match=r"pairs\.txt: cannot be scored"):
        trained(validation="pairs.txt", epochs=100_000)
    assert not Path("a.npy").exists() and not Path("a.npy.checkpoint").exists()
