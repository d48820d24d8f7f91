"""`wv` as mpirun starts it: several processes, which MPI connects."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cluster.launched import LAUNCH, WV, children, mpirun, needs_mpi, said
from tests.conftest import Run
from tests.tiers import full

pytestmark = needs_mpi

SMALL = ["--dim", "16", "--epochs", "1"]


@pytest.mark.parametrize("count", [2, *full(4)])
def test_ranks_train_one_model_and_rank_0_talks_and_writes(
    slice_text: Path, tmp_path: Path, wv: Run, count: int
) -> None:
    result = mpirun(tmp_path, [count, "train", slice_text, "-o", "v.bin", "--save-vocab", "ranks.vocab", *SMALL])
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("wrote v.bin") == 1
    metadata = json.loads((tmp_path / "v.bin.meta.json").read_text())
    assert metadata["ranks"]["size"] == count
    assert metadata["ranks"]["bytes_per_word"] > 1
    assert wv("build-vocab", slice_text, "-o", "alone.vocab").returncode == 0
    assert (tmp_path / "ranks.vocab").read_bytes() == (tmp_path / "alone.vocab").read_bytes()
    written = {path.name for path in tmp_path.iterdir()} - {"alone.vocab"}
    assert written == {"ranks.vocab", "v.bin", "v.bin.meta.json"}


def test_one_rank_makes_the_same_bytes_as_a_process_alone(slice_text: Path, tmp_path: Path, wv: Run) -> None:
    assert mpirun(tmp_path, [1, "train", slice_text, "-o", "one.bin", *SMALL]).returncode == 0
    assert wv("train", slice_text, "-o", "alone.bin", *SMALL).returncode == 0
    assert (tmp_path / "one.bin").read_bytes() == (tmp_path / "alone.bin").read_bytes()


def test_other_options_on_one_rank_are_refused_with_its_name(slice_text: Path, tmp_path: Path) -> None:
    job = ["train", slice_text, "-o", "v.bin", "--epochs", "1", "--dim"]
    result = mpirun(tmp_path, [1, *job, 16], [1, *job, 32])
    assert result.returncode == 2
    (line,) = said(result)
    assert "rank 1 of 2" in line and "has dim 32" in line and "start all with the same command line" in line
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_ends_the_job_with_the_name_of_the_rank_that_read_it(slice_text: Path, tmp_path: Path) -> None:
    shutil.copy(slice_text, tmp_path / "a.txt")
    packed = gzip.compress(slice_text.read_bytes(), 0)  # as large as the text: the second part
    (tmp_path / "b.txt.gz").write_bytes(packed[:-1000])
    (tmp_path / "v.bin").write_bytes(b"yesterday's")
    result = mpirun(tmp_path, [2, "train", "a.txt", "b.txt.gz", "-o", "v.bin", *SMALL])
    assert result.returncode == 1
    (line,) = said(result)
    assert line.startswith("wv train: rank 1 of 2") and "b.txt.gz" in line
    assert (tmp_path / "v.bin").read_bytes() == b"yesterday's"


def test_what_all_ranks_meet_is_said_once(tmp_path: Path) -> None:
    result = mpirun(tmp_path, [3, "train", "nothing.txt", "-o", "v.bin"])
    assert result.returncode == 1
    (line,) = said(result)
    assert "nothing.txt: cannot read" in line


def test_a_result_that_cannot_be_written_ends_the_job_with_the_name_of_rank_0(slice_text: Path, tmp_path: Path) -> None:
    result = mpirun(tmp_path, [2, "train", slice_text, "-o", "/dev/full", "--to", "word2vec-text", *SMALL])
    assert result.returncode == 1
    (line,) = said(result)
    assert "rank 0 of 2" in line


def test_a_launcher_of_another_mpi_is_noticed(slice_text: Path, tmp_path: Path, wv: Run) -> None:
    """Each process then believes that it is alone, and all would write the same file."""
    result = wv("train", slice_text, "-o", "v.bin", *SMALL, env={"PMI_SIZE": "2"})
    assert result.returncode == 1
    assert "the launcher has started 2 processes, MPI knows 1" in result.stderr
    assert not (tmp_path / "v.bin").exists()


@pytest.mark.parametrize("model", ["sent2vec", "lbl"])
def test_what_ranks_cannot_share_is_refused(slice_text: Path, tmp_path: Path, wv: Run, model: str) -> None:
    result = wv("train", slice_text, "-o", "v.lm", "--model", model, env={"PMI_SIZE": "2"})
    assert result.returncode == 1
    assert "started as 2 processes" in result.stderr


@pytest.mark.parametrize("options", [[], *full(["--dask", "local"])], ids=str)
@pytest.mark.parametrize("command", ["build-vocab", "phrases", "glove"])
def test_ranks_count_nothing(slice_text: Path, tmp_path: Path, wv: Run, command: str, options: list[str]) -> None:
    result = wv(command, slice_text, "-o", "new.vec", *options, env={"PMI_SIZE": "2"})
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"wv {command}: started as 2 processes, which cannot share this work; start it once")
    assert not list(tmp_path.iterdir())


def test_deterministic_ranks_are_refused_before_any_work(slice_text: Path, tmp_path: Path) -> None:
    result = mpirun(tmp_path, [2, "train", slice_text, "-o", "v.bin", *SMALL, "--deterministic"])
    assert result.returncode == 2
    (line,) = said(result)
    assert line.endswith("--deterministic is for one process, not for 2 ranks; leave it out")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="finds the ranks in /proc")
def test_a_rank_that_is_killed_ends_all_and_leaves_the_checkpoint(slice_text: Path, tmp_path: Path) -> None:
    job = ["train", str(slice_text), "-o", "part.bin", "--dim", "16", "--epochs", "20", "--threads", "1"]
    checkpoint = tmp_path / "part.bin.checkpoint"
    with subprocess.Popen(
        [*LAUNCH, "-n", "2", *WV, *job, "--checkpoint-every", "0.01s"], cwd=tmp_path, stderr=subprocess.DEVNULL
    ) as running:
        while not checkpoint.exists() and running.poll() is None:
            time.sleep(0.01)
        os.kill(children(running.pid)[-1], signal.SIGKILL)
        assert running.wait(60) != 0
    assert not (tmp_path / "part.bin").exists()
    result = mpirun(tmp_path, [2, *job, "--resume"])
    assert result.returncode == 0 and "going on at" in result.stderr, result.stderr
    assert (tmp_path / "part.bin").exists() and not checkpoint.exists()
