"""Formats of numbers only, .npy and TensorBoard's TSV: the numbers as NumPy has them, the words in a file beside."""

import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import FormatWarning, load, save, sniff
from wv_cli.vectors.formats import npy as npy_format
from wv_cli.vectors.formats.checking import check
from wv_cli.vectors.formats.streams import RowSource, save_blocks
from wv_cli.words import WordList


def array(rows=7, dim=3, kind="<f4"):
    return (np.arange(rows * dim).reshape(rows, dim) / 8 - 1).astype(kind)


def vectors(rows=7, dim=3):
    return Embeddings(WordList.from_words("abcdefghijklmnop"[:rows]), array(rows, dim))


@pytest.mark.parametrize("kind", ["<f2", "<f4", "<f8", ">f2", ">f4", ">f8"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_arrays_of_numpy(kind, version, tmp_path):
    with (tmp_path / "x.npy").open("wb") as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        np.lib.format.write_array(stream, array(kind=kind), version)
    assert sniff(tmp_path / "x.npy").name == "npy"
    read = load(tmp_path / "x.npy")
    assert np.array_equal(read.matrix, array()) and read.matrix.dtype == np.float32
    assert list(read.words) == [str(i) for i in range(7)]
    report = check(tmp_path / "x.npy")
    assert (report.rows, report.dim, report.is_damaged) == (7, 3, False)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.integers(0, 40), dim=st.integers(1, 20))
def test_numpy_reads_what_is_written(rows, dim, tmp_path):
    matrix = np.random.default_rng(rows).standard_normal((rows, dim)).astype(np.float32)
    save(tmp_path / "x.npy", Embeddings(WordList.from_words(str(i) for i in range(rows)), matrix))
    assert np.array_equal(np.load(tmp_path / "x.npy", allow_pickle=False), matrix)
    buffer = io.BytesIO()
    np.save(buffer, matrix)
    assert (tmp_path / "x.npy").read_bytes() == buffer.getvalue()
    assert not (tmp_path / "x.words.txt").exists()


def test_words_stand_beside(tmp_path):
    save(tmp_path / "x.npy", vectors())
    assert (tmp_path / "x.words.txt").read_text() == "a\nb\nc\nd\ne\nf\ng\n"
    assert list(load(tmp_path / "x.npy").words) == list("abcdefg")
    assert list(load(tmp_path / "x.npy", limit=2).words) == ["a", "b"]


def test_words_of_yesterday_do_not_stay(tmp_path):
    save(tmp_path / "x.npy", vectors())
    np_words = Embeddings(WordList.from_words("0123456"), array())
    save(tmp_path / "x.npy", np_words)
    assert list(load(tmp_path / "x.npy").words) == list("0123456")


@pytest.mark.parametrize("lines", ["a\nb\n", "a\nb\nc\nd\ne\nf\ng\nh\n", ""])
def test_words_that_do_not_fit(lines, tmp_path):
    save(tmp_path / "x.npy", vectors())
    (tmp_path / "x.words.txt").write_text(lines)
    with pytest.raises(BadFile, match=r"x\.words\.txt:\d: expected a word a line for the 7 rows of .*x\.npy, found"):
        load(tmp_path / "x.npy")


def test_a_pair_that_does_not_belong_together(tmp_path):
    """The header holds a digest of the words, as a comment that NumPy skips."""
    path, words = tmp_path / "x.npy", tmp_path / "x.words.txt"
    save(path, vectors())
    assert np.array_equal(np.load(path), array()) and np.array_equal(np.load(path, mmap_mode="r"), array())
    words.write_text("a\nb\nc\nd\ne\nf\nG\n")
    for reading in (load, RowSource, lambda path: load(path, limit=2)):
        with pytest.raises(BadFile, match=r"x\.words\.txt: the words are not those .*x\.npy was written with"):
            reading(path)
    assert check(path).is_damaged
    words.unlink()
    with pytest.warns(FormatWarning, match=r"its words were in .*x\.words\.txt, which is not there"):
        assert list(load(path).words) == list("0123456")


def test_an_array_without_a_digest_takes_any_words(tmp_path):
    np.save(tmp_path / "x.npy", array())
    (tmp_path / "x.words.txt").write_text("a\nb\nc\nd\ne\nf\nG\n")
    assert list(load(tmp_path / "x.npy").words) == list("abcdefG") and not check(tmp_path / "x.npy").is_damaged


def test_the_digest_fits_the_longest_header(tmp_path):
    for rows, dim in [(1, 1), (2**62, 10_000_000)]:
        stream = io.BytesIO(npy_format.header(rows, dim) + b"numbers")
        assert len(stream.getvalue()) == 128 + 7
        npy_format.mark_words(stream, "0123456789abcdef")
        assert stream.getvalue().endswith(b"# words 0123456789abcdef\nnumbers") and b"), }  " in stream.getvalue()
        assert npy_format.words_mark(stream.getvalue()) == "0123456789abcdef"


def test_blocks_get_the_digest(tmp_path):
    parts = [Embeddings(vectors().words[i : i + 1], array()[i : i + 1]) for i in range(7)]
    save_blocks(tmp_path / "x.npy", 7, 3, iter(parts))
    save(tmp_path / "y.npy", vectors())
    assert (tmp_path / "x.npy").read_bytes() == (tmp_path / "y.npy").read_bytes()


def test_projector_files(tmp_path):
    save(tmp_path / "x.tsv", vectors(), precision=3)
    assert (tmp_path / "x.metadata.tsv").read_text() == "a\nb\nc\nd\ne\nf\ng\n"
    lines = (tmp_path / "x.tsv").read_text().split("\n")
    assert lines[:2] == ["-1.000\t-0.875\t-0.750", "-0.625\t-0.500\t-0.375"] and len(lines) == 8
    assert np.array_equal(np.loadtxt(tmp_path / "x.tsv", delimiter="\t", dtype=np.float32), array())
    big = Embeddings(WordList.from_words(f"w{i}" for i in range(3000)), array(3000, 5))
    save(tmp_path / "y.tsv", big, precision="exact")
    assert np.array_equal(np.loadtxt(tmp_path / "y.tsv", delimiter="\t", dtype=np.float32), big.matrix)
    with pytest.raises(UsageError, match="projector-tsv is written but not read"):
        load(tmp_path / "x.tsv", format="projector-tsv")


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_no_row_of_the_projector_is_a_word_or_a_header(dim, tmp_path):
    """Each number keeps its bits; a whole number that begins a row has a point, so that no reader takes it for a word,
    nor `2 3` for the header of word2vec's text."""
    first = np.float32([2, 0, -0.0, 1e-7, -3e20, 0.5, 16777216, -7])
    matrix = np.repeat(first[:, None], dim, axis=1)
    words = WordList.from_words(f"w{i}" for i in range(len(first)))
    save(tmp_path / "x.tsv", Embeddings(words, matrix), precision="exact")
    read = np.loadtxt(tmp_path / "x.tsv", delimiter="\t", dtype=np.float32, ndmin=2)
    assert read.tobytes() == matrix.tobytes()
    assert all("." in line.split("\t")[0] for line in (tmp_path / "x.tsv").read_text().splitlines())
    with pytest.raises(BadFile, match="expected word vectors"):
        load(tmp_path / "x.tsv")


def test_a_failure_leaves_both_files_alone(tmp_path):
    for name in ("x.tsv", "x.metadata.tsv", "x.npy", "x.words.txt"):
        (tmp_path / name).write_text("before")
    bad = Embeddings(WordList.from_words(["a", "b c"]), array(2))
    for name in ("x.tsv", "x.npy"):
        with pytest.raises(WvError, match="holds a space"):
            save(tmp_path / name, bad)
    assert {path.name for path in tmp_path.iterdir()} == {"x.tsv", "x.metadata.tsv", "x.npy", "x.words.txt"}
    assert {path.read_text() for path in tmp_path.iterdir()} == {"before"}


def test_nothing_is_written_beside_standard_output(wv, tmp_path):
    save(tmp_path / "v.vec", vectors())
    done = wv("convert", "v.vec", "-", "--to", "projector-tsv", "--precision", 1)
    assert done.stdout.startswith("-1.0\t-0.9\t-0.8\n") and [path.name for path in tmp_path.iterdir()] == ["v.vec"]
    done = wv("convert", "v.vec", "/dev/null", "--to", "npy")
    assert done.returncode == 0 and not Path("/dev/null.words.txt").exists(), done.stderr


def npy(facts, body=b""):
    text = facts.encode()
    return b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + body


GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n"
BROKEN = {
    "version": (b"\x93NUMPY\7\0" + bytes(90), "version 1 to 3"),
    "cut header": (npy(GOOD)[:30], "the header of a NumPy array"),
    "no dict": (npy("[1, 2]\n"), "the header of a NumPy array"),
    "call": (npy("__import__('os').system('true')\n"), "the header of a NumPy array"),
    "objects": (npy(GOOD.replace("<f4", "|O")), r"float64, found '\|O'"),
    "integers": (npy(GOOD.replace("<f4", "<i4")), "astype"),
    "fields": (npy(GOOD.replace("'<f4'", "[('a', '<f4')]")), "astype"),
    "truth": (npy(GOOD.replace("(2, 3)", "(True, 3)"), bytes(12)), "two axes"),
    "true dim": (npy(GOOD.replace("(2, 3)", "(2, True)"), bytes(8)), "two axes"),
    "fractions": (npy(GOOD.replace("(2, 3)", "(2.0, 3)"), bytes(24)), "two axes"),
    "no shape": (npy(GOOD.replace("(2, 3)", "5"), bytes(24)), "the header of a NumPy array"),
    "one axis": (npy(GOOD.replace("(2, 3)", "(6,)"), bytes(24)), "two axes"),
    "columns": (npy(GOOD.replace("False", "True"), bytes(24)), "ascontiguousarray"),
    "no dim": (npy(GOOD.replace("(2, 3)", "(2, 0)")), "dimension of 1"),
    "negative": (npy(GOOD.replace("(2, 3)", "(-2, 3)")), "two axes"),
    "huge": (npy(GOOD.replace("(2, 3)", "(99999999999, 300)"), bytes(24)), "expected 119999999998"),
    "cut": (npy(GOOD, bytes(23)), "expected 94 bytes"),
    "too long": (npy(GOOD, bytes(25)), "expected 94 bytes"),
    "nan": (npy(GOOD, np.float32([0, 1, 2, 3, np.nan, 5]).tobytes()), "row 2: expected .* found nan as number 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_arrays(name, tmp_path, wv):
    data, message = BROKEN[name]
    (tmp_path / "x.npy").write_bytes(data)
    with pytest.raises(BadFile, match=message):
        load(tmp_path / "x.npy")
    assert check(tmp_path / "x.npy").is_damaged


def test_too_large_for_float32(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[1.0, 1e300], [2.0, 3.0]]))
    with pytest.raises(BadFile, match=r"row 1: expected finite numbers, found 1e\+300 as number 2"):
        load(tmp_path / "x.npy")


def test_arrays_through_a_pipe(wv, tmp_path):
    """Without a size to hold the header against."""
    import subprocess
    import sys

    buffer = io.BytesIO()
    np.save(buffer, array(50, 4))
    call = [sys.executable, "-m", "wv_cli", "convert", "-", "-"]
    for data, code in [(buffer.getvalue(), 0), (buffer.getvalue()[:-5], 1)]:
        done = subprocess.run(call, input=data, capture_output=True, check=False)
        assert done.returncode == code and (done.stdout.count(b"\n") == 51) == (code == 0)
        assert code == 0 or b"found the end of the file in row 50" in done.stderr
