"""`wv whiten` of a file in which words come twice: the first row of each counts, and a note says how many others there
were."""

import numpy as np
import pytest

from wv_cli.transforms.moments import Moments
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import load, save
from wv_cli.vectors.formats.streams import RowSource, WordsRepeated
from wv_cli.words import WordList

ROWS, DIM = 50_000, 40
SAME = {5: 3, 777: 3, 40_000: 1, 49_999: 49_998}  # rows, and the earlier ones that have their words
NOTE = "4 rows were left out: earlier ones have their words"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors")
    random = np.random.default_rng(3)
    matrix = (random.standard_normal((ROWS, DIM)) @ random.standard_normal((DIM, DIM)) + 2).astype(np.float32)
    words = [f"w{SAME.get(row, row)}" for row in range(ROWS)]
    first = [row for row in range(ROWS) if row not in SAME]
    save(folder / "once.bin", Embeddings(WordList.from_words(words[row] for row in first), matrix[first]))
    for name in ("v.bin", "v.vec", "v.glove"):
        save(folder / name, Embeddings(WordList.from_words(words), matrix), precision="exact")
    return folder


@pytest.fixture
def folder(files, monkeypatch, tmp_path):
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_same(one, other):
    """But for the last digits: sums are taken block by block, and blocks are cut elsewhere."""
    assert one.words == other.words
    np.testing.assert_allclose(one.matrix, other.matrix, atol=1e-4)


@pytest.mark.parametrize("name", ["v.bin", "v.vec", "v.glove"])
@pytest.mark.parametrize("more", ["", "--top 100", "--top 4", "--fit once.bin", "--transform"])
def test_the_first_row_of_a_word_counts(wv, folder, name, more):
    """Among the first 100 rows two have an earlier word, among the first 4 none."""
    if more == "--transform":
        assert wv("whiten", "once.bin", "--save-transform", "t", "--method", "pca").returncode == 0
        words = ["--transform", "t"]
    else:
        words = [*more.split(), "--method", "pca", "--save-transform", "{}.t"]
    once = wv("whiten", "once.bin", "-o", "o.bin", *(word.format("o") for word in words))
    done = wv("whiten", name, "-o", "d.bin", *(word.format("d") for word in words))
    assert (once.returncode, done.returncode) == (0, 0), done.stderr
    assert NOTE in done.stderr and NOTE not in once.stderr
    assert done.stderr.endswith("d.bin: 49,996 rows\n")
    assert_same(load("d.bin"), load("o.bin"))
    assert "no damage found" in wv("check", "d.bin").stdout


def test_standard_output_gets_one_header(wv, folder):
    assert wv("whiten", "v.vec", "-o", "o.vec", "--method", "pca").returncode == 0
    done = wv("whiten", "v.vec", "-o", "-", "--method", "pca")
    assert done.stdout == (folder / "o.vec").read_text() and done.stdout.startswith("49996 40\n")


def test_saved_moments_are_those_of_distinct_rows(wv, folder):
    for name in ("once.bin", "v.bin"):
        assert wv("whiten", name, "--save-moments", f"{name}.m").returncode == 0
    one, other = Moments.load("once.bin.m"), Moments.load("v.bin.m")
    assert one.rows == other.rows
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-12)


def test_blocks_of_distinct_rows(folder):
    source = RowSource("v.bin")
    with pytest.raises(WordsRepeated):
        for _ in source.distinct():
            pass
    blocks = [(list(block.words), np.array(block.matrix)) for block in source.distinct()]
    whole = load("once.bin")
    assert len(blocks) > 1 and [word for words, _ in blocks for word in words] == list(whole.words)
    assert np.array_equal(np.concatenate([matrix for _, matrix in blocks]), whole.matrix)
    assert sum(len(block) for block in source.distinct(777)) == 777
    assert sum(len(block) for block in RowSource("v.bin").distinct(4)) == 4
