"""`wv --version`: in one line, and as JSON with all that a report of a fault should say."""

import json

import pytest

import wv_cli
from tests.conftest import Run
from wv_cli import _cpu


@pytest.mark.parametrize("order", [["--version", "--json"], ["--json", "-V"]])
def test_how_the_program_was_built(order: list[str], wv: Run) -> None:
    done = wv(*order, env={"WV_ISA": "baseline"})
    shown = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert shown["version"] == wv_cli.__version__ and shown["instruction_set"] == "baseline"
    assert (shown["built"], shown["usable"]) == (_cpu.built(), _cpu.usable())
    assert shown["compiler"].split()[0] in ("gcc", "clang") and shown["compiler"].split()[1][0].isdigit()
    assert list(shown["flags"]) == ["all", *_cpu.built()]
    assert "-fno-math-errno" in shown["flags"]["all"] and "-ffast-math" not in shown["flags"]["all"]
    assert "-ffp-contract=fast" in shown["flags"]["all"]
    if "avx2" in shown["built"]:
        assert "-mavx2" in shown["flags"]["avx2"] and "-mavx2" not in shown["flags"]["baseline"]


@pytest.mark.parametrize("line", ["--json train x.txt", "--json help"])
def test_json_says_nothing_of_a_command(line: str, wv: Run) -> None:
    done = wv(*line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert "--json before a command goes with --version only; put it after the command" in done.stderr
