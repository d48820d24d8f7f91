"""`wv eval` through its real entry point: layouts, gates, several files, failures."""

import json
import os
import pty
import sys

import pytest

from tests.cli.screen import read_terminal
from tests.processes import Process

TABLE = """6 2
a 1 0
b 1 1
c 0 1
d -1 1
e -1 0.2
f 0.9 0.1
"""
PAIRS = "a b 9\na c 5\na d 1\na e 0\nb c 7\nb z 3\n"
QUESTIONS = ": one\na b c d\nb c d e\n: gram-two\na b c x\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "v.vec").write_text(TABLE)
    (tmp_path / "w.vec").write_text(TABLE.replace("b 1 1", "b -1 1.5").replace("6 2", "6 2"))
    (tmp_path / "pairs.txt").write_text(PAIRS)
    (tmp_path / "questions.txt").write_text(QUESTIONS)
    return tmp_path


def test_tsv_is_the_layout_off_a_terminal(wv, files):
    done = wv("eval", "similarity", "v.vec", "-d", "pairs.txt")
    assert (done.returncode, done.stderr) == (0, "")
    header, row = (line.split("\t") for line in done.stdout.splitlines())
    record = dict(zip(header, row, strict=True))
    assert record["data"] == "pairs.txt" and record["vectors"] == "v.vec" and record["task"] == "similarity"
    assert (record["used"], record["total"], record["oov"], record["case"]) == ("5", "6", "skip", "fold-first")
    # cosines .71 0 -.71 -.98 .71: the first and the last tie
    assert float(record["spearman"]) == pytest.approx(9.5 / (9.5 * 10) ** 0.5, abs=1e-5)


def test_json(wv, files):
    done = wv("eval", "analogy", "v.vec", "-d", "questions.txt", "--json", "--method", "3cosmul")
    report = json.loads(done.stdout)
    assert report["task"] == "analogy" and report["measure"] == "accuracy"
    assert report["config"]["method"] == "3cosmul" and report["config"]["restrict_vocab"] == 0
    assert [row["section"] for row in report["results"]] == ["one", "gram-two", "semantic", "syntactic", "total"]
    assert report["results"][1]["accuracy"] is None
    assert report["results"][-1]["answered"] == 2


def test_a_terminal_gets_a_table(files):
    terminal, other = pty.openpty()
    process = Process(
        [sys.executable, "-m", "wv_cli", "eval", "similarity", "v.vec", "-d", "pairs.txt"], stdout=other, cwd=files
    )
    os.close(other)
    shown = read_terminal(terminal).decode()
    assert process.wait() == 0
    assert "spearman  95 % from" in shown and "\t" not in shown and "the whole vocabulary" in shown


def test_several_files_and_several_sets(wv, files):
    (files / "more.csv").write_text("Word 1,Word 2,Human\na,b,3\na,c,2\na,d,1\nf,b,2.5\n")
    done = wv("eval", "similarity", "v.vec", "w.vec", "-d", "pairs.txt", "-d", "more.csv", "--json")
    rows = json.loads(done.stdout)["results"]
    assert [(row["data"], row["vectors"]) for row in rows] == [
        ("pairs.txt", "v.vec"),
        ("pairs.txt", "w.vec"),
        ("more.csv", "v.vec"),
        ("more.csv", "w.vec"),
    ]
    assert rows[0]["difference"] is None and rows[1]["difference"] < 0 <= rows[1]["p"] <= 1
    table = wv("eval", "similarity", "v.vec", "w.vec", "-d", "pairs.txt", "-d", "more.csv", "--table").stdout
    assert "Steiger" in table and "difference" in table


def test_a_folder_stands_for_its_files(wv, files):
    folder = files / "sets"
    folder.mkdir()
    for name in ("b.txt", "a.txt"):
        (folder / name).write_text(PAIRS)
    done = wv("eval", "similarity", "v.vec", "-d", "sets", "--json")
    assert [row["data"] for row in json.loads(done.stdout)["results"]] == ["sets/a.txt", "sets/b.txt"]


