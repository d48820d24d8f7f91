"""Queries typed on a terminal: with line editing, completion of words and a history where Python has readline.

The history is kept from one run to the next in a file, `wv/history` in the folder for state ($XDG_STATE_HOME, by
default ~/.local/state); WV_HISTORY names another file, and when it is empty nothing is kept. A history that cannot be
read or written is no reason to fail.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

import click

if TYPE_CHECKING:
    from wv_cli.words import WordList

_KEPT = 1000  # lines of history
_SHOWN = 200  # completions of one beginning
_PROMPT = "> "


def typed_lines(prompt: str, words: "WordList | None") -> Iterator[list[str]]:
    """Lines from a terminal until Ctrl-D; the tabulator completes `words`. When standard output is no terminal there is
    no editing, and the prompt goes to stderr."""
    click.echo(f"{prompt} per line; Ctrl-D ends.", err=True)
    if not sys.stdout.isatty():
        yield from _lines(_read_plain)
        return
    with _line_editor(words):
        yield from _lines(_read_edited)


def _lines(read: Callable[[], str]) -> Iterator[list[str]]:
    while True:
        try:
            yield [read()]
        except EOFError:
            click.echo(err=True)
            return


def _read_plain() -> str:
    click.echo(_PROMPT, err=True, nl=False)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\r\n")


def _read_edited() -> str:
    sys.stdout.flush()
    return input(_PROMPT)


@contextlib.contextmanager
def _line_editor(words: "WordList | None") -> Iterator[None]:
    """Sets readline up and keeps the history at the end; without readline input() reads plain lines."""
    cast("TextIO", sys.stdin).reconfigure(errors="surrogateescape")  # type: ignore[attr-defined]
    try:
        import readline
    except ImportError:
        yield
        return
    path = _history_file()
    before = _kept_lines(path)
    for line in before:
        readline.add_history(line)
    readline.set_completer_delims(" \t\n")
    readline.set_completer(_completer(words) if words is not None else None)
    readline.parse_and_bind("tab: complete")
    first = readline.get_current_history_length()
    try:
        yield
    finally:
        typed = [
            readline.get_history_item(place) for place in range(first + 1, readline.get_current_history_length() + 1)
        ]
        _keep(path, [line for line in typed if line])


def _completer(words: "WordList") -> Callable[[str, int], str | None]:
    """What readline asks: the completion of `text` with this number, None when there is no more."""
    found: list[str] = []

    def complete(text: str, number: int) -> str | None:
        from wv_cli.words import encode

        if number == 0:
            found[:] = [words[row] for row in words.beginning_with(encode(text))[:_SHOWN].tolist()] if text else []
        return found[number] if number < len(found) else None

    return complete


def _history_file() -> Path | None:
    """Where the history is kept; None: nowhere."""
    named = os.environ.get("WV_HISTORY")
    if named is not None:
        return Path(named) if named else None
    state = os.environ.get("XDG_STATE_HOME")
    try:
        return (Path(state) if state else Path.home() / ".local" / "state") / "wv" / "history"
    except RuntimeError:  # no home
        return None


def _kept_lines(path: Path | None) -> list[str]:
    try:
        return path.read_text("utf-8", "surrogateescape").splitlines()[-_KEPT:] if path is not None else []
    except OSError:
        return []


def _keep(path: Path | None, typed: list[str]) -> None:
    """Adds to the file what was typed; another run may have added to it meanwhile."""
    from wv_cli.errors import WvError
    from wv_cli.io.output import open_output
    from wv_cli.words import encode

    if path is None or not typed:
        return
    with contextlib.suppress(OSError, WvError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open_output(str(path)) as stream:
            for line in [*_kept_lines(path), *typed][-_KEPT:]:
                stream.write(encode(line) + b"\n")
