"""The folder of a static embedding answers for sentences by its tokenizer in every command, and keeps line feeds."""

import json
import shutil

import numpy as np
import pytest

from wv_cli.cli import COMMANDS
from wv_cli.encoders import open_encoder
from wv_cli.encoders.base import encode
from wv_cli.encoders.pooling import Pooling

TEXTS = ["a small library, for compilers!", "GNU daemons"]

# What a command makes of sentences when it gets the folder M: the same as of the option --encoder, or a refusal.
# Records are in r.jsonl, pairs with scores in p.tsv, a data set of search in s.
_AS_ENCODER = ["vectors", "--encoder", "M", "--sentences"]
ASKING = {
    "vectors": [
        (["vectors", "M", "--sentences", *TEXTS], [*_AS_ENCODER, *TEXTS]),
        (["vectors", "M/model.safetensors", "--sentences", *TEXTS], [*_AS_ENCODER, *TEXTS]),
        (["vectors", "M", "--sentences", "r.jsonl", "--add", "v"], [*_AS_ENCODER, "r.jsonl", "--add", "v"]),
        (["vectors", "M", "--sentences", "--pooling", "sif", *TEXTS], "--pooling sif weighs words"),
        (["vectors", "M", "--sentences", "--from", "safetensors", *TEXTS], "--from"),
    ],
    "eval": [
        (["eval", "sts", "M", "-d", "p.tsv", "--tsv"], ["eval", "sts", "--encoder", "M", "-d", "p.tsv", "--tsv"]),
        (["eval", "sts", "M", "-d", "p.tsv", "--pooling", "idf"], "--pooling idf weighs words"),
        (["eval", "search", "M", "-d", "s", "--tsv"], ["eval", "search", "--encoder", "M", "-d", "s", "--tsv"]),
    ],
    "texts-distance": [(["texts-distance", "M", *TEXTS], "cuts texts by its tokenizer")],
    "nn": [(["nn", "M", "--sentence", TEXTS[0], "--among", "among.txt"], "nn")],
}
# Commands that read sentences, but no vectors for them, or always an encoder (search --model).
OTHERS = {
    "search", "filter", "lm", "predict", "tokenize", "train", "distil", "dump", "build-vocab", "whiten",
}  # fmt: skip


@pytest.fixture
def place(static_folders, tmp_path, monkeypatch):
    shutil.copytree(static_folders / "m2v-distil-words", tmp_path / "M")
    (tmp_path / "r.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    (tmp_path / "p.tsv").write_text("".join(f"{n}\t{TEXTS[0]} {n}\t{TEXTS[1]} {n % 3}\n" for n in range(5)))
    (tmp_path / "among.txt").write_text("\n".join(TEXTS) + "\n")
    (tmp_path / "s" / "qrels").mkdir(parents=True)
    for name in ("corpus", "queries"):
        rows = [{"_id": f"{name}{n}", "title": "", "text": f"{text} {n}"} for n, text in enumerate(TEXTS * 3)]
        (tmp_path / "s" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "s" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nqueries0\tcorpus0\t1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("asked", "expected"),
    [each for cases in ASKING.values() for each in cases],
    ids=lambda case: "-".join(case[:3]) if isinstance(case, list) else "",
)
def test_sentences_go_through_the_tokenizer(wv, place, asked, expected):
    found = wv(*asked)
    if isinstance(expected, list):
        wanted = wv(*expected)
        assert wanted.returncode == 0, wanted.stderr
        assert (found.returncode, found.stdout) == (0, wanted.stdout), found.stderr
    elif expected == "nn":
        encoder = open_encoder("M")
        vectors = encode(encoder, TEXTS, [Pooling.parse("mean", 0, "M")], normalize=True)[0].vectors
        assert found.returncode == 0 and f"{vectors[0] @ vectors[1]:.2f}" in found.stdout, (found.stdout, found.stderr)
    else:
        assert found.returncode in (1, 2) and expected in found.stderr and not found.stdout


def test_every_command_that_mentions_sentences_is_in_the_table(wv):
    """By its help: a new command or option that reads sentences has to be asked above."""
    mentions = set()
    for name in COMMANDS:
        help = wv(name, "--help").stdout
        if "--sentence" in help or "sentence vector" in help:
            mentions.add(name)
    assert mentions <= {*ASKING, *OTHERS}, mentions


def test_line_feeds_reach_the_tokenizer(wv, static_folders, tmp_path):
    """As model2vec and sentence-transformers read them; to a unigram model, too, a line feed is no blank."""
    folder = static_folders / "m2v-unigram"
    texts = ["the\nlibrary", "the library", "the\r\n", "\nthe"]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    expected = encode(open_encoder(folder), texts, [Pooling.parse("mean", 0, "m")], normalize=True)[0].vectors
    assert np.abs(expected[0] - expected[1]).max() > 0.01
    added = wv("vectors", "--encoder", folder, "--sentences", tmp_path / "r.jsonl", "--add", "v", "-q").stdout
    found = [json.loads(line)["v"] for line in added.splitlines()]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    printed = wv("vectors", folder, "--sentences", tmp_path / "r.jsonl", "-q").stdout
    np.testing.assert_allclose([list(map(float, line.split())) for line in printed.splitlines()], expected, atol=1e-5)
