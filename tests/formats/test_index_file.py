"""Files of indexes: faiss reads them as they are, and nothing damaged or strange is given to it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from wv_cli.errors import BadFile, WvError
from wv_cli.formats.index_file import open_index, save_index, words_path
from wv_cli.search.config import IndexConfig
from wv_cli.search.indexes import build, library
from wv_cli.search.neighbours import Neighbours
from wv_cli.system.kinds import kind_of
from wv_cli.words import WordList

WORDS = WordList.of([b"w%d" % i for i in range(299)] + [b"caf\xe9 \xff"])


@pytest.fixture(scope="module")
def exact():
    return Neighbours(np.random.default_rng(3).standard_normal((300, 8)).astype(np.float32), threads=1)


@pytest.fixture
def saved(exact, tmp_path):
    path = str(tmp_path / "v.index")
    assert (
        save_index(path, build(exact, IndexConfig(links=8, threads=1)), WORDS, 7)
        == (tmp_path / "v.index").stat().st_size
    )
    return path


def test_what_was_written_comes_back(saved, exact):
    index, words, factor = open_index(saved)
    assert words == WORDS and factor == 7 and (index.ntotal, index.d) == (300, 8)
    np.testing.assert_allclose(index.reconstruct_n(0, 300), exact.unit_rows(np.arange(300)), atol=1e-7)


def test_faiss_reads_the_file_itself(saved):
    code = (
        "import sys, faiss, numpy as np; i = faiss.read_index(sys.argv[1]); "
        "print(i.ntotal, i.metric_type, i.search(i.reconstruct_n(5, 1), 1)[1][0, 0])"
    )
    done = subprocess.run([sys.executable, "-c", code, saved], capture_output=True, text=True, check=True)
    assert done.stdout == "300 0 5\n"


def test_other_readers_can_say_what_it_is(saved):
    with Path(saved).open("rb") as stream:
        assert kind_of(stream.read(100)) == "an index of faiss; wv nn takes it as --index"


def test_every_bit_is_summed(saved):
    """A changed bit is found before faiss reads the file."""
    with Path(saved).open("rb") as stream:
        whole = bytearray(stream.read())
    for at in [*range(0, len(whole), 997), len(whole) - 33, len(whole) - 20]:
        damaged = bytearray(whole)
        damaged[at] ^= 16
        with Path(saved).open("wb") as stream:
            stream.write(damaged)
        with pytest.raises(BadFile, match=r"damaged|expected an index"):
            open_index(saved)


def test_words_of_another_index_of_the_same_size(saved):
    """The first two exchanged: as many, and as many bytes."""
    lines = Path(words_path(saved)).read_bytes().split(b"\n")
    lines[0], lines[1] = lines[1], lines[0]
    Path(words_path(saved)).write_bytes(b"\n".join(lines))
    with pytest.raises(BadFile, match=r"the words are not those .* was written with"):
        open_index(saved)


@pytest.mark.parametrize("keep", [1, 20, 31, 33, 5000])
def test_a_file_cut_short(saved, keep):
    with Path(saved).open("r+b") as stream:
        stream.truncate(keep)
    with pytest.raises(BadFile, match="expected a whole index written by wv index"):
        open_index(saved)


def test_an_index_without_a_seal(tmp_path, saved):
    faiss = library()
    faiss.write_index(faiss.IndexFlatIP(4), str(tmp_path / "foreign"))
    with pytest.raises(BadFile, match="expected a whole index written by wv index, found an index of faiss"):
        open_index(str(tmp_path / "foreign"))


def test_an_index_of_another_measure(tmp_path):
    path = str(tmp_path / "l2")
    save_index(path, library().IndexFlatL2(4), WordList.of([]), 1)
    with pytest.raises(BadFile, match="expected an index of cosines, found a IndexFlatL2"):
        open_index(path)


def test_words_of_another_index(saved):
    with Path(words_path(saved)).open("ab") as stream:
        stream.write(b"more\n")
    with pytest.raises(BadFile, match=r"v.index.words.txt: the words are not those .*v.index was written with"):
        open_index(saved)


def test_words_that_are_gone(saved, tmp_path):
    (tmp_path / "v.index.words.txt").unlink()
    with pytest.raises(WvError, match="cannot read the words of"):
        open_index(saved)


@pytest.mark.parametrize("word", [b"", b"two\nlines"])
def test_words_that_no_line_holds(word, tmp_path, exact):
    words = WordList.of([*(b"w%d" % i for i in range(299)), word])
    with pytest.raises(WvError, match=r"row 300: the word .* cannot stand on a line"):
        save_index(str(tmp_path / "x"), build(exact, IndexConfig(kind="flat")), words, 1)
    assert not list(tmp_path.iterdir())


def test_what_fails_on_the_way_leaves_nothing(tmp_path, exact, monkeypatch):
    """faiss's writer cannot carry an exception; it is raised all the same, and yesterday's file stays."""
    import wv_cli.formats.index_file as module

    (tmp_path / "x").write_bytes(b"yesterday")

    def full(self, block):
        self.error = OSError(28, "No space left on device")
        return len(block)

    monkeypatch.setattr(module._Summed, "write", full)
    with pytest.raises(WvError, match="no space left on device"):
        save_index(str(tmp_path / "x"), build(exact, IndexConfig(kind="flat")), WORDS, 1)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"yesterday"]
