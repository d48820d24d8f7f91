"""`wv distil`: an encoder's vectors of words, as a static embedding."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import field_options, quiet_option
from wv_cli.encoders.config import DistilConfig


@click.command("distil", cls=Command)
@click.argument("vocab", metavar="VOCAB")
@click.option("--encoder", required=True, metavar="DIR", help="Folder of the encoder, as for wv vectors.")
@click.option("-o", "--output", required=True, metavar="OUT", help="Folder or vector file to write.")
@field_options(DistilConfig)
@click.option(
    "--to",
    "to_format",
    metavar="FORMAT",
    help="Output format: static or a vector format; by default OUT's ending chooses.",
)
@quiet_option
def command(quiet: bool, **options: Any) -> None:
    """Encode each word of VOCAB (lines of `word count`) with a sentence encoder; reduce and weight the vectors.

    The result is a static embedding: a folder that wv, model2vec and sentence-transformers load. A sentence is then
    the mean of its words, hundreds of times as fast as the encoder. The folder's tokenizer splits text at
    punctuation, and lower-cases it if no word of VOCAB has a capital.

    If OUT has the ending of a vector file, it becomes one, with the weights multiplied into the vectors.
    """
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.distil import DistilJob

    run_job(job_of(DistilJob, options), quiet, bar=(" words", "encoding"))
