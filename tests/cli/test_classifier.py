"""`wv train --model supervised`, `wv predict` and `wv eval labels` through the real entry point."""

import json
import lzma
from pathlib import Path

import pytest

from tests.conftest import GOLDEN
from wv_cli.vectors.formats.fasttext_bin import load_model

OPTIONS = ["--model", "supervised", "--dim", 20, "--epochs", 20, "--lr", 0.5]


@pytest.fixture(scope="module")
def lines():
    """1,000 labeled questions of cooks."""
    return lzma.decompress((GOLDEN / "cook.valid.txt.xz").read_bytes()).decode().splitlines(keepends=True)


@pytest.fixture
def train(tmp_path, lines, wv):
    """`train(option, ...)` trains on 900 of the questions -> the model's path."""
    (tmp_path / "train.txt").write_text("".join(lines[:900]))
    (tmp_path / "valid.txt").write_text("".join(lines[900:]))

    def run(*options, output="model.bin"):
        done = wv("train", "train.txt", "-o", output, *OPTIONS, "-q", *options)
        assert done.returncode == 0, done.stderr
        return tmp_path / output

    return run


@pytest.mark.parametrize(
    "options",
    [
        ["--loss", "softmax"],
        ["--loss", "hs"],
        ["--loss", "ns"],
        ["--loss", "ova"],
        ["--dropout", 0.3],
        ["--word-ngrams", 3, "--buckets", 5000, "--min-count", 2],
        [
            "--minn",
            2,
            "--maxn",
            4,
            "--buckets",
            5000,
            "--word-ngrams",
            2,
            "--min-count",
            3,
            "--min-count-label",
            2,
            "--lr",
            2,
        ],
    ],
    ids=str,
)
def test_learns_writes_and_repeats(options, train, wv, tmp_path):
    model = train(*options)
    first = model.read_bytes()
    loaded = load_model(model)
    assert loaded.is_classifier and loaded.words.find("</s>") >= 0
    assert loaded.counts[loaded.words.find("</s>")] == 900
    assert train(*options, output="again.bin").read_bytes() == first
    assert train(*options, "--seed", 2, output="other.bin").read_bytes() != first

    done = wv("eval", "labels", model, "-d", "train.txt", "--json")
    assert done.returncode == 0, done.stderr
    micro = json.loads(done.stdout)["results"][0]
    untrained = train(*options, "--epochs", 1, "--lr", 1e-3, output="untrained.bin")
    done = wv("eval", "labels", untrained, "-d", "train.txt", "--json")
    assert micro["precision"] > json.loads(done.stdout)["results"][0]["precision"] + 0.05


def test_predict_prints_fasttexts_lines(train, wv):
    model = train()
    labels = wv("predict", model, "valid.txt", "-k", 2)
    assert labels.returncode == 0, labels.stderr
    lines = labels.stdout.splitlines()
    assert len(lines) == 100 and all(len(line.split(" ")) == 2 for line in lines)
    assert all(word.startswith("__label__") for line in lines for word in line.split(" "))
    prob = wv("predict", model, "valid.txt", "-k", 2, "--prob", "--threads", 3).stdout
    assert [" ".join(line.split(" ")[::2]) for line in prob.splitlines()] == lines
    piped = wv("predict", model, "-", "-k", 2, input=Path(model.parent, "valid.txt").read_text())
    assert piped.stdout == labels.stdout
    as_json = [json.loads(line) for line in wv("predict", model, "valid.txt", "-k", 2, "--json").stdout.splitlines()]
    assert [" ".join(each["labels"]) for each in as_json] == lines
    probabilities = [[float(p) for p in line.split(" ")[1::2]] for line in prob.splitlines()]
    assert [each["probabilities"] for each in as_json] == [pytest.approx(p, abs=1e-5) for p in probabilities]
    all_labels = wv("predict", model, "valid.txt", "-k", -1).stdout.splitlines()
    assert len(all_labels[0].split(" ")) == len(load_model(model).labels)


def test_answers_in_a_file_are_those_of_standard_output(train, wv, tmp_path):
    model = train()
    shown = wv("predict", model, "valid.txt", "--prob")
    assert wv("predict", model, "valid.txt", "--prob", "-o", "answers.txt").stdout == ""
    assert (tmp_path / "answers.txt").read_text() == shown.stdout
    for place in ("valid.txt", model.name):
        before = (tmp_path / place).read_bytes()
        done = wv("predict", model, "valid.txt", "-o", place)
        assert done.returncode in (1, 2) and place in done.stderr and "another" in done.stderr
        assert (tmp_path / place).read_bytes() == before


