"""Every recorded run of an original program, run by ours and compared under its rule.

DIFFERS names the cases in which ours does something else on purpose, with the reason.
"""

from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests import forked
from tests.compat import replay
from tests.compat.differs import DIFFERS
from tests.processes import PATIENCE


def run(case: replay.Case, folder: Path) -> replay.Done:
    work = folder / "work"
    work.mkdir()
    case.lay(work)
    return typed(case.argv, case.stdin, folder)


def typed(argv: list[str], stdin: bytes, folder: Path) -> replay.Done:
    """One command line in `folder`/work."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    done = forked.run_bytes(argv, stdin, work, timeout=PATIENCE)
    return replay.Done(done.returncode, done.stdout, done.stderr, work)


def cases() -> list[Any]:
    """Those of a program: the first is in the quick tier, every third in the default one."""
    programs = groupby(replay.names(), key=lambda name: name.partition("/")[0])
    return [
        pytest.param(name, marks=pytest.mark.quick if place == 0 else [pytest.mark.full] * (place % 3 > 0))
        for _, names in programs
        for place, name in enumerate(names)
    ]


@pytest.mark.parametrize("name", cases())
def test_transcript(name: str, tmp_path: Path) -> None:
    case = replay.case(name)
    done = run(case, tmp_path)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert done.status >= 0, done.stderr.decode()
    found = replay.problems(case, done)
    if name in DIFFERS:
        assert found, f"{name} is as the original has it; take it out of DIFFERS"
        return
    assert not found, f"wv {' '.join(case.argv)}\n" + "\n".join(found)


def test_differences_are_of_cases_that_are_there() -> None:
    assert set(DIFFERS) <= set(replay.names())
