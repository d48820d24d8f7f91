"""`wv` as mpirun starts it."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

MPIRUN = shutil.which("mpirun", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
LAUNCH = [str(MPIRUN), "--oversubscribe", "--allow-run-as-root"]
WV = [sys.executable, "-m", "wv_cli"]
needs_mpi = pytest.mark.skipif(MPIRUN is None or find_spec("mpi4py") is None, reason="needs mpirun and the extra mpi")


def mpirun(cwd: Path, *jobs: list[object]) -> "subprocess.CompletedProcess[str]":
    """One job after the other, each with as many processes as its first element says, all of them one MPI world."""
    command = [*LAUNCH]
    for count, *arguments in jobs:
        command += ["-n", str(count), *WV, *map(str, arguments), ":"]
    return subprocess.run(command[:-1], capture_output=True, encoding="utf-8", cwd=cwd, timeout=300, check=False)


def same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()


def children(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(child) for child in found]


def said(result: "subprocess.CompletedProcess[str]") -> list[str]:
    """What wv train said of what went wrong, without mpirun's own words."""
    return [line for line in result.stderr.splitlines() if line.startswith("wv train:")]