def test_one_line_in_one_line_out(train, wv):
    model = train()
    odd = "\n\n   \n</s> bread </s> x\nq\udcff \u65e5\u672c\n__label__bread\nno newline at the end"
    done = wv("predict", model, "-", input=odd)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 7
    assert wv("predict", model, "-", input="").stdout == ""
    strict = wv("predict", model, "-", "--threshold", 1, input="bread\nyeast\n")
    assert strict.stdout == "\n\n", "nothing is that certain"


def test_eval_counts_as_fasttext(wv, tmp_path, lines):
    """fastText's own `test` printed P@1 0.537 and R@1 0.232 for this model and these lines."""
    (tmp_path / "v.txt").write_text("".join(lines))
    call = ["eval", "labels", GOLDEN / "cook-raw.ftz", "-d", "v.txt", "--tsv"]
    done = wv(*call, "--per-label")
    assert done.returncode == 0, done.stderr
    header, *rows = (line.split("\t") for line in done.stdout.splitlines())
    table = [dict(zip(header, row, strict=True)) for row in rows]
    assert table[0]["label"] == "micro" and table[1]["label"] == "macro"
    assert float(table[0]["precision"]) == pytest.approx(0.537) and float(table[0]["recall"]) == pytest.approx(
        0.232, abs=5e-4
    )
    assert table[0]["lines"] == "1000"
    own = table[2:]
    assert sum(int(row["right"]) for row in own) == int(table[0]["right"]) == 537
    assert sum(int(row["gold"]) for row in own) == int(table[0]["gold"])
    f1 = [2 * int(row["right"]) / (int(row["predicted"]) + int(row["gold"])) for row in own if int(row["gold"])]
    assert float(table[1]["f1"]) == pytest.approx(sum(f1) / len(f1), abs=1e-5)
    assert "was taken for" in done.stderr
    assert wv(*call, "--min-score", 0.3).returncode == 0
    missed = wv(*call, "--min-score", 0.4)
    assert missed.returncode == 3 and "below --min-score 0.4" in missed.stderr


def test_a_stopped_run_goes_on_to_the_same_bytes(train, wv, tmp_path, lines):
    whole = train().read_bytes()
    call = ["train", "train.txt", "-o", "part.bin", *OPTIONS, "-q"]
    stopped = wv(*call, "--max-time", 0.001)
    if stopped.returncode == 124:
        assert (tmp_path / "part.bin.checkpoint").exists() and not (tmp_path / "part.bin").exists()
        other = wv(*call, "--resume", "--word-ngrams", 2)
        assert other.returncode == 1 and "word_ngrams" in other.stderr
        done = wv(*call, "--resume")
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "part.bin").read_bytes() == whole
    assert not (tmp_path / "part.bin.checkpoint").exists()


def test_pretrained_vectors_start_the_words_of_the_text(train, wv, tmp_path):
    (tmp_path / "known.vec").write_text("2 20\nbread" + " 0.5" * 20 + "\nnowhere" + " 1" * 20 + "\n")
    done = (
        wv("train", "train.txt", "-o", "m.bin", *OPTIONS, "--pretrained", "known.vec", "--lr", 1e-9)
        if train()
        else None
    )
    assert done.returncode == 0 and "1 of " in done.stderr
    model = load_model(tmp_path / "m.bin")
    assert model.words.find("nowhere") < 0
    assert model.word_vector("bread") == pytest.approx([0.5] * 20, abs=1e-4)
    wrong = wv("train", "train.txt", "-o", "m.bin", "--model", "supervised", "--pretrained", "known.vec")
    assert wrong.returncode == 2 and "expected vectors of --dim 100, found 20" in wrong.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("only words\nand more\n", "no labels: expected lines such as"),
        ("__label__a x\n__label__a y\n", "at least two labels"),
        ("", "no text"),
    ],
)
def test_texts_that_cannot_be_learnt(text, message, wv, tmp_path):
    (tmp_path / "t.txt").write_text(text)
    (tmp_path / "m.bin").write_text("yesterday")
    done = wv("train", "t.txt", "-o", "m.bin", "--model", "supervised")
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr
    assert (tmp_path / "m.bin").read_text() == "yesterday"


