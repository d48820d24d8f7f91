"""`wv index` and `wv nn --index` through the real entry point."""

import json
import shutil
import subprocess
import sys

import pytest

from tests.conftest import run_wv


@pytest.fixture(scope="module")
def made(slice_vectors, tmp_path_factory):
    """A folder with v.vec and its index of each kind that such a small vocabulary can have."""
    folder = tmp_path_factory.mktemp("index")
    shutil.copy(slice_vectors, folder / "v.vec")
    for kind in ("hnsw", "flat"):
        done = run_wv("index", "v.vec", "-o", kind, "--kind", kind, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert f"numbers, {kind}; recall@10 " in done.stderr and done.stdout == ""
    return folder


@pytest.mark.parametrize("kind", ["hnsw", "flat"])
def test_neighbours_are_those_of_the_exact_search(made, kind):
    queries = ["king", "the of", "two - one", "music"]
    exact = run_wv("nn", "v.vec", *queries, "-k", 5, cwd=made).stdout.splitlines()
    found = run_wv("nn", "v.vec", "--index", kind, *queries, "-k", 5, cwd=made).stdout.splitlines()
    assert len(found) == len(exact) == 20
    assert len(set(exact) & set(found)) >= (
        12 if kind == "hnsw" else 19
    )  # near ties: the last digit of a cosine may differ


def test_the_words_beside(made):
    words = (made / "hnsw.words.txt").read_text().splitlines()
    assert words == [line.split()[0] for line in (made / "v.vec").read_text().splitlines()[1:]]


def test_figures_as_json(made):
    done = run_wv("index", "v.vec", "-o", "j", "--recall", 0.9, "--queries", 50, "--json", cwd=made)
    facts = json.loads(done.stdout)
    assert facts["output"] == "j" and facts["recall"] >= 0.9 and facts["queries"] == 50
    assert facts["bytes"] == (made / "j").stat().st_size and facts["words"] == len(
        (made / "j.words.txt").read_text().split()
    )
    sidecar = json.loads((made / "j.meta.json").read_text())
    assert sidecar["searched"] == facts["searched"] and "hnsw.efSearch" in facts["searched"]


def test_with_one_thread_an_index_is_made_again(made):
    for name in ("a", "b"):
        assert run_wv("index", "v.vec", "-o", name, "--threads", 1, "-q", cwd=made).returncode == 0
    assert (made / "a").read_bytes() == (made / "b").read_bytes()


def test_words_that_are_not_known(made):
    done = run_wv("nn", "v.vec", "--index", "hnsw", "zzzz", cwd=made)
    assert (done.returncode, done.stderr) == (1, "wv nn: 'zzzz' is not in v.vec\n")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("nn v.vec --index none king", 1, "none: cannot read: no such file"),
        ("nn v.vec --index v.vec king", 1, "v.vec: expected a whole index written by wv index, found word2vec-text"),
        ("nn hnsw king", 1, "hnsw: byte 0: expected word vectors"),
        ("nn v.vec --index hnsw king --limit 9", 2, "--limit has no effect with --index"),
        ("nn v.vec --index hnsw king --restrict-vocab 9", 2, "--restrict-vocab has no effect with --index"),
        ("nn v.vec --index hnsw king --beside v.vec", 2, "--beside has no effect with --index"),
        ("nn other.vec --index hnsw king", 1, "hnsw: was made of other vectors than those of other.vec"),
        ("nn v.codes --index hnsw king", 1, "v.codes: expected vectors, found codes"),
        ("index v.codes -o x", 1, "v.codes: expected vectors, found codes"),
        ("index v.vec -o -", 2, "-o -: an index is a file with its words in another one beside it"),
        ("index v.vec -o v.vec", 2, "v.vec"),
        ("index v.vec -o x --kind flat --recall 0.9", 2, "--recall has no effect with --kind flat"),
        ("index v.vec -o x --kind ivf-pq", 1, "9,984 rows are the least"),
        ("index v.vec -o x --recall 1.5", 2, "--recall must be"),
    ],
)
def test_what_is_refused(made, arguments, code, message):
    if not (made / "other.vec").exists():
        assert run_wv("whiten", "v.vec", "-o", "other.vec", "-q", cwd=made).returncode == 0
        assert run_wv("hash", "v.vec", "-m", "lsh", "-o", "v.codes", "-q", cwd=made).returncode == 0
    done = run_wv(*arguments.split(), cwd=made)
    assert done.returncode == code and message in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1 and not (made / "x").exists()


def test_without_the_extra(made, tmp_path):
    """The package is asked for before the vectors are read."""
    (tmp_path / "faiss.py").write_text("raise ImportError\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from wv_cli.__main__ import main; main()"
    for arguments in ("index v.vec -o x", "nn v.vec --index hnsw king"):
        command = [sys.executable, "-c", code, *arguments.split()]
        done = subprocess.run(command, cwd=made, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "needs the package faiss; pip install faiss-cpu\n" in done.stderr
    assert not (made / "x").exists()
