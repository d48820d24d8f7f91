"""The journal of `wv filter` and its part files: what is damaged, planted or of another run is refused."""

import contextlib
import gzip
import json
import os
import random
from pathlib import Path

import pytest

from tests.cli.test_filter import MODEL, REPORT, KilledError, arguments, contents, corpus, cut_off, small_blocks
from wv_cli import __version__
from wv_cli.__main__ import run
from wv_cli.filtering import journal as journals
from wv_cli.filtering import part_files, shards
from wv_cli.filtering.slices import Slice
from wv_cli.io import compression
from wv_cli.text import record_files

__all__ = ["small_blocks"]  # a fixture

NAME = ".wv-filter.json"


def damaged(data, chance):
    """A journal that is cut, has other bytes, or says something else."""
    kind = chance.randrange(4)
    if kind == 0:
        return data[: chance.randrange(len(data))]
    if kind == 1:
        place = chance.randrange(len(data))
        return data[:place] + bytes([data[place] ^ chance.randrange(1, 256)]) + data[place + 1 :]
    saved = json.loads(data)
    inside = chance.choice([saved, saved["point"], saved["identity"]])
    name = chance.choice(list(inside))
    if kind == 2:
        del inside[name]
    else:
        other = [None, -1, 1 << 70, "x", [], {}, {"x": 1}, [[]], True, "\udcff"]
        inside[name] = chance.choice([each for each in other if each != inside[name]])
    return json.dumps(saved).encode()


def test_a_damaged_journal_is_refused(small_blocks, tmp_path, monkeypatch, capsys):
    """Each is one line that names the file, and nothing changes."""
    inputs, chance = corpus(tmp_path / "in"), random.Random(1)
    cut_off(inputs, tmp_path, monkeypatch)
    journal = tmp_path / "kept" / NAME
    whole, before = journal.read_bytes(), contents(tmp_path / "kept", tmp_path / "rejected")
    more = [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"version": 1, "identity": {}, "point": {}}', b"9" * 5000]
    for data in [*more, *(damaged(whole, chance) for _ in range(300))]:
        journal.write_bytes(data)
        assert run(arguments(inputs, tmp_path)) == 1, data
        (said,) = capsys.readouterr().err.splitlines()
        assert said.startswith(f"wv filter: {journal}: ") and "--overwrite" in said, data
        journal.write_bytes(whole)
        assert contents(tmp_path / "kept", tmp_path / "rejected") == before
    assert run(arguments(inputs, tmp_path, "--overwrite")) == 0


