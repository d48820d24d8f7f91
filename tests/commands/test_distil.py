"""`wv distil`: words through an encoder, reduced and weighted, as a folder and as a file."""

import json

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.commands.distil import distil
from wv_cli.encoders import open_encoder
from wv_cli.encoders.base import encode
from wv_cli.encoders.config import DistilConfig
from wv_cli.encoders.pooling import Pooling
from wv_cli.text.vocab import read_vocab
from wv_cli.vectors.formats import load
from wv_cli.vectors.formats.safetensors import Tensors

TINY = str(GOLDEN / "encoders" / "tiny-bert")
VOCAB = json.loads((GOLDEN / "encoders" / "tiny-bert" / "tokenizer.json").read_text())["model"]["vocab"]
WORDS = [word for word in VOCAB if word.isalpha() and word.isascii()][:90]


@pytest.fixture
def vocab(tmp_path):
    (tmp_path / "words.vocab").write_text("".join(f"{word} {1000 - 9 * i}\n" for i, word in enumerate(WORDS)))
    return tmp_path / "words.vocab"


def encoded(texts):
    encoder = open_encoder(TINY)
    return encode(encoder, texts, [Pooling.parse("mean", 2, TINY)])[0].vectors.astype(float)


def test_the_vectors_by_hand(vocab):
    """PCA of the words' vectors: coordinates in the directions of largest variance, centered."""
    counted = read_vocab(str(vocab))
    plain = encoded([*counted.words])
    made = distil(TINY, counted, DistilConfig(dim=5))
    values, directions = np.linalg.eigh(np.cov(plain.T, bias=True))
    by_hand = (plain - plain.mean(axis=0)) @ directions[:, :-6:-1]
    found = made.vectors.matrix.astype(float)
    np.testing.assert_allclose(np.abs(found), np.abs(by_hand), atol=1e-4)
    shares = counted.counts / counted.counts.sum()
    np.testing.assert_allclose(made.weights, 1e-3 / (1e-3 + shares))
    np.testing.assert_allclose(made.apply_weights().matrix, found * made.weights[:, None], rtol=1e-5)
    white = distil(TINY, counted, DistilConfig(method="whiten", dim=5)).vectors.matrix
    np.testing.assert_allclose(np.cov(white.T.astype(float), bias=True), np.eye(5), atol=1e-4)
    np.testing.assert_allclose(np.abs(white), np.abs(by_hand) / np.sqrt(values[:-6:-1]), atol=1e-3)
    same = distil(TINY, counted, DistilConfig(method="none", sif_a=0, pooling="layer:0"))
    assert same.weights is None and same.vectors.dim == 16 and same.apply_weights() is same.vectors


def test_a_folder_on_the_command_line(wv, vocab, tmp_path):
    done = wv("distil", vocab, "--encoder", TINY, "-o", "small", "--dim", "6", "--sif-a", "0.01")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr == "small: 90 words, 16 -> 6 numbers, static\n"
    tensors = Tensors.open(tmp_path / "small" / "model.safetensors")
    assert tensors.shape("embeddings") == (91, 6) and tensors.names == ["embeddings"]
    counted = read_vocab(str(vocab))
    made = distil(TINY, counted, DistilConfig(dim=6, sif_a=0.01))
    np.testing.assert_allclose(load(tmp_path / "small").matrix, made.apply_weights().matrix, rtol=1e-6)
    done = wv("vectors", "--sentences", "--encoder", "small", f"{WORDS[0]}, {WORDS[3]}.", "--no-normalize")
    assert done.returncode == 0, done.stderr
    mean = made.apply_weights().matrix[[counted.words.find(WORDS[0]), counted.words.find(WORDS[3])]].mean(axis=0)
    np.testing.assert_allclose([float(x) for x in done.stdout.split()], mean, atol=1e-6)
    done = wv("distil", vocab, "--encoder", TINY, "-o", "small.2/", "--dim", "6", "--sif-a", "0.01")
    assert (done.returncode, done.stderr) == (0, "small.2/: 90 words, 16 -> 6 numbers, static\n")
    done = wv("convert", "small.2", "again/", "--to", "static", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    tables = [tmp_path / name / "model.safetensors" for name in ("small", "small.2", "again")]
    assert len({table.read_bytes() for table in tables}) == 1
    for name in ("small.npy", "small.vec"):
        assert wv("distil", vocab, "--encoder", TINY, "-o", name, "--dim", "6", "-q").stderr == ""
        assert load(tmp_path / name).matrix.shape == (90, 6)


def test_refusals(wv, vocab, tmp_path):
    (tmp_path / "few.vocab").write_text("the 5\nof 3\n")
    call = ("distil", vocab, "--encoder", TINY, "-o", "x")
    for arguments, code, message in [
        ((*call, "--dim", "17"), 1, "--dim 17 is more than the data have"),
        ((*call, "--method", "none", "--dim", "5"), 2, "--dim has no effect with --method none"),
        (("distil", "few.vocab", *call[2:], "--method", "whiten", "--dim", "1"), 1, "2 rows of 16 numbers cannot be"),
        (("distil", "none.vocab", *call[2:]), 1, "none.vocab"),
        (("distil", vocab, "--encoder", "none", "-o", "x"), 1, "none: expected the folder of an encoder"),
        ((*call[:-1], "no/x"), 1, "no does not exist"),
        ((*call, "--pooling", "layer:9"), 2, "has the layers 0"),
    ]:
        done = wv(*arguments)
        assert done.returncode == code and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "x").exists()
