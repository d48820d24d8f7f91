"""How a training run shows itself on stderr: a bar on a terminal, lines in a log, JSON events, or nothing.

Readers of Progress only; the training code prints nothing.
"""

import contextlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, TypeAlias

import click

from wv_cli.cli.bar import above_bar
from wv_cli.errors import WvError

if TYPE_CHECKING:
    from wv_cli.models.training.progress import Progress
    from wv_cli.models.training.run import Outcome

Observer: TypeAlias = "Callable[[Progress], None]"
_LOG_SECONDS = 10.0
_SHORTEST_BAR, _LONGEST_BAR = 8, 30
_DISPENSABLE = ("lr", "rate", "epoch")  # where a bar and all facts do not fit into a line, in this order


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _facts(now: "Progress") -> dict[str, str]:
    return {
        "epoch": f"epoch {now.epoch}/{now.epochs}",
        "rate": f"{now.rate / 1e3:,.0f}k words/s",
        "lr": f"lr {now.lr:.5f}",
        "loss": f"loss {now.loss:.4f}" if now.loss is not None else "loss -",
        "eta": f"ETA {_clock(now.eta)}" if now.eta is not None else "ETA -",
    }


def bar_format(now: "Progress", width: int) -> str:
    """tqdm's `bar_format` for a line of `width` columns: percent, a bar, and the facts there is room for."""
    facts = _facts(now)
    for name in _DISPENSABLE:
        if _room(facts, width) < _SHORTEST_BAR:
            del facts[name]
    room = max(1, min(_room(facts, width), _LONGEST_BAR))
    return f"{{percentage:5.1f}}%|{{bar:{room}}}| {'  '.join(facts.values())}"


def _room(facts: Mapping[str, str], width: int) -> int:
    """The columns left to the bar."""
    return width - len("100.0%|| ") - len("  ".join(facts.values()))


def _bar() -> Observer:
    """A bar that shows the last loss there was. The caller clears or keeps it with close_bar()."""
    from wv_cli.cli.terminal_bar import TerminalBar, widest_bar

    bar: TerminalBar | None = None
    loss: float | None = None

    def show_progress(now: "Progress") -> None:
        nonlocal bar, loss
        loss = loss if now.loss is None else now.loss
        text = bar_format(replace(now, loss=loss), widest_bar())
        if bar is None:
            bar = TerminalBar(total=1.0, initial=now.fraction, bar_format=text)
        else:
            bar.n, bar.bar_format = now.fraction, text
            bar.refresh()

    return show_progress


def _every(seconds: float, show: Observer) -> Observer:
    """Calls show at the start, every `seconds` and at the end, with the loss of the whole interval."""
    last: list[float] = []

    def show_progress(now: "Progress") -> None:
        if now.loss is not None and (not last or now.elapsed - last[0] >= seconds or now.fraction >= 1):
            last[:] = [now.elapsed]
            show(now)

    return show_progress


def _line(now: "Progress") -> None:
    click.echo(f"{now.fraction:6.1%}  {'  '.join(_facts(now).values())}", err=True)


def _json(now: "Progress") -> None:
    from wv_cli.io.json_text import to_json

    click.echo(to_json({"event": "progress", **asdict(now)}), err=True)


def _patient(show: Observer) -> Observer:
    """Shows as long as somebody is there to see it: a terminal that is closed must not end what it shows."""

    def show_progress(now: "Progress") -> None:
        with contextlib.suppress(OSError):
            show(now)

    return show_progress


def observer(quiet: bool, as_json: bool) -> "Observer | None":
    """The display for this terminal or log; None for --quiet."""
    if quiet:
        return None
    if as_json:
        return _patient(_every(1.0, _json))
    return _patient(_bar() if sys.stderr.isatty() else _every(_LOG_SECONDS, _line))


def emit(message: str, quiet: bool, as_json: bool, **facts: object) -> None:
    """One line of talk on stderr; with --json an event that carries `facts`."""
    if quiet:
        return
    from wv_cli.io.json_text import to_json
    from wv_cli.io.remote import show_names

    message = show_names(message)
    with contextlib.suppress(OSError), above_bar():  # as _patient
        click.echo(to_json({"event": "message", "message": message, **facts}) if as_json else message, err=True)


def resume_command(argv: list[str], resumed: bool) -> list[str]:
    """The same command line with --resume, which --overwrite contradicts; options end at --."""
    end = argv.index("--") if "--" in argv else len(argv)
    options = [word for word in argv[:end] if word != "--overwrite"]
    return [*options, *([] if resumed else ["--resume"]), *argv[end:]]


def explain_stop(outcome: "Outcome", saved: bool, resumed: bool) -> WvError:
    """The error for a run that ended early: how it ended and the command line that goes on."""
    import shlex

    way_on = f"go on with: wv {shlex.join(resume_command(sys.argv[1:], resumed))}" if saved else "nothing was saved"
    return outcome.ended_early(way_on)
