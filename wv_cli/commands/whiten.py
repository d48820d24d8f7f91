"""`wv whiten`: fits a transform to the mean and covariance of vectors, saves it, applies it."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import field_options, json_option, precision_option, quiet_option
from wv_cli.commands.shared.reading import bad_rows_option
from wv_cli.transforms.config import WhitenConfig


@click.command("whiten", cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="IN")
@click.option("-o", "--output", metavar="FILE", help="Output file, whose ending chooses the format.")
@field_options(WhitenConfig)
@click.option("--fit", metavar="FILE", help="Fit on the vectors of FILE instead of IN.")
@click.option("--top", type=click.IntRange(1), metavar="N", help="Fit on the first N rows only.")
@click.option("--counts", metavar="VOCAB", help="Weight words in the fit by their counts in VOCAB.")
@click.option("--moments", multiple=True, metavar="FILE", help="Fit on saved moments; repeat to merge several.")
@click.option("--transform", metavar="FILE", help="Apply this saved transform and fit nothing.")
@click.option("--save-transform", metavar="FILE", help="Save the fitted transform, for --transform.")
@click.option("--save-moments", metavar="FILE", help="Save row count, mean and scatter, for --moments and --merge.")
@click.option("--merge", is_flag=True, help="Merge INs, which are saved moments of shards.")
@click.option(
    "--from", "from_format", metavar="FORMAT", help="Format of the vectors read; by default their content tells."
)
@bad_rows_option
@click.option("--to", "to_format", metavar="FORMAT", help="Format of the vectors written.")
@precision_option
@click.option("--escape", is_flag=True, help="Write words the output cannot hold as new%20york.")
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Whiten the vectors of IN: make their mean 0 and their covariance the identity, or apply a related transform.

    Whitening is meant for sentence vectors and often makes word vectors worse; `wv eval` measures it. Mean and
    covariance are computed in float64 in one pass, and IN is read again and written in blocks. IN may exceed memory,
    except as standard input, codes or a fastText model.

    \b
    Transforms:
      whiten   covariance becomes the identity
      zca      the same, in the original axes
      pca      rotation only
      soft     between pca and whiten, by --beta
      abtt     all but the top directions
      project  random directions; nothing is fitted
    """
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.whiten import WhitenJob

    run_job(job_of(WhitenJob, options), quiet, as_json, _summarize)


def _summarize(facts: dict[str, Any]) -> str:
    """The figures as one line."""
    parts = []
    if "rows" in facts:
        parts.append(f"fitted on {facts['rows']:,} rows of {facts['dim']} numbers")
    if facts.get("without_count"):
        parts.append(f"{facts['without_count']:,} words have no count and were left out")
    if "method" in facts:
        parts.append(f"{facts['method']}: {facts['dim']} -> {facts['new_dim']} dimensions")
        if facts["rank"] < facts["dim"]:
            parts.append(f"only {facts['rank']} directions vary")
        if "expected_rows" in facts:
            parts.append(
                f"{facts['rows']:,} rows are few, and similarities may suffer; give {facts['expected_rows']:,}, a "
                "smaller --dim or --method soft"
            )
    if "written" in facts:
        parts.append(f"{facts['output']}: {facts['written']:,} rows")
    if facts.get("zero_vectors"):
        parts.append(f"{facts['zero_vectors']:,} of them are zero")
    return "; ".join(parts)
