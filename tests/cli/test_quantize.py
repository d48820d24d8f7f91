"""`wv quantize` as its user meets it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import GOLDEN, Run
from wv_cli.io.meta import tokenization
from wv_cli.vectors.formats.fasttext_bin import load_model

WORDS, LABELS = GOLDEN / "ft-words.bin", GOLDEN / "ft-labels.bin"


@pytest.fixture
def labeled(tmp_path):
    model = load_model(LABELS)
    words = [word for word in model.words if word != "</s>"]
    lines = [f"{model.labels[i % 5]} {words[i % 300]} {words[7 * i % 300]}\n" for i in range(600)]
    path = tmp_path / "labeled.txt"
    path.write_text("".join(lines))
    return path


def test_sizes_and_score_before_and_after(wv: Run, tmp_path: Path, labeled: Path) -> None:
    options = ["--cutoff", 700, "--qnorm", "--validation", labeled]
    done = wv("quantize", LABELS, "-o", "small.ftz", *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    rows, sizes, score = done.stderr.splitlines()
    size = (tmp_path / "small.ftz").stat().st_size
    assert rows == "4,325 rows -> 700"
    assert sizes.startswith(f"{LABELS.stat().st_size:,} bytes -> {size:,}: ")
    assert score.startswith("P@1 0.")
    assert score.endswith(" points) on " + str(labeled))
    facts = json.loads((tmp_path / "small.ftz.meta.json").read_text())
    assert facts["bytes"] == size
    assert facts["argv"][1] == "quantize"

    as_json = wv("quantize", LABELS, "-o", "again.ftz", *options, "--json", "--no-meta")
    facts = json.loads(as_json.stdout)
    assert (facts["rows"], facts["bytes"], facts["measure"]) == (700, size, "P@1")
    assert not (tmp_path / "again.ftz.meta.json").exists()
    assert (tmp_path / "again.ftz").read_bytes() == (tmp_path / "small.ftz").read_bytes()


def test_word_vectors(wv: Run, tmp_path: Path, data: Path) -> None:
    pairs = data / "similarity" / "EN-WS-353-ALL.txt"
    done = wv("quantize", WORDS, "-o", "small.ftz", "--cutoff", 300, "--validation", pairs)
    assert done.returncode == 0, done.stderr
    assert "Spearman" in done.stderr
    assert len(load_model(tmp_path / "small.ftz").words) == 225
    near = wv("nn", "small.ftz", "war", "-k", 3)
    assert near.returncode == 0, near.stderr
    assert len(near.stdout.splitlines()) == 3


def test_a_file_that_grows_is_told_of(wv: Run, tmp_path: Path) -> None:
    (tmp_path / "two.txt").write_text("__label__a red apple\n__label__b grey rain\n")
    train = ["train", "two.txt", "-o", "tiny.bin", "--model", "supervised", "--threads", 1, "--dim", 100, "-q"]
    assert wv(*train).returncode == 0
    done = wv("quantize", "tiny.bin", "-o", "tiny.ftz")
    assert done.returncode == 0, done.stderr
    before, after = ((tmp_path / name).stat().st_size for name in ("tiny.bin", "tiny.ftz"))
    ending = f"{after / before:.1f} times larger; keep the model: tables of centers outweigh its rows"
    assert done.stderr.splitlines()[1] == f"{before:,} bytes -> {after:,}: {ending}"


def test_size_chooses_the_cutoff(wv: Run, tmp_path: Path) -> None:
    done = wv("quantize", LABELS, "-o", "small.ftz", "--size", "40k", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert 39_900 < (tmp_path / "small.ftz").stat().st_size <= 40_000


def test_standard_output(wv: Run, tmp_path: Path) -> None:
    wv("quantize", LABELS, "-o", "small.ftz", "-q")
    call = [sys.executable, "-m", "wv_cli", "quantize", str(LABELS), "-o", "-", "-q"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout == (tmp_path / "small.ftz").read_bytes()
    told = subprocess.run([*call[:-1], "--json"], cwd=tmp_path, capture_output=True, check=True)
    assert told.stdout == done.stdout and json.loads(told.stderr.splitlines()[-1])["output"] == "-"


def test_retraining(wv: Run, tmp_path: Path, labeled: Path) -> None:
    options = ["--cutoff", 300, "--validation", labeled, "--json", "--no-meta"]
    plain = json.loads(wv("quantize", LABELS, "-o", "plain.ftz", *options).stdout)
    done = wv("quantize", LABELS, "-o", "retrained.ftz", *options, "--retrain", "--input", labeled, "--lr", 0.5)
    assert json.loads(done.stdout)["score_after"] > plain["score_after"]
    learnt = "is among --input, and retraining learns it by heart"
    assert done.stderr.count(learnt) == 1
    (tmp_path / "other.txt").write_bytes(labeled.read_bytes())
    options[3] = "other.txt"
    done = wv("quantize", LABELS, "-o", "retrained.ftz", *options, "--retrain", "--input", labeled, "--lr", 0.5)
    assert done.returncode == 0 and learnt not in done.stderr


def test_labels_and_text_of_records(wv: Run, tmp_path: Path, labeled: Path) -> None:
    """The score is that of the same lines, and retraining learns from them."""
    rows = [line.removeprefix("__label__").split(" ", 1) for line in labeled.read_text().splitlines()]
    told = [json.dumps({"body": text.upper(), "topic": topic}) + "\n" for topic, text in rows]
    (tmp_path / "labeled.jsonl").write_text("".join(told) + "no record\n")
    options = ["quantize", LABELS, "-o", "small.ftz", "--cutoff", 300, "--json", "--no-meta", "--validation"]
    fields = ["--field", "body", "--label-field", "topic", "--tokenize", "unicode,lowercase"]
    retrain = ["--retrain", "--lr", 0.5, "--threads", 1, "--input"]
    found = []
    for more in ([], retrain):
        lines = wv(*options, labeled, *more, *([labeled] if more else []))
        records = wv(*options, "labeled.jsonl", *fields, *more, *(["labeled.jsonl"] if more else []))
        assert records.returncode == 0, records.stderr
        scores = [[json.loads(done.stdout)[f"score_{end}"] for end in ("before", "after")] for done in (lines, records)]
        assert scores[0] == pytest.approx(scores[1], abs=0.02)
        assert records.stderr.count("labeled.jsonl:601") == 1 + bool(more), "what is read again is told once"
        found.append(scores[1][1])
    assert found[1] > found[0] + 0.1


def test_how_the_scored_text_is_cut_says_nothing_of_the_model(wv: Run, tmp_path: Path, labeled: Path) -> None:
    done = wv("quantize", LABELS, "-o", "small.ftz", "--validation", labeled, "--tokenize", "unicode")
    assert done.returncode == 0, done.stderr
    assert tokenization(tmp_path / "small.ftz") is None


@pytest.mark.parametrize("option", ["--label-field a", "--field a", "--tokenize", "--bad-records error"])
def test_word_vectors_are_scored_on_no_records(wv: Run, tmp_path: Path, data: Path, option: str) -> None:
    pairs = data / "similarity" / "EN-WS-353-ALL.txt"
    done = wv("quantize", WORDS, "-o", "small.ftz", "--validation", pairs, *option.split())
    assert done.returncode == 2
    assert "has no effect with" in done.stderr and "scored on pairs of words" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        (1, f"{GOLDEN / 'ft-labels.ftz'} -o small.ftz", "ft-labels.ftz is quantized already; start from the .bin"),
        (1, f"{LABELS} -o small.ftz --size 9k", "cannot be made"),
        (1, f"{LABELS} -o small.ftz --validation missing.txt", "missing.txt: cannot read"),
        (1, f"{LABELS} -o small.ftz --validation /dev/null", "no line has both a label and a word"),
        (2, f"{LABELS} -o small.ftz --retrain", "--input"),
        (2, f"{LABELS} -o small.ftz --input text.txt", "--retrain"),
        (2, f"{LABELS} -o small.ftz --retrain --input text.txt", "--retrain needs --cutoff"),
        (
            2,
            f"{WORDS} -o small.ftz --retrain --input text.txt --cutoff 300",
            "--retrain needs a classifier, found word vectors",
        ),
        (2, f"{LABELS} -o small.ftz --size 1M --cutoff 300", "--size and --cutoff cannot be used together"),
        (2, f"{LABELS} -o {LABELS}", "is both read and written"),
        (2, f"{LABELS} -o small.ftz --dsub 0", "--dsub must be"),
    ],
)
def test_mistakes(code: int, arguments: str, message: str, wv: Run, tmp_path: Path) -> None:
    done = wv("quantize", *arguments.split())
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
