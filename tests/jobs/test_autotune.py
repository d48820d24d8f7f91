"""The search for a classifier's options: proposals, metrics, the log, resuming, a size."""

import json
import lzma
from types import SimpleNamespace

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.formats.fasttext_bin import load_model
from wv_cli.jobs.autotune import Metric, Plan, Search, propose
from wv_cli.models.classifier import Classifier
from wv_cli.models.config import SupervisedConfig
from wv_cli.system import lock

TUNE = ["--model", "supervised", "--autotune-validation", "valid.txt", "--dim", 10, "--epochs", 3, "--buckets", 20_000]


@pytest.fixture
def files(tmp_path):
    lines = lzma.decompress((GOLDEN / "cook.valid.txt.xz").read_bytes()).decode().splitlines(keepends=True)
    (tmp_path / "train.txt").write_text("".join(lines[:400]))
    (tmp_path / "valid.txt").write_text("".join(lines[400:500]))
    return tmp_path


def test_proposals_stay_in_their_ranges_and_repeat():
    plan, best, seen = Plan("valid", given=("dim",)), SupervisedConfig(dim=33), set()
    for number in range(1, 200):
        config, dsub = propose(best, 2, plan, number, number / 200)
        config.validate()
        assert (config, dsub) == propose(best, 2, plan, number, number / 200)
        assert config.dim == 33 and 1 <= config.epochs <= 100 and 0.01 <= config.lr <= 5
        assert 1 <= config.word_ngrams <= 5 and 10_000 <= config.buckets <= 10_000_000
        assert (config.minn, config.maxn) in {(0, 0), (2, 5), (3, 6)} and dsub in {2, 4, 8, 16}
        seen.add((config.word_ngrams, config.minn))
    assert len(seen) == 15, "every combination is tried"
    assert propose(best, 2, plan, 0, 0.0) == (best, 2)


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
            found = metric.score(classifier, str(files / "valid.txt"), 1, 1)
            # Equal scores are cut apart here, not there: never worse.
            assert found == pytest.approx(expected, abs=0.02)
    with pytest.raises(UsageError, match="no label nowhere"):
        Metric.parse("f1:nowhere").score(classifier, str(files / "valid.txt"), 1, 1)


def test_searches_logs_and_resumes(files, wv):
    done = wv("train", "train.txt", "-o", "m.bin", *TUNE, "--autotune-duration", 2, "--lr", 0.5)
    assert done.returncode == 0, done.stderr
    assert "training with the best options" in done.stderr
    header, *trials = map(json.loads, (files / "m.bin.autotune.jsonl").read_text().splitlines())
    assert header["given"] == ["buckets", "dim", "epochs", "lr"] and trials[0]["config"] == {}
    assert all({"dim", "epochs", "lr"}.isdisjoint(trial["config"]) for trial in trials)
    best = max(trial["score"] for trial in trials if trial["score"] is not None)
    scored = json.loads(wv("eval", "labels", "m.bin", "-d", "valid.txt", "--json").stdout)
    assert scored["results"][0]["f1"] == pytest.approx(best, abs=1e-6), "the model written is the one of the best trial"
    meta = json.loads((files / "m.bin.meta.json").read_text())
    assert meta["autotune"]["trials"] == len(trials)

    again = wv("train", "train.txt", "-o", "m.bin", *TUNE, "--autotune-duration", 2, "--lr", 0.5, "--resume")
    assert again.returncode == 0 and f"{len(trials)} trials done before" in again.stderr
    other = wv("train", "train.txt", "-o", "m.bin", *TUNE, "--autotune-duration", 2, "--lr", 0.4, "--resume")
    assert other.returncode == 1 and "another search (start differ)" in other.stderr
    (files / "m.bin.autotune.jsonl").write_text("rubbish\n")
    broken = wv("train", "train.txt", "-o", "m.bin", *TUNE, "--autotune-duration", 2, "--resume")
    assert broken.returncode == 1 and "m.bin.autotune.jsonl:1: " in broken.stderr


def test_a_size_is_kept(files, wv):
    size = ["--autotune-size", "60k", "--autotune-duration", 3, "--lr", 0.5]
    done = wv("train", "train.txt", "-o", "m.ftz", *TUNE, *size)
    assert done.returncode == 0, done.stderr
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


