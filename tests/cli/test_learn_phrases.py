"""`--learn-phrases`: phrases found in the text and joined in the command that learns from it."""

import json
import signal
import subprocess
import sys
from itertools import islice

import pytest

import wv_cli
from tests.processes import PATIENCE
from wv_cli.errors import UsageError

FINDING = ["--min-count", 3, "--passes", 2, "--threshold", 30]
LEARNING = ["--phrase-min-count", 3, "--learn-phrases", 2, "--phrase-threshold", 30]
SMALL = "--dim 4 --min-count 2 --epochs 1"
TRAIN = f"train text -o {{}}.vec {SMALL}"


@pytest.fixture
def folder(slice_text, tmp_path):
    """text, of 300 lines, and labeled, the same with labels."""
    with slice_text.open() as lines:
        kept = list(islice(lines, 300))
    (tmp_path / "text").write_text("".join(kept))
    (tmp_path / "labeled").write_text("".join(f"__label__{i % 3} {line}" for i, line in enumerate(kept)))
    (tmp_path / "vocab").write_text("of 9\nthe 9\nin 9\nand 9\nof_the 9\nin_the 9\n")
    return tmp_path


def made(folder, name):
    (path,) = folder.glob(f"{name}.*")
    return path.read_bytes()


@pytest.mark.parametrize(
    ("training", "finding", "learning"),
    [
        (TRAIN, [], []),
        (f"{TRAIN} --model cbow --minn 2 --maxn 3 --buckets 99 --to word2vec-text", [], []),
        (TRAIN, ["--lowercase"], ["--lowercase"]),
        (TRAIN, ["--memory", 1], ["--memory", 1]),
        (TRAIN, ["--delimiter", "+"], ["--phrase-delimiter", "+"]),
        (
            TRAIN,
            ["--score", "npmi", "--threshold", "0.3"],
            ["--phrase-score", "npmi", "--phrase-threshold", "0.3"],
        ),
        (f"{TRAIN} --vocab vocab", [], []),
        (f"train text -o {{}}.d2v --model doc2vec {SMALL}", [], []),
        ("glove text -o {}.vec --dim 4 --min-count 2 --iterations 1", [], []),
        ("glove text --counts-only --save-counts {}.counts --min-count 2", [], []),
        ("bioword text -o {}.txt --min-count 2 --cells 30 --length 4 --epochs 1", [], []),
    ],
)
def test_the_same_bytes_as_two_commands(training, finding, learning, wv, folder):
    own = FINDING[:-2] if "--threshold" in finding else FINDING  # a threshold given twice is two passes
    assert wv("phrases", "text", "-o", "joined", "--save-phrases", "p", *own, *finding, "-q").returncode == 0
    common = [word for word in learning if word == "--lowercase"]
    saved = wv(*training.format("a").split(), "--phrases", "p", *common, "-q", "--no-meta")
    found = wv(*training.format("b").split(), *LEARNING, *learning, "--save-phrases", "q", "-q", "--no-meta")
    assert (saved.returncode, found.returncode, found.stderr) == (0, 0, ""), found.stderr
    assert made(folder, "a") == made(folder, "b")
    assert (folder / "p").read_bytes() == (folder / "q").read_bytes() != b""


def test_a_pipe_is_read_once(wv, folder):
    assert wv(*TRAIN.format("a").split(), *LEARNING, "-q", "--no-meta").returncode == 0
    piped = wv(*TRAIN.format("b").replace(" text ", " - ").split(), *LEARNING, "-q", "--no-meta",
               input=(folder / "text").read_text())  # fmt: skip
    assert piped.returncode == 0 and made(folder, "a") == made(folder, "b")


def test_phrases_are_those_of_the_lines_that_are_kept(wv, folder):
    """Without repeated and short lines, which `wv phrases` would count."""
    lines = (folder / "text").read_text().splitlines(keepends=True)
    kept = [line for line in dict.fromkeys(lines) if len(line.split()) >= 9]
    (folder / "kept").write_text("".join(kept))
    (folder / "text").write_text("".join([*lines, *lines[:100], "of the\n" * 90]))
    for name, text, options in (("a", "kept", []), ("b", "text", ["--dedup", "--min-line", 9])):
        call = TRAIN.format(name).replace(" text ", f" {text} ").split()
        assert wv(*call, *LEARNING, *options, "--save-phrases", f"phrases-{name}", "-q", "--no-meta").returncode == 0
    assert (folder / "phrases-a").read_bytes() == (folder / "phrases-b").read_bytes() != b""
    assert made(folder, "a") == made(folder, "b")


