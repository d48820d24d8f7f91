"""A small terminal: what stands on the screen after a program has written to it."""

import codecs
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
from collections.abc import Callable, Sequence

from tests.processes import PATIENCE, Process

_ORDER = re.compile(r"\x1b\[(\d*)(?:;\d+)*([ABCDJKm])")


class Screen:
    """`lines` from the top, without blanks at their ends; a line that is longer than `columns` goes on in the next, as
    on a real terminal: only when one more character comes."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self._rows: list[list[str]] = [[]]
        self._row = self._column = 0
        self._begun = ""  # of an order that comes in two parts

    def feed(self, text: str) -> None:
        text = self._begun + text
        begun = re.search(r"\x1b(\[[\d;]*)?$", text)
        self._begun = begun[0] if begun else ""
        text, at = text.removesuffix(self._begun), 0
        while at < len(text):
            if order := _ORDER.match(text, at):
                self._obey(order[2], int(order[1] or 0))
                at = order.end()
            else:
                self._put(text[at])
                at += 1

    @property
    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self._rows]

    def resize(self, columns: int) -> None:
        """Longer lines are broken, as most terminals do it; the cursor stays at its character."""
        before, self._rows, self.columns = self._rows, [], columns
        row, self._row = self._row, 0
        for number, each in enumerate(before):
            if number == row:
                behind = max(self._column - 1, 0) // columns  # at the end of a full line, it stays there
                self._row, self._column = len(self._rows) + behind, self._column - behind * columns
            self._rows += [each[at : at + columns] for at in range(0, max(len(each), 1), columns)]

    def _put(self, character: str) -> None:
        if character == "\r":
            self._column = 0
        elif character == "\n":
            self._down()
        elif character == "\b":
            self._column = max(self._column - 1, 0)
        elif character.isprintable():
            if self._column == self.columns:
                self._down()
                self._column = 0
            row = self._rows[self._row]
            row += " " * (self._column + 1 - len(row))
            row[self._column] = character
            self._column += 1
        else:
            raise AssertionError(f"unknown order to the terminal: {character!r}")

    def _down(self) -> None:
        self._row += 1
        if self._row == len(self._rows):
            self._rows.append([])

    def _obey(self, order: str, number: int) -> None:
        step = number or 1
        if order == "A":
            self._row = max(self._row - step, 0)
        elif order == "B":
            self._row = min(self._row + step, len(self._rows) - 1)
        elif order == "K":
            del self._rows[self._row][0 if number == 2 else self._column :]
        elif order in "CD":
            self._column = min(max(self._column + (step if order == "C" else -step), 0), self.columns - 1)
        elif order == "J" and number == 0:
            del self._rows[self._row + 1 :], self._rows[self._row][self._column :]
        elif order == "J":
            self._rows[:] = [[]]
            self._row = self._column = 0


def read_terminal(control: int) -> bytes:
    """All that programs write to a terminal until the last of them has closed it."""
    seen = b""
    with contextlib.suppress(OSError):  # the other side is closed
        while block := os.read(control, 1 << 16):
            seen += block
    os.close(control)
    return seen


class OnTerminal:
    """A program whose controlling terminal, of so many columns, is its stdin, stdout and stderr. Of 0 rows and columns
    is one that does not know its size; it shows 80 columns."""

    def __init__(self, command: Sequence[str], columns: int, **options: object) -> None:
        self.screen, self.states = Screen(columns or 80), [""]
        self._control, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
        begin = [sys.executable, "-c", _BEGIN, *command]
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
        self.process = Process(begin, start_new_session=True, **{**streams, **options})  # type: ignore[call-overload]
        os.close(terminal)
        self._parts = iter([""])
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def type(self, keys: str) -> None:
        os.write(self._control, keys.encode())

    def run(self, until: Callable[[str], bool] = lambda line: False) -> int | None:
        """Follows the screen until its last line is as asked, or the program has ended: then its exit code. `states`
        are all that the last line has been."""
        while True:
            for part in self._parts:
                self.screen.feed(part)
                self.states.append(self.screen.lines[-1])
                if until(self.screen.lines[-1]):
                    return None
            assert select.select([self._control], [], [], PATIENCE)[0], self.screen.lines
            try:
                block = os.read(self._control, 1 << 10)
            except OSError:  # the other side is closed
                break
            self._parts = iter(re.split("(?=[\r\n])", self._decoder.decode(block)))
        os.close(self._control)
        return self.process.wait(PATIENCE)

    def resize(self, columns: int) -> None:
        """While the program is stopped, so that nothing that it has written for the old width comes later."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)
        while select.select([self._control], [], [], 0.2)[0]:
            self._parts = iter([*self._parts, self._decoder.decode(os.read(self._control, 1 << 10))])
        for part in self._parts:
            self.screen.feed(part)
        fcntl.ioctl(self._control, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
        self.screen.resize(columns)
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)


# Takes the terminal, so that Ctrl-C is a signal, and becomes the program.
_BEGIN = "import fcntl, os, sys, termios; fcntl.ioctl(2, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
