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
from wv_cli.text.config import PhrasesConfig, ReadingConfig


@click.command("phrases", cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", default="-", metavar="FILE", show_default=True, help="Where to write the joined text.")
@click.option(
    "--threshold", type=float, multiple=True, metavar="SCORE",
    help="Join pairs that score higher; given several times: one pass each.  [default: 100; npmi: 0.5]",
)  # fmt: skip
@click.option(
    "--passes", type=click.IntRange(1, 100), metavar="N",
    help="N passes, --threshold being the last; the ones before are higher: 400, 200, 100; npmi: 0.875, 0.75, 0.5.",
)  # fmt: skip
@field_options(PhrasesConfig)
@click.option("--save-phrases", metavar="FILE", help="Also write the phrases: phrase, score, pass and words, by tabs.")
@click.option("--apply", metavar="FILE", help="Find none: join the phrases that --save-phrases kept from another text.")
@click.option(
    "--memory", type=Size(), default="2G", show_default=True, metavar="SIZE",
    help="Half for the encoded text (the rest goes to a file), half for pair counts (less costs time, not exactness).",
)  # fmt: skip
@field_options(ReadingConfig)
@dask_option
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Join phrases in INPUT: text files, folders, or - for standard input; gzip, bzip2, xz and zstd are unpacked.

    A pair of neighbours in a line becomes one word when it occurs much more often than its words would by chance. Each
    further pass works on the joined text, so longer phrases grow: --threshold 200 --threshold 100, or --passes 2.
    --apply joins the same phrases in another text, in the same order. With --dask workers read a part each, to the
    file that one process writes.
    """
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.metadata import number_of
    from wv_cli.jobs.phrases import PhrasesJob

    def told(metadata: dict[str, Any]) -> str:
        counts = f"{metadata['tokens_read']:,} words in, {metadata['tokens']:,} out, "
        return f"{counts}{number_of(metadata['lines'], 'line')}; {metadata['seconds']:.1f} s"

    run_job(job_of(PhrasesJob, options), quiet, as_json, told, bar=("B", "reading"))
