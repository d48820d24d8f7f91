"""`wv eval`: one subcommand per row of the table of evaluation tasks."""

import sys
from functools import partial
from typing import Any

import click

from wv_cli.commands.shared.gate import check_bar, judge
from wv_cli.commands.shared.help import Command, CommandGroup
from wv_cli.commands.shared.options import dask_option_if, field_options, given_options, quiet_option, take
from wv_cli.commands.shared.reading import from_option, load_vectors
from wv_cli.commands.shared.records import texts_for_models
from wv_cli.errors import UsageError
from wv_cli.evaluation import TASKS, Task, Vectors
from wv_cli.system.places import require_one_use


@click.group(cls=CommandGroup)
def command() -> None:
    """Score vectors, classifiers and language models on test data.

    Several files are scored on the same items, side by side, and tested against the first one. Every report states
    how its numbers were measured.
    """


def _subcommand(task: Task) -> click.Command:
    @click.command(task.name, cls=Command, short_help=task.summary)
    @click.argument("vectors", nargs=-1, required=not task.others, metavar=f"{task.subject.upper()}...")
    @click.option("-d", "--data", multiple=True, required=True, metavar="FILE", help="Data file or folder; repeatable.")
    @field_options(task.config)
    @click.option(
        "--min-score", type=float, metavar="X", help=f"Exit with code 3 unless every {task.measure} is at least X."
    )
    @dask_option_if(task.by_file)
    @from_option(task.subject == "vectors")
    @click.option("--table", "layout", flag_value="table", help="Print a table (default on a terminal).")
    @click.option("--tsv", "layout", flag_value="tsv", help="Print tab-separated columns (default elsewhere).")
    @click.option("--json", "layout", flag_value="json", help="Print one JSON object.")
    @quiet_option
    def run(
        vectors: tuple[str, ...],
        data: tuple[str, ...],
        min_score: float | None,
        layout: str | None,
        quiet: bool,
        dask: str | None = None,
        **options: Any,
    ) -> None:
        from wv_cli.commands.shared.display import emit
        from wv_cli.evaluation import report as layouts
        from wv_cli.jobs.scoring import scored_on
        from wv_cli.text.input_files import expand_inputs

        if min_score is not None:
            check_bar(task, min_score)
        reading = {name: options.pop(name, value) for name, value in (("from_format", None), ("bad_rows", "error"))}
        config = take(task.config, options)
        config.validate()
        config.reject_ineffective(given_options())
        others = [path for name in task.others for path in getattr(config, name)]
        if not vectors:
            _require_others(task, others)
        limit: int | None = getattr(config, "restrict_vocab", 0) or None
        for path in (*vectors, *others):
            require_one_use(path, [*vectors, *others, *data].count("-") > 1)
        load = partial(load_vectors, **reading, limit=limit, quiet=quiet)
        notes: list[str] = []
        config, asked = texts_for_models(config, vectors, data, notes.append)
        each = partial(scored_on, dask, partial(emit, quiet=quiet, as_json=False), load) if dask is not None else None
        beside = partial(load, from_format=None)
        sources = [Vectors(path, partial(load, path), beside) for path in vectors]
        report = task.run(sources, expand_inputs(asked), config, each)
        show = {"table": layouts.as_table, "tsv": layouts.as_tsv, "json": layouts.as_json}
        text = show[layout or ("table" if sys.stdout.isatty() else "tsv")](report)
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
        for note in [*notes, *report.notes] if not quiet else []:
            click.echo(f"note: {note}", err=True)
        judge(report, min_score)

    run.help = f"{task.summary}\n\nData files hold {task.data}. A folder stands for all files in it."
    return run


def _require_others(task: Task, others: list[str]) -> None:
    """Raises UsageError where there is nothing to score, and for an option that concerns the subject alone."""
    command = click.get_current_context().command
    if not others:
        raise click.MissingParameter(param=command.params[0])
    given = given_options()
    for option in command.params:
        if option.name in task.of_subject and option.name in given:
            message = f"{option.opts[0]} needs {task.subject.upper()}"
            raise UsageError(message)


for _task in TASKS.values():
    command.add_command(_subcommand(_task))
