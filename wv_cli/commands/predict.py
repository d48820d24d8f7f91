"""`wv predict`: the labels a classifier gives to lines of text."""

from functools import partial
from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import dask_option, field_options, quiet_option
from wv_cli.models.prediction_config import PredictConfig


@click.command("predict", cls=Command)
@click.argument("model", metavar="MODEL")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@field_options(PredictConfig)
@click.option("--prob", is_flag=True, help="Show the probability behind each label, as fastText's predict-prob.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line: labels and probabilities.")
@click.option("-o", "--output", default="-", metavar="FILE", show_default=True, help="Where to write the answers.")
@dask_option
@quiet_option
def command(quiet: bool, **options: Any) -> None:
    """Predict the labels of every line of INPUT: text files, folders, or - for standard input; gzip, bzip2, xz and zstd
    are unpacked. MODEL is a fastText classifier, .bin or .ftz, from wv train --model supervised or from fastText.

    Each line gives one line of output, as fastText prints it. An empty line is answered by what the model has learnt of
    line ends; a line of output is empty where the model knows nothing of the input or no label reaches --threshold.
    Labels in the input are passed over.
    """
    from wv_cli.commands.shared.display import emit
    from wv_cli.commands.shared.running import job_of
    from wv_cli.jobs.predict import PredictJob

    job_of(PredictJob, options).run(partial(emit, quiet=quiet, as_json=options["as_json"]))
