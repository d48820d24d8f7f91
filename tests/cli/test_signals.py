"""Signals to real processes: early ones, ignored ones, hang-ups, the second Ctrl-C, the demo."""

import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from itertools import islice
from pathlib import Path

import pytest

from tests.processes import PATIENCE, Process
from tests.tiers import full
from wv_cli.cli import program

WV = str(Path(sys.executable).parent / "wv")
LONG = ["--dim", "60", "--epochs", "100000", "--no-meta"]
# The run says that it is about to save, and never does. In short steps: a signal that comes between Python's last look
# for one and the system call that sleeps is seen only after it.
SLOW_SAVE = """
import os, sys, time
def fsync(descriptor):
    print("saving", flush=True)
    while True:
        time.sleep(0.05)
os.fsync = fsync
from wv_cli.__main__ import main
main()
"""


@pytest.fixture
def text(slice_text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with slice_text.open("rb") as lines:
        Path("text.txt").write_bytes(b"".join(islice(lines, 100)))
    return "text.txt"


def start(*arguments, **options):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return Process([*map(str, arguments)], **{**pipes, **options})


def ignored(*numbers):
    def before() -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)

    return before


IMPORTS = """
import signal, sys
from wv_cli.cli import program
program._AGAIN_SECONDS *= 60_000
sys.path.insert(0, "")
with program.caught_signals():
    import interrupted
    assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
print("ended")
"""


def test_a_ctrl_c_that_comes_too_late_kills_nobody(tmp_path, monkeypatch):
    """It is raised a moment after an import; when the program has ended before, its alarm must not go off."""
    monkeypatch.chdir(tmp_path)
    Path("interrupted.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


FREED = """
import os, signal, time
from wv_cli.cli import program
class Held:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        sum(range(9))  # where the handler runs
try:
    with program.caught_signals():
        held = Held()
        del held
        for _ in range(1200):  # short steps, as SLOW_SAVE
            time.sleep(0.05)
except program.Stopped as stopped:
    print("stopped by", stopped.number)
"""


def test_a_signal_while_an_object_is_freed_is_not_lost():
    """Python shows and drops what is raised there."""
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "stopped by 15\n", "")


def test_a_signal_that_a_library_takes_for_its_own_is_not_lost():
    """NumPy makes a TypeError of what is raised in its comparison of records."""
    with pytest.raises(program.Stopped), program.caught_signals():
        try:
            signal.raise_signal(signal.SIGTERM)
        except program.Stopped:
            raise TypeError("Cannot compare structured arrays") from None
    with pytest.raises(TypeError), program.caught_signals():
        raise TypeError("of our own")


RUN_MODULE = "import runpy; sys.argv[0] = 'x'; runpy.run_module('wv_cli', run_name='__main__')"
# What pip puts into the file `wv`, and a Ctrl-C as the module that is named begins to be imported.
SCRIPT = """
import os, sys
name = sys.argv.pop(1)
class Interrupting:
    @staticmethod
    def find_spec(module, path=None, target=None):
        if module == name:
            os.kill(os.getpid(), 2)
sys.meta_path.insert(0, Interrupting)
for each in ("atexit", "enum", "gc", "signal"):
    sys.modules.pop(each, None)  # the hook of an editable install may have it
from wv_cli.__main__ import main
main()
"""


@pytest.mark.parametrize("way", ["wv", "-m"])
@pytest.mark.parametrize("module", ["atexit", "gc", "signal", "enum", "wv_cli.cli.streams", "click"])
def test_ctrl_c_while_it_is_loaded_is_one_line(module, way, tmp_path):
    """By the script `wv` and by `python -m wv_cli`, which imports what the script does under another name."""
    script = SCRIPT if way == "wv" else SCRIPT.replace("from wv_cli.__main__ import main\nmain()", RUN_MODULE)
    (tmp_path / "wv").write_text(script)
    command = [sys.executable, "-P", tmp_path / "wv", module, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "wv: interrupted\n")


def wait_until_it_trains(process):
    """Told by the first line of progress."""
    for line in process.stderr:
        if "words/s" in line:
            break


