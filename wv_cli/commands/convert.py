"""`wv convert`: reads vectors in one file format and writes them in another."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import decimals, quiet_option
from wv_cli.commands.shared.reading import from_option


@click.command("convert", cls=Command)
@click.argument("source", metavar="IN")
@click.argument("output", metavar="OUT")
@from_option(True, "IN; by default its")
@click.option("--to", "to_format", metavar="FORMAT", help="Format of OUT; by default its ending chooses.")
@click.option("--limit", type=click.IntRange(min=1), metavar="ROWS", help="Take only the first ROWS rows.")
@click.option("--dim", type=click.IntRange(min=1), metavar="N", help="Keep the first N numbers of each row.")
@click.option(
    "--precision", type=click.Choice([*"123456789", "exact"]), default="6", metavar="1-9|exact", callback=decimals,
    help="Decimals of numbers in text; exact writes the shortest text that keeps every bit.  [default: 6, as word2vec]",
)  # fmt: skip
@click.option("--escape", is_flag=True, help="Write words that OUT cannot hold as new%20york instead of refusing them.")
@click.option("--unescape", is_flag=True, help="Undo --escape while reading.")
@click.option(
    "--lowercase/--no-lowercase", default=None,
    help="With --to static: lower-case text.  [default: if no word has a capital]",
)  # fmt: skip
@click.option(
    "--split", type=click.Choice(["blanks", "punctuation"]), default="blanks", show_default=True,
    help="With --to static: split text at blanks, or also at punctuation.",
)  # fmt: skip
@click.option("--counts", metavar="VOCAB", help="With --to static: SIF weights from these `word count` lines.")
@click.option(
    "--dtype", type=click.Choice(["float32", "float16", "int8"]), default="float32", show_default=True,
    help="With --to static: type of the numbers.",
)  # fmt: skip
@quiet_option
def command(quiet: bool, **options: Any) -> None:
    """Convert the vectors of IN to OUT. Either may be -; OUT is compressed if it ends in .gz, .bz2, .xz or .zst.

    \b
    Formats and the endings that choose them for OUT:
      word2vec-text    .vec .txt  a header `rows dim`, then `word number ...`; also fastText's .vec
      word2vec-binary  .bin       a header `rows dim`, then `word ` and raw float32
      glove-text       .glove     no header, `word number ...`
      npy              .npy       a NumPy array; the words beside it in NAME.words.txt
      projector-tsv    .tsv       for TensorBoard's projector, words in NAME.metadata.tsv; only written
      codes            .codes     codes from wv hash (codes-text: as text), vectors of 1 and -1 or 0; only read
      text-model       .d2v       word vectors of a doc2vec model; only read
      safetensors                 a model's matrix, words in tokenizer.json beside it, or a folder with both; only read
      static                      the folder OUT for model2vec and sentence-transformers: tokenizer.json,
                                  model.safetensors, config.json, modules.json; only by --to
      fasttext-bin                a fastText model, from a fastText model only: --to fasttext-bin dequantizes
                                  a .ftz and updates files of the oldest layout

    A static embedding as IN keeps its tokenizer with --to static, unless --lowercase, --split, --counts or --limit make
    words of its tokens. OUT then has the layout that most programs read. int8 is not for sentence-transformers.

    A fastText model (.bin, .ftz) as IN gives the vectors of its words, subwords included.

    Words are bytes and stay as they are. A word that is empty or contains a space, tab, newline or NUL fits none of
    these formats. --escape writes it as new%20york (and % as %25).
    """
    from wv_cli.commands.shared.reading import ignore_format_warnings
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.convert import ConvertJob

    ignore_format_warnings(quiet)
    run_job(job_of(ConvertJob, options), quiet)
