"""`wv filter --part I/N`: the parts together are one run, and no part needs another one."""

import json
import os
import random
import re
import shutil
import signal
import sys

import pytest

from tests.cli.test_filter import (
    REPORT,
    RUNNER,
    KilledError,
    arguments,
    contents,
    corpus,
    cut_off,
    small_blocks,
)
from tests.processes import Process, has_used, run_measured
from wv_cli.__main__ import run
from wv_cli.errors import UsageError
from wv_cli.filtering import shards
from wv_cli.filtering.parts import Part, parse_part
from wv_cli.io.lock import hold_lock

__all__ = ["small_blocks"]  # a fixture


@pytest.fixture
def tree(tmp_path):
    """Shards as engines leave them, one of which has no record that can be read."""
    corpus(tmp_path / "in", 300)
    for name in ("lang=en/part-0.jsonl", "lang=de/part-0.jsonl", "lang=de/part-1.jsonl"):
        (tmp_path / "in" / name).parent.mkdir(exist_ok=True)
        shutil.copy(tmp_path / "in" / "a.jsonl", tmp_path / "in" / name)
    (tmp_path / "in" / "none.jsonl").write_text('{"other": 1}\n')
    (tmp_path / "in" / "_SUCCESS").touch()
    return str(tmp_path / "in")


