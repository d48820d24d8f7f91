"""`wv quantize`: a fastText model in a tenth to a fiftieth of its size."""

import json
import sys
from typing import Any

import click

from wv_cli.commands.options import Size, conflict, field_options, json_option, quiet_option, take
from wv_cli.config import QuantizeConfig
from wv_cli.errors import UsageError

OPTIONS = {
    "cutoff": "Rows of the input matrix to keep, words and n-grams: those of the largest norms; 0 keeps all.",
    "dsub": "Coordinates in one byte; the more, the smaller and the coarser.",
    "qnorm": "Keep the norms of rows in a byte of their own.",
    "qout": "Quantise the output matrix, too, where that makes it smaller.",
    "retrain": "Train the rows that --cutoff keeps on --input before they are quantised (classifiers).",
    "epochs": "Passes over --input.",
    "lr": "Learning rate of --retrain.",
    "threads": "Threads; the result of quantising does not depend on them.",
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
@quiet_option
@json_option
def command(
    model: str,
    output: str,
    size: int | None,
    inputs: tuple[str, ...],
    validation: str | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Make MODEL, a .bin file of fastText or wv train, many times smaller: rows dropped (--cutoff), the others kept as
    one byte for --dsub coordinates. FILE is a .ftz that fastText reads.

    Classifiers lose little, and less with --cutoff 20000 --qnorm --retrain. Word vectors keep all their words up to
    --cutoff; the rest of the rows goes to n-grams, which words that are not known need.
    """
    from dataclasses import replace

    from wv_cli.commands.display import say
    from wv_cli.evaluation.model_score import measure, score
    from wv_cli.formats.fasttext_read import load_model
    from wv_cli.formats.fasttext_write import save_model
    from wv_cli.models.quantize import cutoff_for_size, dense_bytes, quantize, quantized_bytes
    from wv_cli.models.retrain import retrainer
    from wv_cli.text.output import check_writable

    config = take(QuantizeConfig, options)
    if size and config.cutoff:
        raise conflict("--size", "--cutoff", "one follows from the other")
    if config.retrain != bool(inputs):
        message = "--retrain and --input FILE need each other: the rows that are left are trained on that text"
        raise UsageError(message)
    if output == "-" and as_json:
        raise conflict("-o -", "--json", "both write to standard output")
    replace(config, cutoff=config.cutoff or size or 0).validate()
    check_writable(output)
    dense = load_model(model)
    if config.retrain and not dense.is_classifier:
        raise UsageError(f"--retrain is for classifiers; {model} holds word vectors")
    if size:
        config = replace(config, cutoff=cutoff_for_size(dense, size, config))
    retrain = retrainer(inputs, config) if config.retrain and config.cutoff else None
    small = quantize(dense, config, retrain)
    facts: dict[str, Any] = {"output": output, "rows": small.input.shape[0], "cutoff": config.cutoff}
    facts |= {"bytes_before": dense_bytes(dense), "bytes_after": quantized_bytes(small)}
    if validation:
        facts |= {"measure": measure(dense), "before": score(dense, validation), "after": score(small, validation)}
    save_model(output, small)
    before, after = facts["bytes_before"], facts["bytes_after"]
    say(f"{dense.input.shape[0]:,} rows -> {facts['rows']:,}", quiet, as_json)
    say(f"{before:,} bytes -> {after:,}: {before / after:.1f} times smaller", quiet, as_json)
    if validation:
        change = 100 * (facts["after"] - facts["before"])
        text = (
            f"{facts['measure']} {facts['before']:.4f} -> {facts['after']:.4f} ({change:+.2f} points) on {validation}"
        )
        say(text, quiet, as_json)
    if as_json:
        sys.stdout.write(json.dumps(facts) + "\n")
