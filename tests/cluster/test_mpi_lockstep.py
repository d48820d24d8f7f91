"""`wv train --deterministic` as mpirun starts it: the bytes of one process, and what ends it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cluster.launched import LAUNCH, WV, mpirun, needs_mpi, said
from tests.cluster.test_mpi import same
from tests.conftest import Run

pytestmark = needs_mpi

SMALL = ["--dim", "16", "--epochs", "1", "--deterministic"]


def test_ranks_write_the_bytes_of_one_process(slice_text: Path, tmp_path: Path, wv: Run) -> None:
    assert wv("train", slice_text, "-o", "one.bin", *SMALL).returncode == 0
    for count in (2, 3):
        result = mpirun(tmp_path, [count, "train", slice_text, "-o", "ranks.bin", *SMALL, "--overwrite"])
        assert result.returncode == 0, result.stderr
        assert result.stderr.count("wrote ranks.bin") == 1
        assert same(tmp_path / "one.bin", tmp_path / "ranks.bin")
    facts = json.loads((tmp_path / "ranks.bin.meta.json").read_text())
    assert facts["ranks"]["size"] == 3 and facts["ranks"]["bytes_per_word"] > 20


@pytest.mark.parametrize(("before", "after"), [(2, 1), (3, 2)])
def test_any_number_of_ranks_goes_on(slice_text: Path, tmp_path: Path, wv: Run, before: int, after: int) -> None:
    assert wv("train", slice_text, "-o", "one.bin", *SMALL).returncode == 0
    job = ["train", slice_text, "-o", "part.bin", *SMALL]
    assert mpirun(tmp_path, [before, *job, "--max-time", "0.001s"]).returncode == 124
    assert (tmp_path / "part.bin.checkpoint").exists() and not (tmp_path / "part.bin").exists()
    result = mpirun(tmp_path, [after, *job, "--resume"])
    assert result.returncode == 0, result.stderr
    assert "going on at" in result.stderr
    assert same(tmp_path / "one.bin", tmp_path / "part.bin")


def test_ranks_with_other_kernels_are_refused(slice_text: Path, tmp_path: Path) -> None:
    job = [*WV, "train", str(slice_text), "-o", "v.bin", *SMALL]
    command = [*LAUNCH, "-n", "1", *job]
    result = subprocess.run(
        [*command, ":", "-n", "1", "env", "WV_ISA=baseline", *job],
        capture_output=True, encoding="utf-8", cwd=tmp_path, timeout=300, check=False,
    )  # fmt: skip
    assert result.returncode == 1
    (line,) = said(result)
    assert "rank 1 of 2" in line and "computes with baseline kernels" in line and "set WV_ISA" in line
    assert not (tmp_path / "v.bin").exists()


def children(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(child) for child in found]


@pytest.mark.skipif(sys.platform != "linux", reason="finds the ranks in /proc")
def test_a_rank_that_is_killed_ends_all_and_leaves_the_checkpoint(slice_text: Path, tmp_path: Path, wv: Run) -> None:
    job = ["train", str(slice_text), "-o", "part.bin", *SMALL]
    long = [*job[:-2], "20", "--deterministic"]
    checkpoint = tmp_path / "part.bin.checkpoint"
    command = [*LAUNCH, "-n", "2", *WV, *long]
    with subprocess.Popen(
        [*command, "--checkpoint-every", "0.01s"], cwd=tmp_path, stderr=subprocess.DEVNULL
    ) as running:
        while not checkpoint.exists() and running.poll() is None:
            time.sleep(0.01)
        os.kill(children(running.pid)[-1], signal.SIGKILL)
        assert running.wait(60) != 0
    assert not (tmp_path / "part.bin").exists()
    assert wv(*long, "--resume", cwd=tmp_path).returncode == 0
    assert wv(*long[:3], "whole.bin", *long[4:], cwd=tmp_path).returncode == 0
    assert same(tmp_path / "part.bin", tmp_path / "whole.bin")
