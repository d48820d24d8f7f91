"""`wv train` through the real entry point: what it writes, what it says, and what it refuses."""

import gzip
import json
import os
import resource
import subprocess
import sys
from itertools import islice

import numpy as np
import pytest

from tests.processes import PATIENCE
from wv_cli.vectors.formats import load

FAST = ["--dim", "16", "--epochs", "1", "--min-count", "10"]


@pytest.fixture(scope="module")
def short_text(slice_text, tmp_path_factory):
    path = tmp_path_factory.mktemp("short") / "short.txt"
    with slice_text.open("rb") as lines:
        path.write_bytes(b"".join(islice(lines, 400)))
    return path


def ok(done):
    assert done.returncode == 0, done.stderr
    return done


def refused(done, *texts, code=1):
    assert done.returncode == code, (done.returncode, done.stderr)
    assert "Traceback" not in done.stderr and "--debug" not in done.stderr
    for text in texts:
        assert text in done.stderr
    return done


def test_text_and_binary_hold_the_same_vectors(wv, short_text, tmp_path):
    ok(wv("train", short_text, "-o", "a.vec", "-o", "a.bin", *FAST))
    text, binary = load(tmp_path / "a.vec"), load(tmp_path / "a.bin")
    assert text.words == binary.words and text.dim == 16
    np.testing.assert_allclose(text.matrix, binary.matrix, atol=5.1e-7)
    assert sorted(os.listdir(tmp_path)) == ["a.bin", "a.bin.meta.json", "a.vec", "a.vec.meta.json"]
    metadata = json.loads((tmp_path / "a.vec.meta.json").read_text())
    assert metadata["config"]["dim"] == 16 and metadata["config"]["lr"] == 0.025
    assert metadata["corpus"]["words"] == len(text) and metadata["argv"][:2] == ["wv", "train"]


def test_standard_input_compressed_and_plain_are_one_corpus(wv, short_text, tmp_path):
    ok(wv("train", short_text, "-o", "plain.vec", *FAST))
    ok(wv("train", "-", "-o", "piped.vec", *FAST, input=short_text.read_text()))
    (tmp_path / "short.gz").write_bytes(gzip.compress(short_text.read_bytes()))
    ok(wv("train", "short.gz", "-o", "packed.vec", *FAST))
    plain = (tmp_path / "plain.vec").read_bytes()
    assert (tmp_path / "piped.vec").read_bytes() == plain == (tmp_path / "packed.vec").read_bytes()


def test_standard_output_gets_nothing_but_vectors(wv, short_text, tmp_path):
    ok(wv("train", short_text, "-o", "file.vec", *FAST))
    done = ok(wv("train", short_text, "-o", "-", *FAST))
    assert done.stdout == (tmp_path / "file.vec").read_text()


def test_vocabulary_file_gives_the_same_run(wv, short_text, tmp_path):
    ok(wv("build-vocab", short_text, "-o", "words.vocab", "--min-count", "10"))
    ok(wv("train", short_text, "-o", "own.vec", *FAST))
    ok(wv("train", short_text, "-o", "given.vec", "--vocab", "words.vocab", *FAST))
    assert (tmp_path / "own.vec").read_bytes() == (tmp_path / "given.vec").read_bytes()


def test_init_starts_from_known_words(wv, short_text, tmp_path):
    ok(wv("train", short_text, "-o", "first.vec", *FAST))
    done = ok(wv("train", short_text, "-o", "second.vec", *FAST, "--init", "first.vec", "--lr", "1e-9"))
    first, second = load(tmp_path / "first.vec"), load(tmp_path / "second.vec")
    np.testing.assert_allclose(first.matrix, second.matrix, atol=1e-5)
    assert "start from first.vec" in done.stderr


def test_no_epochs_write_where_the_training_would_start(wv, short_text, tmp_path):
    ok(wv("train", short_text, *FAST, "-o", "first.bin"))
    ok(wv("train", short_text, *FAST, "--epochs", "0", "--init", "first.bin", "-o", "second.bin"))
    first, second = load(tmp_path / "first.bin"), load(tmp_path / "second.bin")
    assert first.words == second.words and np.array_equal(first.matrix, second.matrix)


def test_output_vectors_and_classes(wv, short_text, tmp_path):
    ok(wv("train", short_text, "-o", "in.vec", "--save-output-vectors", "out.vec", *FAST))
    inputs, outputs = load(tmp_path / "in.vec"), load(tmp_path / "out.vec")
    assert inputs.words == outputs.words and not np.array_equal(inputs.matrix, outputs.matrix)
    ok(wv("train", short_text, "-o", "classes.txt", "--classes", "7", *FAST))
    rows = [line.split(" ") for line in (tmp_path / "classes.txt").read_text().splitlines()]
    assert [word for word, _ in rows] == list(inputs.words)
    assert {int(number) for _, number in rows} <= set(range(7)) and len({number for _, number in rows}) > 1


