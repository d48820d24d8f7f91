"""The tiers: the list of slow tests names tests that are there, and the quick tier has every command and format."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import forked
from tests.cli import test_contract
from tests.conftest import ROOT, Run
from tests.io import test_compressed_output
from tests.tiers import LIST, SLOW_FIXTURES, Meter
from tests.vectors.formats import test_every_format
from wv_cli.cli import COMMANDS
from wv_cli.vectors.formats import FORMATS


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
    text = (ROOT / "tests" / "io" / "cluster" / "conftest.py").read_text(encoding="utf-8")
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
    assert read == {name for name, row in FORMATS.items() if row.read} - test_every_format.WITHOUT_WORDS
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


TIER_TESTS = [
    (["test_it.py", "--tier", "quick"], ["test_short", "test_some[1]", "test_smoke"]),
    (["test_it.py"], ["test_short", "test_some[1]", "test_dear", "test_smoke"]),
    (
        ["test_it.py", "--tier", "full"],
        ["test_long", "test_short", "test_some[1]", "test_some[2]", "test_dear", "test_smoke"],
    ),
    (["test_it.py", "--tier", "full", "-m", "full"], ["test_long", "test_some[2]"]),
    (["test_it.py::test_long", "--tier", "quick"], ["test_long"]),  # what is named runs in every tier
]
COLLECT = """
import json, sys
import pytest
for arguments in json.loads(sys.argv[1]):
    pytest.main(arguments)
    print("end")
"""


def test_what_a_tier_has(tmp_path: Path) -> None:
    """The tests of SUITE that run under the suite's own rules: one process collects them for all tiers."""
    (tmp_path / "test_it.py").write_text(SUITE)
    plain = ["-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), "--collect-only", "-p", "tests.conftest"]
    plain += ["--rootdir", str(tmp_path)]
    calls = [[*plain, f"{tmp_path}/{name}", *arguments] for (name, *arguments), _ in TIER_TESTS]
    env = {**os.environ, "PYTHONSAFEPATH": ""}  # this folder's conftest is wanted, wherever the package is installed
    argv = [sys.executable, "-c", COLLECT, json.dumps(calls)]
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    found = [re.findall(r"^test_it\.py::(\S+)$", part, re.MULTILINE) for part in done.stdout.split("\nend\n")[:-1]]
    assert found == [names for _, names in TIER_TESTS], done.stderr


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
