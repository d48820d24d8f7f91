"""How far `wv filter` is, told to a bar and to a log."""

import json

import pytest

from tests.cli.test_filter import arguments, corpus, cut_off, small_blocks
from wv_cli.__main__ import run
from wv_cli.commands.filter import FilterJob
from wv_cli.commands.job import build
from wv_cli.filtering import progress

__all__ = ["small_blocks"]  # a fixture


def bytes_of(folder):
    return sum(path.stat().st_size for path in folder.iterdir())


def test_a_bar_is_told_of_bytes(small_blocks, tmp_path):
    """Of packed files as they lie there, and in the end of all."""
    corpus(tmp_path / "in")
    told = []
    job = build(FilterJob, {"inputs": (str(tmp_path / "in"),), "output": str(tmp_path / "out"), "words": ("3..9",)})
    job.run(lambda *message, **facts: None, on_reading=lambda done, total: told.append((done, total)))
    assert len(told) > 9 and told == sorted(told)
    assert {total for _, total in told} == {bytes_of(tmp_path / "in")} == {told[-1][0]}


def test_a_bar_of_tables(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"text": ["bake the bread"] * 9000}), path)
    told = []
    job = build(FilterJob, {"inputs": (str(path),), "words": ("3..9",), "dry_run": True})
    job.run(lambda *message, **facts: None, on_reading=lambda done, total: told.append((done, total)))
    size = path.stat().st_size
    assert len(told) == 3 and told == sorted(told) and size - 3 <= told[-1][0] <= size == told[-1][1]


def test_a_log_is_told_every_minute(small_blocks, tmp_path, monkeypatch, capsys):
    corpus(tmp_path / "in")
    arguments_of_log = [each for each in arguments([str(tmp_path / "in")], tmp_path / "out") if each != "-q"]
    monkeypatch.setattr(progress, "SECONDS", 1e9)
    assert run([*arguments_of_log, "--overwrite"]) == 0
    assert "judged" not in capsys.readouterr().err, "no minute is over"
    monkeypatch.setattr(progress, "SECONDS", 0)
    assert run([*arguments_of_log, "--overwrite"]) == 0
    last = [line for line in capsys.readouterr().err.splitlines() if line.startswith("judged")][-1]
    assert last.startswith("judged 1,194 records, kept ") and last.endswith("read 0 MB of 0 MB (100%)")
    assert run([*arguments_of_log, "--overwrite", "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    facts = [each for each in events if "read_bytes" in each][-1]
    assert facts["records"] == 1194 and facts["read_bytes"] == facts["total_bytes"] == bytes_of(tmp_path / "in")


def test_what_a_run_before_has_done_counts(small_blocks, tmp_path, monkeypatch, capsys):
    inputs = corpus(tmp_path / "in")
    cut_off(inputs, tmp_path / "out", monkeypatch, number=5)
    monkeypatch.setattr(progress, "SECONDS", 0)
    assert run([each for each in arguments(inputs, tmp_path / "out") if each != "-q"]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("judged")]
    assert told[-1].endswith("(100%)") and len(told) > 2
