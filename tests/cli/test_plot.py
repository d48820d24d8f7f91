"""`wv plot` as a user's shell runs it."""

import html
import re
import subprocess
import sys

import numpy as np
import pytest

from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import load, save
from wv_cli.words import WordList

WORDS = ["the", "of", "$x$ & <b>", "naïve", b"caf\xe9", *(f"w{i}" for i in range(60))]


@pytest.fixture(autouse=True)
def files(tmp_path):
    matrix = np.random.default_rng(1).standard_normal((65, 8)).astype(np.float32)
    words = WordList.from_words(word.replace(" ", "_") if isinstance(word, str) else word for word in WORDS)
    save(tmp_path / "v.bin", Embeddings(words, matrix))
    return tmp_path


def titles(page):
    return [html.unescape(word) for word in re.findall(r"<circle [^>]*><title>(.*?)</title>", page)]


def test_a_page(wv, files):
    done = wv("plot", "v.bin", "--top", 5, "-o", "p.html")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "p.html: 5 words\n")
    page = (files / "p.html").read_text(encoding="utf-8")
    assert titles(page) == ["the", "of", "$x$_&_<b>", "naïve", "caf\N{REPLACEMENT CHARACTER}"]
    assert "<b>" not in page.replace("<p><b>v.bin</b>", "") and "&lt;b&gt;" in page
    assert "http" not in page.replace("http-equiv", "") and "PC 1" in page
    places = np.array(re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', page), float)
    assert (places > 0).all() and (places < [1000, 720]).all()


def test_words_and_top_together_once_each(wv, files):
    assert wv("plot", "v.bin", "w30", "of", "w31 w30", "--top", 3, "-o", "p.html", "-q").stderr == ""
    assert titles((files / "p.html").read_text()) == ["the", "of", "$x$_&_<b>", "w30", "w31"]


def test_neighbors_and_files_beside(wv, files):
    read = load(files / "v.bin")
    save(files / "b.bin", Embeddings(read.words[:40], read.matrix[:40] + 1))
    done = wv("plot", "v.bin", "w30", "w50", "--neighbors", 4, "--beside", "b.bin", "-o", "p.html")
    page = (files / "p.html").read_text()
    first, second = (titles(panel) for panel in page.split("</svg>")[:2])
    near = [[word for word, _ in read.neighbors(asked, k=4)] for asked in ("w30", "w50")]
    shown = [
        word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        for word in ["w30", "w50", *near[0], *near[1]]
    ]
    assert first == list(dict.fromkeys(shown))
    assert second == ["w30", *(word for word, _ in load(files / "b.bin").neighbors("w30", k=4))]
    assert done.stderr == f"note: b.bin has 1 of the 2 words\np.html: {len(first)} words, 5 words\n"
    assert ">v.bin</text>" in page and ">b.bin</text>" in page


@pytest.mark.parametrize(("name", "start"), [("p.png", b"\x89PNG"), ("p.svg", b"<?xml"), ("p.pdf", b"%PDF")])
def test_pictures(wv, files, name, start):
    pytest.importorskip("matplotlib")
    done = wv("plot", "v.bin", "--top", 10, "-o", name, "--title", "$a_b")
    assert wv("plot", "v.bin", "--top", 10, "--beside", "v.bin", "-o", f"2{name}").returncode == 0
    assert done.returncode == 0, done.stderr
    assert (files / name).read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["p.png", "p.svg", "p.pdf", "p.html"])
def test_same_bytes_at_any_time(wv, files, name, monkeypatch):
    """A .svg had the time and random names in it, a .pdf the time: no two runs gave the same file."""
    pytest.importorskip("matplotlib")
    for number, time in enumerate(("0", "1000000000")):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", time)  # the date that matplotlib writes instead of today's
        assert wv("plot", "v.bin", "--top", 10, "--title", "t", "-o", f"{number}{name}").returncode == 0
    assert (files / f"0{name}").read_bytes() == (files / f"1{name}").read_bytes()


