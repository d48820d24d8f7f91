"""Rows as short as floats can be have a direction like others; rows of zeros are named."""

import numpy as np
import pytest

from wv_cli.hashing.base import prepare_rows
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import fit
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import unit_mean
from wv_cli.vectors.formats import save
from wv_cli.words import WordList

LEAST = np.float32(2.0**-149)  # the smallest float32; whole multiples of it are exact


def rows(n=40, dim=6):
    return np.random.default_rng(1).integers(-1000, 1000, (n, dim)).astype(np.float32)


def named(matrix):
    return Embeddings(WordList.from_words([b"w%d" % row for row in range(len(matrix))]), matrix)


@pytest.mark.parametrize("scale", [LEAST, np.float32(1e-38), np.float32(1e-20), np.float32(1)])
def test_unit_rows_do_not_depend_on_the_scale(scale):
    x = rows()
    unit = prepare_rows(named(x * scale), slice(None), True, "none")
    np.testing.assert_allclose(unit, prepare_rows(named(x), slice(None), True, "none"), rtol=1e-6)
    np.testing.assert_allclose(unit_mean([x * scale], 6), unit_mean([x], 6), rtol=1e-5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["whiten", "zca", "soft"])
def test_whitened_rows_do_not_depend_on_the_scale(method):
    x = rows()
    whole, tiny = (fit(Moments.none(6).with_rows(each), WhitenConfig(method=method)) for each in (x, x * LEAST))
    want = whole.apply(x) * (1 if method != "soft" else float(LEAST) ** 0.5)
    np.testing.assert_allclose(tiny.apply(x * LEAST), want, rtol=1e-3, atol=1e-5 * np.abs(want).max())


def test_zero_rows():
    x = rows()
    x[7] = 0
    x[9, 0] = 0
    assert named(x).zero_rows().tolist() == [7]
    assert named(rows()).zero_rows().tolist() == []


def test_codes_of_tiny_rows(wv, tmp_path):
    x = rows(40, 6)
    x[3] = 0
    for name, scale in (("ordinary", np.float32(1)), ("tiny", LEAST)):
        save(tmp_path / f"{name}.bin", named(x * scale))
        done = wv("hash", f"{name}.bin", "-m", "lsh", "--length", 64, "-o", f"{name}.txt", "--no-meta")
        assert (done.returncode, done.stderr.count("\n")) == (0, 2)
        assert "1 row is zero, the first row 4, the word 'w3': such codes mean nothing\n" in done.stderr
    assert (tmp_path / "tiny.txt").read_bytes() == (tmp_path / "ordinary.txt").read_bytes()
