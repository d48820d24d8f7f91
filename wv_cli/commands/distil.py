"""`wv distil`: an encoder's vectors of words, as a static embedding."""

from pathlib import Path
from typing import Any

import click

from wv_cli.commands.shared.bar import reading_bar
from wv_cli.commands.shared.conversions import STATIC
from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import field_options, given_options, quiet_option, take
from wv_cli.encoders.config import DistilConfig


@click.command("distil", cls=Command)
@click.argument("vocab", metavar="VOCAB")
@click.option("--encoder", required=True, metavar="DIR", help="The folder of the encoder, as for wv vectors.")
@click.option("-o", "--output", required=True, metavar="OUT", help="The folder to write, or a vector file.")
@field_options(DistilConfig)
@click.option("--to", "to_format", metavar="FORMAT", help="static, or a format of vectors; by default OUT's ending.")
@quiet_option
def command(vocab: str, encoder: str, output: str, to_format: str | None, quiet: bool, **options: Any) -> None:
    """Encode the words of VOCAB (lines of `word count`), each by itself, reduce and weigh their vectors.

    The result is a static embedding: a folder that model2vec and sentence-transformers load, and `wv` wherever it reads
    vectors or takes an --encoder. A sentence is then the mean of its words, hundreds of times as fast as the encoder.
    In the folder text is cut where letters and punctuation meet and, if no word has a capital, made lower case.

    OUT with the ending of a vector file becomes one, with the weights in the vectors.
    """
    from wv_cli.formats import format_for_output, save
    from wv_cli.formats.beside import MODEL
    from wv_cli.formats.static import save_folder
    from wv_cli.jobs.distil import distil
    from wv_cli.system.output import check_writable
    from wv_cli.text.vocab import read_vocab

    config = take(DistilConfig, options)
    config.refuse_idle(given_options())
    config.validate()
    static = to_format == STATIC or (to_format is None and output != "-" and not Path(output).suffix)
    inner = Path(output) / MODEL
    check_writable(str(inner) if static and inner.parent.is_dir() else output)
    row = None if static else format_for_output(output, to_format)
    counted = read_vocab(vocab)
    with reading_bar(quiet, unit=" words", desc="encoding") as progress:
        made = distil(encoder, counted, config, progress)
    if row is None:
        save_folder(output, made.vectors, weights=made.weights, split="punctuation")
    else:
        save(output, made.weighted(), format=row.name)
    if not quiet:
        size = f"{made.from_dim} -> {made.vectors.dim} numbers"
        click.echo(f"{output}: {len(counted.words):,} words, {size}, {row.name if row else STATIC}", err=True)
