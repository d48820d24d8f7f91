"""What a person at a terminal sees: one bar at a time that fits into the line, and clean lines around it."""

import re
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest
from tqdm import tqdm

from tests.cli.screen import OnTerminal, Screen
from tests.processes import PATIENCE, Process
from tests.tiers import full
from tests.walk import for_each
from wv_cli.cli import terminal_bar
from wv_cli.cli.display import bar_format
from wv_cli.cli.terminal_bar import TerminalBar
from wv_cli.models.training.progress import Progress

WV = [sys.executable, "-m", "wv_cli"]
BAR = re.compile(r"[█▏▎▍▌▋▊▉]|\d%\|")
DONE = re.compile(r"100\.0%\|█+\| .*loss \d\.\d{4}  ETA 0:00")
# A run whose checkpoint is never saved; a file says that it has begun. In short steps: a signal that comes between
# Python's last look for one and the system call that sleeps is seen only after it.
SLOW_SAVE = """
import os, pathlib, time
def fsync(descriptor):
    pathlib.Path("saving").touch()
    while True:
        time.sleep(0.05)
os.fsync = fsync
from wv_cli.__main__ import main
main()
"""
WIDTHS = pytest.mark.parametrize("columns", [*full(60), 80, *full(200)])


@pytest.fixture
def text(slice_text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with slice_text.open("rb") as lines:
        Path("text.txt").write_bytes(b"".join(islice(lines, 500)))
    return "text.txt"


def train(columns, *arguments, program=WV, **options):
    fast = ["--dim", "50", "--threads", "1", "--no-meta"]
    return OnTerminal([*program, "train", *arguments, *fast], columns, **options)


def test_the_screen_itself():
    screen = Screen(5)
    screen.feed("abcde\rAB\nc\r\nlonger\x1b[1A\rX\x1b[1BY\x1b[2K")
    assert screen.lines == ["ABcde", " " * 2 + "c", "Xonge", ""]


@WIDTHS
def test_lines_are_clean_at_the_end(columns, text):
    seen = train(columns, text, "-o", "pt.bin", "--epochs", "12")
    assert seen.run() == 0
    *talk, bar, wrote, end = seen.screen.lines
    assert DONE.fullmatch(bar) and len(bar) <= columns - 5
    assert re.fullmatch(r"wrote pt\.bin \([\d,]+ words/s\)", wrote) and end == ""
    assert re.search(r"^[\d,]+ words in 472 lines", talk[0]) and not any(map(BAR.search, talk))


@WIDTHS
def test_the_bar_while_it_trains(columns, text):
    """Percent, loss and what is left, in one line that never wraps; all of it when there is room."""
    seen = train(columns, text, "-o", "x.vec", "--epochs", "1000")
    assert seen.run(lambda line: re.search(r"[1-9]\.\d%.*loss \d.*ETA \d", line)) is None
    bar = seen.screen.lines[-1]
    assert re.fullmatch(r" +\d+\.\d%\|[█▏▎▍▌▋▊▉ ]+\| .*loss \d\.\d{4}  ETA \d+:\d\d", bar), bar
    assert len(bar) <= columns - 5
    assert ("epoch" in bar, "words/s" in bar, " lr " in bar) == (True, columns >= 80, columns == 200)
    assert not any(map(BAR.search, seen.screen.lines[:-1]))
    seen.kill()
    seen.run()


def test_a_terminal_that_does_not_know_its_size_has_a_bar(text):
    seen = train(0, text, "-o", "x.vec", "--epochs", "1000")
    assert seen.run(lambda line: re.search(r"%\|.*ETA \d", line)) is None
    assert len(seen.screen.lines[-1]) <= 75


def test_a_narrower_terminal_keeps_no_halves(monkeypatch):
    screen = Screen(80)
    monkeypatch.setattr(terminal_bar, "_columns", lambda: screen.columns)
    monkeypatch.setattr(terminal_bar, "_order", lambda file, order: file.write(order))
    draw = TerminalBar.status_printer(SimpleNamespace(write=screen.feed, flush=lambda: None))
    screen.feed("before\n")
    draw("x" * 75)
    for columns, drawn in ((40, 35), (39, 30), (13, 8), (60, 55), (55, 20), (19, 0)):
        screen.resize(columns)
        draw("y" * drawn)
        assert screen.lines == ["before", "y" * drawn], columns
    screen.resize(40)
    draw("z")
    assert screen.lines == ["before", "z"]


@pytest.mark.full
def test_a_terminal_becomes_narrower_while_it_trains(text):
    seen = train(100, text, "-o", "x.vec", "--epochs", "100000")
    assert seen.run(lambda line: "ETA" in line) is None
    for columns in (60, 45):
        seen.resize(columns)
        assert seen.run(lambda line, most=columns - 5: re.search(r"\d%\|.*ETA", line) and len(line) <= most) is None
        assert not any(map(BAR.search, seen.screen.lines[:-1])), seen.screen.lines
    seen.kill()
    seen.run()


def interrupt(seen):
    """The terminal itself puts ^C behind the bar."""
    seen.type("\x03")
    assert seen.run(lambda line: "^C" in line) is None


def told_after_ctrl_c(seen, columns):
    assert seen.run() == 130
    told = " ".join("".join(line.ljust(columns) for line in seen.screen.lines).split())
    assert not BAR.search(told) and "^C" not in told and "ETA" not in told, seen.screen.lines
    assert "wv train: interrupted" in told
    return told


@WIDTHS
def test_nothing_of_a_bar_remains_after_ctrl_c(columns, text):
    seen = train(columns, text, "-o", "x.vec", "--epochs", "100000")
    assert seen.run(lambda line: "ETA" in line) is None
    interrupt(seen)
    told = told_after_ctrl_c(seen, columns)
    assert re.search("interrupted; x.vec.checkpoint is saved|interrupted; go on with: wv train", told)


@WIDTHS
def test_nothing_of_a_bar_remains_after_two(columns, text):
    """The second one comes while the run saves: a run that has ended has no bar to put it behind."""
    slow = [sys.executable, "-P", "-c", SLOW_SAVE]
    seen = train(columns, text, "-o", "x.vec", "--epochs", "100000", program=slow)
    assert seen.run(lambda line: "ETA" in line) is None
    interrupt(seen)
    end = time.monotonic() + PATIENCE
    while not Path("saving").exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    interrupt(seen)
    told_after_ctrl_c(seen, columns)


@WIDTHS
def test_one_bar_after_the_other_for_a_pipe(columns, text):
    """Of which nobody knows how long it is: the bar that reads goes when it ends."""
    script = "import sys, time\nfor line in open('text.txt'):\n    print(line * 40, flush=True); time.sleep(0.002)\n"
    with Process([sys.executable, "-c", script], stdout=subprocess.PIPE) as source:
        seen = train(columns, "-", "-o", "x.vec", "--epochs", "1", stdin=source.stdout)
        source.stdout.close()
        assert seen.run() == 0
    assert any(re.match(r"reading: [\d.]+[kM]?B \[", state) for state in seen.states)
    *talk, bar, wrote, end = seen.screen.lines
    assert DONE.fullmatch(bar) and wrote.startswith("wrote x.vec (") and end == ""
    assert not any("reading" in line or BAR.search(line) for line in talk), talk
    told = next(at for at, state in enumerate(seen.states) if state.endswith("read)"))
    assert not any("reading" in state for state in seen.states[told:])
    assert all(len(state) <= columns - 5 for state in seen.states if "reading:" in state)


@pytest.mark.parametrize(
    ("command", "last"),
    [
        ("train - -o x.vec --dim 8 --epochs 1 --min-count 1 --no-meta", r"wrote x\.vec"),
        ("glove - -o x.vec --dim 8 --iterations 1 --min-count 1 --no-meta", r"wrote x\.vec"),
        ("build-vocab - -o x --min-count 1", r"60 words in 20 lines"),
        ("phrases - -o x", r"60 words in, "),
    ],
)
def test_typed_text_has_no_bar(command, last, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = OnTerminal([*WV, *command.split()], 200)
    assert seen.run(lambda line: len(seen.screen.lines) > 1) is None
    assert seen.screen.lines[0] == "reading standard input; end with Ctrl-D"
    seen.type("one two three\n" * 20 + "\x04")
    assert seen.run() == 0
    before = next(at for at, line in enumerate(seen.screen.lines) if re.match(r"\d+ words in", line))
    assert seen.screen.lines[1:21] == ["one two three"] * 20
    assert not any(BAR.search(line) or "reading:" in line for line in seen.screen.lines[: before + 1])
    assert re.match(last, seen.screen.lines[-2]) and seen.screen.lines[-1] == ""


def test_typed_text_in_silence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = OnTerminal([*WV, "build-vocab", "-", "-o", "x", "--min-count", "1", "-q"], 80)
    seen.type("one\n\x04")
    assert seen.run() == 0 and seen.screen.lines == ["one", ""]


def test_a_note_stands_above_the_bar(tmp_path):
    """What is told while a bar is there, by the commands or as a warning, is a line of its own."""
    script = (
        "import warnings\n"
        "from wv_cli.cli import streams; streams.prepare()\n"
        "from wv_cli.__main__ import run\n"
        "from wv_cli.cli.bar import close_bar\n"
        "from wv_cli.cli.display import emit\n"
        "from wv_cli.cli.terminal_bar import TerminalBar\n"
        "run(['--version']); bar = TerminalBar(bar_format='bar one'); emit('hello', False, False)\n"
        "bar.bar_format = 'bar two'; bar.refresh(); warnings.warn('odd'); bar.bar_format = 'end'; bar.refresh()\n"
        "close_bar(leave=True)\n"
    )
    seen = OnTerminal([sys.executable, "-c", script], 80)
    assert seen.run() == 0
    assert seen.screen.lines[-4:] == ["hello", "wv: note: odd", "end", ""]
    assert not any("bar" in line for line in seen.screen.lines)


@for_each("width", range(1, 200))
def test_the_bar_of_a_long_run_fits(width):
    now = Progress(0.99999, 99_999, 100_000, 10**12, 9_999_999, 0.05, 123.4567, 1e6, 360_000.0)
    line = tqdm.format_meter(now.fraction, 1.0, 1.0, width, bar_format=bar_format(now, width))
    assert len(line) <= width
    if width >= 55:
        assert line.startswith("100.0%|█") and line.endswith("loss 123.4567  ETA 100:00:00")
    whole = "epoch 99999/100000  10,000k words/s  lr 0.05000  loss 123.4567  ETA 100:00:00"
    assert (whole in line) == (width >= len(whole) + 17)
