"""Queries typed on a real terminal: line editing, completion of words, the history that is kept."""

import contextlib
import os
import pty
import re
import select
import signal
import sys
import time

import pytest

from tests.processes import PATIENCE, Process

pytest.importorskip("readline")
TABLE = "5 2\nkingdom 1 0\nking 1 1\nqueen 0 1\nqueens -1 0\nz\N{LATIN SMALL LETTER E WITH ACUTE}ro 0 -1\n"
UP, TAB, HOME, CTRL_D = b"\x1b[A", b"\t", b"\x01", b"\x04"


class Terminal:
    """A command on a terminal of its own: what it shows is read until a pattern comes."""

    def __init__(self, arguments, cwd, **env):
        self.master, other = pty.openpty()
        env = {**os.environ, "TERM": "dumb", "LC_ALL": "C.UTF-8", "INPUTRC": "/dev/null", **env}
        env = {name: value for name, value in env.items() if value is not None}
        call = [sys.executable, "-m", "wv_cli", *map(str, arguments)]
        self.process = Process(call, stdin=other, stdout=other, stderr=other, cwd=cwd, env=env, start_new_session=True)
        os.close(other)
        self.shown = b""

    def until(self, pattern):
        end, start = time.monotonic() + PATIENCE, len(self.shown)
        while not re.search(pattern, self.shown[start:]):
            assert time.monotonic() < end, self.shown
            if select.select([self.master], [], [], 1)[0]:
                self.shown += os.read(self.master, 4096)
        return self.shown[start:].replace(b"\x07", b"").decode()  # a bell where there are several completions

    def interrupt(self):
        """Ctrl-C until it is noticed: one that comes when the prompt is shown and readline does not wait yet is noticed
        with the next key or signal only (Python's own way of waiting)."""
        end, start = time.monotonic() + PATIENCE, len(self.shown)
        os.kill(self.process.pid, signal.SIGINT)
        while b"interrupted" not in self.shown[start:]:
            assert time.monotonic() < end, self.shown
            if select.select([self.master], [], [], 10)[0]:
                self.shown += os.read(self.master, 4096)
            else:
                os.kill(self.process.pid, signal.SIGINT)

    def type(self, keys, pattern):
        os.write(self.master, keys)
        return self.until(pattern)

    def end(self, keys=CTRL_D):
        os.write(self.master, keys)
        with contextlib.suppress(OSError):  # the other side is closed
            while os.read(self.master, 4096):
                pass
        code = self.process.wait(PATIENCE)
        os.close(self.master)
        return code


@pytest.fixture
def opened(tmp_path):
    (tmp_path / "v.vec").write_text(TABLE)

    def start(*arguments, **env):
        terminal = Terminal(arguments or ("nn", "v.vec", "-k", 1), tmp_path, **env)
        terminal.until(rb"> ")
        return terminal

    return start


def test_editing_and_completion(opened, tmp_path):
    terminal = opened(WV_HISTORY="")
    assert "kingdom\t0.707107" in terminal.type(b"kin\x7fng\n", rb"\d\r\n.*> ")
    assert "king\t0.707107" in terminal.type(b"ueen" + HOME + b"q\n", rb"\d\r\n.*> ")
    assert "queen - king\r\n" in terminal.type(b"que" + TAB + b" - kin" + TAB + b"\n", rb"\d\r\n.*> ")
    assert "z\N{LATIN SMALL LETTER E WITH ACUTE}ro" in terminal.type(b"z" + TAB, rb"ro")
    terminal.type(b"\n", rb"\d\r\n.*> ")
    assert "kingdom\t0.707107" in terminal.type(4 * UP + b"\n", rb"\d\r\n.*> ")
    assert terminal.end() == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v.vec"]


@pytest.mark.parametrize("command", [("nn", "v.vec", "-k", 1), ("similarity", "v.vec")])
def test_the_history_is_kept(opened, tmp_path, command):
    """In the folder for state, where WV_HISTORY says, or not at all; the next run goes on with it."""
    query = b"king queen\n"
    state = {"XDG_STATE_HOME": str(tmp_path / "state"), "WV_HISTORY": None}
    first = opened(*command, **state)
    first.type(query, rb"\d\r\n.*> ")
    assert first.end() == 0
    assert (tmp_path / "state" / "wv" / "history").read_text() == "king queen\n"
    second = opened(*command, **state)
    assert "king queen" in second.type(UP, rb"queen")
    second.type(b"s\n", rb"\d\r\n.*> ")
    assert second.end() == 0
    assert (tmp_path / "state" / "wv" / "history").read_text() == "king queen\nking queens\n"
    named = opened(*command, WV_HISTORY=str(tmp_path / "mine"))
    named.type(query, rb"\d\r\n.*> ")
    assert named.end() == 0 and (tmp_path / "mine").read_text() == "king queen\n"


def test_a_history_that_cannot_be_kept(opened, tmp_path):
    (tmp_path / "file").write_text("x")
    terminal = opened(WV_HISTORY=str(tmp_path / "file" / "below"))
    terminal.type(b"king\n", rb"\d\r\n.*> ")
    assert terminal.end() == 0 and b"Traceback" not in terminal.shown


def test_ctrl_c_ends(opened, tmp_path):
    """With the exit code of an interruption, and what was typed kept."""
    terminal = opened(WV_HISTORY=str(tmp_path / "mine"))
    terminal.type(b"king\n", rb"\d\r\n.*> ")
    terminal.interrupt()
    assert terminal.end(b"") == 130
    assert (tmp_path / "mine").read_text() == "king\n" and b"Traceback" not in terminal.shown
