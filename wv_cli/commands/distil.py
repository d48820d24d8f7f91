"""`wv distil`: an encoder's vectors of words, as a static embedding."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import field_options, quiet_option
from wv_cli.encoders.config import DistilConfig


@click.command("distil", cls=Command)
@click.argument("vocab", metavar="VOCAB")
@click.option("--encoder", required=True, metavar="DIR", help="The folder of the encoder, as for wv vectors.")
@click.option("-o", "--output", required=True, metavar="OUT", help="The folder to write, or a vector file.")
@field_options(DistilConfig)
@click.option("--to", "to_format", metavar="FORMAT", help="static, or a format of vectors; by default OUT's ending.")
@quiet_option
def command(quiet: bool, **options: Any) -> None:
    """Encode the words of VOCAB (lines of `word count`), each by itself, reduce and weigh their vectors.

    The result is a static embedding: a folder that model2vec and sentence-transformers load, and `wv` wherever it reads
    vectors or takes an --encoder. A sentence is then the mean of its words, hundreds of times as fast as the encoder.
    In the folder text is cut where letters and punctuation meet and, if no word has a capital, made lower case.

    OUT with the ending of a vector file becomes one, with the weights in the vectors.
    """
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.distil import DistilJob

    run_job(job_of(DistilJob, options), quiet, bar=(" words", "encoding"))
