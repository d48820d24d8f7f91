"""Commands made of jobs: `make_command` turns the fields of a job and of its parts into arguments and options of click.

What a field says of itself is in wv_cli.config.option: `metavar` FILE or FOLDER completes to names, SIZE and TIME are
written with a unit, WORD... takes several words at once.
"""

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import (
    Duration,
    FieldOption,
    NumberOrWord,
    OpenChoice,
    Size,
    json_option,
    quiet_option,
)
from wv_cli.commands.shared.word_options import SeveralWords, TakesWords
from wv_cli.config import Option
from wv_cli.jobs.job import Job, options_of

_UNITS: Mapping[str, Callable[[], "click.ParamType[Any]"]] = {"SIZE": Size, "TIME": Duration}
_METAVARS = {int: "N", float: "X", str: "TEXT"}


def load_job(place: str) -> type[Job]:
    """The job at MODULE:CLASS."""
    module, _, name = place.partition(":")
    found: type[Job] = getattr(importlib.import_module(module), name)
    return found


def make_command(name: str, kind: type[Job]) -> click.Command:
    """The command `name` that runs the job `kind`."""
    options = options_of(kind)
    shown = [field for field in options.values() if field.help]
    parameters: list[click.Parameter] = [make_argument(field) for field in options.values() if field.positional]
    parameters += [make_option(field, default=field.default) for field in shown]

    def run(quiet: bool, **values: Any) -> Any:
        from wv_cli.commands.shared.running import run_command

        as_json = values["as_json"] if "as_json" in options else values.pop("as_json", False)
        return run_command(kind, values, quiet, as_json)

    for add in (quiet_option, json_option) if kind.HAS_JSON and "as_json" not in options else (quiet_option,):
        add(run)
    several = any(field.metavar == "WORD..." for field in shown)
    made = TakesWords if several else Command
    more = [*reversed(vars(run).pop("__click_params__"))]
    return made(name, callback=run, params=[*parameters, *reversed(more)], help=inspect.getdoc(kind))


def make_argument(field: Option) -> click.Argument:
    """The argument of a positional field."""
    nargs = -1 if field.many else 1
    return click.Argument([field.name], metavar=field.metavar, required=field.is_required, nargs=nargs)


def make_option(
    field: Option, *, default: object, choices: Sequence[str] = (), default_text: str | None = None
) -> FieldOption:
    """The option of a field, perhaps with more `choices` and another default than its own."""
    choices, flag = choices or field.choices, field.flag
    if field.kind is bool and field.off is not None and not field.name.startswith("no_"):
        flag = f"{flag}/--{field.off or f'no-{flag[2:]}'}"
    short = f"-{field.short}" if field.short else flag[1:] if len(field.name) == 1 else ""
    made = SeveralWords if field.metavar == "WORD..." else FieldOption
    return made(
        [*filter(None, [short]), flag, field.name],
        field=field,
        default_text=field.default_text if default_text is None else default_text,
        type=_type_of(field, choices),
        metavar=field.metavar or (None if choices else _METAVARS.get(field.kind)),
        required=field.is_required,
        help=field.help,
        multiple=field.many,
        is_flag=True if field.kind is bool else None,
        **({} if field.is_required else {"default": default}),  # for click None is a default, too
    )


def _type_of(field: Option, choices: Sequence[str]) -> Any:
    if choices:
        return OpenChoice(choices, field.also) if field.also else click.Choice(choices)
    if field.words:
        return NumberOrWord(field.words)
    return _UNITS[field.metavar]() if field.metavar in _UNITS else field.kind
