"""`wv bioword` through the real entry point: training, resuming, applying, bad input."""

import json
import subprocess
import sys

import numpy as np
import pytest

from wv_cli.hashing.bioword import load_hasher, most_active
from wv_cli.vectors.formats.codes import TEXT_SUFFIXES


def wv(*args, code=0, stdin=b""):
    done = subprocess.run([sys.executable, "-m", "wv_cli", *map(str, args)], input=stdin, capture_output=True)
    assert done.returncode == code, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("bioword") / "text.txt"
    random = np.random.default_rng(3)
    lines = [" ".join(f"w{min(n, 300)}" for n in random.zipf(1.3, random.integers(1, 40))) for _ in range(3000)]
    path.write_text("\n".join(lines) + "\n")
    return path


OPTIONS = ["--cells", 40, "--length", 5, "--batch", 500, "--min-count", 2, "--epochs", 4]


def rows_of(path):
    first, *rows = path.read_text().splitlines()
    facts = json.loads(first.removeprefix("# wv codes "))
    return facts, [(word, [int(x) for x in code.split(" ")]) for word, code in (row.split("\t") for row in rows)]


def test_codes_have_exactly_length_ones_and_threads_change_nothing(corpus, tmp_path):
    assert ".txt" in TEXT_SUFFIXES
    outputs = []
    for threads in (1, 2):
        out = tmp_path / f"{threads}.txt"
        wv("bioword", *OPTIONS, corpus, "-o", out, "--threads", threads)
        outputs.append(rows_of(out))
    assert outputs[0] == outputs[1]
    facts, rows = outputs[0]
    assert facts["method"] == "bioword" and (facts["bits"], facts["active"]) == (40, 5)
    for _, code in rows:
        assert len(set(code)) == 5 and code == sorted(code) and code[0] >= 0 and code[-1] < 40


def test_a_stopped_run_goes_on_to_the_same_bytes(corpus, tmp_path):
    whole, parts = tmp_path / "whole.hasher", tmp_path / "parts.hasher"
    long = [*OPTIONS[:-1], 200]
    wv("bioword", *long, corpus, "--save-hasher", whole)
    wv("bioword", *long, corpus, "--save-hasher", parts, "--max-time", "0.3s", code=124)
    assert not parts.exists()
    wv("bioword", *long, corpus, "--save-hasher", parts, "--resume")
    assert whole.read_bytes() == parts.read_bytes()
    assert not (tmp_path / "parts.hasher.checkpoint").exists()


def test_a_saved_hasher_codes_words_in_their_context(corpus, tmp_path):
    saved = tmp_path / "fly.hasher"
    wv("bioword", *OPTIONS, corpus, "--save-hasher", saved)
    text = b"w1 w2 w3 unknown w1\nw1\n"
    out = wv("bioword", "-", "--hasher", saved, "-o", "-", "-q", stdin=text).stdout.decode().splitlines()
    assert [line.split("\t")[0] for line in out[1:]] == ["w1", "w2", "w3", "w1", "w1"]
    hasher = load_hasher(str(saved))
    weights = hasher.weights[:, :40].astype(float)
    weights /= np.linalg.norm(weights, axis=0)
    ids, words = [hasher.vocab.words.find(f"w{i}") for i in (1, 2, 3)], len(hasher.vocab)
    expected = weights[[ids[0], ids[1], ids[0]]].sum(0) + weights[words + ids[2]]
    assert out[3].split("\t")[1] == " ".join(map(str, most_active(expected[None], 5)[0]))


def test_equal_activations_go_to_the_lowest_cells():
    assert most_active(np.array([[1, 2, 2, 2, 0], [0, 0, 0, 0, 0]], np.float32), 2).tolist() == [[1, 2], [0, 1]]


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "expected"),
    [
        (["--length", 50], b"a b a b\n", 2, "--cells 40"),
        ([], b"", 1, "no text"),
        (["--min-count", 99], b"a b a b\n", 1, "--min-count"),
        (["--lr", "nan"], b"a b a b\n", 2, "--lr"),
        (["--window", 0], b"a b a b\n", 2, "--window"),
        (["--epochs", 0], b"a b a b\n", 2, "--epochs"),
    ],
)
def test_bad_input_is_an_error(arguments, stdin, code, expected, tmp_path):
    out = tmp_path / "codes"
    done = wv("bioword", *OPTIONS, *arguments, "-", "-o", out, code=code, stdin=stdin)
    assert expected in done.stderr.decode()
    assert not out.exists()


def test_a_window_larger_than_every_line_is_fine(tmp_path):
    wv("bioword", *OPTIONS, "--window", 900, "-", "-o", tmp_path / "codes", stdin=b"a b a b\nb a\na\n")


def test_a_damaged_hasher_is_refused(corpus, tmp_path):
    saved = tmp_path / "fly.hasher"
    wv("bioword", *OPTIONS, corpus, "--save-hasher", saved)
    data = saved.read_bytes()
    for bad in (data[:-1], data[:200], data.replace(b'"cells": 40', b'"cells": 41'), b"rubbish\n"):
        saved.write_bytes(bad)
        done = wv("bioword", "-", "--hasher", saved, "-o", "-", stdin=b"w1\n", code=1)
        assert str(saved) in done.stderr.decode()
