"""The report of `wv filter`: what it says, and what the next run in the folder makes of it."""

import hashlib
import json
import random
import shutil
from pathlib import Path

import pytest

from tests.cli.test_filter import MODEL, REPORT, KilledError, arguments, contents, corpus, cut_off, small_blocks
from wv_cli.__main__ import run
from wv_cli.filtering import shard_files, shards

__all__ = ["small_blocks"]  # a fixture


def interrupt(*given):
    raise KilledError


def report_of(folder):
    return json.loads((folder / "kept" / REPORT).read_bytes())


def figures(folder):
    """What does not depend on when and where a run was done."""
    report = report_of(folder)
    return {name: report[name] for name in ("identity", "totals", "scores", "shards")}


def test_the_report_has_rules_models_and_figures(tmp_path, capsys):
    inputs = corpus(tmp_path / "in")
    assert run([*arguments(inputs, tmp_path), "--json"]) == 0
    found, report = json.loads(capsys.readouterr().out), report_of(tmp_path)
    assert report["totals"] == found and found["skipped"] == 2
    ranges = {name: (rule["statistic"], rule["range"]) for name, rule in found["rules"].items()}
    assert ranges == {"words": ("words", "3..9"), "language": ("language", ">= 0.01")}
    rules = ["--words 3..9", f"--language {MODEL.name}:bread,baking=0.01.."]
    assert report["identity"]["rules"] == rules
    digest = hashlib.blake2b(MODEL.read_bytes(), digest_size=16).hexdigest()
    assert report["identity"]["models"] == [[MODEL.name, digest]]
    assert [shard["shard"] for shard in report["shards"]] == ["a.jsonl", "b.jsonl.gz", "c.csv"]
    for name in ("records", "kept", "skipped"):
        assert sum(shard[name] for shard in report["shards"]) == found[name]
    first = report["shards"][0]
    begin = Path(inputs[0]).read_bytes().index(b"no record")
    assert first["skipped_at"] == [{"line": 8, "byte": begin, "problem": "expected a JSON object"}]
    assert first["output_bytes"] == [(tmp_path / each / "a.jsonl").stat().st_size for each in ("kept", "rejected")]
    words = first["rules"]["words"]
    assert {*words["percentiles"]} == {"1", "10", "50", "90", "99"} and words["percentiles"]["50"] == 5
    assert run(["train", str(tmp_path / "kept"), "-o", str(tmp_path / "v.vec"), "--epochs", "1", "--dim", "2"]) == 0


def test_a_report_has_the_bounds_of_a_recipe(tmp_path, capsys):
    """In its totals, those of each shard, and those of --summary."""
    inputs, kept = corpus(tmp_path / "in")[:1], str(tmp_path / "kept")
    assert (
        run(["filter", *inputs, "-o", kept, "--heuristic", "gopher-repetition", "--near-duplicates", "0.9", "-q"]) == 0
    )
    report = report_of(tmp_path)
    assert report["identity"]["rules"][5] == "--heuristic gopher-repetition (top-2-gram=..0.2)"
    assert len({*report["identity"]["rules"]}) == 14
    capsys.readouterr()
    assert run(["filter", "--summary", kept, "--json"]) == 0
    for totals in (report["totals"], report["shards"][0], json.loads(capsys.readouterr().out)):
        assert (totals["rules"]["top-2-gram"]["statistic"], totals["rules"]["top-2-gram"]["range"]) == (
            "top-2-gram",
            "<= 0.2",
        )
        assert totals["rules"]["near-duplicates"]["range"] == "no earlier record is like it"


@pytest.mark.parametrize("number", [1, 2, 5, 8])
def test_a_run_that_goes_on_ends_with_the_same_report(small_blocks, tmp_path, monkeypatch, number):
    """Places of records that cannot be read, too, whether a point is behind them or not."""
    inputs = corpus(tmp_path / "in")
    lines = Path(inputs[0]).read_bytes().splitlines(keepends=True)
    for bad in (30, 100, 200, 300):
        lines[bad] = b"bad\n"
    Path(inputs[0]).write_bytes(b"".join(lines))
    assert run(arguments(inputs, tmp_path / "whole")) == 0
    cut_off(inputs, tmp_path / "out", monkeypatch, number=number)
    assert run(arguments(inputs, tmp_path / "out", "--threads", "2")) == 0
    whole, out = figures(tmp_path / "whole"), figures(tmp_path / "out")
    for each in (whole, out):
        del each["identity"]["--rejected"]
    assert out == whole
    assert [each["line"] for each in whole["shards"][0]["skipped_at"]] == [8, 31, 101, 201, 301]


