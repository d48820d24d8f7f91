"""`wv filter`: which records of a corpus stay."""

from collections.abc import Callable
from typing import Any

import click

from wv_cli.commands.shared.flattening import flatten_option, tokenize_option, unit_option
from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import (
    dask_option,
    field_options,
    given_options,
    json_option,
    quiet_option,
    threads_option,
)
from wv_cli.filtering.scorers import SCORERS
from wv_cli.text.reading_config import RecordsConfig


def rule_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """An option for each scorer."""
    for name, kind in reversed(SCORERS.items()):
        option = click.option(f"--{name}", name, multiple=True, metavar=kind.metavar, help=kind.help)
        function = option(function)
    return function


@click.command("filter", cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", metavar="FOLDER", help="Folder for the records that stay, in files named as INPUT.")
@click.option("--rejected", metavar="FOLDER", help="Also write the other records, each with its rule's name.")
@click.option(
    "--reason", default="filter", show_default=True, metavar="NAME", help="Field of --rejected for the rule's name."
)
@rule_options
@click.option("--rules", multiple=True, metavar="FILE", help="Rules from a TOML file, or from a shipped recipe.")
@click.option("--tokenizer", metavar="FILE", help="Sentencepiece model of the language model of --perplexity.")
@click.option(
    "--perplexity-of", type=click.Choice(["ccnet", "lines", "raw", "datatrove"]), default="ccnet", show_default=True,
    help="How a text is normalized and cut into sentences for --perplexity.",
)  # fmt: skip
@click.option(
    "--exact-duplicates", type=click.Choice(["document", "paragraph"]),
    help="Keep the first of equal texts, or of equal lines in all texts.",
)  # fmt: skip
@click.option(
    "--near-duplicates", type=float, metavar="S",
    help="Keep the first of records whose texts are similar: 0.72 is FineWeb's threshold.",
)  # fmt: skip
@click.option("--keep-numbers", is_flag=True, help="Texts that differ in a number are no near-duplicates.")
@click.option("--against", metavar="INDEX", help="Near-duplicates of an earlier run (--save-index) go, too.")
@click.option("--save-index", metavar="FILE", help="Also save the near-duplicates known in the end, for --against.")
@click.option("--clusters", metavar="FILE", help="With --dry-run: write which records are near-duplicates.")
@flatten_option
@tokenize_option
@unit_option
@click.option("--add-scores", is_flag=True, help="Add the score of each rule to the records.")
@click.option("--dry-run", is_flag=True, help="Write no records; show what each rule would reject.")
@click.option("--explain", type=click.IntRange(1), metavar="N", help="Show the scores of record N only.")
@click.option("--overwrite", is_flag=True, help="Begin anew instead of going on with an unfinished run.")
@threads_option("Threads")
@field_options(RecordsConfig)
@dask_option
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Keep the records of INPUT that pass every rule: JSON lines, CSV, TSV or Parquet, plain or compressed.

    \b
    A rule is a scorer with a range, or with a comparison in quotes:
      --words 50..100000
      --language lid.176.ftz:en,de=0.65..
      --classifier 'quality=model.bin:hq>=0.5'

    Each file of INPUT gives a file of the same name in FOLDER. Records stay as they are, byte for byte, and in their
    order. Cheap rules run first. A table of what each rule rejected ends the run; --json prints it as an object.

    A run that was killed goes on from its last point when the same command is given again.
    """
    from wv_cli.commands.shared.filtering_report import explanation, table
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.filter import FilterJob, with_rules

    job = job_of(FilterJob, with_rules(options, given_options()))
    run_job(job, quiet, as_json, told=table, show=explanation, progress=False, bar=("B", "filtering"))
