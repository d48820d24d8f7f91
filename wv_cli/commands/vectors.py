"""`wv vectors`: the vectors of words, of lines, of a word's n-grams."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wv_cli.commands.shared.encoding import encode_lines, encoder_of_lines, encoder_options, sentences_of, take_encoder
from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import (
    conflict,
    dask_option,
    field_options,
    precision_option,
    quiet_option,
    refuse_options,
    take,
)
from wv_cli.commands.shared.pooling import pool_lines, pooling_of, pooling_options, wants_pooling
from wv_cli.commands.shared.reading import from_option, open_composer
from wv_cli.commands.shared.records import add_vectors, asked_lines, finite_lines, refuse_with_add
from wv_cli.commands.shared.unknown import Unknown, oov_option
from wv_cli.commands.shared.word_vectors import print_vectors, print_words
from wv_cli.text.reading_config import LinesConfig

if TYPE_CHECKING:
    from wv_cli.vectors.file_options import BadRowsName, Precision


@click.command("vectors", cls=Command)
@click.argument("file", metavar="FILE", required=False)
@click.argument("words", nargs=-1, metavar="[WORD]... | -")
@click.option("--sentences", is_flag=True, help="Print one vector, without a name, per line or argument.")
@click.option("--ngrams", metavar="WORD", help="Print the vectors of WORD's character n-grams (fastText models).")
@oov_option("zero")
@pooling_options
@encoder_options
@click.option("--add", metavar="NAME", help="With --sentences: write records again, with vectors added as NAME.")
@field_options(LinesConfig)
@dask_option
@precision_option
@from_option(True, "FILE; by default its")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per vector.")
@quiet_option
def command(
    file: str | None, words: tuple[str, ...], sentences: bool, ngrams: str | None, oov: str, precision: "Precision",
    from_format: str | None, bad_rows: "BadRowsName", dask: str | None, as_json: bool, quiet: bool, add: str | None,
    **options: Any,
) -> int:  # fmt: skip
    """Print vectors from FILE, a fastText model (.bin, .ftz) or a file of word vectors, as lines `word number ...`.

    Without WORD, or with -, words come from standard input and their vectors keep the order. A fastText model composes
    unlisted words of their character n-grams; it is memory-mapped, so that large ones answer at once.

    With --sentences each line gets one vector. fastText models have fastText's rule: classifiers average words,
    n-grams and line end, others unit vectors. doc2vec (.d2v) trains a
    vector. All other files have the rule mean. --pooling chooses: mean, sif (frequency weights), idf, or own (for -o).
    WORDs that are files of records (.jsonl, .csv, .tsv, .parquet) have a line in each text; --add writes them again.

    With --encoder there is no FILE: the folder of a BERT-like encoder or an ELMo encodes lines, or tokens without
    --sentences. It may need pip install onnxruntime tokenizers h5py.
    """
    file, words = take_encoder(file, words, sentences, options)
    refuse_options(dask="sentences", add="sentences", tokenize="sentences and not encoder")
    reading = take(LinesConfig, options)
    piped = ngrams is None and words in ((), ("-",))
    texts, batches = asked_lines(
        words, file, reading, sentences=sentences, add=add, output=options["output"], quiet=quiet, piped=piped
    )
    if add is not None:
        refuse_with_add({**options, "as_json": as_json, "dask": dask})
    if options["encoder"] is not None:
        if add is None or texts is None:
            encode_lines(batches, precision, as_json, quiet, sentences=sentences, dask=dask, **options)
            return 0
        opened = partial(encoder_of_lines, precision, as_json, **options)
        return add_vectors(texts, add, options["output"], options["encoder"], opened)
    if file is None:
        raise click.MissingParameter(param=command.params[0])
    pooling = pooling_of(options)
    if ngrams is not None and (words or sentences):
        raise conflict("--ngrams", "--sentences" if sentences else "WORD", "--ngrams names the one word itself")
    refuse_options(oov="not sentences and not ngrams")
    if add is not None and texts is not None:
        open_lines = partial(open_composer, file, from_format, quiet, piped=piped, bad_rows=bad_rows)
        return add_vectors(texts, add, pooling["output"], file, lambda: finite_lines(open_lines(), file))
    if wants_pooling(pooling, sentences, as_json, precision, dask):
        lines = [line for batch in batches for line in batch]
        pool_lines(lines, file, from_format, precision, quiet, piped=piped, bad_rows=bad_rows, **pooling)
        return 0
    if sentences:
        sentences_of(file, batches, from_format, precision, as_json, quiet, piped=piped, bad_rows=bad_rows, dask=dask)
        return 0
    source = open_composer(file, from_format, quiet, piped=piped, bad_rows=bad_rows)
    if ngrams is not None:
        print_vectors("ngram", *source.ngrams(ngrams), file, precision, as_json)
        return 0
    return print_words(source, batches, file, precision, as_json, Unknown(oov, quiet), piped=piped)