def test_labels_are_in_no_phrase(wv, folder):
    """`wv phrases`, which knows no labels, would join them with the words beside them."""
    (folder / "labeled").write_text("__label__a new york\n__label__b old paris\n" * 30)
    call = ["train", "labeled", "-o", "m.bin", "--model", "supervised", "--dim", 4, "--epochs", 1, "-q"]
    finding = ["--learn-phrases", 2, "--phrase-threshold", 0, "--phrase-min-count", 2, "--save-phrases", "p"]
    assert wv(*call, *finding).returncode == 0
    entries = wv("dump", "m.bin", "dict").stdout.splitlines()[1:]
    names = {line.split()[0] for line in entries}
    assert names == {"__label__a", "__label__b", "</s>", "new_york", "old_paris"}
    assert [line.split("\t")[0] for line in (folder / "p").read_text().splitlines()] == ["new_york", "old_paris"]
    assert wv(*call[:3], "n.bin", *call[4:], "--phrases", "p", "--no-meta").returncode == 0
    assert (folder / "n.bin").read_bytes() == (folder / "m.bin").read_bytes()


@pytest.mark.parametrize("finding", ["--learn-phrases 1 --phrase-threshold 0 --phrase-min-count 2", "--phrases p"])
def test_who_asks_a_model_is_told(wv, folder, finding):
    """Nothing joins the phrases of a text that a model is asked about."""
    (folder / "labeled").write_text("__label__a new york\n__label__b old paris\n" * 30)
    (folder / "asked.jsonl").write_text('{"text": "new york"}\n')
    find = ("phrases", "plain", "--threshold", 0, "--min-count", 2, "--save-phrases", "p", "-q")
    (folder / "plain").write_text("new york\nold paris\n" * 30)
    assert wv(*find).returncode == 0
    small = ["--dim", 4, "--epochs", 1, "-q"]
    assert wv("train", "labeled", "-o", "m.bin", "--model", "supervised", *finding.split(), *small).returncode == 0
    assert wv("train", "labeled", "-o", "n.bin", "--model", "supervised", *small).returncode == 0
    assert wv("quantize", "m.bin", "-o", "m.ftz", "-q").returncode == 0
    told = "m.%s: trained on joined phrases; join them in INPUT, too: wv phrases INPUT --apply PHRASES\n"
    for ending in ("bin", "ftz"):
        assert wv("predict", f"m.{ending}", "labeled").stderr == told % ending
    assert wv("predict", "m.bin", "labeled", "--tokenize", "unicode").stderr == told % "bin"
    assert told % "bin" in wv("eval", "labels", "m.bin", "-d", "labeled").stderr
    assert told % "bin" in wv("filter", "asked.jsonl", "--dry-run", "--classifier", "m.bin:a>=0.1").stderr
    assert not wv("predict", "m.bin", "labeled", "-q").stderr and not wv("predict", "n.bin", "labeled").stderr


def test_phrases_that_are_lost_are_told_of(wv, folder):
    (folder / "labeled").write_text("__label__a new york\n__label__b old paris\n" * 30)
    call = ["train", "labeled", "-o", "m.bin", "--model", "supervised", "--dim", 4, "--epochs", 1]
    told = "texts that the model is asked about need the same phrases: save them with --save-phrases FILE\n"
    assert told in wv(*call, "--learn-phrases", 1).stderr
    assert told not in wv(*call, "--learn-phrases", 1, "--save-phrases", "p").stderr
    assert told not in wv(*call, "--phrases", "p").stderr