def test_only_the_first_records_that_are_skipped_have_places(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\nbad\n' * 10)
    monkeypatch.setattr(shard_files, "PLACES", 3)
    assert run(["filter", str(tmp_path / "a.jsonl"), "-o", str(tmp_path / "kept"), "--words", "1..", "-q"]) == 0
    (shard,) = report_of(tmp_path)["shards"]
    assert shard["skipped"] == 10 and [each["line"] for each in shard["skipped_at"]] == [2, 4, 6]


def test_records_that_are_skipped_are_counted(tmp_path, capsys):
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\nbad\n')
    assert run(["filter", str(tmp_path / "a.jsonl"), "--dry-run", "--words", "0..", "-q"]) == 0
    assert "kept 1 of 1 records (100.0%); skipped 1 that cannot be read" in capsys.readouterr().out


def test_a_finished_run_has_nothing_to_do(tmp_path, capsys, monkeypatch):
    """Nor where its inputs have been copied elsewhere, and touched."""
    inputs = corpus(tmp_path / "in")
    assert run([*arguments(inputs, tmp_path), "--json"]) == 0
    before, table = contents(tmp_path / "kept"), capsys.readouterr().out
    shutil.copytree(tmp_path / "in", tmp_path / "copy")
    copies = [str(tmp_path / "copy" / Path(path).name) for path in inputs]
    with monkeypatch.context() as patch:
        patch.setattr(shards.Shards, "pending", None)
        for paths in (inputs, copies):
            assert run([*(word for word in arguments(paths, tmp_path) if word != "-q"), "--json"]) == 0
            shown = capsys.readouterr()
            assert shown.out == table
            assert "finished at 20" in shown.err and "; --overwrite filters again" in shown.err
    assert contents(tmp_path / "kept") == before
    (tmp_path / "kept" / "a.jsonl").write_bytes(b"of somebody else")
    assert run(arguments(inputs, tmp_path)) == 1
    assert "a.jsonl: expected the" in capsys.readouterr().err
    assert run(arguments(inputs, tmp_path, "--overwrite")) == 0
    assert contents(tmp_path / "kept") == before


@pytest.mark.parametrize("change", ["removed", "cut", "longer"])
@pytest.mark.parametrize("folder", ["kept", "rejected"])
def test_a_finished_run_whose_output_was_changed_says_so(tmp_path, capsys, change, folder):
    inputs = corpus(tmp_path / "in")
    assert run(arguments(inputs, tmp_path)) == 0
    output = tmp_path / folder / "a.jsonl"
    data = output.read_bytes()
    output.write_bytes({"removed": b"", "cut": data[:-1], "longer": data + b"\n"}[change])
    if change == "removed":
        output.unlink()
    before = contents(tmp_path)
    capsys.readouterr()
    assert run(arguments(inputs, tmp_path)) == 1
    found = "no such file" if change == "removed" else f"{output.stat().st_size:,}"
    problem = f"expected the {len(data):,} bytes that the finished run wrote, found {found}; --overwrite begins anew"
    assert capsys.readouterr().err == f"wv filter: {output}: {problem}\n"
    assert contents(tmp_path) == before
    assert run(arguments(inputs, tmp_path, "--overwrite")) == 0
    assert output.read_bytes() == data


def test_other_rules_replace_no_finished_folder(tmp_path, capsys):
    inputs = corpus(tmp_path / "in")
    assert run(arguments(inputs, tmp_path)) == 0
    before = contents(tmp_path / "kept")
    other = arguments(inputs, tmp_path)
    other[other.index("3..9")] = "4..9"
    assert run(other) == 1
    (said,) = capsys.readouterr().err.splitlines()
    problem = "a finished run with other rules wrote a.jsonl; name another folder, or --overwrite to replace it"
    assert said == f"wv filter: {tmp_path / 'kept' / REPORT}: {problem}"
    assert contents(tmp_path / "kept") == before
    (tmp_path / "d.jsonl").write_text('{"text": "bake the bread"}\n')
    assert run(["filter", str(tmp_path / "d.jsonl"), "-o", str(tmp_path / "kept"), "--words", "1.."]) == 0
    assert {**contents(tmp_path / "kept"), "kept/d.jsonl": b""} == {**before, "kept/d.jsonl": b""}
    assert run([*other, "--overwrite"]) == 0
    assert contents(tmp_path / "kept") != before


def test_outputs_of_inputs_that_are_gone_are_told(tmp_path, capsys):
    """Once, by the run that no longer has them."""
    inputs, note = (
        corpus(tmp_path / "in"),
        "of the run before, such as a.jsonl, whose inputs are not given now; they stay",
    )
    call = [each for each in arguments(inputs, tmp_path) if each != "-q"]
    assert run(call) == 0 and note not in capsys.readouterr().err
    call.remove(inputs[0])
    assert run(call) == 0
    assert f"{tmp_path / 'kept'}: holds 1 file {note}" in capsys.readouterr().err
    assert (tmp_path / "kept" / "a.jsonl").exists()
    assert run(call) == 0 and note not in capsys.readouterr().err


def test_new_contents_are_filtered_again(tmp_path):
    inputs = corpus(tmp_path / "in")[:1]
    assert run(arguments(inputs, tmp_path)) == 0
    Path(inputs[0]).write_text('{"text": "bake the bread"}\n')
    assert run(arguments(inputs, tmp_path)) == 0
    assert report_of(tmp_path)["totals"]["records"] == 1


def test_an_index_that_is_gone_is_made_again(tmp_path):
    inputs, index = corpus(tmp_path / "in")[:1], tmp_path / "index"
    more = ("--near-duplicates", "0.8", "--save-index", str(index))
    assert run(arguments(inputs, tmp_path, *more)) == 0
    saved = index.read_bytes()
    index.unlink()
    assert run(arguments(inputs, tmp_path, *more)) == 0
    assert index.read_bytes() == saved


def test_a_damaged_report_is_refused(tmp_path, capsys):
    inputs, chance = corpus(tmp_path / "in"), random.Random(1)
    assert run(arguments(inputs, tmp_path)) == 0
    report = tmp_path / "kept" / REPORT
    whole, before = report.read_bytes(), contents(tmp_path / "kept")
    cut = [whole[: chance.randrange(len(whole))] for _ in range(20)]
    other = [whole.replace(b'"kept": ', b'"kept": 1'), whole.replace(b'"identity"', b'"other"')]
    for data in (*cut, *other, b"", b"[]", b"{}", b"\xff", b"[" * 100_000):
        report.write_bytes(data)
        assert run(arguments(inputs, tmp_path)) == 1, data
        (said,) = capsys.readouterr().err.splitlines()
        assert said.startswith(f"wv filter: {report}: expected the report of a wv filter") and "--overwrite" in said
    assert contents(tmp_path / "kept") == before
    assert run(arguments(inputs, tmp_path, "--overwrite")) == 0
    assert contents(tmp_path / "kept") == before


@pytest.mark.parametrize("place", ["kept/b.jsonl.gz", "rejected/c.csv", "kept/3/a.jsonl"])
def test_files_of_no_run_are_not_replaced(tmp_path, capsys, place):
    inputs, own = corpus(tmp_path / "in"), tmp_path / place
    more = ["--split", "id"] if place.count("/") > 1 else []
    own.parent.mkdir(parents=True)
    own.write_bytes(b"not of wv")
    before = contents(tmp_path)
    assert run([*arguments(inputs, tmp_path), *more]) == 1
    assert f"{own}: is there, and no report says that wv filter wrote it" in capsys.readouterr().err
    assert contents(tmp_path) == before
    assert run([*arguments(inputs, tmp_path), *more, "--overwrite"]) == 0
    assert own.read_bytes() != b"not of wv"


def test_a_run_that_is_stopped_at_once_knows_the_files_of_the_run_before(tmp_path, monkeypatch):
    inputs = corpus(tmp_path / "in")
    assert run(arguments(inputs, tmp_path)) == 0
    Path(inputs[0]).write_text('{"text": "bake the bread"}\n')
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(shards.Shards, "restore", interrupt)
        run(arguments(inputs, tmp_path))
    assert not (tmp_path / "kept" / REPORT).exists()
    assert run(arguments(inputs, tmp_path)) == 0
    assert run(arguments(inputs, tmp_path / "whole")) == 0
    assert contents(tmp_path / "kept") == contents(tmp_path / "whole" / "kept")
