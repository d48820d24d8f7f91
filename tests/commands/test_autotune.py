"""The search for a classifier's options: proposals, metrics, the log, resuming, a size."""

import json
import lzma
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace

import numpy as np
import pytest

from tests.commands.made import end_after_trials
from tests.conftest import GOLDEN
from tests.processes import Process
from wv_cli import __main__ as entry
from wv_cli.commands.autotune import LabelSearch, Plan, propose
from wv_cli.commands.autotune_log import Trial, TrialLog, claim_log
from wv_cli.commands.autotune_metric import Metric
from wv_cli.commands.autotune_space import count_ngrams
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.models.classifier import Classifier
from wv_cli.models.config import SupervisedConfig
from wv_cli.models.supervised import Supervised
from wv_cli.models.training.progress import Totals
from wv_cli.models.training.run import Outcome
from wv_cli.text.config import VocabConfig
from wv_cli.text.labeled import encode_labeled
from wv_cli.vectors.formats.fasttext_bin import load_model

TUNE = ["--model", "supervised", "--autotune-validation", "valid.txt", "--dim", 10, "--epochs", 3, "--buckets", 20_000]


@pytest.fixture
def files(tmp_path):
    lines = lzma.decompress((GOLDEN / "cook.valid.txt.xz").read_bytes()).decode().splitlines(keepends=True)
    (tmp_path / "train.txt").write_text("".join(lines[:400]))
    (tmp_path / "valid.txt").write_text("".join(lines[400:500]))
    return tmp_path


MANY = 10_000_000


def test_proposals_stay_in_their_ranges_and_repeat():
    plan, best, seen = Plan("valid", given=("dim",)), SupervisedConfig(dim=33), set()
    for number in range(1, 200):
        config, dsub = propose(best, 2, plan, number, number / 200, MANY)
        config.validate()
        assert (config, dsub) == propose(best, 2, plan, number, number / 200, MANY)
        assert config.dim == 33 and 1 <= config.epochs <= 100 and 0.01 <= config.lr <= 5
        assert 1 <= config.word_ngrams <= 5 and 10_000 <= config.buckets <= 10_000_000
        assert (config.minn, config.maxn) in {(0, 0), (2, 5), (3, 6)} and dsub in {2, 4, 8, 16}
        seen.add((config.word_ngrams, config.minn))
    assert len(seen) == 15, "every combination is tried"
    assert propose(best, 2, plan, 0, 0.0, MANY) == (best, 2)


def test_there_are_no_more_buckets_than_ngrams(files):
    """Counted in the text as it is, of the lengths that a search tries."""
    lines = [[*line.split(), "</s>"] for line in (files / "train.txt").read_text().splitlines()]
    words = {word for line in lines for word in line if not word.startswith("__label__")}
    whole = [f"<{word}>" for word in words]
    found = {word[i : i + n] for word in whole for n in range(2, 7) for i in range(len(word) - n + 1)}
    for line in lines:
        kept = [word for word in line if word in words]
        found |= {tuple(kept[i : i + n]) for n in range(2, 6) for i in range(len(kept) - n + 1)}
    corpus = encode_labeled([str(files / "train.txt")], VocabConfig(min_count=1), keep_dropped=True)
    most = count_ngrams(corpus.words, len(corpus.ids), 6, 5)
    assert len(found) <= most <= 4 * len(found)
    search = LabelSearch(Plan("valid"), SupervisedConfig(buckets=2_000_000), 1, corpus, None, [])
    chosen = [search.proposal(number, 0.1)[0].buckets for number in range(1, 50)]
    assert max(chosen) == most and min(chosen) < most
    few = [propose(SupervisedConfig(), 2, Plan("valid"), number, 0.1, 5)[0].buckets for number in range(1, 9)]
    assert set(few) == {10_000}
    given = LabelSearch(Plan("valid", given=("buckets",)), SupervisedConfig(buckets=2_000_000), 1, corpus, None, [])
    assert given.proposal(1, 0.1)[0].buckets == 2_000_000