def outputs(folder):
    """Of all parts, by their places in the folders."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".report"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_part_tells_its_files(tree, tmp_path, capsys):
    """No file is cut, and so no slices are told of."""
    assert run(["filter", tree, "-o", str(tmp_path / "out"), "--words", "3..9", "--part", "1/4"]) == 0
    said = capsys.readouterr().err
    assert re.search(r"part 1/4 has \d of 7 files$", said, re.MULTILINE) and "slices" not in said


def filter_parts(tree, out, count, *more):
    for number in range(1, count + 1):
        assert run([*arguments([tree], out, *more), "--part", f"{number}/{count}"]) == 0


def summary(out, capsys):
    capsys.readouterr()
    assert run(["filter", "--summary", str(out / "kept"), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("count", [1, 3, 4, 9])
def test_parts_together_are_one_run(tree, tmp_path, capsys, count):
    assert run(arguments([tree], tmp_path / "whole")) == 0
    assert "lang=de/part-1.jsonl" in {name.removeprefix("kept/") for name in outputs(tmp_path / "whole")}
    filter_parts(tree, tmp_path / "out", count)
    assert outputs(tmp_path / "out") == outputs(tmp_path / "whole")
    assert summary(tmp_path / "out", capsys) == summary(tmp_path / "whole", capsys)
    assert run(["filter", "--summary", str(tmp_path / "out" / "kept")]) == 0
    assert " of 1,788 records (" in capsys.readouterr().out


def test_every_file_is_in_one_part_and_parts_are_alike():
    chance = random.Random(1)
    sizes = {f"{number}.jsonl": chance.choice([0, chance.randrange(1000), 5000]) for number in range(100)}
    for count in (1, 2, 7, 100, 130):
        dealt = [Part(number, count).deal(sizes) for number in range(1, count + 1)]
        assert sorted(name for names in dealt for name in names) == sorted(sizes)
        loads = [sum(map(sizes.get, names)) for names in dealt]
        assert max(loads) - min(loads) <= max(sizes.values())
        shuffled = dict(chance.sample([*sizes.items()], len(sizes)))
        assert [sorted(Part(number, count).deal(shuffled)) for number in range(1, count + 1)] == [
            sorted(names) for names in dealt
        ]
    assert [len(Part(number, 2).deal(dict.fromkeys("abcd", 0))) for number in (1, 2)] == [2, 2]


@pytest.mark.parametrize(
    ("task", "count", "first", "last", "part"),
    [
        (0, 16, 0, 15, "1/16"),
        (15, 16, 0, 15, "16/16"),
        (1, 16, 1, 16, "1/16"),
        (7, 4, 1, 7, "4/4"),
        (5, 1, 5, 5, "1/1"),
        (2, 3, 1, 7, None),
        (3, 4, 1, 9, None),
        (9, 4, 0, 3, None),
        (1, 4, 2, 5, None),
    ],
)
def test_tasks_of_slurm(task, count, first, last, part):
    """Arrays begin at 0 or 1 or anywhere, and may have steps; one with gaps has no parts."""
    names = ("ID", "COUNT", "MIN", "MAX")
    environment = {
        f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in zip(names, (task, count, first, last), strict=True)
    }
    if part is not None:
        assert str(parse_part("slurm", environment)) == part
        return
    with pytest.raises(UsageError, match=r"expected .* tasks with equal steps .*; give --part I/N, with the N of"):
        parse_part("slurm", environment)


def test_a_task_filters_its_part(tree, tmp_path, monkeypatch):
    for name, value in (("COUNT", 2), ("MIN", 0), ("MAX", 1)):
        monkeypatch.setenv(f"SLURM_ARRAY_TASK_{name}", str(value))
    for task in (0, 1):
        monkeypatch.setenv("SLURM_ARRAY_TASK_ID", str(task))
        assert run([*arguments([tree], tmp_path / "out"), "--part", "slurm"]) == 0
    assert run(arguments([tree], tmp_path / "whole")) == 0
    assert outputs(tmp_path / "out") == outputs(tmp_path / "whole")


def test_parts_run_at_once_and_leave_each_other_alone(small_blocks, tree, tmp_path, monkeypatch, capsys):
    """The file that another part grows stays; the same part is busy."""
    cut_off([tree], tmp_path / "out", monkeypatch, "--part", "1/2")
    (grows,) = (tmp_path / "out" / "kept").rglob("*.jsonl*.wv-part")
    filter_parts(tree, tmp_path / "other", 2)
    with hold_lock(tmp_path / "out" / "kept" / ".wv-filter.part-1-of-2.json", "a test"):
        assert run([*arguments([tree], tmp_path / "out"), "--part", "2/2"]) == 0
        assert run([*arguments([tree], tmp_path / "out"), "--part", "1/2"]) == 1
        assert "another wv filter is at work" in capsys.readouterr().err
    assert grows.exists()
    assert run([*arguments([tree], tmp_path / "out"), "--part", "1/2"]) == 0
    assert outputs(tmp_path / "out") == outputs(tmp_path / "other")


def test_a_part_goes_on_from_copies_elsewhere(small_blocks, tree, tmp_path, monkeypatch):
    """Staged to another disk, with other times."""
    cut_off([tree], tmp_path / "out", monkeypatch, "--part", "1/2", number=3)
    journal = tmp_path / "out" / "kept" / ".wv-filter.part-1-of-2.json"
    assert json.loads(journal.read_text())["point"]["byte"]
    shutil.copytree(tree, tmp_path / "staged")
    os.utime(tmp_path / "staged" / "a.jsonl", ns=(1, 1))
    filter_parts(str(tmp_path / "staged"), tmp_path / "out", 2)
    assert run(arguments([tree], tmp_path / "whole")) == 0
    assert outputs(tmp_path / "out") == outputs(tmp_path / "whole")


@pytest.mark.full
def test_killed_parts_go_on_to_the_same_bytes(tmp_path):
    """Three parts at once, each killed at random moments until it comes to its end."""
    corpus(tmp_path / "in", 3000)
    words = arguments([str(tmp_path / "in")], tmp_path / "out")
    whole = arguments([str(tmp_path / "in")], tmp_path / "whole")
    seconds = run_measured([sys.executable, "-c", RUNNER, *whole])
    chance, kills = random.Random(1), 0
    waiting = dict.fromkeys((1, 2, 3), 4)
    while waiting:
        started = {
            number: Process([sys.executable, "-c", RUNNER, *words, "--part", f"{number}/3"]) for number in waiting
        }
        for number, process in started.items():
            if waiting[number] and has_used(process, chance.uniform(0.1, 0.5) * seconds):
                process.send_signal(chance.choice([signal.SIGKILL, signal.SIGTERM]))
                waiting[number] -= 1
                kills += 1
            if process.wait() == 0:
                del waiting[number]
    assert kills and outputs(tmp_path / "out") == outputs(tmp_path / "whole")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--part", "0/4"], "--part: expected I/N, such as 1/16 to 16/16, or slurm, found '0/4'"),
        (["--part", "5/4"], "--part: expected I/N"),
        (["--part", "1"], "--part: expected I/N"),
        (["--part", "slurm"], "SLURM_ARRAY_TASK_ID is not set; start wv in a task of sbatch --array"),
        (["--part", "1/2", "--near-duplicates", "0.8"], "--near-duplicates: a part sees no records of the other parts"),
        (["--part", "1/2", "--exact-duplicates", "document"], "--exact-duplicates: a part sees no records"),
        (["--part", "1/2", "--dask", "local"], "--part is for one process, not for a cluster"),
    ],
)
def test_what_is_refused(tree, tmp_path, monkeypatch, capsys, more, problem):
    monkeypatch.delenv("SLURM_ARRAY_TASK_ID", raising=False)
    assert run([*arguments([tree], tmp_path / "out"), *more]) == 2
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_part_without_a_folder_is_refused(tree, capsys):
    for more in (["--dry-run"], ["--explain", "1"], ["-o", "-"]):
        assert run(["filter", tree, "--words", "1..", "--part", "1/2", *more]) == 2
        assert "--part" in capsys.readouterr().err


def test_a_folder_has_the_parts_of_one_run(tree, tmp_path, capsys):
    out = tmp_path / "out"
    assert run([*arguments([tree], out), "--part", "1/3"]) == 0
    before = contents(out)
    other = [*arguments([tree], out), "--part", "2/3"]
    other[other.index("3..9")] = "4..9"
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "z.jsonl").write_text('{"text": "bake"}\n')
    cases = (
        (other, "expected the rules of the other parts, found others"),
        ([*arguments([tree, str(tmp_path / "more")], out), "--part", "2/3"], "expected the corpus of the other parts"),
        ([*arguments([tree], out), "--part", "2/4"], "expected those of a run in 4 parts, found those of a run in 3"),
        (arguments([tree], out), "expected those of a run without --part, found those of a run in 3 parts"),
    )
    for words, problem in cases:
        assert run(words) == 1
        assert problem in capsys.readouterr().err
        assert contents(out) == before
    assert run([*arguments([tree], out), "--overwrite"]) == 0
    assert [path.name for path in (out / "kept").glob("*.report")] == [REPORT]
    assert run([*arguments([tree], out), "--part", "1/2"]) == 1
    assert "expected those of a run in 2 parts, found those of a run without --part" in capsys.readouterr().err


def test_a_summary_needs_all_parts(tree, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out" / "kept"

    def refused():
        capsys.readouterr()
        assert run(["filter", "--summary", str(out)]) == 1
        (said,) = capsys.readouterr().err.splitlines()
        return said

    assert "no report of wv filter in this folder" in refused()
    assert run([*arguments([tree], tmp_path / "out"), "--part", "3/3"]) == 0
    assert "expected the reports of 3 parts, found 1; give the command of the run with --part 1/3, too" in refused()
    assert run([*arguments([tree], tmp_path / "out"), "--part", "2/3"]) == 0
    other = arguments([tree], tmp_path / "other")
    other[other.index("3..9")] = "4..9"
    assert run([*other, "--part", "1/3"]) == 0
    name = "_filter.part-1-of-3.report"
    shutil.copy(tmp_path / "other" / "kept" / name, out)
    assert "expected the rules, --rejected of the other parts, found others" in refused()
    shutil.copy(out / "_filter.part-2-of-3.report", out / name)
    assert "expected each file in one part, found others" in refused()
    assert run(["filter", "--summary", str(out), "--words", "1.."]) == 2
    assert "--words has no effect with --summary" in capsys.readouterr().err
    assert run(["filter", tree, "--summary", str(out)]) == 2
    assert "leave INPUT out" in capsys.readouterr().err
    shutil.copy(out / name, out / "_filter.part-1-of-9.report")
    assert "expected the reports of one run, found" in refused()


def test_a_part_that_fails_keeps_the_folders_of_others(tree, tmp_path, monkeypatch):
    def fail(*given):
        raise KilledError

    monkeypatch.setattr(shards.Shards, "restore", fail)
    with pytest.raises(KilledError):
        run([*arguments([tree], tmp_path / "out"), "--part", "1/2"])
    assert (tmp_path / "out" / "kept").is_dir()