def test_phrases_with_labels_are_refused(wv, folder):
    """They would make other labels of them, such as __label__a_new."""
    (folder / "labeled").write_text("__label__a new york\nold __label__b paris\n" * 30)
    assert wv("phrases", "labeled", "--threshold", 0, "--min-count", 2, "--save-phrases", "p", "-q").returncode == 0
    done = wv("train", "labeled", "-o", "m.bin", "--model", "supervised", "--phrases", "p", "-q")
    assert done.returncode == 1 and "p: expected phrases without labels, found one with __label__" in done.stderr
    assert not (folder / "m.bin").exists()
    assert wv("train", "labeled", "-o", "v.vec", "--phrases", "p", "--dim", 4, "--epochs", 1, "-q").returncode == 0


def test_what_is_told(wv, folder):
    done = wv(*TRAIN.format("v").split(), *LEARNING, "--save-phrases", "p")
    first, second = (line for line in done.stderr.splitlines() if line.startswith("threshold "))
    assert first.startswith("threshold 60: ") and second.startswith("threshold 30: ")
    assert "wrote v.vec, p" in done.stderr
    rows = [line.split("\t")[2] for line in (folder / "p").read_text().splitlines()]
    metadata = json.loads((folder / "v.vec.meta.json").read_text())["phrases"]
    assert [one["phrases"] for one in metadata["passes"]] == [rows.count("1"), rows.count("2")]
    assert [one["threshold"] for one in metadata["passes"]] == [60, 30] and all(p["joined"] for p in metadata["passes"])
    told = {name: metadata[name] for name in ("found", "score", "min_count", "delimiter")}
    assert told == {"found": len(rows), "score": "word2vec", "min_count": 3, "delimiter": "_"}
    assert wv(*TRAIN.format("plain").split(), "-q").returncode == 0
    assert "phrases" not in json.loads((folder / "plain.vec.meta.json").read_text())


def test_from_python(folder):
    options = {"dim": 4, "min_count": 2, "epochs": 1, "learn_phrases": 2, "phrase_threshold": 30.0}
    metadata = wv_cli.train(folder / "text", folder / "v.vec", **options)
    assert metadata["phrases"]["found"] == sum(one["phrases"] for one in metadata["phrases"]["passes"]) > 0
    with pytest.raises(UsageError, match="phrase_score must be one of word2vec, npmi, not 'mi'"):
        wv_cli.train(folder / "text", folder / "v.vec", learn_phrases=1, phrase_score="mi")


def test_a_run_goes_on_with_the_same_phrases_only(wv, folder):
    """Those it finds again, or finds in a file."""
    call = ["train", "text", "-o", "v.vec", "--dim", 4, "--epochs", 100_000, "-q", "--max-time", "0.3"]
    assert wv("phrases", "text", "-o", "joined", "--save-phrases", "p", *FINDING).returncode == 0
    learning = [*LEARNING, "--save-phrases", "q"]
    (folder / "q").write_text("yesterday's")
    assert wv(*call, *learning).returncode == 124
    for other in ([*learning, "--phrase-threshold", 200], [*learning, "--phrase-min-count", 20], []):
        done = wv(*call, *other, "--resume")
        assert done.returncode == 1 and "v.vec.checkpoint" in done.stderr and "corpus" in done.stderr
    for same in (learning, ["--phrases", "p"], LEARNING):
        assert wv(*call, *same, "--resume").returncode == 124
    assert (folder / "q").read_text() == "yesterday's"


def test_the_next_day(wv, folder):
    """Each run with a state finds its own phrases, or joins those of the first."""
    lines = (folder / "text").read_text().splitlines(keepends=True)
    (folder / "old").write_text("".join(lines[:150]))
    (folder / "text").write_text("".join(lines[150:]))
    first = ["train", "old", "-o", "old.vec", *SMALL.split(), "--save-state", "old.state", *LEARNING, "-q"]
    assert wv(*first, "--save-phrases", "old.phrases").returncode == 0
    assert wv("phrases", "text", "-o", "joined", "--save-phrases", "p", *FINDING, "-q").returncode == 0
    going_on = ["--continue", "old.state", "--epochs", 1, "-q", "--no-meta"]
    for name, options in (("a", ["--phrases", "p"]), ("b", LEARNING), ("c", ["--phrases", "old.phrases"])):
        done = wv("train", "text", "-o", f"{name}.vec", *going_on, *options)
        assert done.returncode == 0, done.stderr
    assert made(folder, "a") == made(folder, "b") != made(folder, "c")