def test_json_and_quiet(wv, short_text):
    done = ok(wv("train", short_text, "-o", "a.vec", "--json", *FAST))
    result = json.loads(done.stdout)
    assert result["outputs"] == ["a.vec"] and result["mean_loss"] > 0
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert {event["event"] for event in events} == {"message", "progress"}
    assert events[-1]["fraction"] == 1.0
    done = ok(wv("train", short_text, "-o", "a.vec", "-q", *FAST))
    assert done.stdout == done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["-o", "a.vec", "--dim", "0"], ["--dim"]),
        (["-o", "a.vec", "--lr", "nan"], ["--lr"]),
        (["-o", "a.vec", "--window", "0"], ["--window"]),
        (["-o", "a.vec", "--threads", "-1"], ["--threads"]),
        (["-o", "a.unknown"], ["a.unknown"]),
        (["-o", "a.vec", "--loss", "hs", "--save-output-vectors", "o.vec"], ["--save-output-vectors", "--loss ns"]),
        (["-o", "-", "--resume"], ["--checkpoint FILE"]),
        (["-o", "a.vec", "--memory", "lots"], ["500000, 300M or 2G"]),
        (["-o", "a.vec", "--max-time", "soon"], ["90, 30s, 15m or 2h"]),
        (["-o", "a.vec", "--classes", "-3"], ["--classes"]),
        ([], ["--output"]),
    ],
    ids=str,
)
def test_misuse_is_refused_before_any_work(arguments, texts, wv, short_text, tmp_path):
    refused(wv("train", short_text, *arguments), *texts, code=2)
    assert os.listdir(tmp_path) == []


def test_the_input_is_never_the_output(wv, short_text, tmp_path):
    own = tmp_path / "text.vec"
    own.write_bytes(short_text.read_bytes())
    refused(wv("train", own, "-o", own, *FAST), "both read and written", code=2)
    assert own.read_bytes() == short_text.read_bytes()


def test_bad_inputs(wv, short_text, tmp_path):
    refused(wv("train", "missing.txt", "-o", "a.vec"), "missing.txt")
    (tmp_path / "empty.txt").touch()
    refused(wv("train", "empty.txt", "-o", "a.vec"), "empty.txt", "no text")
    refused(
        wv("train", short_text, "-o", "a.vec", "--min-count", "1000000"), "--min-count 1000000", "lower --min-count"
    )
    (tmp_path / "one.txt").write_text("word word\n" * 10)
    refused(wv("train", "one.txt", "-o", "a.vec"), "at least two different words")
    refused(wv("train", short_text, "-o", "no/such/a.vec"), "no/such", "does not exist")
    (tmp_path / "folder").mkdir()
    refused(wv("train", short_text, "-o", "folder/.vec/../../folder", "--classes", "3"), "is a folder")
    refused(wv("train", short_text, "-o", "a.vec", *FAST, "--init", "one.txt"), "one.txt")
    ok(wv("train", short_text, "-o", "b.vec", *FAST, "--no-meta"))
    refused(wv("train", short_text, "-o", "a.vec", "--dim", "8", "--init", "b.vec"), "--init", "8", "16", code=2)
    assert sorted(os.listdir(tmp_path)) == ["b.vec", "empty.txt", "folder", "one.txt"]


def train_as_process(arguments, **kwargs):
    return subprocess.run(
        [sys.executable, "-m", "wv_cli", "train", *map(str, arguments)],
        stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False, **kwargs,
    )  # fmt: skip


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")  # noqa: PTH110
def test_a_full_disk_on_standard_output(short_text):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = train_as_process([short_text, "-o", "-", *FAST], stdout=full)
    refused(done, "no space left")


def test_a_file_that_cannot_grow_leaves_yesterdays(short_text, tmp_path):
    """A limit on file sizes fails a write in the middle, as a full disk does."""
    target = tmp_path / "a.vec"
    target.write_text("yesterday's")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = train_as_process([short_text, "-o", target, *FAST], preexec_fn=limit)
    refused(done, "a.vec: cannot write", "file too large")
    assert target.read_text() == "yesterday's" and os.listdir(tmp_path) == ["a.vec"]


def test_another_run_s_checkpoint_is_refused(wv, short_text, slice_text, tmp_path):
    assert wv("train", slice_text, "-o", "a.vec", "--epochs", "50", "--max-time", "0.2").returncode == 124
    before = (tmp_path / "a.vec.checkpoint").read_bytes()
    refused(wv("train", slice_text, "-o", "a.vec", "--epochs", "50", "--window", "3", "--resume"), "window: 5", "3 now")
    refused(wv("train", short_text, "-o", "a.vec", "--epochs", "50", "--resume"), "corpus: ")
    assert (tmp_path / "a.vec.checkpoint").read_bytes() == before


def test_divergence_keeps_the_checkpoint(wv, slice_text, tmp_path):
    (tmp_path / "a.vec").write_text("yesterday's")
    options = ["--model", "cbow", "--cbow-sum", "--lr", "10", "--window", "50", "--sample", "0", "--epochs", "3"]
    refused(wv("train", slice_text, "-o", "a.vec", *options), "NaN or infinity", "lower --lr (now 10)", "--cbow-mean")
    assert (tmp_path / "a.vec").read_text() == "yesterday's" and os.listdir(tmp_path) == ["a.vec"]
