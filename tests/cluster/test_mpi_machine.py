"""Processes that mpirun starts on one machine, and that train as threads of the first of them."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cluster.labelled_text import labelled_lines
from tests.cluster.launched import LAUNCH, WV, children, mpirun, needs_mpi, said, same
from tests.conftest import Run
from tests.tiers import full
from wv_cli.cluster.machine import CHOICE, Place
from wv_cli.engine.checkpoint import describe_progress
from wv_cli.system import host

SMALL = ["--dim", "16", "--epochs", "1"]


@pytest.fixture(autouse=True)
def together(apart: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CHOICE)


def test_threads_are_those_of_all_processes_but_all_processors_only_once() -> None:
    assert Place().threads(3) == 3
    assert Place(None, 4, processors_before=1).threads(3) == 12
    assert Place(None, 4, processors_before=3).threads(3) == host.processors()


@needs_mpi
@pytest.mark.parametrize("count", [2, *full(3)])
def test_they_train_one_model_in_one_memory(slice_text: Path, tmp_path: Path, count: int) -> None:
    result = mpirun(tmp_path, [count, "train", slice_text, "-o", "v.bin", *SMALL])
    assert result.returncode == 0, result.stderr
    threads = Place(None, count, host.processors()).threads(1)
    assert result.stderr.count(f"the {count} processes of this machine work as one, with {threads} threads") == 1
    assert result.stderr.count("wrote v.bin") == 1
    metadata = json.loads((tmp_path / "v.bin.meta.json").read_text())
    assert metadata["config"]["threads"] == threads
    assert "ranks" not in metadata


@needs_mpi
@pytest.mark.skipif(shutil.which("taskset") is None or host.processors() < 2, reason="binds each to its processor")
def test_the_first_one_uses_the_processors_of_all(slice_text: Path, tmp_path: Path) -> None:
    numbers = sorted(host.usable())[:2]
    job = " ".join(map(str, [*WV, "train", slice_text, "-o", "v.bin", *SMALL, "--threads", "0"]))
    bound = [word for number in numbers for word in ["-n", "1", "taskset", "-c", f"{number}", *job.split(), ":"]]
    command = [*LAUNCH, *bound[:-1]]
    subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=True)
    assert json.loads((tmp_path / "v.bin.meta.json").read_text())["config"]["threads"] == 2


@needs_mpi
def test_what_ranks_cannot_do_they_can(slice_text: Path, tmp_path: Path, wv: Run) -> None:
    asked = ["train", slice_text, *SMALL, "--deterministic", "--save-state", "s.state"]
    assert mpirun(tmp_path, [2, *asked, "-o", "two.bin"]).returncode == 0
    assert wv(*asked, "-o", "one.bin", "--overwrite").returncode == 0
    assert same(tmp_path / "two.bin", tmp_path / "one.bin")


@needs_mpi
def test_classifiers(slice_text: Path, tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("".join(labelled_lines(slice_text)))
    result = mpirun(tmp_path, [2, "train", "train.txt", "--model", "supervised", *SMALL, "-o", "m.bin"])
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("work as one") == 1 and result.stderr.count("wrote m.bin") == 1
    assert "ranks" not in json.loads((tmp_path / "m.bin.meta.json").read_text())


@needs_mpi
def test_each_is_a_rank_where_they_are_to_do_different_things(slice_text: Path, tmp_path: Path) -> None:
    job = ["train", slice_text, "-o", "v.bin", "--epochs", "1", "--dim"]
    result = mpirun(tmp_path, [1, *job, 16], [1, *job, 32])
    assert result.returncode == 2
    (line,) = said(result)
    assert "has dim 32" in line and "start all with the same command line" in line


@needs_mpi
def test_another_choice_is_refused(slice_text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CHOICE, "together")
    result = mpirun(tmp_path, [2, "train", slice_text, "-o", "v.bin", *SMALL])
    assert result.returncode == 2
    assert said(result) == [f"wv train: {CHOICE} must be 'apart' or unset, not 'together'"]


@needs_mpi
def test_an_error_is_said_once(tmp_path: Path) -> None:
    result = mpirun(tmp_path, [2, "--debug", "train", "missing.txt", "-o", "v.bin"])
    assert result.returncode == 1
    assert result.stderr.count("missing.txt: cannot read") == 1 and "Elsewhere" not in result.stderr
    assert not list(tmp_path.iterdir())


KINDS = {
    "skipgram": ["--negative", "3"],
    "subwords": ["--minn", "3", "--maxn", "4", "--buckets", "5000"],
    "classifier": ["--model", "supervised", "--buckets", "5000", "--word-ngrams", "2"],
}


@needs_mpi
@pytest.mark.parametrize("kind", ["subwords", *full("skipgram", "classifier")])
def test_one_process_goes_on_where_ranks_were(
    slice_text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """With the text that they had; of another one nothing is touched."""
    text = tmp_path / "text"
    lines = labelled_lines(slice_text) if kind == "classifier" else slice_text.read_text().splitlines(keepends=True)
    text.write_text("".join(lines))
    job = ["train", "text", "-o", "v.bin", "--dim", "16", "--epochs", "40", *KINDS[kind]]
    checkpoint = tmp_path / "v.bin.checkpoint"
    monkeypatch.setenv(CHOICE, "apart")
    assert mpirun(tmp_path, [2, *job, "--max-time", "0.5s"]).returncode == 124
    far = re.search(r"at ([\d.]+) %", describe_progress(checkpoint))
    monkeypatch.delenv(CHOICE)
    text.write_text("".join([*lines, lines[-1]]))
    before = checkpoint.read_bytes()
    result = mpirun(tmp_path, [2, *job, "--resume"])
    assert result.returncode == 1 and "belongs to another run (corpus: " in result.stderr
    assert checkpoint.read_bytes() == before
    text.write_text("".join(lines))
    result = mpirun(tmp_path, [2, *job, "--resume"])
    assert result.returncode == 0, result.stderr
    assert far and f"going on at {far[1]}%" in result.stderr
    metadata = json.loads((tmp_path / "v.bin.meta.json").read_text())
    assert "ranks" not in metadata and metadata["resumed_at_step"] > 0
    assert not checkpoint.exists()


@needs_mpi
def test_a_run_that_ranks_cannot_have_does_not_go_on_where_they_were(
    slice_text: Path, tmp_path: Path, wv: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = ["train", slice_text, "-o", "v.bin", "--dim", "16", "--epochs", "40"]
    monkeypatch.setenv(CHOICE, "apart")
    assert mpirun(tmp_path, [2, *job, "--max-time", "0.5s"]).returncode == 124
    (tmp_path / "questions").write_text(": capital\nparis france london england\n")
    for more in (["--validation", "questions"], ["--deterministic"]):
        done = wv(*job, "--resume", *more)
        assert done.returncode == 1
        assert "belongs to another run" in done.stderr and more[0].strip("-") in done.stderr


@needs_mpi
def test_ranks_do_not_go_on_with_the_checkpoint_of_one_process(
    slice_text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = ["train", slice_text, "-o", "v.bin", "--dim", "16", "--epochs", "20"]
    assert mpirun(tmp_path, [2, *job, "--max-time", "0.2s"]).returncode == 124
    before = (tmp_path / "v.bin.checkpoint").read_bytes()
    monkeypatch.setenv(CHOICE, "apart")
    result = mpirun(tmp_path, [2, *job, "--resume"])
    assert result.returncode == 1
    (line,) = said(result)
    assert "the checkpoint of one process" in line
    assert (tmp_path / "v.bin.checkpoint").read_bytes() == before


@needs_mpi
@pytest.mark.skipif(not host.LINUX, reason="finds the processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_end_of_one_that_waits_is_the_end_of_all(
    slice_text: Path, tmp_path: Path, wv: Run, number: signal.Signals
) -> None:
    """By SIGTERM only the first one ends, with a checkpoint: it has something to save."""
    job = ["train", str(slice_text), "-o", "v.bin", "--dim", "16", "--epochs", "1000"]
    command = [*LAUNCH, "-n", "2", *WV, *job]
    checkpoint = tmp_path / "v.bin.checkpoint"
    with subprocess.Popen(
        [*command, "--checkpoint-every", "0.01s"], cwd=tmp_path, stderr=subprocess.DEVNULL
    ) as running:
        while not checkpoint.exists() and running.poll() is None:
            time.sleep(0.01)
        first, other = children(running.pid)[-2:]
        os.kill(other, number)
        if number == signal.SIGTERM:
            time.sleep(0.2)
            assert running.poll() is None
            os.kill(first, number)
        assert running.wait(60) != 0
    assert not (tmp_path / "v.bin").exists()
    assert "going on at" in wv(*job, "--threads", "2", "--resume", "--max-time", "0.1s").stderr
