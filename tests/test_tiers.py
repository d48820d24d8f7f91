"""The tiers: the list of slow tests names tests that are there, and the quick tier has every command and format."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests import forked
from tests.commands import test_contract
from tests.conftest import ROOT, Run
from tests.formats import test_every_format
from tests.system import test_compressed_output
from tests.tiers import LIST, SLOW_FIXTURES, Meter
from wv_cli.commands import COMMANDS
from wv_cli.formats import FORMATS


def test_every_slow_test_is_there() -> None:
    """A test that was renamed would be quick again unseen; `python -m tests.tiers` makes the list anew."""
    listed = LIST.read_text(encoding="utf-8").splitlines()
    assert listed == sorted(set(listed))
    functions: dict[str, set[str]] = {}
    for line in listed:
        file, _, name = line.partition("::")
        if file not in functions:
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            functions[file] = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name in functions[file], line


def test_every_slow_fixture_is_there() -> None:
    text = (ROOT / "tests" / "cluster" / "conftest.py").read_text(encoding="utf-8")
    assert all(f"def {name}(" in text for name in SLOW_FIXTURES)


def quick_cases(test: Callable[..., None], name: str) -> set[object]:
    """The values of the parameter `name` of a test that is marked `quick`."""
    marks = {mark.name: mark for mark in test.pytestmark if mark.name != "parametrize" or name in mark.args[0]}  # type: ignore[attr-defined]
    assert "quick" in marks and "full" not in marks
    names, rows = marks["parametrize"].args
    return set(rows) if isinstance(names, str) else {row[names.index(name)] for row in rows}


def test_every_command_is_in_the_quick_tier() -> None:
    assert quick_cases(test_contract.test_good_call_works, "name") == set(COMMANDS)


def test_every_format_is_in_the_quick_tier() -> None:
    read = quick_cases(test_every_format.test_golden_files_read_as_the_twin_reads_them, "format")
    assert read == {name for name, row in FORMATS.items() if row.read}
    written = quick_cases(test_compressed_output.test_every_format, "row")
    assert written == {row for row in FORMATS.values() if row.write}
    assert {row for row in FORMATS.values() if row.read or row.write} == set(FORMATS.values())


SUITE = """
import pytest

@pytest.mark.full
def test_long(): pass

def test_short(): pass

@pytest.mark.parametrize("case", [1, pytest.param(2, marks=pytest.mark.full)])
def test_some(case): pass

@pytest.mark.slow
def test_dear(): pass

@pytest.mark.slow
@pytest.mark.quick
def test_smoke(): pass
"""


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--tier", "quick"], ["test_short", "test_some[1]", "test_smoke"]),
        ([], ["test_short", "test_some[1]", "test_dear", "test_smoke"]),
        pytest.param(
            ["--tier", "full"],
            ["test_long", "test_short", "test_some[1]", "test_some[2]", "test_dear", "test_smoke"],
            marks=pytest.mark.full,
        ),
        (["--tier", "full", "-m", "full"], ["test_long", "test_some[2]"]),
    ],
)
def test_what_a_tier_has(arguments: list[str], names: list[str], tmp_path: object) -> None:
    done = collected(tmp_path, "test_it.py", *arguments)
    assert done == [f"test_it.py::{name}" for name in names]


def test_a_test_that_is_named_runs_in_every_tier(tmp_path: object) -> None:
    assert collected(tmp_path, "test_it.py::test_long", "--tier", "quick") == ["test_it.py::test_long"]


def collected(folder: object, name: str, *arguments: str) -> list[str]:
    """The tests of SUITE that run, under the suite's own rules."""
    (folder / "test_it.py").write_text(SUITE)  # type: ignore[operator]
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml", "--collect-only"]
    plain = ["--rootdir", folder, "-p", "tests.conftest", f"{folder}/{name}", *arguments]
    env = {**os.environ, "PYTHONSAFEPATH": ""}  # this folder's conftest is wanted, wherever the package is installed
    done = subprocess.run([*argv, *plain], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_the_costliest_are_slow() -> None:
    meter = Meter()
    meter.counts.update({"dear": 1, "often": 1001, "cheap": 3, "smoke": 1, "long": 0})
    meter.least = {"dear": 70.0, "often": 0.1, "cheap": 1.0, "smoke": 30.0, "long": 9.0}
    meter.full["long"] = 2
    meter.smoke.update({"smoke": 1, "often": 1})
    assert meter.slow() == ["dear", "often"]
    assert [line.split() for line in meter.report().splitlines()] == [
        ["quick", "5", "tests", "33", "s"],
        ["default", "1006", "tests", "203", "s"],
        ["full", "1008", "tests", "221", "s"],
        ["the", "costliest", "of", "the", "default", "tier:"],
        ["100.0", "s", "1001", "often"],
        ["70.0", "s", "1", "dear"],
    ]


def test_what_a_forked_process_spends_is_known(wv: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    before = forked.spent
    assert wv("--version").returncode == 0
    assert before + 0.002 < forked.spent < before + 10
    spent = Meter._spent()
    monkeypatch.setattr(forked, "spent", forked.spent + 1000)
    assert 999 < Meter._spent() - spent < 1010