def test_letters_that_no_font_has(wv, files):
    pytest.importorskip("matplotlib")
    nobody = "\U0010fffe"
    save(files / "odd.bin", Embeddings(WordList.from_words([nobody, "b", "c"]), np.eye(3, dtype=np.float32)))
    done = wv("plot", "odd.bin", "--top", 3, "-o", "p.png")
    note, wrote = done.stderr.splitlines()
    assert note.startswith("note: no installed font has 1 of the letters, such as ") and "write .html" in note
    assert (done.returncode, wrote) == (0, "p.png: 3 words")
    assert wv("plot", "odd.bin", "--top", 3, "-o", "p.html").stderr == "p.html: 3 words\n"


def test_a_label_for_every_word_that_has_room(wv, files):
    """The first 150 words were the only ones with labels, and some labels lay far from their points."""
    matrix = np.random.default_rng(4).standard_normal((200, 3)).astype(np.float32)
    save(files / "many.bin", Embeddings(WordList.from_words(f"w{i}" for i in range(200)), matrix))
    assert wv("plot", "many.bin", "--top", 200, "-o", "p.html").returncode == 0
    page = (files / "p.html").read_text()
    assert len(re.findall(r"<text x=", page)) > 150
    for x, y, end_x, end_y in np.array(re.findall(r'<path d="M(\S+) (\S+)L([^" ]+) ([^" ]+)"/>', page), float):
        assert 10 < np.hypot(end_x - x, end_y - y) < 50


def test_tsne(wv, files):
    pytest.importorskip("sklearn")
    for name in ("a.html", "b.html"):
        done = wv("plot", "v.bin", "--top", 20, "--method", "tsne", "-o", name)
        assert done.returncode == 0, done.stderr
    assert (files / "a.html").read_bytes() == (files / "b.html").read_bytes()
    assert "t-SNE 1" in (files / "a.html").read_text()


@pytest.mark.parametrize(
    ("missing", "arguments", "message"),
    [
        ("matplotlib", ["--top", "9", "-o", "p.png"], "needs matplotlib; pip install matplotlib, or write .html"),
        ("sklearn", ["--top", "9", "-o", "p.html", "--method", "tsne"], "needs scikit-learn; pip install scikit-learn"),
    ],
)  # fmt: skip
def test_an_extra_that_is_not_installed(files, missing, arguments, message):
    code = f"import sys; sys.modules[{missing!r}] = None; from wv_cli.__main__ import run; sys.exit(run(sys.argv[1:]))"
    call = [sys.executable, "-c", code, "plot", "v.bin", *arguments]
    done = subprocess.run(call, cwd=files, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr
    assert [path.name for path in files.iterdir()] == ["v.bin"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-o", "p.html"], 2, "give WORDs, or --top N"),
        (["the", "of", "qqqq", "-o", "p.html"], 1, "'qqqq' is not in v.bin"),
        (["the", "of", "-o", "p.html"], 1, "at least 3 words, found 2"),
        (["--top", "9", "-o", "p.gif"], 2, ".png, .svg, .pdf or .html, found '.gif'"),
        (["--top", "9", "-o", "p"], 2, "found 'no ending'"),
        (["--top", "2", "-o", "p.html"], 2, "--top"),
        (["--top", "9", "-o", "no/p.html"], 1, "no does not exist"),
        (["--top", "9"], 2, "--output"),
        (["--top", "9", "--neighbors", "2", "-o", "p.html"], 2, "the nearest words of WORDs; give some"),
        (["--top", "9", "--beside", "v.bin", "--title", "a", "-o", "p.html"], 2, "--title has no effect with --beside"),
        (["--top", "9", "--beside", "no.bin", "-o", "p.html"], 1, "no.bin: cannot read"),
    ],
)
def test_refusals(wv, files, arguments, code, message):
    done = wv("plot", "v.bin", *arguments)
    assert done.returncode == code and message in done.stderr and "Traceback" not in done.stderr
    assert [path.name for path in files.iterdir()] == ["v.bin"]
