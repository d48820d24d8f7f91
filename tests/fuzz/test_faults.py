"""A few kills and failed allocations; the long runs are `python -m tests.fuzz.kills` and `.allocations`."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.fuzz.allocations import verdict
from tests.fuzz.faults import COMMANDS, Command, Done
from tests.walk import require_rows
from wv_cli.cli import COMMANDS as EVERY
from wv_cli.registry import load

pytestmark = pytest.mark.skipif(not shutil.which("cc") or sys.platform != "linux", reason="needs a C compiler")
# Commands that are no jobs and write nothing but to standard output, or what another command writes (demo).
READING = {"demo", "dump", "eval", "help", "links", "vectors"}


def fault_run(module, tmp_path, *options):
    env = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    command = [sys.executable, "-m", f"tests.fuzz.{module}", *map(str, options), "--record", str(tmp_path / "record")]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((tmp_path / "record").read_text())["runs"]


def test_every_command_that_writes_is_tried():
    jobs = {name: load(row.module) for name, row in EVERY.items() if ":" in row.module}
    roles = {name: {option.role for option in job.command_options().values()} for name, job in jobs.items()}
    reading = READING | {name for name, found in roles.items() if not found & {"result", "write"}}
    require_rows(
        "COMMANDS of tests/fuzz/faults.py", {command.line.split()[0] for command in COMMANDS}, {*EVERY} - reading
    )


@pytest.mark.full
def test_some_kills(tmp_path):
    found = fault_run("kills", tmp_path, "--kills", 8, "--output", "words.vec", "--output", "moments")
    assert all(counts.get("whole") for counts in found) and len(found) == 2


@pytest.mark.full
def test_a_folder_is_of_one_run_after_any_kill(tmp_path):
    """Over one that another run has written."""
    (found,) = fault_run("kills", tmp_path, "--kills", 60, "--output", "static/model.safetensors")
    assert found["whole"] == 60


@pytest.mark.full
def test_some_failed_allocations(tmp_path):
    found = fault_run("allocations", tmp_path, "--output", "words.vec", "--output", "lsh.codes")
    assert all(counts.get("refused in one line") for counts in found) and len(found) == 2


@pytest.mark.full
def test_some_broken_disks(tmp_path):
    found = fault_run("allocations", tmp_path, "--reads", "--output", "words.txt", "--output", "glove.vec")
    assert all(counts.get("refused in one line") for counts in found) and len(found) == 2


@pytest.mark.parametrize(
    ("done", "now", "expected"),
    [
        (Done(0, 0, "", 1, 1, 1), b"new", "did its work"),
        (Done(0, 0, "", 1, 1, 1), None, "other bytes"),
        (Done(1, 0, "wv train: out of memory\n", 1, 1, 1), None, "refused in one line"),
        (Done(1, 0, "wv train: out of memory\n", 1, 1, 1), b"ne", "left part"),
        (Done(1, 0, "", 1, 1, 1), None, "exit code 1, said ''"),
        (Done(0, 11, "", 1, 1, 1), None, "died of signal 11"),
        (Done(1, 0, "wv train: [Errno 5] (run `wv --debug ...` to see where)\n", 1, 1, 1), None, "names no file"),
        (Done(98, 0, "Traceback\nKeyError: 1\n", 1, 1, 1), None, "traceback: KeyError: 1"),
    ],
)
def test_what_is_allowed(done, now, expected):
    assert verdict(Command("train", ("x",)), done, {"x": now}, {"x": b"new"}).startswith(expected)
