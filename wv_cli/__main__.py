"""The entry point `wv`: finds the subcommand, and is the one place where errors become messages and exit codes.

0 done; 1 failed; 2 misuse; 3 a gate was missed; 124 out of --max-time; 130 / 143 interrupted by
SIGINT / SIGTERM. A closed pipe is no error.
"""

import contextlib
import errno
import importlib
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import click

from wv_cli import __version__
from wv_cli.commands import COMMANDS
from wv_cli.commands.shared import streams
from wv_cli.errors import UsageError, WvError
from wv_cli.system.mapped import require_unchanged


class ClosedPipe(Exception):
    """A BrokenPipeError on its way through click, which would make exit code 1 of it."""


@contextlib.contextmanager
def _past_click() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ClosedPipe from error


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command is asked for."""

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _past_click():
            return super().make_context(*arguments, **options)

    def invoke(self, context: click.Context) -> Any:
        with _past_click():
            return super().invoke(context)

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[name].module).command
        command.short_help = COMMANDS[name].summary
        return command

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS:
            try:
                COMMANDS.find(args[0])
            except UsageError as error:
                raise click.UsageError(str(error), context) from None
        return super().resolve_command(context, args)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, row.summary) for name, row in COMMANDS.items()])


def _show_version(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if not value or context.resilient_parsing:
        return
    from wv_cli import _cpu

    click.echo(f"wv {__version__} ({_cpu.name()} kernels; this machine runs: {', '.join(_cpu.usable())})")
    context.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and the instruction set in use (WV_ISA=baseline|avx2|avx512|avx512icl chooses another).",
)
def wv(debug: bool) -> None:
    """Word vectors on the command line.

    Reads and writes the formats of word2vec, fastText and GloVe. `-` is standard input or output; data goes to standard
    output, everything else to standard error.
    """


def _fail(speaker: str, message: str, code: int) -> int:
    print(f"{speaker}: {message}", file=sys.stderr)  # noqa: T201
    return code


def _speaker(argv: list[str]) -> str:
    """`wv train` once the subcommand is known, so that a message says who speaks."""
    return next((f"wv {word}" for word in argv if word in COMMANDS), "wv")


class Terminated(BaseException):
    """SIGTERM, raised like KeyboardInterrupt so that half-written files are cleared away."""


def _terminate(number: int, frame: object) -> None:
    raise Terminated


def run(argv: list[str]) -> int:
    """Runs one command line and returns its exit code."""
    signal.signal(signal.SIGTERM, _terminate)
    speaker = _speaker(argv)
    # The library warns of what is odd but does not stop it (formats.FormatWarning).
    warnings.showwarning = lambda message, *_, **__: print(f"{speaker}: note: {message}", file=sys.stderr)  # noqa: T201
    debug = "--debug" in argv[: argv.index(speaker[3:])] if speaker != "wv" else "--debug" in argv
    try:
        result = wv.main(args=argv, prog_name="wv", standalone_mode=False)
        require_unchanged()
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except (BrokenPipeError, ClosedPipe):
        return 0  # the reader (head, less) has seen enough
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.UsageError as error:
        error.show()
        return 2
    except click.ClickException as error:
        return _fail(speaker, error.format_message(), 1)
    except (click.Abort, KeyboardInterrupt):
        return _fail(speaker, "interrupted", 128 + signal.SIGINT)
    except Terminated:
        return _fail(speaker, "terminated", 128 + signal.SIGTERM)
    except WvError as error:
        if debug:
            raise
        return _fail(speaker, str(error), error.exit_code)
    except (OSError, MemoryError, ValueError) as error:
        if debug:
            raise
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT) and error.filename is None:
            what = (error.strerror or "no space left").lower()
            return _fail(speaker, f"standard output: cannot write: {what}; make room and run it again", 1)
        if isinstance(error, OSError) and error.errno == errno.EBADF and error.filename is None:
            return _fail(speaker, "standard input or output is closed; open it or name a file", 1)
        text = "out of memory" if isinstance(error, MemoryError) else str(error)
        return _fail(speaker, f"{text} (run `wv --debug ...` to see where)", 1)


def main() -> None:
    streams.prepare()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:
        # What a full disk or a closed pipe did not take must not fail again, with a traceback, at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


if __name__ == "__main__":
    main()