@pytest.mark.parametrize("validation", ["valid.txt", "train.txt", "link.txt"])
def test_lines_that_are_learnt_by_heart_are_told_of(files, monkeypatch, capsys, validation):
    monkeypatch.chdir(files)
    monkeypatch.setattr(LabelSearch, "attempt", lambda *_: (0.5, Outcome(1, Totals(), 0.3)))
    (files / "link.txt").symlink_to("train.txt")
    end_after_trials(monkeypatch, 1)
    call = ["train", "train.txt", "-o", "m.bin", *map(str, TUNE), "--autotune-duration", "10h"]
    assert entry.run([*call, "--autotune-validation", validation]) == 0
    told = f"--autotune-validation: {validation} is among INPUT, so the search chooses options that learn it by heart"
    assert capsys.readouterr().err.count(told) == (validation != "valid.txt")


def test_a_search_that_finished_one_trial_says_how_long_it_takes(files, monkeypatch, capsys):
    def attempt(search, config, dsub, seconds):
        time.sleep(0.3)
        return (None if search.trials else 0.5), Outcome(1, Totals(), 0.3)

    monkeypatch.chdir(files)
    monkeypatch.setattr(LabelSearch, "attempt", attempt)
    end_after_trials(monkeypatch, 2)
    assert entry.run(["train", "train.txt", "-o", "m.bin", *map(str, TUNE), "--autotune-duration", "10h"]) == 0
    said = capsys.readouterr().err
    told = r"found nothing: only the options as given were tried, in \d+\.\d s a trial; give --autotune-d\S+ \d+\n"
    assert re.search(told, said)


@pytest.mark.parametrize("text", ["f2", "", "precisionAtRecall", "precisionAtRecall:x", "recallAtPrecision:101", "F1"])
def test_unknown_metrics(text):
    with pytest.raises(UsageError, match="--autotune-metric"):
        Metric.parse(text)


def test_metrics_against_every_threshold(files):
    """The curve by brute force, for all labels and for one."""
    classifier = Classifier(load_model(GOLDEN / "cook-raw.ftz"))
    text = (files / "valid.txt").read_bytes()
    answers = classifier.answer(text, -1)
    for label in ("", "__label__baking"):
        pairs, gold = [], 0
        for line in range(100):
            mine = set(answers.true_labels[answers.true_starts[line] : answers.true_starts[line + 1]].tolist())
            for k in range(answers.found[line]):
                name = int(answers.labels[line, k])
                if not label or classifier.labels[name] == label:
                    pairs.append((float(answers.scores[line, k]), name in mine))
                    gold += name in mine
        best = {"precisionAtRecall": 0.0, "recallAtPrecision": 0.0}
        scores, right = np.array([score for score, _ in pairs]), np.array([right for _, right in pairs])
        for threshold in np.sort(scores)[-600:]:  # far beyond where the bars are reached
            taken = right[scores >= threshold]
            precision, recall = taken.mean(), taken.sum() / gold
            if recall >= 0.3:
                best["precisionAtRecall"] = max(best["precisionAtRecall"], precision)
            if precision >= 0.3:
                best["recallAtPrecision"] = max(best["recallAtPrecision"], recall)
        for name, expected in best.items():
            metric = Metric.parse(f"{name}:30" + (f":{label}" if label else ""))
            found = metric.score(classifier, [str(files / "valid.txt")], 1, 1)
            # Equal scores are cut apart here, not there: never worse.
            assert found == pytest.approx(expected, abs=0.02)
    with pytest.raises(UsageError, match="no label nowhere"):
        Metric.parse("f1:nowhere").score(classifier, [str(files / "valid.txt")], 1, 1)


