"""`wv lm convert`: a model from one file format to another."""

import click

from wv_cli.commands.shared.help import Command

to_option = click.option("--to", metavar="FORMAT", help="Output format: arpa or binary; by default the ending chooses.")
quantize_option = click.option(
    "--quantize", type=click.IntRange(2, 16), metavar="BITS",
    help="Bits per probability and back-off weight of a binary (8 hardly changes scores).",
)  # fmt: skip


@click.command("convert", cls=Command, short_help="Write a model in another format.")
@click.argument("model", metavar="MODEL")
@click.argument("output", metavar="OUTPUT")
@to_option
@quantize_option
def command(model: str, output: str, to: str | None, quantize: int | None) -> None:
    """Write MODEL as OUTPUT: NAME.arpa or NAME.arpa.gz (ARPA), NAME.lm (wv's binary), or - (ARPA on standard output).

    The conversion loses nothing without --quantize: every number reads back to the same value. Of KenLM's binaries
    only tries can be converted, because the others hold no words of n-grams.
    """
    from wv_cli.lm.files import format_for_output, load_ngrams, save
    from wv_cli.system.output import check_writable

    format_for_output(output, to).require_quantize(quantize)
    check_writable(output)
    save(output, load_ngrams(model), format=to, quantize=quantize)