def test_who_stops_a_run_is_told_how_to_go_on(small_blocks, tmp_path, monkeypatch, capsys):
    inputs = corpus(tmp_path / "in")

    def interrupt(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(shards.Shards, "finish", interrupt)
    assert run([word for word in arguments(inputs, tmp_path) if word != "-q"]) == 130
    *_, told, last = capsys.readouterr().err.splitlines()
    assert told == "stopped; the same command goes on from the last point, --overwrite begins anew"
    assert last == "wv filter: interrupted"


def test_the_journal_of_another_version_is_refused(small_blocks, tmp_path, monkeypatch, capsys):
    inputs = corpus(tmp_path / "in")
    with monkeypatch.context() as patch:
        patch.setattr(journals, "__version__", "0.9.9")
        cut_off(inputs, tmp_path, monkeypatch)
        assert run(arguments(inputs, tmp_path / "other")) == 0
    assert run(arguments(inputs, tmp_path)) == 1
    assert "belongs to wv 0.9.9; go on with that version, or --overwrite" in capsys.readouterr().err
    assert __version__ != "0.9.9"


def test_a_part_that_lacks_bytes_is_refused(small_blocks, tmp_path, monkeypatch, capsys):
    inputs = corpus(tmp_path / "in")
    cut_off(inputs, tmp_path, monkeypatch)
    (part,) = (tmp_path / "kept").glob(".a.jsonl.*.wv-part")
    part.write_bytes(part.read_bytes()[:10])
    assert run(arguments(inputs, tmp_path)) == 1
    assert "found 10; --overwrite begins anew" in capsys.readouterr().err
    part.unlink()
    assert run(arguments(inputs, tmp_path)) == 1
    said = capsys.readouterr().err
    assert f"{part}: expected" in said and "found no such file; --overwrite begins anew" in said


@pytest.mark.parametrize(
    "more",
    [("--exact-duplicates", "document"), ("--near-duplicates", "0.8"), ("--near-duplicates", "0.8", "--no-verify")],
    ids=" ".join,
)
def test_keys_of_duplicates_that_are_damaged_are_refused(small_blocks, tmp_path, monkeypatch, capsys, more):
    """Length and name are right, one byte is not: another record would stay."""
    inputs = corpus(tmp_path / "in")
    cut_off(inputs, tmp_path, monkeypatch, *more)
    (part,) = (tmp_path / "kept").glob(f".wv-filter-{more[0][2:]}.*.wv-part")
    data = bytearray(part.read_bytes())
    data[3] ^= 1
    part.write_bytes(data)
    assert run(arguments(inputs, tmp_path, *more)) == 1
    assert f"{part}: expected the bytes that were written, found others; --overwrite" in capsys.readouterr().err
    data[3] ^= 1
    part.write_bytes(data)
    assert run(arguments(inputs, tmp_path, *more)) == 0
    assert run(arguments(inputs, tmp_path / "whole", *more)) == 0
    assert contents(tmp_path / "kept") == contents(tmp_path / "whole" / "kept")


@pytest.mark.parametrize("name", ["a.jsonl", "b.jsonl.gz", "c.csv", "d.tsv", "e.csv"])
def test_a_run_goes_on_with_blocks_of_another_size(small_blocks, tmp_path, monkeypatch, capsys, name):
    """From every point of a shard, the records and counts are those of a run that was not stopped. One file of commas
    has a mark and Excel's line before its header, and no line end behind its last record."""
    corpus(tmp_path / "in", 1000)
    rows = (tmp_path / "in" / "c.csv").read_text(encoding="utf-8")
    (tmp_path / "in" / "d.tsv").write_text(rows.replace(",", "\t").replace('"', ""), encoding="utf-8")
    (tmp_path / "in" / "e.csv").write_text("\ufeffsep=;\r\n" + rows.replace(",", ";").rstrip(), encoding="utf-8")
    inputs = [str(tmp_path / "in" / name)]
    assert run(arguments(inputs, tmp_path / "whole", "--json")) == 0
    table, whole, usual = capsys.readouterr().out, unpacked(tmp_path / "whole"), journals.Journal.write
    for number in range(1, 100):
        left, out = number, tmp_path / str(number)

        def write(self, point):
            nonlocal left
            usual(self, point)
            left -= 1
            if left == 0 and point.at:
                raise KilledError

        with monkeypatch.context() as patch:
            patch.setattr(journals.Journal, "write", write)
            with contextlib.suppress(KilledError):
                run(arguments(inputs, out, "--json"))
        if not (out / "kept" / NAME).exists():
            break
        with monkeypatch.context() as patch:
            patch.setattr(record_files, "CHUNK", 700)
            patch.setattr(compression, "CHUNK", 700)
            assert run(arguments(inputs, out, "--json")) == 0
        assert unpacked(out) == whole and capsys.readouterr().out == table
    assert number > 3


def unpacked(folder):
    return {name: gzip.decompress(data) if name.endswith(".gz") else data for name, data in contents(folder).items()}


@pytest.mark.parametrize("change", ["removed", "cut", "longer", "other"])
def test_what_is_finished_must_be_there(small_blocks, tmp_path, monkeypatch, capsys, change):
    """A shard that a stopped run has finished is not looked into, but its files must have their sizes."""
    inputs, usual = corpus(tmp_path / "in"), shards.Shards.finish

    def finish(self, *given):
        usual(self, *given)
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(shards.Shards, "finish", finish)
        with pytest.raises(KilledError):
            run(arguments(inputs, tmp_path))
    output = tmp_path / ("rejected" if change == "other" else "kept") / "a.jsonl"
    data, size = output.read_bytes(), len(output.read_bytes())
    output.write_bytes({"cut": data[:-1], "longer": data + b"\n", "other": b"of another run\n", "removed": b""}[change])
    if change == "removed":
        output.unlink()
    capsys.readouterr()
    assert run(arguments(inputs, tmp_path)) == 1
    (said,) = capsys.readouterr().err.splitlines()
    found = "no such file" if change == "removed" else f"{output.stat().st_size:,}"
    problem = f"expected the {size:,} bytes that the stopped run wrote, found {found}; --overwrite begins anew"
    assert said == f"wv filter: {output}: {problem}"
    output.write_bytes(data)
    assert run(arguments(inputs, tmp_path)) == 0


def test_places_of_bad_records_are_told_after_a_point(small_blocks, tmp_path, monkeypatch, capsys):
    inputs = corpus(tmp_path / "in")[:1]
    lines = Path(inputs[0]).read_bytes().splitlines(keepends=True)
    lines[390] = b"bad\n"
    Path(inputs[0]).write_bytes(b"".join(lines))
    cut_off(inputs, tmp_path, monkeypatch)
    capsys.readouterr()
    assert run([word for word in arguments(inputs, tmp_path) if word != "-q"]) == 0
    assert f"{inputs[0]}:391: byte {sum(map(len, lines[:390])):,}: expected a JSON object" in capsys.readouterr().err


@pytest.mark.parametrize("number", [1, 4])
def test_rules_stand_in_their_order_after_a_point(small_blocks, tmp_path, monkeypatch, number):
    """The report of a run that goes on, of which the table is a part, is that of a whole one."""
    inputs, said = corpus(tmp_path / "in"), []
    cut_off(inputs, tmp_path / "cut", monkeypatch, number=number)
    for out in ("cut", "whole"):
        assert run(arguments(inputs, tmp_path / out)) == 0
        report = json.loads((tmp_path / out / "kept" / REPORT).read_text())
        said.append([str(report[part]) for part in ("totals", "shards", "scores")])
    assert said[0] == said[1]
    assert list(report["totals"]["rules"]) == ["words", "language"]


def test_what_a_worker_writes_later_is_nobodys(tmp_path):
    """Its part file is its own; the next run in the folder removes it, and ends with its own records."""
    inputs = corpus(tmp_path / "in")[:1]
    folders = [tmp_path / "out/kept", tmp_path / "out/rejected"]
    for folder in folders:
        folder.mkdir(parents=True)
    late = shards.ShardFiles(Slice(inputs[0], Path(inputs[0]).name), shards.outputs_of(Path(inputs[0]).name, folders))
    with late.open():
        assert run(arguments(inputs, tmp_path / "out")) == 0
        late.write_kept(lambda: (b"", b'{"text": "of another run"}\n'))
        parts = late.finish()
    assert run(arguments(inputs, tmp_path / "whole")) == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert not any(Path(saved.part).exists() for saved in parts.values())


def test_what_other_runs_have_left_is_removed(tmp_path):
    inputs = corpus(tmp_path / "in")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / ".other.jsonl.0123456789abcdef.wv-part").write_bytes(b"of another run")
    (tmp_path / "kept" / ".old.jsonl.wv-part").write_bytes(b"of an older wv")
    assert run(arguments(inputs, tmp_path, "--overwrite")) == 0
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {"a.jsonl", "b.jsonl.gz", "c.csv", REPORT}


