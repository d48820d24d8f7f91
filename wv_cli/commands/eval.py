"""`wv eval`: one subcommand per row of the table of evaluation tasks."""

import sys
from collections.abc import Callable
from typing import Any

import click

from wv_cli.commands.shared.help import Command, CommandGroup
from wv_cli.commands.shared.options import field_options, given_options, quiet_option, take
from wv_cli.commands.shared.reading import from_option, load_vectors, require_one_use
from wv_cli.errors import GateMissed, UsageError, WvError
from wv_cli.evaluation import TASKS, Report, Task, Vectors
from wv_cli.text.config import ReadingConfig


@click.group(cls=CommandGroup)
def command() -> None:
    """Score vector files against data that people made.

    Several vector files are scored on the same items, side by side, and tested against the first one. A number depends
    on how it was measured: every report says so.
    """


def _subcommand(task: Task) -> click.Command:
    @click.command(task.name, cls=Command, short_help=task.summary)
    @click.argument("vectors", nargs=-1, required=True, metavar=f"{task.subject.upper()}...")
    @click.option("-d", "--data", multiple=True, required=True, metavar="FILE", help="File or folder; may be repeated.")
    @field_options(task.config)
    @click.option(
        "--min-score", type=float, metavar="X", help=f"Exit with code 3 unless every {task.measure} is at least X."
    )
    @from_option(task.subject == "vectors")
    @click.option("--table", "layout", flag_value="table", help="A table for people; the default on a terminal.")
    @click.option("--tsv", "layout", flag_value="tsv", help="Tab-separated columns; the default elsewhere.")
    @click.option("--json", "layout", flag_value="json", help="One JSON object.")
    @quiet_option
    def run(
        vectors: tuple[str, ...],
        data: tuple[str, ...],
        min_score: float | None,
        layout: str | None,
        quiet: bool,
        from_format: str | None = None,
        **options: Any,
    ) -> None:
        from wv_cli.evaluation import report as layouts
        from wv_cli.formats.recognise import texts
        from wv_cli.text.input_files import expand_inputs

        if min_score is not None:
            _check_bar(task, min_score)
        config = take(task.config, options)
        config.validate()
        config.refuse_idle(given_options())
        limit: int | None = getattr(config, "restrict_vocab", 0) or None
        for path in vectors:
            require_one_use(path, [*vectors, *data].count("-") > 1)

        def loader(path: str) -> Callable[[], Any]:
            return lambda: load_vectors(path, from_format, limit, quiet)

        notes: list[str] = []
        asked = texts(data, note=notes.append, force=config.force_text) if isinstance(config, ReadingConfig) else data
        report = task.run([Vectors(path, loader(path)) for path in vectors], expand_inputs(asked), config)
        show = {"table": layouts.as_table, "tsv": layouts.as_tsv, "json": layouts.as_json}
        text = show[layout or ("table" if sys.stdout.isatty() else "tsv")](report)
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
        for note in [*notes, *report.notes] if not quiet else []:
            click.echo(f"note: {note}", err=True)
        _judge(report, min_score)

    run.help = f"{task.summary}\n\nData files hold {task.data}. A folder stands for all files in it."
    return run


def _check_bar(task: Task, min_score: float) -> None:
    """Raises UsageError for a bar that every score passes or none."""
    low, high = task.scale
    if not low <= min_score <= high:
        message = f"--min-score {min_score:g}: {task.measure} lies between {low:g} and {high:g}"
        raise UsageError(message)
    if high == 100 and 0 < min_score <= 1:
        message = f"--min-score {min_score:g}: {task.measure} is in percent; write {100 * min_score:g}"
        raise UsageError(message)


def _judge(report: Report, min_score: float | None) -> None:
    """Raises GateMissed for a score below the bar, WvError when one could not be computed."""
    if min_score is not None and (missed := report.below(min_score)):
        raise GateMissed("; ".join(missed))
    if report.unscored:
        raise WvError("; ".join(report.unscored))


for _task in TASKS.values():
    command.add_command(_subcommand(_task))
