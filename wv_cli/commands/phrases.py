"""`wv phrases`: joins words that belong together, as word2phrase does."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import (
    Size,
    dask_option,
    field_options,
    json_option,
    quiet_option,
)
from wv_cli.text.config import PhrasesConfig
from wv_cli.text.reading_config import ReadingConfig


@click.command("phrases", cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", default="-", metavar="FILE", show_default=True, help="File for the joined text.")
@click.option(
    "--threshold", type=float, multiple=True, metavar="SCORE",
    help="Join pairs that score higher; repeat for one pass each.  [default: 100; npmi: 0.5]",
)  # fmt: skip
@click.option(
    "--passes", type=click.IntRange(1, 100), metavar="N",
    help="Number of passes; each earlier pass has a stricter threshold (400, 200, 100).",
)  # fmt: skip
@field_options(PhrasesConfig)
@click.option(
    "--save-phrases", metavar="FILE", help="Also write the phrases as tab-separated lines: phrase, score, pass, words."
)
@click.option(
    "--apply", metavar="FILE", help="Join the phrases of this --save-phrases file instead of finding phrases."
)
@click.option(
    "--memory", type=Size(), default="2G", show_default=True, metavar="SIZE",
    help="Memory for the encoded text and for pair counts, half each.",
)  # fmt: skip
@field_options(ReadingConfig)
@dask_option
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Join phrases in INPUT: text files, folders, or - for standard input, plain or compressed.

    A pair of neighboring words becomes one word if it occurs much more often than chance predicts. Each further
    pass reads the joined text, so that longer phrases grow: --threshold 200 --threshold 100, or --passes 2. --apply
    joins the same phrases in another text.

    The score word2vec is (count(ab) - min_count) * words / (count(a) * count(b)). The score npmi lies between -1 and
    1; its passes have the thresholds 0.875, 0.75, 0.5. A smaller --memory costs time, not exactness.

    Connectors begin and end no phrase. Of "bank of america" the score is that of bank and america, with the count of
    the whole phrase, as in gensim. A file of --save-phrases keeps the connectors of its phrases.

    With --dask, workers process parts of INPUT; the result is the same. Every worker needs this version of wv and
    the same files at the same paths.
    """
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.metadata import number_of
    from wv_cli.jobs.phrases import PhrasesJob

    def summarize(metadata: dict[str, Any]) -> str:
        counts = f"{metadata['tokens_read']:,} words in, {metadata['tokens']:,} out, "
        return f"{counts}{number_of(metadata['lines'], 'line')}; {metadata['seconds']:.1f} s"

    run_job(job_of(PhrasesJob, options), quiet, as_json, summarize, bar=("B", "reading"))
