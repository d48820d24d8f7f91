"""`wv quantize`: a fastText model in a tenth to a hundredth of its size."""

import json
import sys
from typing import Any

import click

from wv_cli.commands.shared.options import Size, conflict, field_options, json_option, quiet_option, take
from wv_cli.transforms.config import QuantizeConfig

OPTIONS = {
    "cutoff": "Rows of the input matrix to keep, words and n-grams: those of the largest norms; 0 keeps all.",
    "dsub": "Coordinates in one byte; the more, the smaller and the coarser.",
    "qnorm": "Keep the norms of rows in a byte of their own.",
    "qout": "Quantise the output matrix, too, where that makes it smaller.",
    "retrain": "Classifiers: train the rows that are kept on --input before they are quantised.",
    "epochs": "Passes over --input.",
    "lr": "Learning rate of --retrain.",
    "threads": "Threads; without --retrain the result does not depend on them.",
    "seed": "Seed of every random draw.",
}


@click.command("quantize", short_help="Make a fastText model many times smaller.")
@click.argument("model", metavar="MODEL")
@click.option("-o", "--output", required=True, metavar="FILE", help="NAME.ftz, or - for standard output.")
@click.option(
    "--size", type=Size(), metavar="SIZE", help="Choose the --cutoff that makes FILE at most this large (2M)."
)
@field_options(QuantizeConfig, OPTIONS)
@click.option("--input", "inputs", multiple=True, metavar="FILE", help="Labelled text for --retrain; repeat for more.")
@click.option(
    "--validation", metavar="FILE", help="Tell the score before and after: labelled lines, or pairs of words."
)
@click.option("--meta/--no-meta", "write_meta", default=True, help="Write FILE.meta.json beside the output.")
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Make MODEL, a .bin of fastText or wv train, many times smaller: rows dropped (--cutoff or --size), the others
    kept as a byte for every --dsub coordinates. FILE is a .ftz that fastText reads.

    Retraining pays when the text is large; on a small one it overfits, so compare with --validation. Word vectors keep
    all their words up to --cutoff, and these their vectors; the rest of the rows goes to n-grams, of which the vectors
    of unknown words are made.

    \b
    wv quantize news.bin -o news.ftz --cutoff 20000 --qnorm --validation news.valid
    wv quantize vectors.bin -o vectors.ftz --size 10M --validation ws353.txt
    """
    from wv_cli.commands.shared.display import say
    from wv_cli.jobs.quantize import QuantizeSession

    if options["output"] == "-" and as_json:
        raise conflict("-o -", "--json", "both write to standard output")

    def tell(message: str, **facts: object) -> None:
        say(message, quiet, as_json, **facts)

    config = take(QuantizeConfig, options)
    session = QuantizeSession(config=config, argv=("wv", *sys.argv[1:]), **options)
    _, facts = session.run(tell)
    if as_json:
        click.echo(json.dumps({"output": session.output, **facts}))
