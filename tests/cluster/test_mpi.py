"""`wv` as mpirun starts it: several processes, which MPI connects."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.launched import LAUNCH, WV, mpirun, needs_mpi, said
from tests.conftest import Run

pytestmark = needs_mpi

SMALL = ["--dim", "16", "--epochs", "1"]


@pytest.mark.parametrize("count", [2, 4])
def test_ranks_train_one_model_and_rank_0_talks_and_writes(
    slice_text: Path, tmp_path: Path, wv: Run, count: int
) -> None:
    result = mpirun(tmp_path, [count, "train", slice_text, "-o", "v.bin", "--save-vocab", "ranks.vocab", *SMALL])
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("wrote v.bin") == 1
    facts = json.loads((tmp_path / "v.bin.meta.json").read_text())
    assert facts["ranks"]["size"] == count
    assert facts["ranks"]["bytes_per_word"] > 1
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


def same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()


def test_ranks_make_the_vocabulary_file_of_one_process(slice_text: Path, tmp_path: Path, wv: Run) -> None:
    result = mpirun(tmp_path, [3, "build-vocab", slice_text, "-o", "ranks.vocab"])
    assert result.returncode == 0, result.stderr
    assert wv("build-vocab", slice_text, "-o", "alone.vocab").returncode == 0
    assert same(tmp_path / "ranks.vocab", tmp_path / "alone.vocab")
    assert len([line for line in result.stderr.splitlines() if "different ones" in line]) == 1


def test_ranks_make_the_phrases_and_the_joined_text_of_one_process(slice_text: Path, tmp_path: Path, wv: Run) -> None:
    for name, start in (("ranks", lambda *words: mpirun(tmp_path, [3, *words])), ("alone", wv)):
        found = start("phrases", slice_text, "-o", f"{name}.txt", "--save-phrases", f"{name}.tsv", "--passes", "2")
        assert found.returncode == 0, found.stderr
        applied = start("phrases", slice_text, "-o", f"{name}.again", "--apply", f"{name}.tsv", "--json")
        assert applied.returncode == 0, applied.stderr
    for end in ("txt", "tsv", "again"):
        assert same(tmp_path / f"ranks.{end}", tmp_path / f"alone.{end}")
    assert same(tmp_path / "ranks.txt", tmp_path / "ranks.again")


def test_ranks_make_the_counts_and_vectors_of_one_process(slice_text: Path, tmp_path: Path, wv: Run) -> None:
    options = ["--save-counts", "--threads", "1", "--iterations", "2", "--dim", "8"]
    for name, start in (("ranks", lambda *words: mpirun(tmp_path, [3, *words])), ("alone", wv)):
        made = start("glove", slice_text, "-o", f"{name}.bin", *options[:1], f"{name}.counts", *options[1:])
        assert made.returncode == 0, made.stderr
    for end in ("bin", "counts"):
        assert same(tmp_path / f"ranks.{end}", tmp_path / f"alone.{end}")
    assert json.loads((tmp_path / "ranks.bin.meta.json").read_text())["ranks"] == {"size": 3}


def test_ranks_leave_the_glove_state_of_one_process(slice_text: Path, tmp_path: Path, wv: Run) -> None:
    options = ["--threads", "1", "--iterations", "2", "--dim", "8"]
    for name, start in (("ranks", lambda *words: mpirun(tmp_path, [2, *words])), ("alone", wv)):
        made = start("glove", slice_text, "-o", f"{name}.bin", "--save-state", f"{name}.state", *options)
        assert made.returncode == 0, made.stderr
    assert same(tmp_path / "ranks.state", tmp_path / "alone.state")
    on = wv("glove", slice_text, "-o", "on.bin", "--continue", "ranks.state", *options[:4])
    assert on.returncode == 0, on.stderr


@pytest.mark.parametrize(
    ("command", "options", "problem"),
    [
        ("build-vocab", ["-o", "new", "--memory", "100M"], "--memory is for one process, not for 2 ranks"),
        ("build-vocab", ["-o", "new", "--dedup"], "--dedup is for one process, not for 2 ranks"),
        ("build-vocab", ["-o", "new", "--merge"], "--merge is for one process, not for 2 ranks"),
        ("phrases", ["-o", "new", "--apply", "x", "--dask", "local"], "--dask is for one process, not for 2 ranks"),
        ("phrases", ["-o", "new", "--across-lines"], "--across-lines is for one process, not for 2 ranks"),
        ("glove", ["-o", "new.vec", "--dedup"], "--dedup is for one process, not for 2 ranks"),
        ("glove", ["-o", "new.vec", "--learn-phrases", "1"], "--learn-phrases is for one process"),
        ("build-vocab", ["-o", "new", "--dask", "local"], "--dask is for one process, not for 2 ranks"),
        ("build-vocab", ["-o", "new", "--min-count", "0"], "--min-count"),
        ("build-vocab", ["-o", "/dev/full"], "rank 0 of 2"),
        ("phrases", ["-o", "/dev/full"], "rank 0 of 2"),
        ("glove", ["-o", "new.vec", "--counts-only", "--save-counts", "/dev/full"], "--counts-only trains nothing"),
        ("glove", ["--counts-only", "--save-counts", "/dev/full"], "rank 0 of 2"),
    ],
    ids=str,
)
def test_what_ranks_cannot_count_is_said_once(
    slice_text: Path, tmp_path: Path, command: str, options: list[str], problem: str
) -> None:
    result = mpirun(tmp_path, [2, command, slice_text, *options])
    assert result.returncode in (1, 2)
    (line,) = [line for line in result.stderr.splitlines() if line.startswith(f"wv {command}:")]
    assert problem in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["build-vocab", "phrases", "glove"])
def test_a_damaged_file_ends_the_counting_with_the_name_of_the_rank(
    slice_text: Path, tmp_path: Path, command: str
) -> None:
    shutil.copy(slice_text, tmp_path / "a.txt")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(slice_text.read_bytes(), 0)[:-1000])
    result = mpirun(tmp_path, [2, command, "a.txt", "b.txt.gz", "-o", "new.vec"])
    assert result.returncode == 1
    (line,) = [line for line in result.stderr.splitlines() if line.startswith(f"wv {command}:")]
    assert line.startswith(f"wv {command}: rank 1 of 2") and "b.txt.gz" in line
    assert not (tmp_path / "new.vec").exists()


def test_other_options_of_counting_on_one_rank_are_refused(slice_text: Path, tmp_path: Path) -> None:
    job = ["build-vocab", slice_text, "-o", "new", "--max-vocab"]
    result = mpirun(tmp_path, [1, *job, 16], [1, *job, 32])
    assert result.returncode == 2
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("wv build-vocab:")]
    assert "has max_vocab 32" in line


def test_counts_stop_with_the_rank_that_is_killed(slice_text: Path, tmp_path: Path) -> None:
    """Half of the ranks wait for what never comes; mpirun ends them."""
    command = [*LAUNCH, "-n", "1", *WV, "build-vocab", str(slice_text)]
    killed = [sys.executable, "-c", "import os; from mpi4py import MPI; os.kill(os.getpid(), 9)"]
    result = subprocess.run([*command, "-o", "new", ":", "-n", "1", *killed], cwd=tmp_path, timeout=60, check=False)
    assert result.returncode != 0
    assert not list(tmp_path.iterdir())
