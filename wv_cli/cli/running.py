"""How a command runs its job: the job is made of the options, tells how it goes, and its result is told in the end."""

import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wv_cli.cli.bar import close_bar, reading_bar
from wv_cli.cli.display import emit, explain_stop, observer
from wv_cli.cli.options import given_options
from wv_cli.cli.reading import ignore_format_warnings
from wv_cli.io.places import is_stdout
from wv_cli.io.remote import show_names, show_names_in

if TYPE_CHECKING:
    from wv_cli.commands.job import Job

Kind = TypeVar("Kind", bound="Job")


def command_line() -> tuple[str, ...]:
    """As it is recorded beside results."""
    return ("wv", *sys.argv[1:])


def run_command(kind: "type[Job]", options: Mapping[str, Any], quiet: bool, as_json: bool) -> int:
    """Runs the command whose job is `kind`, and returns its exit code. With --json its metadata is printed as one
    object, on stderr where stdout has the job's data. Otherwise what it shows comes first, on stdout, and then its
    report, on stderr. A job that answers queries prints each answer (queries.run_questions).

    Raises Interrupted and TimedOut with the command line that goes on, and what the job raises."""
    job = kind.from_options({**options, "argv": command_line(), "explicit": given_options()})
    if quiet:
        ignore_format_warnings()
    if job.ANSWERS:
        from wv_cli.cli.queries import run_questions

        return run_questions(job, quiet, as_json)
    log = partial(emit, quiet=quiet, as_json=as_json)
    on_progress = observer(quiet, as_json) if job.SHOWS_TRAINING else None
    with reading_bar(quiet or as_json or job.READING is None, job.reads(), *(job.READING or ())) as on_reading:
        outcome, metadata = job.run(log, on_progress, on_reading)
        if outcome is not None and outcome.is_finished:
            close_bar(leave=True)
    if outcome is not None and not outcome.is_finished:
        raise explain_stop(outcome, job.checkpoint_path is not None, job.values()["resume"])
    to_stderr = any(map(is_stdout, job.results()))
    if as_json:
        if kind.JSON_HELP:
            from wv_cli.io.json_text import to_json

            click.echo(to_json(show_names_in(job.facts(metadata)), escape=kind.JSON_IS_ASCII), err=to_stderr)
        return job.judge(metadata)
    if not (quiet and job.is_verdict) and (shown := job.show(metadata)):
        from wv_cli.words import encode

        stream = sys.stderr if to_stderr else sys.stdout
        stream.buffer.write(encode(show_names(shown)))
        stream.buffer.flush()
    if not quiet and (line := job.report(metadata)):
        click.echo(show_names(line), err=True)
    return job.judge(metadata)
