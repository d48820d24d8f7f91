"""Progress bars: on a terminal only, never in a log, a pipe or with --quiet. tqdm draws them, see terminal_bar."""

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from wv_cli.io.events import OnProgress

if TYPE_CHECKING:
    from wv_cli.cli.terminal_bar import TerminalBar

_SECONDS = 0.1  # between two states of a reading bar, and until the first


def _bars() -> "type[TerminalBar] | None":
    """The class of the bars once one was drawn; loading it takes longer than most messages."""
    module = sys.modules.get("wv_cli.cli.terminal_bar")
    return module.TerminalBar if module else None


def close_bar(leave: bool = False) -> None:
    """Clears the bar, if there is one, or keeps its last state with `leave`."""
    if bars := _bars():
        bars.close_current(leave)


@contextlib.contextmanager
def above_bar() -> Iterator[None]:
    """What is written to the terminal in this block stands above the bar."""
    bars = _bars()
    with bars.external_write_mode(sys.stderr) if bars else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def reading_bar(
    quiet: bool, inputs: Sequence[str] = (), unit: str = "B", desc: str = "reading"
) -> Iterator[OnProgress | None]:
    """Gives the `progress` argument of wv_cli.text.corpus functions, None where no bar is wanted: nor is one while
    somebody types the text. The bar goes away when the last byte of `inputs` has been read, so that another may follow
    inside the block, and at its end."""
    typed = "-" in inputs and sys.stdin.isatty()
    if typed and not quiet:
        click.echo("reading standard input; end with Ctrl-D", err=True)
    if quiet or typed or not sys.stderr.isatty():
        yield None
        return
    from wv_cli.cli.terminal_bar import TerminalBar

    bar: TerminalBar | None = None

    def show(consumed: int, total: int | None) -> None:
        nonlocal bar
        if consumed == total:
            close_bar()
            bar = None
            return
        if bar is None:
            bar = TerminalBar(desc=desc, unit=unit, unit_scale=True, mininterval=_SECONDS, delay=_SECONDS, smoothing=0)
        bar.total = total
        bar.update(consumed - bar.n)

    try:
        yield show
    finally:
        close_bar()
