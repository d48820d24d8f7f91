"""`wv convert`: reads vectors in one file format and writes them in another."""

import sys
from typing import TYPE_CHECKING, Any

import click

from wv_cli.commands.shared.conversions import (
    MODEL,
    STATIC,
    refuse_others,
    save_model_again,
    save_static,
    static_options,
)
from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import quiet_option

if TYPE_CHECKING:
    from wv_cli.formats.base import Precision


@click.command("convert", cls=Command)
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--from", "from_format", metavar="FORMAT", help="Format of IN; by default its content tells.")
@click.option("--to", "to_format", metavar="FORMAT", help="Format of OUT; by default its ending tells.")
@click.option("--limit", type=click.IntRange(min=1), metavar="ROWS", help="Take only the first ROWS rows.")
@click.option(
    "--precision", type=click.Choice([*"123456789", "exact"]), metavar="1-9|exact",
    help="Text: decimals of each number, or the shortest text that keeps every bit.  [default: 6, as word2vec]",
)  # fmt: skip
@click.option("--escape", is_flag=True, help="Write words that OUT cannot hold as new%20york instead of refusing them.")
@click.option("--unescape", is_flag=True, help="Undo --escape while reading.")
@static_options
@quiet_option
def command(
    source: str,
    target: str,
    from_format: str | None,
    to_format: str | None,
    limit: int | None,
    precision: str | None,
    escape: bool,
    unescape: bool,
    quiet: bool,
    **static: Any,
) -> None:
    """Convert the vectors of IN to OUT. Either may be - and compressed: OUT by its name (.gz, .bz2, .xz, .zst).

    \b
    Formats and the endings that choose them for OUT:
      word2vec-text    .vec .txt  a header `rows dim`, then `word number ...`; also fastText's .vec
      word2vec-binary  .bin       a header `rows dim`, then `word ` and raw float32
      glove-text       .glove     no header, `word number ...`
      npy              .npy       a NumPy array; the words beside it in NAME.words.txt
      projector-tsv    .tsv       for TensorBoard's projector, words in NAME.metadata.tsv; only written
      codes            .codes     codes from wv hash (codes-text: as text), vectors of 1 and -1 or 0; only read
      finalfusion      .fifu      finalfusion's words and vectors; read with n-grams and quantised, too
      text-model  .s2v .d2v       the words of a model of sentences or documents (wv train); only read
      safetensors                 a model's matrix, words in tokenizer.json beside it; only read; or a folder with both
      text-model                  sent2vec's (.s2v) and doc2vec's (.d2v) vectors of words; only read
      static                      the folder OUT for model2vec and sentence-transformers: tokenizer.json,
                                  model.safetensors, config.json, modules.json; only by --to
      fasttext-bin                a fastText model, from a fastText model only: --to fasttext-bin undoes the
                                  quantisation of a .ftz and renews files in the oldest layout

    A fastText model (.bin, .ftz) as IN gives the vectors of its words, subwords included.

    Words are bytes and stay as they are. A word that is empty or holds a space, tab, newline or NUL fits into none of
    these formats: it is refused, or written with --escape as new%20york (and % as %25).
    """
    import warnings

    from wv_cli.formats import FormatWarning, format_for_output, load, save, words_file
    from wv_cli.system.output import check_writable
    from wv_cli.system.places import refuse_reading

    refuse_others(to_format)
    if to_format == STATIC:
        save_static(source, target, from_format, limit, unescape, quiet, **static)
        return
    check_writable(target)
    if to_format == MODEL:
        save_model_again(source, target, from_format, quiet)
        return
    row = format_for_output(target, to_format)
    decimals: Precision = "exact" if precision == "exact" else int(precision or 6)
    if precision is not None:
        row.require_precision(decimals)
    refuse_reading(filter(None, [words_file(target, row.name)]), [source])  # OUT itself may take the place of IN
    if quiet:
        warnings.simplefilter("ignore", FormatWarning)
    vectors = load(source, format=from_format, limit=limit, unescape=unescape)
    save(target, vectors, format=row.name, precision=decimals, escape=escape)
    if not quiet:
        rows = f"{len(vectors)} rows of {vectors.dim} numbers"
        click.echo(f"{'standard output' if target == '-' else target}: {rows}, {row.name}", file=sys.stderr)