@pytest.mark.parametrize(
    "arguments", [["--version"], *full(["train", "text.txt", "-o", "a.vec", *LONG])], ids=["start", "train"]
)
def test_ctrl_c_at_any_moment_is_one_line(arguments, text):
    """What Python does before it calls main() is its own, however long that takes, and a callback of its import system
    may swallow its KeyboardInterrupt; from then on no traceback."""
    lost = 0
    for delay in range(0, 400, 20):
        process = start(WV, *arguments)
        time.sleep(delay / 1000)
        process.send_signal(signal.SIGINT)
        try:
            _, talk = process.communicate(timeout=PATIENCE / 5)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            _, talk = process.communicate(timeout=PATIENCE)
            lost += "KeyboardInterrupt" not in talk  # Python says which it has dropped
            assert process.returncode == 130 and lost <= 1, (delay, talk)
            Path("a.vec.checkpoint").unlink(missing_ok=True)
            continue
        assert not re.search(r'__main__\.py", line \d+, in main', talk), (delay, talk)
        assert "Exception ignored" not in talk or "KeyboardInterrupt" in talk, (delay, talk)
        if talk == "KeyboardInterrupt\n" or talk.startswith("Fatal Python error: init"):  # it has no frame to show yet
            continue
        if "Traceback" not in talk:
            assert process.returncode in (130, -signal.SIGINT, *([0] if arguments == ["--version"] else [])), (
                delay,
                talk,
            )
            assert talk.count("interrupted") == (process.returncode == 130), (delay, talk)
            if "words in" not in talk and process.returncode == 130:
                assert len(talk.splitlines()) == 1, (delay, talk)
        Path("a.vec.checkpoint").unlink(missing_ok=True)
        Path(".a.vec.checkpoint.wv-lock").unlink(missing_ok=True)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_a_checkpoint(number, code, text):
    process = start(WV, "train", text, "-o", "a.vec", *LONG)
    wait_until_it_trains(process)
    process.send_signal(number)
    _, talk = process.communicate(timeout=PATIENCE)
    assert process.returncode == code and "go on with: wv train" in talk
    assert sorted(os.listdir()) == ["a.vec.checkpoint", "text.txt"]


def test_a_terminal_that_closes(text):
    """Nobody is left to write to, which must not keep the run from saving."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = start(WV, "train", text, "-o", "a.vec", *LONG, stderr=theirs)
    os.close(theirs)
    shown = b""
    while b"ETA" not in shown:
        shown += os.read(ours, 10_000)
    os.close(ours)
    time.sleep(0.5)  # the bar, which is drawn every 0.2 s, meets the closed terminal before the signal comes
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 129
    assert sorted(os.listdir()) == ["a.vec.checkpoint", "text.txt"]


def test_a_log_nobody_reads(text):
    process = start(WV, "train", text, "-o", "a.vec", "--epochs", "20", "--dim", "8", "--json")
    process.stderr.close()
    process.stdout.close()
    assert process.wait(timeout=PATIENCE) == 0 and Path("a.vec").exists()


def test_ignored_signals_stay_ignored(text):
    """As under nohup, and for what a script starts with &."""
    numbers = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
    options = ["--dim", "60", "--epochs", "300", "--no-meta"]
    process = start(WV, "train", text, "-o", "a.vec", *options, preexec_fn=ignored(*numbers))
    for _ in range(10):
        for number in numbers:
            process.send_signal(number)
        time.sleep(0.05)
    wait_until_it_trains(process)
    for number in numbers:
        process.send_signal(number)
    _, talk = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, talk
    assert sorted(os.listdir()) == ["a.vec", "text.txt"]


def test_a_second_ctrl_c_ends_at_once_even_while_saving(text):
    process = start(sys.executable, "-P", "-c", SLOW_SAVE, "train", text, "-o", "a.vec", *LONG)
    wait_until_it_trains(process)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "saving\n"
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert talk.splitlines()[-1] == "wv train: interrupted" and "Traceback" not in talk
    assert os.listdir() == [text], "what was half saved is gone"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_demo_ends_with_its_step(number, code, text):
    process = start(WV, "demo", "-o", "made", "--epochs", "1000", "--threads", "1", start_new_session=True)
    wait_until_it_trains(process)
    process.send_signal(number)
    _, talk = process.communicate(timeout=PATIENCE)
    assert process.returncode == code and "go on with: wv train " in talk, talk
    assert Path("made/vectors.bin.checkpoint").exists()
    with pytest.raises(ProcessLookupError):  # nobody of the session is left
        os.killpg(process.pid, 0)
