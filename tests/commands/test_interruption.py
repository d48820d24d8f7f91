"""Real signals at any moment: the run resumes, the result is that of an uninterrupted run, nothing else is harmed."""

import os
import random
import signal
import subprocess
import sys

import pytest

from tests.killed import run_killed
from tests.processes import PATIENCE, Process

OPTIONS = ["--dim", "60", "--epochs", "12", "--min-count", "2", "--sample", "0", "--no-meta", "--seed", "3"]


def command(text, folder, *more):
    output = folder / "vectors.vec"
    return [sys.executable, "-m", "wv_cli", "train", str(text), "-o", str(output), *OPTIONS, *more]


# A training that waits in its middle for whoever stops it, so that no machine is too fast for the signal.
HELD = """
import threading
from wv_cli.__main__ import main
from wv_cli.models.training import threads
asked, stop, check = threading.Event(), threads.Threads.stop, threads.require_finite
def hold(loss, step, steps):
    check(loss, step, steps)
    if step == steps * 3 // 5:
        print("held", flush=True)
        asked.wait(300)
def stop_held(trainer):
    asked.set()
    stop(trainer)
threads.require_finite, threads.Threads.stop = hold, stop_held
main()
"""


def held(text, folder, *more):
    """The command, held after three fifths of its steps until it is to stop; it says so on standard output."""
    start = command(text, folder, *more)
    return [start[0], "-P", "-c", HELD, *start[3:]]


def run(arguments, **kwargs):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE, check=False, **kwargs)


@pytest.fixture(scope="module")
def uninterrupted(slice_text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    done = run(command(slice_text, folder))
    assert done.returncode == 0, done.stderr
    return (folder / "vectors.vec").read_bytes()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_then_resume_gives_the_same_bytes(number, code, slice_text, tmp_path, uninterrupted):
    (tmp_path / "vectors.vec").write_text("yesterday's")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = Process(held(slice_text, tmp_path), **pipes)
    assert process.stdout.readline() == "held\n"
    process.send_signal(number)
    _, talk = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, talk
    assert "Traceback" not in talk and "--resume" in talk
    assert (tmp_path / "vectors.vec").read_text() == "yesterday's"
    assert (tmp_path / "vectors.vec.checkpoint").exists()
    done = run(command(slice_text, tmp_path, "--resume"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "vectors.vec").read_bytes() == uninterrupted
    assert sorted(os.listdir(tmp_path)) == ["vectors.vec"]


@pytest.mark.full
def test_kill_at_ten_random_moments(slice_text, tmp_path, uninterrupted):
    moments = random.Random(7)
    (tmp_path / "vectors.vec").write_text("yesterday's")
    checkpoint, killed = tmp_path / "vectors.vec.checkpoint", 0
    for _ in range(10):  # of 60 steps and some syncs and renames
        call = command(slice_text, tmp_path, "--resume", "--checkpoint-every", "0.05", "-q")[3:]
        done = run_killed(signal.SIGKILL, moments.randint(1, 40), call, tmp_path)
        assert done.returncode in (-signal.SIGKILL, 0), done.stderr
        if done.returncode and checkpoint.exists():
            assert checkpoint.read_bytes()[-4:] == b"DONE", "a checkpoint appears whole or not at all"
        killed += done.returncode != 0
        assert (tmp_path / "vectors.vec").read_bytes() in (b"yesterday's", uninterrupted)
    assert killed > 3
    done = run(command(slice_text, tmp_path, "--resume"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "vectors.vec").read_bytes() == uninterrupted
    assert sorted(os.listdir(tmp_path)) == ["vectors.vec"]


def test_max_time_stops_and_resumes(slice_text, tmp_path, uninterrupted):
    stopped = run(held(slice_text, tmp_path, "--max-time", "0.3"))
    assert stopped.returncode == 124 and "--resume" in stopped.stderr
    assert sorted(os.listdir(tmp_path)) == ["vectors.vec.checkpoint"]
    done = run(command(slice_text, tmp_path, "--resume"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "vectors.vec").read_bytes() == uninterrupted


def test_spool_and_threads_survive_a_resume(slice_text, tmp_path):
    """A run on a spool file, stopped, goes on from memory with another number of threads: the same corpus."""
    stopped = run(held(slice_text, tmp_path, "--max-time", "0.3", "--memory", "100k"))
    assert stopped.returncode == 124, stopped.stderr
    done = run(command(slice_text, tmp_path, "--resume", "--threads", "2"))
    assert done.returncode == 0, done.stderr
    assert "going on at" in done.stderr