def test_searches_logs_and_resumes(files, wv, monkeypatch, capsys):
    monkeypatch.chdir(files)
    call = ["train", "train.txt", "-o", "m.bin", *map(str, TUNE), "--lr", "0.5", "--autotune-duration"]
    with monkeypatch.context() as patch:
        end_after_trials(patch, 5)
        assert entry.run([*call, "10h"]) == 0
    assert "training with the best options" in capsys.readouterr().err
    header, *trials, last = map(json.loads, (files / "m.bin.autotune.jsonl").read_text().splitlines())
    assert header["given"] == ["buckets", "dim", "epochs", "lr"] and trials[0]["config"] == {}
    assert last == {"over": True}
    assert all({"dim", "epochs", "lr"}.isdisjoint(trial["config"]) for trial in trials)
    best = max(trial["score"] for trial in trials if trial["score"] is not None)
    scored = json.loads(wv("eval", "labels", "m.bin", "-d", "valid.txt", "--json").stdout)
    assert scored["results"][0]["f1"] == pytest.approx(best, abs=1e-6), "the model written is the one of the best trial"
    meta = json.loads((files / "m.bin.meta.json").read_text())
    assert len(trials) == meta["autotune"]["trials"] == 5
    again = wv(*call, "0.001", "--resume")
    assert again.returncode == 0 and "5 trials done before" in again.stderr
    other = wv(*call, "0.001", "--lr", 0.4, "--resume")
    assert other.returncode == 1 and "another search (start differ)" in other.stderr
    (files / "m.bin.autotune.jsonl").write_text("rubbish\n")
    broken = wv(*call, "0.001", "--resume")
    assert broken.returncode == 1 and "m.bin.autotune.jsonl:1: " in broken.stderr


def trials_of(log):
    """The whole lines of the log behind its header."""
    lines = log.read_bytes().splitlines(keepends=True)[1:] if log.exists() else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def test_a_kill_loses_no_trial(files, wv):
    log = files / "m.bin.autotune.jsonl"
    argv = [sys.executable, "-m", "wv_cli", "train", "train.txt", "-o", "m.bin", *map(str, TUNE)]
    with Process([*argv, "--autotune-duration", "10h"], cwd=files, stderr=subprocess.DEVNULL) as running:
        while len(trials_of(log)) < 3:
            assert running.poll() is None
            time.sleep(0.05)
        running.kill()
    before = trials_of(log)
    begun = wv("train", "train.txt", "-o", "m.bin", *TUNE)
    assert begun.returncode == 1 and "the log of an earlier search is there" in begun.stderr
    done = wv("train", "train.txt", "-o", "m.bin", *TUNE, "--resume", "--autotune-duration", "0.001")
    assert done.returncode == 0 and f"{len(before)} trials done before" in done.stderr, done.stderr
    assert trials_of(log)[:-1] == before, "the time was over"
    best = max(before, key=lambda trial: (trial["score"] or 0, -trial["number"]))
    assert json.loads((files / "m.bin.meta.json").read_text())["autotune"]["best"] == best


@pytest.mark.parametrize("step", [0, -1], ids=["first step", "last step"])
def test_a_signal_ends_the_search_and_keeps_its_trials(files, monkeypatch, capsys, step):
    """The last step's comes when the trial is as good as done."""
    real, models = Supervised.train_step, []

    def train_step(model, number, worker):
        if number == 0:
            models.append(model)
            assert len(models) <= 3, "the search went on"
        if len(models) == 3 and number == range(model.steps)[step]:
            os.kill(os.getpid(), signal.SIGTERM)
        return real(model, number, worker)

    monkeypatch.setattr(Supervised, "train_step", train_step)
    monkeypatch.chdir(files)
    assert entry.run(["train", "train.txt", "-o", "m.bin", *map(str, TUNE), "--autotune-duration", "10h"]) == 143
    assert "--resume" in capsys.readouterr().err
    assert [trial["number"] for trial in trials_of(files / "m.bin.autotune.jsonl")] == [0, 1]
    assert not (files / "m.bin").exists()


@pytest.mark.parametrize("signals", [1, 2])
def test_a_signal_in_the_first_trial_leaves_no_log(files, monkeypatch, capsys, signals):
    """The second one stops it at once."""
    real = Supervised.train_step

    def train_step(model, number, worker):
        if number < signals:
            os.kill(os.getpid(), signal.SIGINT)
        return real(model, number, worker)

    monkeypatch.setattr(Supervised, "train_step", train_step)
    monkeypatch.chdir(files)
    assert entry.run(["train", "train.txt", "-o", "m.bin", *map(str, TUNE), "--autotune-duration", "10h"]) == 130
    said = capsys.readouterr().err
    assert ("interrupted; no trial was finished, so nothing was saved" if signals == 1 else "interrupted") in said
    assert "--resume" not in said
    assert not (files / "m.bin.autotune.jsonl").exists()


