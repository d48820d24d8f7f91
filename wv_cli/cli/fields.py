"""Commands made of jobs: `make_command` turns the fields of a job and of its parts into arguments and options of click.

What a field says of itself is in wv_cli.config.option: `metavar` FILE or FOLDER completes to names, SIZE and TIME are
written with a unit, WORD... takes several words at once.
"""

import inspect
from collections import UserDict
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, cast

import click

from wv_cli.cli import SUBCOMMANDS
from wv_cli.cli.help import Command
from wv_cli.cli.options import make_argument, make_json_option, make_option, make_quiet_option
from wv_cli.cli.remote_options import open_remote
from wv_cli.cli.word_options import TakesWords
from wv_cli.config import Options, options_of
from wv_cli.registry import load


def make_command(
    name: str, kind: type[Options], shape: type[Command] = Command, run: Callable[..., Any] | None = None
) -> click.Command:
    """The command `name` that runs the job `kind`; or `run` with the options of `kind`, for a command line that does
    more than a job: `run(quiet, as_json, **options)`."""
    options = cast(Any, kind).command_options() if kind.IS_JOB else options_of(kind)
    runs = run or partial(_run_job, kind)
    shown = [field for field in options.values() if field.help]
    parameters: list[click.Parameter] = [make_argument(field) for field in options.values() if field.positional]
    parameters += [make_option(field) for field in shown]
    parameters.append(make_quiet_option())
    json_help = "" if "as_json" in options else kind.JSON_HELP
    if json_help:
        parameters.append(make_json_option(json_help))

    def start(**values: Any) -> Any:
        for name, option in options.items() if not kind.IS_JOB else ():
            option.check(values[name])
        with open_remote(values, options) as here:
            return runs(**here) if json_help or "as_json" in options else runs(as_json=False, **here)

    made = TakesWords if any(field.metavar == "WORD..." for field in shown) else shape
    return made(name, callback=start, params=parameters, help=inspect.getdoc(kind))


class Subcommands(UserDict[str, Any]):
    """The subcommands of a command by their names. `others` are commands that stand at "module:attribute". One is made
    when it is asked for, and does not wait for the modules of the others."""

    def __init__(self, group: str, others: Mapping[str, str] = MappingProxyType({})) -> None:
        super().__init__({**SUBCOMMANDS[group], **others})

    def __getitem__(self, name: str) -> click.Command:
        found: click.Command | tuple[str, str] | str = self.data[name]
        if isinstance(found, tuple):
            place, summary = found
            self.data[name] = found = make_command(name, load(place))
            found.short_help = summary
        elif isinstance(found, str):
            self.data[name] = found = cast(click.Command, load(found))
        return found


def _run_job(kind: Any, quiet: bool, as_json: bool, **options: Any) -> int:
    from wv_cli.cli.running import run_command

    if "as_json" in options_of(kind):
        options["as_json"] = as_json
    return run_command(kind, options, quiet, as_json)
