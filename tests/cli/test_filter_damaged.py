"""`wv filter --bad-files`: a damaged shard ends a run, or is left out of it as a whole."""

import gzip
import json

import pytest

from tests.cli.test_filter import REPORT, contents, cut_off, small_blocks
from wv_cli.__main__ import run

__all__ = ["small_blocks"]  # a fixture

DATA = b"".join(b'{"id": %d, "text": "bake the bread %d"}\n' % (i, i * i) for i in range(900))
BAD = ("b.jsonl.gz", "c.jsonl.gz", "d.jsonl.gz")


@pytest.fixture
def damaged(tmp_path):
    """A whole shard, one that is cut, one with other bytes in the middle, one at its begin, and a whole one."""
    folder, packed = tmp_path / "in", gzip.compress(DATA, mtime=0)
    folder.mkdir()
    (folder / "a.jsonl.gz").write_bytes(packed)
    (folder / "b.jsonl.gz").write_bytes(packed[: len(packed) * 2 // 3])
    (folder / "c.jsonl.gz").write_bytes(packed[:900] + bytes(40) + packed[940:])
    (folder / "d.jsonl.gz").write_bytes(packed[:10] + bytes(99))
    (folder / "e.jsonl").write_bytes(DATA)
    return str(folder)


def call(inputs, out, *more):
    return ["filter", inputs, "-o", str(out / "kept"), "--words", "1..", "--exact-duplicates", "document", *more]


def test_a_damaged_file_ends_the_run(damaged, tmp_path, capsys):
    assert run(call(damaged, tmp_path / "out", "-q")) == 1
    said = capsys.readouterr().err
    assert "b.jsonl.gz: " in said and "expected more gzip data, found the end of the file" in said
    assert run(call(damaged, tmp_path / "out", "--bad-files", "skip", "-q")) == 0, "the run goes on"


def test_a_damaged_file_is_left_out(damaged, tmp_path, capsys):
    """No record of it is written, and none makes another one a duplicate."""
    (tmp_path / "in" / "a.jsonl.gz").unlink()
    assert run(call(damaged, tmp_path / "out", "--bad-files", "skip")) == 0
    shown, said = capsys.readouterr()
    assert "kept 900 of 900 records (100.0%); 3 damaged files left out" in shown
    for name in BAD:
        (line,) = [line for line in said.splitlines() if name in line]
        assert "gzip data" in line and line.endswith("; this file is left out")
    assert contents(tmp_path / "out") == {"kept/e.jsonl": DATA}
    report = json.loads((tmp_path / "out" / "kept" / REPORT).read_text())
    assert report["totals"]["damaged"] == 3
    places = {shard["shard"]: shard["skipped_at"] for shard in report["shards"] if shard["damaged"]}
    assert {*places} == {*BAD} and "the end of the file" in places["b.jsonl.gz"][0]["problem"]


def test_threads_parts_and_kills_change_nothing(small_blocks, damaged, tmp_path, monkeypatch):
    skip = ("--bad-files", "skip", "-q", "--rejected", str(tmp_path / "rejected"), "--overwrite")
    assert run(call(damaged, tmp_path / "whole", *skip)) == 0
    whole = contents(tmp_path / "whole")
    assert {*whole} == {"kept/a.jsonl.gz", "kept/e.jsonl"}
    assert run(call(damaged, tmp_path / "threads", *skip, "--threads", "3")) == 0
    assert contents(tmp_path / "threads") == whole
    monkeypatch.setattr("tests.cli.test_filter.arguments", lambda inputs, out, *more: call(damaged, out, *more))
    for number in (2, 12, 16):
        cut_off([], tmp_path / f"out{number}", monkeypatch, *skip, number=number)
        assert run(call(damaged, tmp_path / f"out{number}", *skip[:-1])) == 0
        assert contents(tmp_path / f"out{number}") == whole
    totals = [json.loads((tmp_path / out / "kept" / REPORT).read_text())["totals"] for out in ("whole", "out12")]
    assert totals[0] == totals[1]


def test_streams_and_dry_runs_take_it(damaged, tmp_path, capsys):
    assert run(["filter", damaged, "--words", "1..", "--dry-run", "--bad-files", "skip", "-q", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kept"], found["damaged"]) == (1800, 3)
    assert run(["filter", damaged, "--words", "1..", "-o", "-", "--bad-files", "skip", "-q"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1800


def test_a_finished_run_tells_of_damage(damaged, tmp_path, capsys):
    """Without the option such files are an error. What was fetched again is filtered."""
    out = tmp_path / "out"
    assert run(call(damaged, out, "--bad-files", "skip", "-q")) == 0
    assert run(call(damaged, out, "--bad-files", "skip")) == 0
    assert "finished at" in capsys.readouterr().err
    assert run(call(damaged, out, "-q")) == 1
    assert "3 of the files were damaged, and left out; get them again, or give --bad-files" in capsys.readouterr().err
    for name in BAD:
        (tmp_path / "in" / name).write_bytes(gzip.compress(DATA, mtime=0))
    assert run(call(damaged, out, "--bad-files", "skip", "-q")) == 0
    assert len(contents(out)) == 5
    (tmp_path / "in" / "b.jsonl.gz").write_bytes(gzip.compress(DATA, mtime=0)[:999])
    assert run(call(damaged, out, "--bad-files", "skip", "-q")) == 0
    assert not (out / "kept" / "b.jsonl.gz").exists(), "what an earlier run made of it"


def test_what_is_refused(damaged, tmp_path, capsys):
    skip = ("--bad-files", "skip")
    assert run(call(f"{damaged}/d.jsonl.gz", tmp_path / "out", *skip)) == 1
    assert "damaged gzip data" in capsys.readouterr().err and not (tmp_path / "out").exists()
    assert run(["filter", *(f"{damaged}/{name}" for name in BAD), "--words", "1..", "--dry-run", *skip, "-q"]) == 1
    assert "none of the 3 inputs has a record that can be read" in capsys.readouterr().err
    assert run(["filter", "-", "--words", "1..", "-o", "-", *skip]) == 2
    assert "which standard input cannot be" in capsys.readouterr().err


def test_what_the_options_refuse_is_no_damage(damaged, tmp_path, capsys):
    (tmp_path / "in" / "f.jsonl").write_text('no record\n{"text": "x", "words": 1}\n')
    cases = ((["--bad-records", "error"], "expected a JSON object"), (["--add-scores"], "already a field"))
    for more, problem in cases:
        assert run(call(damaged, tmp_path / "out", "--bad-files", "skip", "-q", "--overwrite", *more)) == 1
        assert problem in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_tables(tmp_path, capsys, ending):
    """One lacks its end, one has other bytes in a column that is no text."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"text": ["bake the bread"] * 9000, "n": [i * i % 8191 for i in range(9000)]})
    whole, cut, bad = (tmp_path / f"{name}.{ending}" for name in ("whole", "cut", "bad"))
    if ending == "parquet":
        parquet.write_table(table, whole, compression="zstd", use_dictionary=["text"])
    else:
        with arrow.ipc.new_file(whole, table.schema, options=arrow.ipc.IpcWriteOptions(compression="zstd")) as writer:
            writer.write_table(table)
    data = bytearray(whole.read_bytes())
    cut.write_bytes(data[: len(data) // 2])
    data[len(data) // 2 : len(data) // 2 + 2000] = bytes(2000)
    bad.write_bytes(data)
    call = ["filter", *map(str, (whole, cut, bad)), "-o", str(tmp_path / "kept"), "--words", "1..", "--json"]
    assert run([*call, "--bad-files", "skip"]) == 0
    shown, said = capsys.readouterr()
    found = json.loads(shown)
    assert (found["damaged"], found["unreadable"], found["kept"]) == (2, 0, 9000), said
    assert [path.name for path in (tmp_path / "kept").glob(f"*.{ending}")] == [whole.name]
