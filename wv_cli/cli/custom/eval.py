"""`wv eval`: one subcommand per row of the table of evaluation tasks."""

import sys
from typing import Any

import click

from wv_cli.cli.fields import make_command
from wv_cli.cli.help import CommandGroup
from wv_cli.commands.eval import eval_job
from wv_cli.evaluation import TASKS, Task


@click.group(cls=CommandGroup)
def command() -> None:
    """Score vectors, classifiers and language models on test data.

    Several files are scored on the same items, side by side, and tested against the first one. Every report states
    how its numbers were measured.
    """


def _subcommand(task: Task) -> click.Command:
    made = make_command(task.name, eval_job(task.name))
    made.short_help, run = task.summary, made.callback
    assert run is not None

    def choose_layout(layout: str | None, **options: Any) -> Any:
        return run(layout=layout or ("table" if sys.stdout.isatty() else "tsv"), **options)

    made.callback = choose_layout
    made.params[-1:-1] = [
        click.Option([f"--{layout}", "layout"], flag_value=layout, help=f"Print {help}.")
        for layout, help in (
            ("table", "a table (default on a terminal)"),
            ("tsv", "tab-separated columns (default elsewhere)"),
            ("json", "one JSON object"),
        )
    ]
    return made


for _task in TASKS.values():
    command.add_command(_subcommand(_task))