def test_eval_by_threshold(wv, tmp_path, lines):
    """Every row is what --threshold gives, and no other threshold is better than the best."""
    (tmp_path / "v.txt").write_text("".join(lines[:300]))
    call = ["eval", "labels", GOLDEN / "cook-raw.ftz", "-d", "v.txt", "--tsv", "-k", 5]
    known = {}
    for best in ("f1", "precision=0.6", "recall=.3"):
        done = wv(*call, "--best", best)
        assert done.returncode == 0, done.stderr
        header, *rows = (line.split("\t") for line in done.stdout.splitlines())
        table = [dict(zip(header, row, strict=True)) for row in rows]
        chosen = table[-1]["label"].removeprefix("best: p >= ")
        assert len(table) == 12 and f"--threshold {chosen} is best by {best}" in done.stderr
        known[best] = table[-1]
        again = wv(*call, "--threshold", chosen).stdout.splitlines()[1].split("\t")
        numbers = slice(header.index("precision"), header.index("lines") + 1)
        assert again[numbers] == [table[-1][name] for name in header[numbers]]
    tenths = table[2:-1]
    assert all(float(known["f1"]["f1"]) >= float(row["f1"]) for row in table)
    for name, other, least in (("precision", "recall", 0.6), ("recall", "precision", 0.3)):
        row = known[f"{name}={'0.6' if name == 'precision' else '.3'}"]
        assert float(row[name]) >= least
        assert all(float(each[other]) <= float(row[other]) for each in tenths if float(each[name]) >= least)
    done = wv(*call, "--best", "recall=1.0")
    assert "no threshold has recall=1.0" in done.stderr and len(done.stdout.splitlines()) == 12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--best", "f2"], "--best must be f1, precision=P or recall=R"),
        (["--best", "precision=2"], "--best must be"),
        (["--best", "f1", "--threshold", "0.5"], "--best chooses the threshold; leave out --threshold"),
    ],
)
def test_a_best_threshold_that_cannot_be(options, message, wv):
    done = wv("eval", "labels", GOLDEN / "cook-raw.ftz", "-d", "v.txt", *options)
    assert done.returncode == 2 and message in done.stderr


def test_labels_alone_teach_the_line_end(wv, tmp_path):
    """A line of labels has one word, `</s>`: fastText trains on it, too."""
    (tmp_path / "t.txt").write_text("__label__a\n__label__a\n__label__b\n__label__a\n" * 50)
    done = wv("train", "t.txt", "-o", "m.bin", *OPTIONS)
    assert done.returncode == 0, done.stderr
    assert wv("predict", "m.bin", "-", input="what\n").stdout == "__label__a\n"


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        (["predict", GOLDEN / "ft-words.bin", "t.txt"], 1, "not a classifier"),
        (["predict", GOLDEN / "ft-labels.bin", "no-such-file"], 1, "no-such-file"),
        (["predict", GOLDEN / "ft-labels.bin", "t.txt", "-k", 0], 2, "-k must be at least 1"),
        (["predict", GOLDEN / "ft-labels.bin", "t.txt", "--threshold", 2], 2, "--threshold"),
        (["predict", GOLDEN / "ft-labels.bin", "t.txt", "--threads", -1], 2, "--threads"),
        (["predict", "t.txt", "t.txt"], 1, "t.txt"),
        (["eval", "labels", GOLDEN / "ft-words.bin", "-d", "t.txt"], 1, "not a classifier"),
        (["eval", "labels", GOLDEN / "ft-labels.bin", "-d", "t.txt"], 1, "no line has both a label and a word"),
        (["eval", "labels", GOLDEN / "ft-labels.bin", "-d", "t.txt", "--k", 0], 2, "--k"),
        (["train", "t.txt", "-o", "m.vec", "--model", "supervised"], 2, "NAME.bin"),
        (["train", "t.txt", "-o", "m.bin", "--model", "supervised", "--window", 3], 2, "--window"),
        (["train", "t.txt", "-o", "m.bin", "--model", "supervised", "--loss", "nce"], 2, "nce"),
        (["train", "t.txt", "-o", "m.bin", "--model", "supervised", "--vocab", "t.txt"], 2, "--vocab"),
        (["train", "t.txt", "-o", "m.bin", "--model", "supervised", "--word-ngrams", 0], 2, "--word-ngrams"),
        (["train", "t.txt", "-o", "m.bin", "--model", "supervised", "--label-prefix", "a b"], 2, "--label-prefix"),
        *(
            (
                ["train", "t.txt", "-o", "m.bin", "--model", model, "--label-prefix", "#", "--tokenize", "unicode"],
                2,
                "as it is",
            )
            for model in ("supervised", "pooled")
        ),
        (["train", "t.txt", "-o", "m.bin", "--model", "skipgram", "--word-ngrams", 2], 2, "--word-ngrams"),
    ],
    ids=str,
)
def test_misuse(call, code, message, wv, tmp_path):
    (tmp_path / "t.txt").write_text("plain words only\n")
    done = wv(*call)
    assert done.returncode == code, done.stderr
    assert message in done.stderr and "Traceback" not in done.stderr
