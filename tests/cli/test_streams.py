"""Standard streams that are closed, and terminals, which must not be given orders by a word or a file name."""

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
from array import array

import numpy as np
import pytest

from tests.cli.screen import read_terminal
from tests.conftest import GOLDEN
from tests.processes import PATIENCE, Process
from tests.tiers import full
from wv_cli.errors import escape_for_terminal
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import save
from wv_cli.words import WordList

EVIL = "evil\x1b]0;title\x07\x7f\x9b31m\u202edrow\u2066"
SHOWN = "evil\\x1b]0;title\\x07\\x7f\\x9b31m\\u202edrow\\u2066"
DANGER = (b"\x1b", b"\x07", b"\x7f", b"\xc2\x9b", b"\xe2\x80\xae", b"\xe2\x81\xa6")
WV = [sys.executable, "-m", "wv_cli"]


@pytest.fixture
def folder(tmp_path):
    words = ["good", EVIL, "other"]
    save(tmp_path / "v.bin", Embeddings(WordList.from_words(words), np.eye(3, dtype=np.float32) + 0.5))
    (tmp_path / "pairs").write_text(f"good {EVIL} 1\ngood other 2\nother {EVIL} 3\n")
    return tmp_path


def on_terminal(folder, *arguments, what="both"):
    """What `wv` writes to a terminal that is its stdout, its stderr or both."""
    control, terminal = pty.openpty()
    streams = {name: terminal if what in ("both", name) else subprocess.DEVNULL for name in ("stdout", "stderr")}
    with Process([*WV, *arguments], cwd=folder, stdin=subprocess.DEVNULL, **streams) as process:
        os.close(terminal)
        seen = read_terminal(control)
    return process.returncode, seen


def test_what_is_escaped():
    assert escape_for_terminal(EVIL) == SHOWN
    assert escape_for_terminal("\x00 \x1f \x80 \udc9b") == "\\x00 \\x1f \\x80 \\x9b"
    plain = "naïve 日本\tline\n\u200d\udcff~"
    assert escape_for_terminal(plain) == plain


@pytest.mark.parametrize(
    "command",
    [
        ["nn", "v.bin", "good"],
        *full(
            ["nn", "v.bin", "good", "--json"],
            ["analogy", "v.bin", "good", "other", "good"],
            ["vectors", "v.bin", EVIL],
            ["convert", "v.bin", "-"],
        ),
        ["check", "v.bin"],
        ["eval", "similarity", "v.bin", "--data", "pairs"],
        ["nn", "v.bin", f"no{EVIL}"],
        *full(["nn", f"no{EVIL}", "good"], ["train", f"no{EVIL}", "-o", "x.bin"], ["nn", f"--{EVIL}"]),
        [EVIL],
    ],
    ids=lambda command: " ".join(command[:2]).encode("ascii", "replace").decode(),
)
def test_no_orders_to_a_terminal(command, folder):
    _, seen = on_terminal(folder, *command)
    assert seen and not [order for order in DANGER if order in seen], seen


def test_terminals_see_escapes_and_pipes_bytes(folder):
    for what in ("stdout", "both"):
        assert SHOWN.encode() in on_terminal(folder, "nn", "v.bin", "good", what=what)[1]
    code, seen = on_terminal(folder, "nn", f"no{EVIL}", "good", what="stderr")
    assert code == 1 and SHOWN.encode() in seen
    done = subprocess.run([*WV, "nn", "v.bin", "good"], cwd=folder, capture_output=True, check=True)
    assert EVIL.encode() in done.stdout
    done = subprocess.run([*WV, "nn", f"no{EVIL}", "good"], cwd=folder, capture_output=True, check=False)
    assert EVIL.encode() in done.stderr


def test_characters_in_two_parts_reach_a_terminal(folder):
    """A block of the output may end within a character; a bar still redraws its line."""
    code = (
        "import sys; from wv_cli.cli import streams; streams.prepare()\n"
        "for part in ('日'.encode()[:2], '日'.encode()[2:], b'\\xc2', b'\\x9b'): sys.stdout.buffer.write(part)\n"
        "sys.stdout.flush(); print('a\\rb'); print('\\rbar\\r', end='', file=sys.stderr)"
    )
    control, terminal = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stdout=terminal, stderr=terminal, check=True)
    os.close(terminal)
    assert read_terminal(control) == "日\\x9ba\\x0db\r\n\rbar\\x0d".encode()


def closed(folder, command, streams):
    """Runs a command in a shell with these streams closed; (exit code, stdout, stderr)."""
    line = " ".join([*WV, command, *streams])
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("streams", [[">&-"], *full(["<&-", ">&-"])])
@pytest.mark.parametrize(
    "command", ["nn v.bin good", "nn v.bin good --json", "convert v.bin -", "dump x.ftz args", "--help", "--version",
                "vectors v.bin good", "eval similarity v.bin --data pairs", "phrases t.txt -q",
                "build-vocab t.txt -o - --min-count 1"],
)  # fmt: skip
def test_closed_output_is_one_line(command, streams, folder):
    (folder / "t.txt").write_text("a b\n")
    (folder / "x.ftz").write_bytes((GOLDEN / "ft-words.bin").read_bytes())
    code, _, told = closed(folder, command, streams)
    assert code == 1 and told.count("\n") == 1 and "closed" in told, told


@pytest.mark.parametrize("streams", [["<&-"], *full(["<&-", ">&-"])])
@pytest.mark.parametrize(
    "command", ["nn v.bin", "nn - good", "convert - x.bin", "build-vocab - -o x", "train - -o x.bin", "vectors v.bin"]
)
def test_closed_input_is_one_line(command, streams, folder):
    code, _, told = closed(folder, command, streams)
    assert code == 1 and told.count("\n") == 1 and "closed" in told, told


@pytest.mark.parametrize("streams", [["<&-"], [">&-"], ["2>&-"], ["<&-", ">&-", "2>&-"]])
def test_streams_that_are_not_needed(streams, folder):
    """And no file of ours lands on the number of a closed one."""
    (folder / "t.txt").write_text("a b a b\n" * 5)
    for command in ("convert v.bin x.vec", "build-vocab t.txt -o vocab --min-count 1"):
        code, _, told = closed(folder, command, streams)
        assert code == 0, told
    assert (folder / "x.vec").read_bytes().startswith(b"3 3\ngood ")
    assert (folder / "vocab").read_text() == "</s> 5\na 10\nb 10\n"


def test_closed_error_stream_leaves_the_exit_code(folder):
    assert closed(folder, "nn v.bin good", ["2>&-"])[:2] == closed(folder, "nn v.bin good", [])[:2]
    assert closed(folder, "nn none.bin good", ["2>&-"]) == (1, "", "")


def test_nothing_is_lost_when_a_program_without_buffers_is_stopped(folder, slice_text):
    """With PYTHONUNBUFFERED one write to a full pipe takes a part when the program is stopped and goes on."""
    command = [*WV, "phrases", slice_text, "-q"]
    whole = subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout
    assert len(whole) > 1 << 20
    unbuffered = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with Process(command, cwd=folder, stdout=subprocess.PIPE, env=unbuffered) as process:
        assert process.stdout is not None
        held, filled = array("i", [0]), fcntl.fcntl(process.stdout, fcntl.F_GETPIPE_SZ)
        while held[0] < filled:
            fcntl.ioctl(process.stdout, termios.FIONREAD, held)
            assert process.poll() is None
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        process.send_signal(signal.SIGCONT)
        assert process.stdout.read() == whole
    assert process.returncode == 0
