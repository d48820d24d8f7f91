"""The bar at the bottom of a terminal: on a terminal only, never in a log, a pipe or with --quiet.

There is one terminal and one line of it is drawn anew, so there is one LINE; whatever else is told stands above it.
tqdm makes the text of a bar, LINE puts it on the screen: tqdm's own bars do not know of what else is told.
"""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import click

# Columns right of a bar, so that the ^C of two Ctrl-Cs, which the terminal puts there, does not wrap to another line.
_SPARE = 5
_USUAL_COLUMNS = 80
_SECONDS = 0.1  # between two states of a reading bar


class _Line:
    """The last line of standard error, drawn in place. A terminal that is gone must not end what it shows."""

    def __init__(self) -> None:
        self._text = ""

    @property
    def width(self) -> int:
        """The longest text that is drawn."""
        return max(_columns() - _SPARE, 1)

    def draw(self, text: str) -> None:
        """Puts `text` in the place of what is there."""
        before, self._text = len(self._text), text[: self.width]
        self._write("\r" + self._text.ljust(before))

    def clear(self) -> None:
        """Leaves nothing of it, nor of what the terminal has put behind it."""
        if self._text:
            self._write("\r" + " " * (_columns() - 1))
            self._write("\r")
            self._text = ""

    def keep(self) -> None:
        """Leaves it as the last state there was; the next line begins."""
        if self._text:
            self._write("\n")
            self._text = ""

    @contextlib.contextmanager
    def above(self) -> Iterator[None]:
        """What is written to the terminal in this block stands above the bar."""
        text = self._text
        self.clear()
        yield
        if text:
            self.draw(text)

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()


LINE = _Line()


def _columns() -> int:
    with contextlib.suppress(OSError):
        return os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_COLUMNS
    return _USUAL_COLUMNS


def plain() -> bool:
    """Whether the terminal's encoding has no blocks to draw bars with."""
    try:
        "█▏".encode(sys.stderr.encoding)
    except UnicodeEncodeError:
        return True
    return False


@contextlib.contextmanager
def reading_bar(
    quiet: bool, inputs: Sequence[str] = (), unit: str = "B", desc: str = "reading"
) -> Iterator[Callable[[int, int | None], None] | None]:
    """Gives the `progress` argument of wv_cli.text.corpus functions, None where no bar is wanted: nor is one while
    somebody types the text. The bar goes away when the last byte of `inputs` has been read, so that another may follow
    inside the block, and at its end."""
    typed = "-" in inputs and sys.stdin.isatty()
    if typed and not quiet:
        click.echo("reading standard input; end with Ctrl-D", err=True)
    if quiet or typed or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    begin = shown = time.monotonic()

    def show(consumed: int, total: int | None) -> None:
        nonlocal shown
        now = time.monotonic()
        if consumed == total:
            LINE.clear()
        elif now - shown >= _SECONDS:
            shown = now
            seconds, width = now - begin, LINE.width
            LINE.draw(tqdm.format_meter(consumed, total, seconds, width, desc, plain(), unit, unit_scale=True))

    try:
        yield show
    finally:
        LINE.clear()