def test_gates(wv, files):
    assert wv("eval", "similarity", "v.vec", "-d", "pairs.txt", "--min-score", 0.9).returncode == 0
    done = wv("eval", "similarity", "v.vec", "w.vec", "-d", "pairs.txt", "--min-score", 0.9)
    assert done.returncode == 3 and len(done.stdout.splitlines()) == 3, "the figures are shown all the same"
    assert done.stderr.startswith("wv eval similarity: w.vec on pairs.txt: spearman is ")
    assert "below --min-score 0.9" in done.stderr and "v.vec on pairs.txt: spearman is 0.9" not in done.stderr
    done = wv("eval", "analogy", "v.vec", "-d", "questions.txt", "--oov", "zero", "--min-score", 99, "-q")
    assert done.returncode == 3 and "accuracy is" in done.stderr


@pytest.mark.parametrize(
    ("task", "bar", "message"),
    [("similarity", 65, "between -1 and 1"), ("analogy", 0.37, "write 37"), ("analogy", 101, "between 0 and 100")],
)
def test_gates_that_cannot_be_meant(wv, files, task, bar, message):
    done = wv("eval", task, "v.vec", "-d", "pairs.txt", "--min-score", bar)
    assert done.returncode == 2 and message in done.stderr and done.stdout == ""


def test_nothing_to_score(wv, files):
    (files / "foreign.txt").write_text("x y 1\nz y 2\n")
    done = wv("eval", "similarity", "v.vec", "-d", "pairs.txt", "-d", "foreign.txt")
    assert done.returncode == 1 and len(done.stdout.splitlines()) == 3
    assert done.stderr == (
        "wv eval similarity: v.vec on foreign.txt: no correlation: both words of a pair are known for 0 pairs\n"
    )
    assert wv("eval", "similarity", "v.vec", "-d", "foreign.txt", "--min-score", 0.1).returncode == 3


def test_malformed_lines(wv, files):
    (files / "pairs.txt").write_text(PAIRS + "half a\n")
    done = wv("eval", "similarity", "v.vec", "-d", "pairs.txt")
    assert done.returncode == 0 and "line 7: expected `word word score`" in done.stderr
    assert wv("eval", "similarity", "v.vec", "-d", "pairs.txt", "-q").stderr == ""
    done = wv("eval", "similarity", "v.vec", "-d", "pairs.txt", "--strict")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == "wv eval similarity: pairs.txt:7: expected `word word score`, found 'half a'\n"


def test_standard_input(wv, files):
    assert wv("eval", "similarity", "v.vec", "-d", "-", input=PAIRS).returncode == 0
    assert wv("eval", "similarity", "-", "-d", "pairs.txt", input=TABLE).returncode == 0
    done = wv("eval", "similarity", "-", "-d", "-", input=TABLE)
    assert done.returncode == 2 and "standard input" in done.stderr
    done = wv("eval", "similarity", "-", "-", "-d", "pairs.txt", input=TABLE)
    assert done.returncode == 2 and "standard input" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (("similarity", "v.vec"), "--data", 2),
        (("similarity", "-d", "pairs.txt"), "VECTORS", 2),
        (("similarity", "v.vec", "-d", "none.txt"), "none.txt", 1),
        (("similarity", "none.vec", "-d", "pairs.txt"), "none.vec", 1),
        (("similarity", "pairs.txt", "-d", "pairs.txt"), "pairs.txt", 1),
        (("analogy", "v.vec", "-d", "pairs.txt"), "pairs.txt:1: expected lines of four words", 1),
        (("analogy", "v.vec", "-d", "questions.txt", "--restrict-vocab", "-5"), "--restrict-vocab", 2),
        (("analogy", "v.vec", "-d", "questions.txt", "--threads", "-1"), "--threads", 2),
        (("similarty", "v.vec"), "similarity", 2),
        ((), "similarity", 2),
    ],
)
def test_failures(wv, files, arguments, message, code):
    done = wv("eval", *arguments)
    assert done.returncode == code, done.stderr
    assert message in done.stderr + done.stdout and "Traceback" not in done.stderr


def test_bad_data_is_found_before_the_vectors_are_read(wv, files):
    done = wv("eval", "analogy", "none.vec", "-d", "pairs.txt")
    assert "pairs.txt:1" in done.stderr


def test_the_shipped_data(wv, data, slice_vectors):
    done = wv(
        "eval", "analogy", slice_vectors, "-d", data / "analogy" / "questions-words.txt", "--restrict-vocab", 3000
    )
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(rows) == 1 + 14 + 3
    record = dict(zip(rows[0], rows[-1], strict=True))
    assert record["section"] == "total" and record["total"] == "19544" and record["restrict_vocab"] == "3000"
    assert 0 < int(record["answered"]) < 19544