INTERRUPTED = """
import os, signal, sys
from wv_cli.text.phrase_finding import PhraseFinder
one_pass = PhraseFinder._pass
def stopped(self, text, threshold):
    if self.passes:
        os.kill(os.getpid(), signal.SIG{})
    return one_pass(self, text, threshold)
PhraseFinder._pass = stopped
from wv_cli.__main__ import main
main()
"""


@pytest.mark.parametrize("memory", ["1", "2G"])
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_interrupted_between_passes(name, memory, folder):
    """Nothing is left behind, and what was there is as it was."""
    for path in ("v.vec", "p"):
        (folder / path).write_text("yesterday's")
    before = {path.name for path in folder.iterdir()}
    call = [*TRAIN.format("v").split(), *LEARNING, "--save-phrases", "p", "--memory", memory]
    program = [sys.executable, "-c", INTERRUPTED.format(name), *map(str, call)]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 128 + getattr(signal, f"SIG{name}"), done.stderr
    assert "threshold 60: " in done.stderr and "threshold 30: " not in done.stderr and "Traceback" not in done.stderr
    assert {path.name for path in folder.iterdir()} == before
    assert (folder / "v.vec").read_text() == (folder / "p").read_text() == "yesterday's"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (f"{TRAIN} --learn-phrases 2 --phrases p", "--learn-phrases has no effect with --phrases"),
        (f"{TRAIN} --learn-phrases 101", "--learn-phrases must be between 0 (none) and 100, not 101"),
        (f"{TRAIN} --phrase-threshold 9", "--phrase-threshold needs --learn-phrases"),
        (f"{TRAIN} --learn-phrases 0 --phrase-min-count 5", "--phrase-min-count needs --learn-phrases"),
        (f"{TRAIN} --phrase-score npmi", "--phrase-score needs --learn-phrases"),
        (f"{TRAIN} --phrase-delimiter _", "--phrase-delimiter needs --learn-phrases"),
        (f"{TRAIN} --save-phrases q", "--save-phrases needs --learn-phrases"),
        (f"{TRAIN} --phrases p --save-phrases q", "--save-phrases needs --learn-phrases"),
        (
            f"{TRAIN} --learn-phrases 1 --phrase-score npmi --phrase-threshold 9",
            "--phrase-threshold must be between -1 and 1 for the score npmi, not 9",
        ),
        (f"{TRAIN} --learn-phrases 1 --phrase-threshold inf", "--phrase-threshold must be a finite number"),
        (f"{TRAIN} --learn-phrases 1 --phrase-min-count 0", "--phrase-min-count must be at least 1, not 0"),
        (
            [*TRAIN.split(), "--learn-phrases", 1, "--phrase-delimiter", "a b"],
            "--phrase-delimiter must be text without spaces, not 'a b'",
        ),
        (f"{TRAIN} --learn-phrases 1 --save-phrases text", "text: is both read and written"),
        (f"{TRAIN} --learn-phrases 1 --save-phrases {{}}.vec", "v.vec: two outputs have this name"),
        (f"{TRAIN} --learn-phrases 1 --init p --keep-words", "--keep-words has no effect with --learn-phrases"),
        (
            "train labeled -o {}.bin --model supervised --learn-phrases 1 --autotune-validation labeled",
            "--learn-phrases has no effect with --autotune-validation",
        ),
        ("train text -o {}.lm --model nplm --learn-phrases 1", "--learn-phrases has no effect with --model nplm"),
        ("glove --counts p --vocab vocab -o {}.vec --learn-phrases 1", "--learn-phrases has no effect with --counts"),
        ("bioword text -o {}.txt --hasher p --learn-phrases 1", "--learn-phrases has no effect with --hasher"),
    ],
)
def test_refused(call, message, wv, folder):
    (folder / "p").write_text("of_the\t9\t1\tof the\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    words = call.split() if isinstance(call, str) else call
    done = wv(*(str(word).format("v") for word in words))
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
