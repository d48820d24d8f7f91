"""`wv predict`: the labels a classifier gives to lines of text."""

from functools import partial
from typing import Any

import click

from wv_cli.commands.shared.flattening import flatten_option, unit_option
from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import dask_option, field_options, quiet_option
from wv_cli.models.prediction_config import PredictConfig


@click.command("predict", cls=Command)
@click.argument("model", metavar="MODEL")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@field_options(PredictConfig)
@click.option("--prob", is_flag=True, help="Print the probability behind each label, as fastText's predict-prob.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line, with labels and probabilities.")
@click.option("--add", metavar="NAME", help="Write records again, with fields NAME, NAME_score and NAME_known added.")
@flatten_option
@unit_option
@click.option(
    "--unknown", default="und", show_default=True, metavar="LABEL",
    help="Label of a text without a known word; `answer` gives fastText's answer.",
)  # fmt: skip
@click.option("-o", "--output", default="-", metavar="FILE", show_default=True, help="File for the answers.")
@dask_option
@quiet_option
def command(quiet: bool, **options: Any) -> None:
    """Predict the labels of every line of INPUT: text files, folders, or - for standard input, plain or compressed.

    MODEL is a fastText classifier (.bin or .ftz), made by `wv train --model supervised` or by fastText.

    Each line of input gives one line of output, in fastText's format. An empty line gets the labels that the model
    learned for line ends. A line of output is empty if the model knows nothing of the line, or if no label reaches
    --threshold. Labels in the input are skipped.

    With --dask, workers process parts of INPUT; the result is the same. Every worker needs this version of wv and
    the same files at the same paths.
    """
    from wv_cli.commands.shared.display import emit
    from wv_cli.commands.shared.habits import require_files
    from wv_cli.commands.shared.running import job_of
    from wv_cli.jobs.predict import PredictJob

    require_files(options["inputs"])
    job_of(PredictJob, options).run(partial(emit, quiet=quiet, as_json=options["as_json"]))
