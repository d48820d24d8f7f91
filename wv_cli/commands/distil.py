"""`wv distil`: an encoder's vectors of its pieces, or of words, as a static embedding."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import field_options, quiet_option
from wv_cli.encoders.config import DistilConfig, FitConfig


@click.command("distil", cls=Command)
@click.argument("vocab", metavar="VOCAB", required=False)
@click.option("--encoder", required=True, metavar="DIR", help="Folder of the encoder, as for wv vectors.")
@click.option("-o", "--output", required=True, metavar="OUT", help="Folder or vector file to write.")
@click.option("--words", metavar="FILE", help="Add these words, one a line, to the pieces.")
@click.option("--counts", metavar="FILE", help="Weigh pieces by these `word count` lines, not by their ranks.")
@click.option(
    "--variance", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="P",
    help="Keep the dimensions that explain this fraction of the variance, instead of --dim.",
)  # fmt: skip
@click.option("--clusters", type=click.IntRange(min=1), metavar="N", help="Let pieces share N rows, found by k-means.")
@field_options(DistilConfig)
@field_options(FitConfig)
@click.option(
    "--to",
    "to_format",
    metavar="FORMAT",
    help="Output format: static or a vector format; by default OUT's ending chooses.",
)
@quiet_option
def command(quiet: bool, **options: Any) -> None:
    """Make a static embedding of a sentence encoder: a folder that wv, model2vec and sentence-transformers load.

    Without VOCAB it has a row for each piece of the encoder's tokenizer, as model2vec makes it. Any text then has
    pieces. With VOCAB (lines of `word count`) it has a row for each of these words. Text is then split at punctuation,
    and lower-cased if no word of VOCAB has a capital.

    --train fits the rows of the pieces to the encoder's vectors of your texts, as tokenlearn does. It costs one run of
    the encoder over the texts.

    The vectors are reduced, and rare pieces and words weigh more. A sentence is the mean of its rows, hundreds of times
    as fast as the encoder. If OUT has the ending of a vector file, it becomes one.
    """
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.distil import DistilJob

    unit = " words" if options["vocab"] else " pieces"
    run_job(job_of(DistilJob, options), quiet, bar=(unit, "encoding"))