@pytest.fixture
def searched(files, wv):
    """The arguments of a search that is done, and its log."""
    arguments = ["train", "train.txt", "-o", "m.bin", *TUNE, "--autotune-duration", 0.3, "--lr", 0.5]
    done = wv(*arguments)
    assert done.returncode == 0, done.stderr
    return arguments, files / "m.bin.autotune.jsonl"


def test_a_log_is_not_discarded_silently(searched, wv):
    arguments, log = searched
    before = log.read_bytes()
    (log.parent / "train.txt").rename(log.parent / "kept.txt")  # nothing is read before the refusal
    refused = wv(*arguments)
    assert refused.returncode == 1 and "m.bin.autotune.jsonl: the log of an earlier search is there; " in refused.stderr
    assert log.read_bytes() == before
    (log.parent / "kept.txt").rename(log.parent / "train.txt")
    again = wv(*arguments, "--overwrite")
    assert again.returncode == 0 and "done before" not in again.stderr and log.read_bytes() != before


def test_a_line_cut_by_a_kill_is_dropped(searched, wv):
    arguments, log = searched
    whole = log.read_bytes()
    first, last = whole.splitlines(keepends=True)[0], whole.splitlines(keepends=True)[-1]
    for kept, trials in [
        (whole + last[: len(last) // 2], whole.count(b"\n") - 1),
        (first + last[:1], 0),
        (first[:9], None),
    ]:
        log.write_bytes(kept)
        done = wv(*arguments, "--resume")
        assert done.returncode == 0 and "the last line was cut short and is dropped" in done.stderr, done.stderr
        assert (f"{trials} trials done before" in done.stderr) == (trials is not None)
        header, *lines = map(json.loads, log.read_text().splitlines())
        assert header == json.loads(first) and [line["number"] for line in lines] == list(range(len(lines)))


@pytest.mark.parametrize(
    "changed",
    [
        {"number": 7}, {"number": True}, {"number": None}, {"config": 3}, {"config": {"dim": "x"}},
        {"config": {"dim": 0}}, {"config": {"no": 1}}, {"dsub": 3},
        {"dsub": "2"}, {"score": "high"}, {"score": 7}, {"score": True},
        {"why": 1},
        {"elapsed": -1}, {"elapsed": "0"}, {"elapsed": float("nan")}, {"more": 1},
    ],
    ids=str,
)  # fmt: skip
def test_a_line_that_is_no_trial(changed, tmp_path):
    """Any line but a cut one is an error with its number."""
    log = tmp_path / "log"
    search = Search(Plan("valid", log=str(log)), SupervisedConfig(), 1, SimpleNamespace(digest="d"), None, ())
    trial = {"number": 0, "config": {}, "dsub": 2, "score": 0.5, "why": "", "elapsed": 1.5}
    log.write_text("".join(json.dumps(line) + "\n" for line in (search._header(), {**trial, **changed})))
    with pytest.raises(BadFile, match=r"log:2: expected a trial in JSON.*begin anew with --overwrite"):
        search.run(lambda *told, **facts: None, resume=True)


def test_every_trial_is_on_disk_at_once(tmp_path, monkeypatch):
    log, synced = tmp_path / "log", []
    monkeypatch.setattr("os.fsync", lambda descriptor: synced.append(log.read_bytes()))
    search = Search(
        Plan("valid", log=str(log), duration=0.05), SupervisedConfig(), 1, SimpleNamespace(digest="d"), None, ()
    )
    monkeypatch.setattr(search, "_try", lambda *options: (0.5, "", None))
    search.run(lambda *told, **facts: None, resume=False)
    lines = log.read_bytes().splitlines(keepends=True)
    assert synced == [b"".join(lines[: n + 1]) for n in range(len(lines))] and len(lines) > 2


def test_one_search_writes_a_log(tmp_path):
    log = tmp_path / "log"
    search = Search(Plan("valid", log=str(log)), SupervisedConfig(), 1, SimpleNamespace(digest="d"), None, ())
    with log.open("w") as other, pytest.raises(WvError, match="another search writes this log"):
        lock.take(other.fileno())
        search.run(lambda *told, **facts: None, resume=False)
