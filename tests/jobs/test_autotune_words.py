"""The search for word vectors' options: what is proposed, kills and resuming, what is written, what is refused."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from wv_cli import formats, train
from wv_cli.errors import BadFile, Interrupted, UsageError, WvError
from wv_cli.jobs.autotune_words import SPACE, WordSearch, space_of
from wv_cli.jobs.train import training_job
from wv_cli.jobs.trials import SearchPlan
from wv_cli.jobs.validation import Items
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.word2vec import Word2vec

NAMES = {name for move in SPACE for name in move.names}
LONG = {"autotune_duration": 60}  # more than what has an end of its own needs
GIVEN = {"maxn": 0, "epochs": 2, "window": 3, "negative": 2, "sample": 0.0, "lr": 0.1}  # all but the model
TUNE = ["train", "text.txt", "--dim", 8, "--min-count", 2, "--threads", 1, "--epochs", 1]
TUNE += ["--autotune-validation", "pairs.txt"]


def searched(output="a.npy", **options):
    """(the metadata, what was said)."""
    said = []
    chosen = {"dim": 8, "min_count": 2, "autotune_validation": "pairs.txt", "autotune_duration": 0.1, **options}
    return train("text.txt", output, log=lambda message, **more: said.append(message), **chosen), said


def trials(path="a.vec.autotune.jsonl"):
    """The whole lines of the log behind its header."""
    lines = Path(path).read_bytes().splitlines(keepends=True)[1:] if Path(path).exists() else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def walk(config, given=(), named=(), steps=300):
    """A search in which every trial is the best so far, without its training."""
    search = object.__new__(WordSearch)
    search.plan, search.first, search.trials = SearchPlan("valid", given=given), config, []
    search.space = space_of(config, given, named)
    best = config
    for number in range(1, steps):
        search.first = best
        best, dsub = search.proposal(number, number / steps)
        assert (best, dsub) == search.proposal(number, number / steps)
        best.validate()
        yield best


def test_proposals_stay_in_their_ranges_and_repeat():
    seen = set()
    for config in walk(Word2vecConfig(dim=33), steps=600):
        assert config.dim == 33 and 1 <= config.window <= 30 and 1 <= config.negative <= 50
        assert 1 <= config.epochs <= 100 and 1e-3 <= config.start_lr <= 1 and 1e-6 <= config.sample <= 0.1
        seen.add((config.model, config.minn, config.maxn))
    assert seen == {(model, *grams) for model in ("skipgram", "cbow") for grams in ((0, 0), (2, 5), (3, 6))}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_what_is_given_stays(name):
    first = Word2vecConfig(minn=3, maxn=6)
    for config in walk(first, given=(name,), steps=60):
        assert getattr(config, name) == getattr(first, name)


def test_nothing_is_proposed_that_an_option_given_forbids():
    """What has a meaning for one model keeps it, whatever its value; so does what an output layer does not have."""
    assert {config.model for config in walk(Word2vecConfig(), named=("share_negatives",))} == {"skipgram"}
    assert {config.model for config in walk(Word2vecConfig(model="cbow"), named=("cbow_mean",))} == {"cbow"}
    assert {config.maxn for config in walk(Word2vecConfig(loss="hs_ns"))} == {0}
    assert {config.negative for config in walk(Word2vecConfig(loss="hs"))} == {5}
    assert len({config.negative for config in walk(Word2vecConfig(loss="nce"))}) > 5


def test_a_trial_is_never_made_twice_and_the_search_ends_when_all_are(folder):
    metadata, said = searched(**GIVEN, **LONG)
    assert [trial["config"] for trial in trials("a.npy.autotune.jsonl")[:-1]] == [{}, {"model": "cbow"}]
    assert metadata["autotune"]["trials"] == 2 and trials("a.npy.autotune.jsonl")[-1] == {"over": True}
    assert [message.split(":")[0] for message in said if message.startswith("trial")] == ["trial 1", "trial 2"]


@pytest.mark.parametrize("best", ["skipgram", "cbow"])
def test_the_vectors_are_those_of_the_best_trial(folder, monkeypatch, best):
    scores = iter([0.0, 0.2, 0.5] if best == "cbow" else [0.0, 0.5, 0.2])  # the first asks whether there is one
    real = Items.score
    monkeypatch.setattr(Items, "score", lambda items, *how: (real(items, *how), next(scores))[1])
    metadata, said = searched(**GIVEN, **LONG, save_state="a.state")
    found = {"model": "cbow"} if best == "cbow" else {}
    assert metadata["autotune"]["best"]["config"] == found and metadata["config"]["model"] == best
    assert metadata["autotune"]["best"]["score"] == 0.5
    assert metadata["autotune"]["file"] == "pairs.txt" and metadata["autotune"]["task"] == "similarity"
    assert json.loads(Path("a.npy.meta.json").read_text())["autotune"] == metadata["autotune"]
    assert said[-1] == "pairs.txt chose the options: score the vectors on other data"
    chosen = "--model cbow" if best == "cbow" else "those given"
    assert f"training with the best options: {chosen}" in said
    train("text.txt", "plain.npy", model=best, dim=8, min_count=2, **GIVEN)
    assert Path("a.npy").read_bytes() == Path("plain.npy").read_bytes()
    train(
        "text.txt", "later.npy", continue_="a.state", epochs=1, again=True
    )  # what was found is what the state goes on with
    assert json.loads(Path("later.npy.meta.json").read_text())["config"]["model"] == best


def killed(folder, name, after):
    """The log of a search by the real program, killed after some trials."""
    argv = [sys.executable, "-m", "wv_cli", *map(str, TUNE), "-o", f"{name}.vec", "--autotune-duration", "10h"]
    log = f"{name}.vec.autotune.jsonl"
    with subprocess.Popen(argv, cwd=folder, stderr=subprocess.DEVNULL) as running:
        while len(trials(log)) < after:
            assert running.poll() is None
            time.sleep(0.05)
        running.kill()
    return trials(log)


def test_a_kill_loses_no_trial_and_one_thread_repeats_them(folder, wv):
    """The proposals hang on the time only when a quarter of it is used: of ten hours that is never."""
    one, other = killed(folder, "a", 5), killed(folder, "b", 5)
    same = [[(trial["config"], trial["score"]) for trial in each[:5]] for each in (one, other)]
    assert same[0] == same[1] and len({str(config) for config, _ in same[0]}) == 5

    begun = wv(*TUNE, "-o", "a.vec")
    assert begun.returncode == 1 and "the log of an earlier search is there" in begun.stderr
    done = wv(*TUNE, "-o", "a.vec", "--resume", "--autotune-duration", "0.001")
    assert done.returncode == 0 and f"{len(one)} trials done before" in done.stderr, done.stderr
    assert trials()[:-1] == one, "the time was over"
    best = max(one, key=lambda trial: (trial["score"], -trial["number"]))
    metadata = json.loads(Path("a.vec.meta.json").read_text())
    assert metadata["autotune"] == {"file": "pairs.txt", "task": "similarity", "trials": len(one), "best": best}
    assert Items.read("pairs.txt").score(formats.load("a.vec"), 1) == pytest.approx(best["score"], abs=1e-4)

    Path("pairs.txt").write_text("king queen 9\nman woman 8\none two 7\n")
    other = wv(*TUNE, "-o", "b.vec", "--resume")
    assert other.returncode == 1 and "another search (items differ)" in other.stderr


@pytest.mark.parametrize("step", [0, -1], ids=["first step", "last step"])
def test_a_signal_ends_the_search_and_keeps_its_trials(folder, monkeypatch, step):
    """The last step's comes when the trial is as good as done."""
    real, models = Word2vec.train_step, []

    def train_step(model, number, worker):
        if number == 0:
            models.append(model)
            assert len(models) <= 3, "the search went on"
        if len(models) == 3 and number == range(model.steps)[step]:
            os.kill(os.getpid(), signal.SIGTERM)
        return real(model, number, worker)

    monkeypatch.setattr(Word2vec, "train_step", train_step)
    with pytest.raises(Interrupted, match="go on with resume=True"):
        searched(epochs=20, **LONG)
    assert [trial["number"] for trial in trials("a.npy.autotune.jsonl")] == [0, 1] and not Path("a.npy").exists()


