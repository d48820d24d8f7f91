"""`wv dump`: what a fastText model holds, as text."""

import sys

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import quiet_option


@click.command("dump", cls=Command)
@click.argument("model", metavar="MODEL")
@click.argument("what", type=click.Choice(["args", "dict", "input", "output"]))
@quiet_option
def command(model: str, what: str, quiet: bool) -> None:
    """Print a part of MODEL (.bin, .ftz; - is standard input) in the format of fastText's `dump`.

    \b
    args    the training arguments in the file, `name value`
    dict    the number of entries, then `word count word|label`
    input   `rows dim`, then a row per word and per bucket (a .ftz is decoded)
    output  the same of the output layer
    """
    from wv_cli.formats.fasttext_bin import load_model
    from wv_cli.formats.fasttext_dump import parts

    for piece in parts(load_model(model), what):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