def test_a_part_is_made_anew(tmp_path, monkeypatch, capsys):
    """Not what somebody has put in its place, which is another file of the user."""
    inputs = corpus(tmp_path / "in")[:1]
    (tmp_path / "kept").mkdir()
    (tmp_path / "precious").write_bytes(b"precious")
    monkeypatch.setattr(part_files.secrets, "token_hex", lambda size: "00")
    monkeypatch.setattr(shards, "remove_parts", lambda *given: None)
    for link in (os.link, os.symlink):
        planted = tmp_path / "kept" / ".a.jsonl.00.wv-part"
        link(tmp_path / "precious", planted)
        assert run(arguments(inputs, tmp_path)) == 1
        assert "cannot write: file exists" in capsys.readouterr().err.lower()
        assert (tmp_path / "precious").read_bytes() == b"precious"
        planted.unlink()


def test_a_part_of_a_worker_must_be_here(tmp_path, capsys):
    """Where workers have another disk."""
    saved = part_files.Saved(str(tmp_path / "none"), 3)
    with pytest.raises(part_files.WvError, match=r"found no such file or directory; .* workers do not share it"):
        part_files.require_part(tmp_path / "a.jsonl", saved)
    (tmp_path / "none").write_bytes(b"12")
    with pytest.raises(part_files.BadFile, match="expected the 3 bytes of a worker, found 2"):
        part_files.require_part(tmp_path / "a.jsonl", saved)


