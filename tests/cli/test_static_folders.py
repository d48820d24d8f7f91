"""A static embedding's folder cuts sentences by its own tokenizer, in every command that reads sentences; as a list of
words it is taken only where words are asked."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import Run
from wv_cli.cli import COMMANDS
from wv_cli.encoders import open_encoder
from wv_cli.encoders.base import encode
from wv_cli.encoders.pooling import Pooling
from wv_cli.evaluation import TASKS

FOLDER = "m2v-distil-words"
# Of words or pieces of it another vector comes than of the library's tokens.
TEXTS = ["Libraries, daemonise!", "a LIBRARY for c++", "New York's machine\nlearning"]
# The commands that read sentences, each with a call whose answer the tokenizer decides.
SENTENCES = {
    "vectors": "vectors {folder} --sentences texts.jsonl --precision exact",
    "nn": "nn {folder} --sentence {text} -k 1",
    "texts-distance": "texts-distance {folder} a b",
    "search": "search texts.jsonl --model {folder} {text} --json",
    "eval": "eval sts {folder} -d pairs.csv --json",
}
# What else a command does with a folder is about words, or makes a folder.
WORDS = {*COMMANDS} - {*SENTENCES}
EVALUATED = {
    "sts": "eval sts {0} -d pairs.csv --json",
    "search": "eval search {0} -d beir --json --resamples 0",
}


@pytest.fixture
def folder(static_folders: Path, tmp_path: Path) -> Path:
    lines = (json.dumps({"text": text}) + "\n" for text in TEXTS)
    (tmp_path / "texts.jsonl").write_text("".join(lines))
    pairs = [("Libraries, daemonise!", "a LIBRARY", 4), ("c++", "machine learning", 2), ("GNU Compiler", "New York", 1)]
    (tmp_path / "pairs.csv").write_text("".join(f'"{a}","{b}",{score}\n' for a, b, score in pairs))
    (tmp_path / "beir" / "qrels").mkdir(parents=True)
    rows = ({"_id": f"{kind}{i}", "text": text} for kind in "dq" for i, text in enumerate(TEXTS))
    split = {"d": "corpus", "q": "queries"}
    for row in rows:
        with (tmp_path / "beir" / f"{split[row['_id'][0]]}.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")
    judged = "".join(f"q{i}\td{i}\t1\n" for i in range(len(TEXTS)))
    (tmp_path / "beir" / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")
    return static_folders / FOLDER


def encoded(folder: Path, texts: list[str]) -> np.ndarray:
    encoder = open_encoder(folder)
    pooling = [Pooling.parse("mean", 0, "x")]
    return encode(encoder, texts, pooling, normalize=encoder.normalize)[0].vectors


def test_every_command_that_reads_sentences_is_here() -> None:
    """A new one stands in SENTENCES, or says with its place in WORDS that it reads none."""
    told = {name for name, row in COMMANDS.items() if "sentence" in row.summary or "text" in row.summary}
    readers_of_running_text = {
        "build-vocab",
        "phrases",
        "bioword",
        "filter",
        "tokenize",
        "demo",
        "distil",
        "train",
        "links",
    }
    assert told - readers_of_running_text - {*SENTENCES} == set()
    assert {*EVALUATED} == {name for name, task in TASKS.items() if "encoder" in task.config.options()} - {"wic"}


def test_vectors(wv: Run, folder: Path, tmp_path: Path) -> None:
    expected = encoded(folder, TEXTS)
    for call in (
        ("vectors", folder, "texts.jsonl", "--sentences"),
        ("vectors", folder / "model.safetensors", "texts.jsonl", "--sentences"),
        ("vectors", "--encoder", folder, "texts.jsonl", "--sentences"),
    ):
        done = wv(*call, "--precision", "exact")
        assert done.returncode == 0, done.stderr
        np.testing.assert_array_equal(np.loadtxt(done.stdout.splitlines(), np.float32), expected)
    added = wv("vectors", folder, "texts.jsonl", "--sentences", "--add", "v")
    np.testing.assert_array_equal(
        np.array([json.loads(line)["v"] for line in added.stdout.splitlines()], "f4"), expected
    )
    own = wv("vectors", folder, "texts.jsonl", "--sentences", "--pooling", "own", "-o", "own.npy", "-q")
    assert own.returncode == 0, own.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "own.npy"), expected)
    for refused in (
        ["--counts", "texts.jsonl"],
        ["--from", "safetensors"],
        ["--bad-rows", "skip"],
        ["--tokenize", "x"],
    ):
        assert wv("vectors", folder, "texts.jsonl", "--sentences", *refused).returncode == 2
    words = wv("vectors", folder, "library")
    assert words.returncode == 0 and words.stdout.startswith("library ")


def test_nn(wv: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("".join(text.replace("\n", " ") + "\n" for text in TEXTS))
    found = wv("nn", folder, "--sentence", TEXTS[0], "--among", "lines.txt", "-k", 3)
    assert found.returncode == 0, found.stderr
    unit = encoded(folder, [text.replace("\n", " ") for text in TEXTS])
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosines = dict(zip(TEXTS, (unit @ unit[0]).tolist(), strict=True))
    for line in found.stdout.splitlines():
        text, _, cosine = line.rpartition("\t")
        assert float(cosine) == pytest.approx(cosines.get(text, cosines[TEXTS[2]]), abs=2e-6)


def test_texts_distance_is_of_words(wv: Run, folder: Path) -> None:
    done = wv("texts-distance", folder, "a", "b")
    assert done.returncode == 2
    assert "cuts texts by its tokenizer, and the word mover's distance is of words; write its tokens" in done.stderr


def test_search(wv: Run, folder: Path, tmp_path: Path) -> None:
    """A folder and the matrix in it are the same model."""
    answers = [
        wv("search", "texts.jsonl", "--model", model, "daemon", "--json").stdout
        for model in (folder, folder / "model.safetensors")
    ]
    assert answers[0] and answers[0] == answers[1]


@pytest.mark.parametrize("task", EVALUATED)
def test_eval(wv: Run, folder: Path, task: str) -> None:
    """The figures of --encoder."""
    line = EVALUATED[task]
    by_name, by_option = (
        wv(*(line.replace("{0}", how).format(folder)).split(), "-q") for how in ("{0}", "--encoder {0}")
    )
    assert by_name.returncode == by_option.returncode == 0, by_name.stderr + by_option.stderr
    for one, other in zip(*(json.loads(done.stdout)["results"] for done in (by_name, by_option)), strict=True):
        assert one == other
