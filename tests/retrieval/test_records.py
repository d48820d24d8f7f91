"""Search in records: an answer names the record's line, wherever the match stands in its text, and the other fields."""

import gzip
import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.screen import OnTerminal

LINES = [
    '{"_id":"a","text":"first\\nradium"}',
    '{"_id":"b","text":"x"}',
    "",
    '{"no": 1}',
    ' { "text" : "x\\ny\\nz\\nhelium" , "_id" : "c", "n": 1.50, "deep": {"text": "no", "q\\"": [1e400, "\\ud83d"]} } ',
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("r.jsonl").write_text("\n".join(LINES))
    Path("r.jsonl.gz").write_bytes(gzip.compress("\r\n".join(LINES).encode()))
    Path("deep.jsonl").write_text('{"x": 1}\n{"meta": {"t": "one\\nhelium", "lang": "en"}, "x\\"y": "é\u2028"}\n')
    Path("r.csv").write_text('id,text,"a, b"\n1,"two\nlines",x\n\n2,"y\nz, ""helium""","p\nq"\n')
    Path("r.tsv").write_text("text\tid\nx\t1\nhelium\t2\n")
    Path("plain.txt").write_text("x\n\ny\nhelium\n")


def search(wv, *arguments):
    done = wv("search", *arguments, "--json", "-q")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


RECORD = {"_id": "c", "n": 1.5, "deep": {"text": "no", 'q"': [float("inf"), "\ud83d"]}}
CASES = [
    ("r.jsonl", "text", 5, 4, RECORD),
    ("r.jsonl.gz", "text", 5, 4, RECORD),
    ("deep.jsonl", "meta.t", 2, 2, {"meta": {"lang": "en"}, 'x"y': "é\u2028"}),
    ("r.csv", "text", 5, 2, {"id": "2", "a, b": "p\nq"}),
    ("r.tsv", "text", 3, 1, {"id": "2"}),
]


@pytest.mark.parametrize(("file", "field", "line", "text_line", "record"), CASES)
def test_the_line_is_the_records(file, field, line, text_line, record, wv):
    shown = wv("search", file, "helium", "--field", field, "-q").stdout
    assert shown.startswith(f"{file}:{line}: ") and "helium" in shown
    (answer,) = search(wv, file, "helium", "--field", field)
    places = {"line": line, "first_line": line, "text_line": text_line}
    assert {name: answer[name] for name in places} == places
    assert answer["record"] == record
    assert answer["text"].split("\n")[text_line - 1] == answer["match"]
    assert wv("search", "index", file, "-o", "i", "--field", field, "-q").returncode == 0
    assert search(wv, "i", "helium") == [answer]
    Path("more.txt").write_text("more\n")
    assert wv("search", "index", file, "more.txt", "-o", "i", "--field", field, "-q").returncode == 0  # updated
    assert [{**each, "score": 0} for each in search(wv, "i", "helium")] == [{**answer, "score": 0}]
    assert wv("check", "i").returncode == 0


def test_numbers_of_a_record_stay_as_they_are_written(wv):
    shown = wv("search", "r.jsonl", "helium", "--field", "text", "--json", "-q").stdout
    assert '"n": 1.50' in shown and "1e400" in shown


def test_text_without_records_has_the_lines_of_the_file(wv):
    (answer,) = search(wv, "plain.txt", "helium")
    assert (answer["line"], answer["first_line"]) == (4, 3) and not {"record", "text_line"} & {*answer}


def test_a_long_record_keeps_its_line(wv):
    long = "word " * 20_000 + "\nhelium"
    Path("long.jsonl").write_text(f'{{"text": "x"}}\n{json.dumps({"text": long, "id": 7})}\n')
    (answer,) = search(wv, "long.jsonl", "helium", "--field", "text")
    assert (answer["line"], answer["record"]) == (2, {"id": 7})


def test_rows_of_parquet(wv):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table(
        {
            "text": [None, "x", "y\nhelium"],
            "n": [1, 2, 3],
            "at": arrow.array([0, 1, 2], arrow.timestamp("s")),
            "x": [0.1, 0.2, float("nan")],
            "raw": [b"a", b"b", b"\xff"],
        }
    )
    parquet.write_table(table, "r.parquet")
    (answer,) = search(wv, "r.parquet", "helium", "--field", "text")
    assert (answer["line"], answer["text_line"]) == (3, 2)
    assert answer["record"] == {"n": 3, "at": "1970-01-01 00:00:02", "x": None, "raw": "\ufffd"}
    nested = arrow.table({"m": [{"t": "x", "l": "a"}, {"t": "helium", "l": "b"}]})
    parquet.write_table(nested, "n.parquet")
    (answer,) = search(wv, "n.parquet", "helium", "--field", "m.t")
    assert (answer["line"], answer["record"]) == (2, {"m": {"l": "b"}})


def test_an_index_of_an_older_version_is_refused(wv):
    assert wv("search", "index", "plain.txt", "-o", "i", "-q").returncode == 0
    new = Path("i").read_bytes()
    Path("old").write_bytes(new.replace(b'"version": 3, ', b"", 1))
    for done in (wv("search", "old", "helium"), wv("check", "old")):
        said = done.stdout + done.stderr
        assert done.returncode == 1
        assert "expected a search index of version 3, found version 1; remove it, and make it again" in said
    again = wv("search", "index", "plain.txt", "-o", "old")
    assert again.returncode == 0 and "all files are read anew" in again.stderr
    assert Path("old").read_bytes() == new


def test_other_fields_may_be_anything(wv):
    long = "w" * 200_000
    Path("odd.csv").write_bytes(f'"a","text","long"\n"x, ""y""",helium,{long}\n'.encode())
    (answer,) = search(wv, "odd.csv", "helium", "--field", "text")
    assert answer["record"] == {"a": 'x, "y"', "long": long}
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "text": arrow.array(["helium"]),
        "ns": arrow.array([1], arrow.timestamp("ns")),
        "far": arrow.array([1 << 40], arrow.timestamp("s")),
        "no UTF-8": arrow.array([b"\xff"], arrow.binary()).view(arrow.string()),
        "list": arrow.array([[1, None]]),
        "single": arrow.array([[0.1, 0.7]], arrow.list_(arrow.float32())),
        "half": arrow.array([{"x": [0.1, None]}], arrow.struct([("x", arrow.list_(arrow.float16()))])),
        "map": arrow.array([[("k", 1)]], arrow.map_(arrow.string(), arrow.int64())),
    }
    parquet.write_table(arrow.table(columns), "odd.parquet")
    (answer,) = search(wv, "odd.parquet", "helium", "--field", "text")
    assert set(answer["record"]) == set(columns) - {"text"}
    assert answer["record"]["single"] == [0.1, 0.7] and answer["record"]["half"] == {"x": [0.1, None]}
    assert answer["record"]["list"] == [1, None] and answer["record"]["no UTF-8"] == "\ufffd"
    assert answer["record"]["ns"].startswith("1970-01-01 00:00:00.000000001")


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_colors_on_a_real_terminal(term):
    Path("c.txt").write_text("some helium\x1b[2J\n")
    call = [sys.executable, "-m", "wv_cli", "search", "c.txt", "Helium"]
    seen = OnTerminal(call, 80, env={**os.environ, "TERM": term, "NO_COLOR": ""})
    received, feed = [], seen.screen.feed
    seen.screen.feed = lambda text: received.append(text) or feed(text)
    assert seen.run() == 0
    assert seen.screen.lines == ["c.txt:1: some helium\\x1b[2J", ""]
    colored = "\x1b[35mc.txt\x1b[0m:\x1b[32m1\x1b[0m: some \x1b[1;31mhelium\x1b[0m\\x1b[2J"
    assert "".join(received).rstrip() == (colored if term != "dumb" else seen.screen.lines[0])
