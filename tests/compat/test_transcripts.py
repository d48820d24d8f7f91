"""Every recorded run of an original program, run by ours and compared under its rule.

DIFFERS names the cases in which ours does something else on purpose, with the reason.
"""

import json
import subprocess
from pathlib import Path

import pytest

from tests.compat import replay
from tests.compat.differs import DIFFERS


def run(case: replay.Case, folder: Path, zygote: "subprocess.Popen[str]") -> replay.Done:
    work = folder / "work"
    work.mkdir()
    case.lay(work)
    return typed(case.argv, case.stdin, folder, zygote)


def typed(argv: list[str], stdin: bytes, folder: Path, zygote: "subprocess.Popen[str]") -> replay.Done:
    """One command line in `folder`/work."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    (folder / "stdin").write_bytes(stdin)
    streams = {name: str(folder / name) for name in ("stdin", "stdout", "stderr")}
    assert zygote.stdin is not None and zygote.stdout is not None
    zygote.stdin.write(json.dumps({"argv": argv, "cwd": str(work), **streams}) + "\n")
    zygote.stdin.flush()
    status = int(zygote.stdout.readline())
    return replay.Done(status, (folder / "stdout").read_bytes(), (folder / "stderr").read_bytes(), work)


@pytest.mark.parametrize("name", replay.names())
def test_transcript(name: str, tmp_path: Path, zygote: "subprocess.Popen[str]") -> None:
    case = replay.case(name)
    done = run(case, tmp_path, zygote)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert done.status not in (-6, -8, -11, -14, 70), done.stderr.decode()
    found = replay.problems(case, done)
    if name in DIFFERS:
        assert found, f"{name} is as the original has it; take it out of DIFFERS"
        return
    assert not found, f"wv {' '.join(case.argv)}\n" + "\n".join(found)


def test_differences_are_of_cases_that_are_there() -> None:
    assert set(DIFFERS) <= set(replay.names())
