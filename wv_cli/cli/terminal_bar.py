"""tqdm's bar as this program wants it: it fits beside the ^C that a terminal echoes, and leaves nothing when it goes.

Imported when a bar is drawn, and not before: tqdm takes its time.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from tqdm import tqdm

# Columns right of a bar, so that the ^C of two Ctrl-Cs, which the terminal puts there, does not wrap to another line.
_SPARE = 5
_USUAL_COLUMNS, _ROWS = 80, 24


def _columns() -> int:
    with contextlib.suppress(OSError):
        return os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_COLUMNS
    return _USUAL_COLUMNS


def _order(file: Any, order: str) -> None:
    """Past the stream itself, which shows orders to a terminal as text (streams.prepare)."""
    file.flush()
    os.write(file.fileno(), order.encode())


def widest_bar() -> int:
    """The most columns that a bar takes."""
    return max(_columns() - _SPARE, 1)


class TerminalBar(tqdm):  # type: ignore[misc]
    """The bar in the last line of the terminal. There is one at a time: a new one takes the place of the one before."""

    monitor_interval = 0  # no thread that watches the bars
    _lock = threading.RLock()  # tqdm's own is of multiprocessing as well, and starts a process in Python 3.14
    current: "TerminalBar | None" = None

    def __init__(self, **options: Any) -> None:
        self.close_current()
        # Of the rows of a terminal that does not know its size, tqdm sees too few for a bar.
        super().__init__(file=sys.stderr, position=0, leave=False, nrows=_ROWS, **options)
        TerminalBar.current = self

    @classmethod
    def close_current(cls, leave: bool = False) -> None:
        """Clears the bar or, with `leave`, keeps its last state; the next line begins."""
        bar, TerminalBar.current = cls.current, None
        if bar is not None:
            bar.leave = leave
            bar.close()

    @property
    def format_dict(self) -> dict[str, Any]:
        """What tqdm makes the text of a bar from, with the width that the terminal has now."""
        return {**super().format_dict, "ncols": widest_bar()}

    @staticmethod
    def status_printer(file: Any) -> Callable[[str], None]:
        """A function that draws a text in the place of the last one. The empty text clears the line, with what the
        terminal has put behind the bar. A terminal that became narrower has broken the last text into several lines."""
        drawn = written = 0

        def draw(text: str) -> None:
            nonlocal drawn, written
            columns = _columns()
            if above := max(written - 1, 0) // columns:
                _order(file, f"\x1b[{above}A\r\x1b[J")
                drawn = 0
            line = text.ljust(drawn) if text else " " * (columns - 1)
            file.write("\r" + line)
            file.flush()
            drawn, written = len(text), len(line)

        return draw
