"""The list of slow tests names tests that are there, and leaves a quick suite."""

import ast

import pytest

from tests import forked
from tests.conftest import ROOT, Run
from tests.slow import LIST, Meter


def test_every_slow_test_is_there() -> None:
    """A test that was renamed would be quick again unseen; `python -m tests.slow` makes the list anew."""
    listed = LIST.read_text(encoding="utf-8").splitlines()
    assert listed == sorted(set(listed))
    functions: dict[str, set[str]] = {}
    for line in listed:
        file, _, name = line.partition("::")
        if file not in functions:
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            functions[file] = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name in functions[file], line


def test_the_costliest_are_slow() -> None:
    meter = Meter()
    meter.counts.update({"dear": 1, "often": 1000, "quick": 3})
    meter.least = {"dear": 70.0, "often": 0.1, "quick": 1.0}
    assert meter.slow() == ["dear", "often"]


def test_what_a_forked_process_spends_is_known(wv: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    before = forked.spent
    assert wv("--version").returncode == 0
    assert before + 0.005 < forked.spent < before + 10
    spent = Meter._spent()
    monkeypatch.setattr(forked, "spent", forked.spent + 1000)
    assert 999 < Meter._spent() - spent < 1010