HEADER = {"autotune": 1}


def log_of(path, trials, *, over=False):
    log = TrialLog(str(path), HEADER, SupervisedConfig())
    log.begin(print, resume=False)
    for number in range(trials):
        log.add(Trial(number, {"epochs": number + 1}, 2, 0.5, "", float(number)))
    log.close(over=over)


def begin(path, *, resume=False, overwrite=False):
    notes = []
    with claim_log(str(path), discard=resume or overwrite):
        log = TrialLog(str(path), HEADER, SupervisedConfig())
        trials = log.begin(notes.append, resume=resume)
        log.close(over=False)
    return [trial.number for trial in trials], notes


def test_one_search_writes_a_log(tmp_path):
    with (
        claim_log(str(tmp_path / "log"), discard=False),
        pytest.raises(WvError, match="another search writes this log"),
    ):
        begin(tmp_path / "log")


def test_the_command_refuses_before_it_reads(files, wv):
    log_of(files / "m.bin.autotune.jsonl", 2)
    before = (files / "m.bin.autotune.jsonl").read_bytes()
    (files / "train.txt").unlink()
    done = wv("train", "train.txt", "-o", "m.bin", *TUNE)
    assert done.returncode == 1 and "m.bin.autotune.jsonl: the log of an earlier search is there" in done.stderr
    assert (files / "m.bin.autotune.jsonl").read_bytes() == before


def test_the_log_of_a_search_is_not_discarded_silently(tmp_path):
    log_of(tmp_path / "log", 3)
    before = (tmp_path / "log").read_bytes()
    with pytest.raises(WvError, match="an earlier search is there, of 3 trials; go on with --resume, or begin anew"):
        begin(tmp_path / "log")
    assert (tmp_path / "log").read_bytes() == before
    assert begin(tmp_path / "log", resume=True)[0] == [0, 1, 2]
    assert begin(tmp_path / "log", overwrite=True)[0] == []
    log_of(tmp_path / "done", 2, over=True)
    assert begin(tmp_path / "done", resume=True)[0] == [0, 1]
    log_of(tmp_path / "done", 2, over=True)
    assert begin(tmp_path / "done")[0] == [], "what is over gives way, as yesterday's model does"


def test_dropout_is_searched_for():
    plan, best = Plan("valid"), SupervisedConfig()
    found = [propose(best, 2, plan, number, number / 200, MANY)[0].dropout for number in range(1, 200)]
    assert all(0 <= dropout <= 0.9 for dropout in found) and 60 < sum(dropout > 0 for dropout in found) < 140
    kept = replace(plan, given=("dropout",))
    assert all(propose(best, 2, kept, number, 0.1, MANY)[0].dropout == 0 for number in range(1, 50))


def test_a_log_without_an_option_of_today_belongs_to_another_search(tmp_path):
    first = SupervisedConfig()
    start = asdict(first)
    del start["dropout"]
    (tmp_path / "log").write_text(f"{json.dumps({**HEADER, 'start': start})}\n")
    log = TrialLog(str(tmp_path / "log"), {**HEADER, "start": asdict(first)}, first)
    with pytest.raises(BadFile, match=r"another search \(start differ\)"):
        log.begin(lambda note: None, resume=True)


def test_a_line_that_a_kill_cut_short_is_made_again(tmp_path):
    path = tmp_path / "log"
    log_of(path, 3)
    whole = path.read_bytes()
    for cut in range(whole.index(b"\n") + 2, len(whole)):
        path.write_bytes(whole[:cut])
        complete = whole[:cut].count(b"\n")
        done, notes = begin(path, resume=True)
        assert done == list(range(complete - 1))
        assert [f":{complete + 1}: cut short" in note for note in notes][:1] == [whole[cut - 1 : cut] != b"\n"]
        assert path.read_bytes() == b"".join(whole.splitlines(keepends=True)[:complete])