def test_outputs_are_written_as_those_of_other_commands(tmp_path, capsys):
    """A read-only one is refused, a link is followed, and the mode stays."""
    inputs = corpus(tmp_path / "in")
    (tmp_path / "kept").mkdir()
    output, target = tmp_path / "kept" / "a.jsonl", tmp_path / "far"
    output.write_bytes(b"old")
    output.chmod(0o444)
    assert run(arguments(inputs, tmp_path)) == 1
    assert f"{output}: cannot write: the file is read-only" in capsys.readouterr().err
    output.unlink()
    target.mkdir()
    (target / "real.jsonl").write_bytes(b"old")
    (target / "real.jsonl").chmod(0o600)
    (target / ".real.jsonl.0123456789abcdef.wv-part").write_bytes(b"left")
    (target / ".others.jsonl.0123456789abcdef.wv-part").write_bytes(b"of a run in that folder")
    output.symlink_to(target / "real.jsonl")
    assert run([*arguments(inputs, tmp_path), "--overwrite"]) == 0
    assert run(arguments(inputs, tmp_path / "whole")) == 0
    assert output.is_symlink() and output.stat().st_mode & 0o777 == 0o600
    assert contents(tmp_path / "kept") == contents(tmp_path / "whole" / "kept")
    assert {path.name for path in target.iterdir()} == {"real.jsonl", ".others.jsonl.0123456789abcdef.wv-part"}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--save-index", "{kept}/a.jsonl"], "kept/a.jsonl: is the same file as {kept}/a.jsonl"),
        (["--save-index", "{rejected}/a.jsonl"], "two outputs have this name"),
        (["--save-index", "{kept}/.wv-filter.json"], "two outputs have this name"),
        (["--save-index", "{link}"], "is the same file as"),
        (["--against", "{kept}/a.jsonl"], "is both read and written"),
    ],
)
def test_one_file_has_one_use(tmp_path, capsys, words, problem):
    inputs = corpus(tmp_path / "in")
    names = {"kept": tmp_path / "kept", "rejected": tmp_path / "rejected", "link": tmp_path / "link"}
    for name in ("kept", "rejected"):
        names[name].mkdir()
        (names[name] / "a.jsonl").write_bytes(b"old")
    names["link"].symlink_to(tmp_path / "kept" / "a.jsonl")
    before = contents(tmp_path)
    given = [word.format(**names) for word in words]
    assert run([*arguments(inputs, tmp_path), "--near-duplicates", "0.8", *given]) == 2
    said = capsys.readouterr().err
    assert problem.format(**names) in said or "two outputs have this name" in said, said
    assert contents(tmp_path) == before and MODEL.exists()
