"""The program `wv`: the group of all commands, each imported when it is asked for, and the signals that end one.

Errors become messages and exit codes in wv_cli.__main__.
"""

import contextlib
import importlib
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import click

from wv_cli import __version__
from wv_cli.cli import COMMANDS, COMPAT, group_commands
from wv_cli.cli.mistakes import WORDS
from wv_cli.errors import UsageError
from wv_cli.registry import load

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# The classes of commands whose lines or help have a shape of their own.
_SHAPES = {"train": "wv_cli.cli.training_help:TrainCommand"}
_AGAIN_SECONDS = 0.01
# What a library makes of a Stopped that comes in the middle of its work.
_UNWORDED = (ArithmeticError, AssertionError, LookupError, RuntimeError, SystemError, TypeError, ValueError)


class Stopped(BaseException):
    """SIGINT, SIGTERM or SIGHUP, raised so that half-written files are cleared away. No KeyboardInterrupt, of which
    click would make something else."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _Stopper:
    """The handler of signals that end the program. The first one raises Stopped; then a second Ctrl-C ends at once."""

    def __init__(self) -> None:
        self._first: int | None = None
        self.hook_before = sys.unraisablehook

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if number != signal.SIGALRM:
            if self._first is not None:
                return
            self._first = number
            if number == signal.SIGINT:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
        assert self._first is not None
        if not _is_importing(frame):
            raise Stopped(self._first)
        # Modules that are being imported may take an exception for their own or swallow it.
        self._raise_soon()

    def _raise_soon(self) -> None:
        signal.signal(signal.SIGALRM, self)
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS)

    def handle_ignored(self, ignored: "sys.UnraisableHookArgs") -> None:
        """For sys.unraisablehook: Python drops what is raised while an object is freed."""
        if isinstance(ignored.exc_value, Stopped):
            self._raise_soon()
        else:
            self.hook_before(ignored)

    @contextlib.contextmanager
    def explained_errors(self) -> Iterator[None]:
        """An exception that nobody has worded, after a signal, is what NumPy or another library made of Stopped."""
        try:
            yield
        except _UNWORDED as error:
            if self._first is None:
                raise
            raise Stopped(self._first) from error

    def forget(self) -> None:
        """Calls off the moment that is waited for: the alarm of a program that has ended meanwhile would kill it."""
        if self._first is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


@contextlib.contextmanager
def caught_signals() -> Iterator[None]:
    """In this block a signal that would end the program raises Stopped. One that is ignored (by nohup, or for a job
    that a script put in the background) stays ignored."""
    stopper = _Stopper()
    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    sys.unraisablehook = stopper.handle_ignored
    for number in before:
        signal.signal(number, stopper)
    try:
        with stopper.explained_errors():
            yield
    finally:
        stopper.forget()
        sys.unraisablehook = stopper.hook_before
        for number, handler in before.items():
            signal.signal(number, handler)


class ClosedPipe(Exception):
    """A BrokenPipeError on its way through click, which would make exit code 1 of it."""


@contextlib.contextmanager
def _past_click() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ClosedPipe from error
    except KeyboardInterrupt:
        raise Stopped(signal.SIGINT) from None


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command is asked for."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        context.meta[WORDS] = [*args]
        return super().parse_args(context, args)

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _past_click():
            return super().make_context(*arguments, **options)

    def invoke(self, context: click.Context) -> Any:
        with _past_click():
            return super().invoke(context)

    def list_commands(self, context: click.Context) -> list[str]:
        return [*COMMANDS, *COMPAT]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        row = COMMANDS.get(name) or COMPAT.get(name)
        if row is None:
            return None
        command: click.Command
        if ":" in row.module:
            from wv_cli.cli.fields import make_command
            from wv_cli.cli.help import Command

            command = make_command(name, load(row.module), load(_SHAPES[name]) if name in _SHAPES else Command)
        else:
            command = importlib.import_module(row.module).command
        command.short_help = row.summary
        return command

    def flags(self, path: str) -> set[str]:
        """The options of a command such as `wv lm score`, none where there is no such command."""
        command: click.Command | None = self
        for name in path.split()[1:]:
            command = command.get_command(click.Context(command), name) if isinstance(command, click.Group) else None
        return {flag for each in command.params for flag in each.opts} if command is not None else set()

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        if args and args[0] not in self.list_commands(context):
            import difflib

            from wv_cli.cli.habits import command_for

            if way := command_for(args[0]):
                raise UsageError(f"unknown command {args[0]!r}; {way}")
            near = difflib.get_close_matches(args[0], [*COMMANDS, *COMPAT], n=1)
            way = f"did you mean {near[0]!r}?" if near else "`wv help` lists the commands"
            raise UsageError(f"unknown command {args[0]!r}; {way}")
        return super().resolve_command(context, args)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        for title, rows in group_commands().items():
            with formatter.section(title):
                formatter.write_dl([(name, row.summary) for name, row in rows])


def _show_version(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if not value or context.resilient_parsing:
        return
    from wv_cli import _cpu

    if context.params.get("as_json"):
        import json

        click.echo(json.dumps(_build(), indent=2))
    else:
        click.echo(f"wv {__version__} ({_cpu.name()} kernels; this machine runs: {', '.join(_cpu.usable())})")
    context.exit()


def _build() -> dict[str, object]:
    """What a report of a fault should say: version, instruction sets, compiler and its flags, Python and NumPy."""
    import platform
    from importlib.metadata import version

    from wv_cli import _cpu

    return {
        "version": __version__,
        "instruction_set": _cpu.name(),
        "usable": _cpu.usable(),
        "built": _cpu.built(),
        "compiler": _cpu.compiler(),
        "flags": _cpu.flags(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
    }


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option(
    "-V",
    "--version",
    is_flag=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and the instruction set in use (WV_ISA=baseline|avx2|avx512|avx512icl|sve256 chooses one).",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    is_eager=True,
    help="With --version: JSON, with compiler and flags.",
)
def wv(debug: bool, as_json: bool) -> None:
    """Word vectors on the command line.

    wv reads and writes the formats of word2vec, fastText and GloVe. `-` is standard input or output. Data goes to
    standard output, everything else to standard error. `wv help COMMAND` or `wv COMMAND -h` explains a command.
    """
    if as_json:
        raise UsageError("--json before a command goes with --version only; put it after the command")
