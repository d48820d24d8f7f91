"""`wv quantize`: a fastText model in a tenth to a hundredth of its size."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import Size, conflict, field_options, json_option, quiet_option
from wv_cli.text.reading_config import RawConfig
from wv_cli.transforms.config import QuantizeConfig


@click.command("quantize", cls=Command)
@click.argument("model", metavar="MODEL")
@click.option("-o", "--output", required=True, metavar="FILE", help="Output file, NAME.ftz, or - for standard output.")
@click.option("--size", type=Size(), metavar="SIZE", help="Choose --cutoff so that FILE is at most this large (2M).")
@field_options(QuantizeConfig)
@click.option("--input", "inputs", multiple=True, metavar="FILE", help="Labeled text for --retrain; repeat for more.")
@click.option("--validation", metavar="FILE", help="Report the score before and after on labeled lines or word pairs.")
@click.option("--meta/--no-meta", default=True, help="Write FILE.meta.json beside the output.")
@field_options(RawConfig)
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Quantize MODEL, a .bin of fastText or wv train: drop rows (--cutoff or --size) and store the others in bytes.

    FILE is a .ftz that fastText reads. Retraining helps with a large text and overfits on a small one, so compare
    with --validation. A model of word vectors keeps the vectors of all its words up to --cutoff. The other rows are
    n-grams, which compose the vectors of unknown words.
    """
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.quantize import QuantizeJob
    from wv_cli.system.places import is_stdout

    if is_stdout(options["output"]) and as_json:
        raise conflict("-o -", "--json", "both write to standard output")
    job = job_of(QuantizeJob, options)
    run_job(job, quiet, as_json, result={"output": job.models.output}, progress=False)