@pytest.mark.parametrize(
    ("file", "score", "shown", "never"),
    [
        ("questions.txt", 40.0, "trial 1: 40.00 % of the analogies (best 40.00)", 101),
        ("pairs.txt", -0.5, "trial 1: Spearman -0.5000 (best -0.5000)", -1.5),
    ],
)
def test_a_log_has_scores_of_its_task(folder, monkeypatch, file, score, shown, never):
    """Percent of analogies, correlations of pairs, told and read again."""
    monkeypatch.setattr(Items, "score", lambda *_: score)
    chosen = {**GIVEN, **LONG, "autotune_validation": file}
    _, said = searched(**chosen)
    assert any(message.startswith(shown) for message in said)
    again, _ = searched(resume=True, **chosen)
    assert again["autotune"]["trials"] == 2 and again["autotune"]["best"]["score"] == score
    log = Path("a.npy.autotune.jsonl")
    log.write_text(log.read_text().replace(f'"score": {score}', f'"score": {never}'))
    with pytest.raises(BadFile, match=r"jsonl:2: expected a trial in JSON"):
        searched(resume=True, **chosen)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"autotune_validation": None}, "--autotune-duration needs --autotune-validation"),
        ({"autotune_validation": None, "autotune_duration": None, "autotune_log": "x"}, "--autotune-log needs"),
        ({"autotune_metric": "f1"}, "--autotune-metric has no effect with --model skipgram"),
        ({"autotune_predictions": 2}, "--autotune-predictions has no effect with --model skipgram"),
        ({"autotune_size": 9}, "--autotune-size has no effect with --model skipgram"),
        ({"model": "nplm"}, "--autotune-(validation|duration) has no effect with --model nplm"),
        ({"preset": "quality"}, "--autotune-validation has no effect with --preset quality"),
        ({"epochs": 0}, "--autotune-validation has no effect with --epochs 0"),
        ({"validation": "pairs.txt"}, "--validation has no effect with --autotune-validation"),
        ({**GIVEN, "model": "cbow"}, "all options that it searches for are given; leave one"),
        ({"autotune_log": "log.gz"}, r"log\.gz: a log grows line by line and is not compressed"),
        ({"minn": 2}, "--minn has no effect with --maxn 0"),
        ({"maxn": 0, "buckets": 9}, "--buckets has no effect with --maxn 0"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(folder, options, problem):
    with pytest.raises(UsageError, match=problem):
        searched(**options)
    assert sorted(os.listdir()) == ["pairs.txt", "questions.txt", "text.txt"]


def test_a_state_is_not_searched_from(folder):
    train("text.txt", "b.npy", dim=8, min_count=2, epochs=1, save_state="a.state")
    with pytest.raises(UsageError, match="--continue has no effect with --autotune-validation"):
        searched(continue_="a.state", dim=None, min_count=None)


def test_a_format_does_not_hang_on_what_is_found(folder):
    with pytest.raises(UsageError, match=r"a\.bin: the search may .* --to word2vec-binary or fasttext-bin, or --maxn"):
        searched("a.bin")
    for options in ({"to": "fasttext-bin"}, {"maxn": 0}, {"classes": 3}, {"loss": "hs_ns"}):
        training_job("text.txt", "a.bin", autotune_validation="pairs.txt", **options).validate()


def test_buckets_may_be_given_for_subwords_that_are_found(folder):
    training_job("text.txt", "a.vec", autotune_validation="pairs.txt", buckets=9).validate()


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ("nowhere.txt", "nowhere.txt"),
        ("labelled.txt", "labelled.txt:1: "),
        ("strange.txt", "strange.txt: cannot be scored"),
        ("noquestions.txt", "noquestions.txt: cannot be scored"),
    ],
)
def test_data_that_cannot_score_are_refused_before_a_trial(folder, wv, file, problem):
    """The file is missing, a classifier's, or has no word of the text."""
    Path("labelled.txt").write_text("__label__a how to bake a cake\n" * 9)
    Path("strange.txt").write_text("xyzzy plugh 3\nplugh frotz 4\n")
    Path("noquestions.txt").write_text(": s\nxyzzy plugh frotz ozmoo\n")
    done = wv(*TUNE, "-o", "a.vec", "--epochs", 100_000, "--autotune-validation", file, "--autotune-duration", "1h")
    assert done.returncode == 1 and done.stderr.splitlines()[-1].startswith(f"wv train: {problem}"), done.stderr
    assert not Path("a.vec").exists() and not Path("a.vec.autotune.jsonl").exists()


def test_a_disk_too_small_is_told_before_the_search(folder, monkeypatch):
    usage = shutil.disk_usage(folder)._replace(free=10_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    monkeypatch.setattr(WordSearch, "run", lambda *_, **__: pytest.fail("the search began"))
    with pytest.raises(WvError, match=r"a\.npy: needs about .* has 0 MB free"):
        searched()


def test_init_starts_every_trial(folder):
    train("text.txt", "init.vec", dim=8, min_count=2, epochs=3)
    searched("cold.npy", **GIVEN, **LONG)
    searched("warm.npy", init="init.vec", **GIVEN, **LONG)
    cold, warm = (trials(f"{name}.npy.autotune.jsonl")[0]["score"] for name in ("cold", "warm"))
    assert cold != warm
    with pytest.raises(WvError, match=r"another search \(init differ"):
        searched("warm.npy", resume=True, **GIVEN, **LONG)