def test_trials_are_on_the_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda descriptor, real=os.fsync: (real(descriptor), synced.append(descriptor)))
    log = TrialLog(str(tmp_path / "log"), HEADER, SupervisedConfig())
    log.begin(print, resume=False)
    before = len(synced)
    log.add(Trial(0, {}, 2, 0.5, "", 1.0))
    assert len(synced) == before + 1
    log.close(over=True)


@pytest.mark.parametrize(
    "changed",
    [
        {"number": 7}, {"number": True}, {"number": None}, {"config": 3}, {"config": {"dim": "x"}},
        {"config": {"dim": 0}}, {"config": {"no": 1}}, {"dsub": 3}, {"dsub": "2"}, {"dsub": True}, {"score": "high"},
        {"score": 7}, {"score": True}, {"score": float("nan")}, {"why": 1}, {"elapsed": -1}, {"elapsed": "0"},
        {"elapsed": float("nan")}, {"elapsed": 10**400}, {"more": 1},
    ],
    ids=str,
)  # fmt: skip
def test_a_line_that_is_no_trial(tmp_path, changed):
    """Any line but a cut one is an error with its number."""
    log_of(tmp_path / "log", 0)
    trial = {"number": 0, "config": {}, "dsub": 2, "score": 0.5, "why": "", "elapsed": 1.5}
    with (tmp_path / "log").open("a") as stream:
        stream.write(json.dumps({**trial, **changed}) + "\n")
    with pytest.raises(BadFile, match="log:2: expected a trial in JSON; begin anew with --overwrite"):
        begin(tmp_path / "log", resume=True)


@pytest.mark.parametrize("line", [b"[]", b"\xff", b"{", b"[" * 100_000], ids=lambda line: line[:9])
def test_a_line_that_is_none(tmp_path, line):
    log_of(tmp_path / "log", 0)
    with (tmp_path / "log").open("ab") as stream:
        stream.write(line + b"\n")
    with pytest.raises(BadFile, match="log:2: expected a trial in JSON"):
        begin(tmp_path / "log", resume=True)


def test_a_size_is_kept(files, wv, monkeypatch):
    monkeypatch.chdir(files)
    end_after_trials(monkeypatch, 4)
    size = ["--autotune-size", "60k", "--autotune-duration", "10h", "--lr", "0.5"]
    assert entry.run(["train", "train.txt", "-o", "m.ftz", *map(str, TUNE), *size]) == 0
    assert (files / "m.ftz").stat().st_size <= 60_000
    assert wv("predict", "m.ftz", "valid.txt").returncode == 0


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--autotune-duration", 3], 2, "--autotune-duration needs --autotune-validation"),
        (["--autotune-validation", "no-such-file"], 1, "no-such-file"),
        (["--autotune-validation", "plain.txt"], 1, "no line has both a label and a word"),
        (["--autotune-validation", "valid.txt", "--autotune-metric", "f1:nowhere"], 2, "no label nowhere"),
        (["--autotune-validation", "valid.txt", "--autotune-size", "1M"], 2, "NAME.ftz"),
        (["--autotune-validation", "valid.txt", "--autotune-predictions", 0], 2, "--autotune-predictions"),
        (["--autotune-validation", "valid.txt", "--autotune-log", "no-folder/log"], 1, "no-folder"),
    ],
    ids=str,
)
def test_misuse(options, code, message, files, wv):
    (files / "plain.txt").write_text("no labels\n")
    done = wv("train", "train.txt", "-o", "m.bin", "--model", "supervised", "--dim", 5, *options)
    assert done.returncode == code, done.stderr
    assert message in done.stderr and "Traceback" not in done.stderr
    assert not (files / "m.bin").exists()


def test_the_command_line_of_fasttext_finds_options_that_fasttext_has(files):
    from wv_cli.cli.compat.fasttext_args import Args
    from wv_cli.cli.compat.fasttext_search import Searching

    words = ["-input", "train.txt", "-output", "m", "-autotune-validation", "valid.txt", "-lr", "0.5"]
    assert set(Searching(Args.parse("supervised", words)).options()["fixed"]) == {"dropout", "lr"}
