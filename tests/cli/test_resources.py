"""Threads that do not start, memory that is not there, --threads 0: one line that names the option."""

import json
import re
import subprocess
import sys

import pytest

from tests.conftest import GOLDEN
from tests.processes import PATIENCE
from wv_cli.cli import COMMANDS
from wv_cli.cli.program import wv as group
from wv_cli.errors import WvError
from wv_cli.hashing.config import HashConfig
from wv_cli.io.host import processors, usable
from wv_cli.io.threads import run_all
from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads
from wv_cli.models.training.trainer import Immediate

FEW_THREADS = """
import sys, threading
started, start = [], threading.Thread.start
def limited(thread):
    if len(started) >= 2:
        raise RuntimeError("can't start new thread")
    started.append(thread)
    start(thread)
threading.Thread.start = limited
from wv_cli.__main__ import main
main()
"""
NO_MEMORY = """
from wv_cli.__main__ import main
import wv_cli.models.word2vec, wv_cli.vectors.formats
def load(*arguments, **options):
    raise MemoryError("Unable to allocate 7.45 GiB for an array with shape (1000000, 2000) and data type float32")
wv_cli.models.word2vec.Word2vec.__init__ = load
wv_cli.vectors.formats.load = load
main()
"""


LITTLE_MEMORY = """
from wv_cli.__main__ import main
from wv_cli.io import memory
memory.available = lambda: 1000
main()
"""


class Steps(Immediate):
    steps, epochs, epoch_steps = 10**9, 1, 10**9

    def worker(self):
        return None

    def train_step(self, step, worker):
        return 0.0, 1, 1, 0.1


def python(code, tmp_path, *arguments):
    command = [sys.executable, "-P", "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)


def limited(monkeypatch, most):
    import threading

    started, start = [], threading.Thread.start

    def start_some(thread):
        if len(started) >= most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)
    return started


def test_a_run_stops_the_threads_that_started(monkeypatch):
    started = limited(monkeypatch, 3)
    with pytest.raises(WvError, match=r"the system starts no more threads; lower --threads"):
        train(Threads(Steps(), 5))
    assert len(started) == 3 and not any(thread.is_alive() for thread in started)


def test_tasks_of_several_threads(monkeypatch):
    limited(monkeypatch, 1)
    with pytest.raises(WvError, match="lower --threads"):
        run_all(lambda number: None, range(9), threads=4)


@pytest.mark.parametrize(
    "arguments",
    [["train", "{}", "-o", "a.vec"], ["glove", "{}", "-o", "a.vec"], ["bioword", "{}", "-o", "a.codes", "--cells", 64]],
    ids=lambda arguments: arguments[0],
)
def test_threads_that_cannot_start_are_one_line(arguments, slice_text, tmp_path):
    filled = [slice_text if word == "{}" else word for word in arguments]
    done = python(FEW_THREADS, tmp_path, *filled, "-q", "--threads", 9)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith(f"wv {arguments[0]}: the system starts no more threads; lower --threads")


def test_out_of_memory_says_how_much_and_what_helps(slice_text, tmp_path):
    done = python(NO_MEMORY, tmp_path, "train", slice_text, "-o", "a.vec", "-q")
    assert done.returncode == 1 and done.stderr == (
        "wv train: out of memory: unable to allocate 7.45 GiB for an array with shape (1000000, 2000) and data type "
        "float32; lower --dim or --max-vocab or --buckets or --memory or --threads, or raise --min-count "
        "(run `wv --debug ...` to see where)\n"
    )
    done = python(NO_MEMORY, tmp_path, "nn", "no.bin", "a")
    assert "lower --limit or --threads (run" in done.stderr


@pytest.mark.parametrize(("threads", "lower"), [(1, "--dim"), (2, "--dim or --threads")])
def test_a_model_larger_than_memory_is_refused_before_it_is_made(threads, lower, slice_text, tmp_path):
    done = python(LITTLE_MEMORY, tmp_path, "train", slice_text, "-o", "a.vec", "-q", "--threads", threads)
    numbers = r"training needs \d\.\d\d MB of memory, but 1\.0 KB are available"
    message = rf"wv train: {numbers}; lower {lower} or raise --min-count"
    assert done.returncode == 1
    assert re.fullmatch(message, done.stderr.strip()), done.stderr
    assert not (tmp_path / "a.vec").exists()


def test_no_threads_are_all_processors(slice_text, wv):
    assert HashConfig(threads=0).threads == processors()
    with_threads = [
        name
        for name in COMMANDS
        if any("--threads" in each.opts for each in group.get_command(None, name).params)  # type: ignore[arg-type, union-attr]
    ]
    assert {"train", "glove", "bioword", "hash", "quantize", "predict", "nn", "analogy", "demo"} <= set(with_threads)
    for name in with_threads:
        done = wv(name, "--threads", -1, "x", "x", "x", "x", "-o", "x.bin")
        assert done.returncode == 2, (name, done.stderr)
    done = wv("train", slice_text, "-o", "a.vec", "--epochs", 1, "--dim", 8)
    assert done.returncode == 0, done.stderr
    assert "from run to run" not in done.stderr


def test_a_training_takes_all_processors_and_says_so(slice_text, wv, tmp_path):
    """The default; what differs then from run to run is said in one line, with the way to the same file."""
    count = min(2, len(usable()))
    done = wv("train", slice_text, "-o", "a.vec", "--epochs", 1, "--dim", 8, env={"OMP_NUM_THREADS": "2"})
    assert done.returncode == 0, done.stderr
    line = f"{count} threads: results differ a little from run to run; --threads 1: they do not"
    assert (line in done.stderr.splitlines()) == (count > 1)
    assert json.loads((tmp_path / "a.vec.meta.json").read_text())["config"]["threads"] == count


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (["nn", GOLDEN / "gensim.vec"], "expected a query of at most 1,048,576 characters, found 1,496,000"),
        (["similarity", GOLDEN / "gensim.vec"], "expected a query of at most 1,048,576 characters, found 1,496,000"),
        (["search", "some.txt"], "expected a query of at most 1,048,576 characters, found 1,496,000"),
        (["vectors", GOLDEN / "ft-words.bin"], "expected a word of at most 1,048,576 bytes for its n-grams, found one"),
    ],
    ids=str,
)
def test_a_query_of_megabytes_is_one_line(wv, tmp_path, call, problem):
    """As many objects as it has words or n-grams would take gigabytes of what a pipe sends by mistake."""
    (tmp_path / "some.txt").write_text("some words\n")
    done = wv(*call, input="a" * 1_500_000 if call[0] == "vectors" else "the cat " * 187_000)
    assert done.returncode == 1
    assert done.stderr.startswith(f"wv {call[0]}: {problem}") and len(done.stderr) < 300, done.stderr[:300]
