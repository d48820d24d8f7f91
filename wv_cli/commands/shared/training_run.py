"""How a command runs a job that trains: what it tells meanwhile and in the end."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from wv_cli.commands.shared.bar import close_bar, reading_bar
from wv_cli.commands.shared.display import emit, explain_stop, observer
from wv_cli.system.json_text import to_json
from wv_cli.system.places import is_stdout

if TYPE_CHECKING:
    from wv_cli.jobs.job import Job


def run_training(
    job: "Job",
    outputs: Sequence[str],
    quiet: bool,
    as_json: bool,
    figures: Callable[[dict[str, Any]], str],
    *,
    progress: bool = True,
    unit: str = "B",
    desc: str = "reading",
) -> None:
    """Runs `job` and tells how it went: the names of the `outputs`, then `figures` of its metadata. `progress`: whether
    a bar shows the training; `unit` and `desc` are of the bar for reading.

    Raises Interrupted and TimedOut with the command line that goes on, and what the job raises."""

    def log(message: str, **facts: object) -> None:
        emit(message, quiet, as_json, **facts)

    on_progress = observer(quiet, as_json) if progress else None
    with reading_bar(quiet or as_json, job.reads(), unit, desc) as on_reading:
        outcome, metadata = job.run(log, on_progress, on_reading)
        if outcome is not None and outcome.is_finished:
            close_bar(leave=True)
    if outcome is not None and not outcome.is_finished:
        raise explain_stop(outcome, job.checkpoint_path is not None, job.values()["resume"])
    if as_json and not any(map(is_stdout, job.writes())):
        click.echo(to_json({"outputs": list(outputs), **metadata}))
    log(f"wrote {', '.join(outputs)}{figures(metadata)}")
