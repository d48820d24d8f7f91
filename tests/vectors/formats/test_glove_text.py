"""GloVe's text format: no header, so that the first row alone tells the dimension."""

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.errors import BadFile, WvError
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import FormatWarning, load, save, sniff
from wv_cli.vectors.formats.checking import check
from wv_cli.words import WordList

BROKEN = GOLDEN / "broken"


def written(tmp_path, data):
    path = tmp_path / "x.glove"
    path.write_bytes(data)
    return path


def words(vectors):
    return [vectors.words.bytes_at(i) for i in range(len(vectors))]


def test_written_as_glove_writes(tmp_path):
    """Six decimals and no space at the end: a file of GloVe comes back byte for byte."""
    save(tmp_path / "x.glove", load(GOLDEN / "glove.txt"))
    assert (tmp_path / "x.glove").read_bytes() == (GOLDEN / "glove.txt").read_bytes()


def test_unknown_word_is_a_row():
    vectors = load(GOLDEN / "glove.txt")
    assert words(vectors)[-1] == b"<unk>" and len(vectors) == 401


def test_words_with_spaces(tmp_path):
    """The published 840B vectors have some."""
    path = written(tmp_path, b", 1 2 3\n. . . 1 2 3\nat name@domain.com 4 5 6\n1 3/4 7 8 9\n")
    assert words(load(path)) == [b",", b". . .", b"at name@domain.com", b"1 3/4"]
    assert load(path).matrix.tolist()[3] == [7, 8, 9]


def test_integer_words(tmp_path):
    """Node embeddings have numbers for words; a first row of two numbers is a header, though."""
    path = written(tmp_path, b"12 0.5 1\n7 2 3\n")
    assert sniff(path).name == "glove-text" and words(load(path)) == [b"12", b"7"]
    path = written(tmp_path, b"12 5\n7 2\n")
    with pytest.raises(BadFile, match="the header promises 12 rows"):
        load(path)
    assert load(path, format="glove-text").matrix.tolist() == [[5], [2]]


def test_one_dimension_only_when_asked(tmp_path):
    path = written(tmp_path, b"the 5.5\nof 2.5\n")
    with pytest.raises(BadFile, match="expected word vectors"):
        load(path)
    assert load(path, format="glove-text").matrix.tolist() == [[5.5], [2.5]]


def test_a_first_row_longer_than_what_is_sniffed(tmp_path):
    matrix = np.random.default_rng(1).standard_normal((3, 40_000)).astype(np.float32)
    save(tmp_path / "x.glove", Embeddings(WordList.from_words("abc"), matrix), precision="exact")
    assert sniff(tmp_path / "x.glove").name == "glove-text"
    assert np.array_equal(load(tmp_path / "x.glove").matrix, matrix)


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"a 1 2\nb 1\n", r":2: expected 2 numbers after the word 'b', found 1"),
     (b"a b c\n", r":1: expected a word and numbers"),
     (b"a 1 2\n\nb 1 2\n", ":2: expected a word and 2 numbers, found a blank line"),
     (b"a 1 2\nb 1 nan\n", ":2: expected finite numbers, found 'nan' as number 2"),
     (b"a 1 2\n 1 2\n", ":2: expected a word and 2 numbers, found a row that begins with a space")],
)  # fmt: skip
def test_bad_rows(data, message, tmp_path):
    with pytest.raises(BadFile, match=r"x\.glove" + message):
        load(written(tmp_path, data), format="glove-text")
    assert check(tmp_path / "x.glove", format="glove-text").is_damaged


def test_broken_file():
    with pytest.raises(BadFile, match=r"not-a-number\.glove:7: expected 50 numbers, found 'oops' as number 1"):
        load(BROKEN / "not-a-number.glove")
    assert [problem.line for problem in check(BROKEN / "not-a-number.glove").problems] == [7]


def test_a_single_row_without_an_end(tmp_path):
    for data, what in [(b"a 1 2 ", "numbers are missing"), (b"a 1 2", "its last number is wrong")]:
        with pytest.warns(FormatWarning, match=what):
            load(written(tmp_path, data))
        assert check(tmp_path / "x.glove").notes["no line end"] == 1


def test_no_rows_cannot_be_written(tmp_path):
    with pytest.raises(WvError, match="no header to say so"):
        save(tmp_path / "x.glove", Embeddings(WordList.from_words([]), np.zeros((0, 3), np.float32)))
    assert list(tmp_path.iterdir()) == []
