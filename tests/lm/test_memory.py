"""`wv lm train --memory`: the process keeps to it, to the same bytes; a run that ends early leaves what was there."""

import os
import random
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests.peak import peak_bytes
from tests.processes import Process, has_used, run_measured
from wv_cli.errors import WvError
from wv_cli.lm.config import CountConfig
from wv_cli.lm.counts import count

OLD = b"yesterday's"


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """1.6 million words, most of their n-grams seen once."""
    path, words = tmp_path_factory.mktemp("text") / "text", np.random.default_rng(3).zipf(1.3, 1_600_000) % 30_000
    with path.open("w") as stream:
        for begin in range(0, len(words), 30):
            stream.write(" ".join(f"w{word}" for word in words[begin : begin + 30].tolist()) + "\n")
    return path


def train(text, output, *options):
    call = [sys.executable, "-m", "wv_cli", "lm", "train", str(text), "-o", str(output), "--order", "5", "-q"]
    return [*call, "--no-meta", "--discount-fallback", *map(str, options)]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the peak has another unit")
@pytest.mark.full
def test_memory_holds_for_the_whole_process(text, tmp_path):
    found = {}
    for memory in ("60M", "1G"):
        found[memory] = peak_bytes(train(text, tmp_path / f"{memory}.lm", "--memory", memory, "--threads", 1))
    assert found["60M"] <= 75e6 < 180e6 < found["1G"]
    assert (tmp_path / "60M.lm").read_bytes() == (tmp_path / "1G.lm").read_bytes()


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_leaves_the_old_model_and_no_file(text, tmp_path, number):
    """At any moment: while text is read, sorted, spilt, merged, linked, smoothed, packed. The whole model is there when
    the signal comes too late, be it before the process ends; what is killed while it writes may leave its temporary
    file, which the next run removes."""
    output = tmp_path / "m.lm"
    call = train(text, output, "--memory", "1k")
    seconds, whole = run_measured(call), output.read_bytes()
    moments, stopped = random.Random(number), 0
    for _ in range(4):
        output.write_bytes(OLD)
        process = Process(call, stderr=subprocess.DEVNULL)
        if has_used(process, moments.uniform(0.1, 0.9) * seconds):
            process.send_signal(number)
        code = process.wait()
        stopped += code != 0
        assert output.read_bytes() in ([whole] if code == 0 else [OLD, whole])
        if number != signal.SIGKILL:
            assert [path.name for path in tmp_path.iterdir()] == ["m.lm"]
    assert stopped
    subprocess.run(call, check=True)
    assert output.read_bytes() == whole and [path.name for path in tmp_path.iterdir()] == ["m.lm"]


def test_a_full_disk_is_an_error(tmp_path, monkeypatch):
    """While runs are written, whatever the memory."""

    def full(descriptor, data, position):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    (tmp_path / "text").write_text("".join(f"{n} {n % 7} {n % 11}\n" for n in range(400_000)))
    with pytest.raises(WvError, match="cannot keep n-grams in a file here: no space left on device"):
        count([str(tmp_path / "text")], CountConfig(), memory=1, spool_beside=str(tmp_path / "out"))
    assert [path.name for path in tmp_path.iterdir()] == ["text"]
