"""Commands made of jobs: `make_command` turns the fields of a job and of its parts into arguments and options of click.

What a field says of itself is in wv_cli.config.option: `metavar` FILE or FOLDER completes to names, SIZE and TIME are
written with a unit, WORD... takes several words at once.
"""

import inspect
from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import json_option, make_argument, make_option, quiet_option
from wv_cli.commands.shared.word_options import TakesWords
from wv_cli.jobs.job import Job


def make_command(name: str, kind: type[Job], shape: type[Command] = Command) -> click.Command:
    """The command `name` that runs the job `kind`."""
    options = kind.command_options()
    shown = [field for field in options.values() if field.help]
    parameters: list[click.Parameter] = [make_argument(field) for field in options.values() if field.positional]
    parameters += [make_option(field) for field in shown]

    def run(quiet: bool, **values: Any) -> Any:
        from wv_cli.commands.shared.running import run_command

        as_json = values["as_json"] if "as_json" in options else values.pop("as_json", False)
        return run_command(kind, values, quiet, as_json)

    for add in (quiet_option, json_option) if kind.HAS_JSON and "as_json" not in options else (quiet_option,):
        add(run)
    made = TakesWords if any(field.metavar == "WORD..." for field in shown) else shape
    more = [*reversed(vars(run).pop("__click_params__"))]
    return made(name, callback=run, params=[*parameters, *reversed(more)], help=inspect.getdoc(kind))
