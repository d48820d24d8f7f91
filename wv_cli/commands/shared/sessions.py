"""What commands that run a session share: the session made of their options, and the run with its talk and its end."""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wv_cli.commands.shared.bar import LINE, reading_bar
from wv_cli.commands.shared.display import observer, say, stopped
from wv_cli.commands.shared.options import given_options, take
from wv_cli.commands.shared.running import command_line
from wv_cli.config import Config
from wv_cli.errors import Elsewhere
from wv_cli.jobs.session import session_fields
from wv_cli.system.places import is_stdout

if TYPE_CHECKING:
    from wv_cli.jobs.training_session import TrainingSession

Made = TypeVar("Made")


def session_of(kind: Callable[..., Made], options: dict[str, Any], **configs: type[Config]) -> Made:
    """The session `kind` with the command's options: each of `configs`, by the name of the session's field, takes those
    that are its fields; the rest are the session's."""
    made = {name: take(config, options) for name, config in configs.items()}
    return kind(**made, argv=command_line(), named=given_options(), **session_fields(options))


def run_session(
    session: "TrainingSession",
    quiet: bool,
    as_json: bool,
    figures: Callable[[dict[str, Any]], str],
    *,
    also: Sequence[str] = (),
    progress: bool = True,
    unit: str = "B",
    desc: str = "reading",
) -> None:
    """Runs `session` and tells how it went: `figures` of its facts, after the names of the outputs and of the files
    written `also`. `progress`: whether a bar shows the training; `unit` and `desc` are of the bar for `reading`.

    Raises Interrupted and TimedOut with the command line that goes on, and what the session raises."""

    def tell(message: str, **facts: object) -> None:
        say(message, quiet, as_json, **facts)

    quiet = quiet or not session.leads
    observe = observer(quiet, as_json) if progress else None
    with reading_bar(quiet or as_json, session.read(), unit, desc) as reading:
        outcome, facts = session.run(tell, observe, reading)
        if outcome is not None and outcome.finished:
            LINE.keep()
    if not session.leads:
        if outcome is not None and not outcome.finished:
            raise Elsewhere(outcome.ended_early("").exit_code)
        return
    if outcome is not None and not outcome.finished:
        raise stopped(outcome, session.checkpoint_path is not None, session.resume)
    written = [*session.outputs, *also]
    if as_json and not any(map(is_stdout, session.written())):
        click.echo(json.dumps({"outputs": written, **facts}))
    tell(f"wrote {', '.join(written)}{figures(facts)}")
