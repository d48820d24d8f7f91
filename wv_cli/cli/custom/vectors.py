"""`wv vectors`: the vectors of words, of lines, of a word's n-grams."""

from dataclasses import field
from functools import partial
from typing import Any, Literal

import click

from wv_cli.cli.encoding import encode_lines, encoder_of_lines, sentences_of, take_encoder
from wv_cli.cli.fields import make_command
from wv_cli.cli.options import conflict, refuse_options, take
from wv_cli.cli.pooling import pool_lines, pooling_of, wants_pooling
from wv_cli.cli.reading import open_composer
from wv_cli.cli.records import add_vectors, asked_lines, finite_lines, refuse_with_add
from wv_cli.cli.unknown import Unknown
from wv_cli.cli.word_vectors import print_vectors, print_words
from wv_cli.commands.distribution import dask_option
from wv_cli.commands.parts.pooling import TextPooling
from wv_cli.config import Options, argument, frozen, option
from wv_cli.encoders.config import EncoderConfig
from wv_cli.text.reading_config import LinesConfig
from wv_cli.vectors.file_options import WORD2VEC_PRECISION, BadRowsName, Precision, bad_rows_option


@frozen
class VectorsOptions(Options):
    """Print vectors from FILE, a fastText model (.bin, .ftz) or a file of word vectors, as lines `word number ...`.

    Without WORD, or with -, words come from standard input and their vectors keep the order. A fastText model composes
    unlisted words of their character n-grams; it is memory-mapped, so that large ones answer at once.

    With --sentences each line gets one vector. fastText models have fastText's rule: classifiers average words,
    n-grams and line end, others unit vectors. doc2vec (.d2v) trains a
    vector. All other files have the rule mean. --pooling chooses: mean, sif (frequency weights), idf, or own (for -o).
    WORDs that are files of records (.jsonl, .csv, .tsv, .parquet, .arrow) have a line in each text; --add writes them
    again.

    With --encoder there is no FILE: the folder of a BERT-like encoder or an ELMo encodes lines, or tokens without
    --sentences. It may need pip install onnxruntime tokenizers h5py.
    """

    file: str | None = argument("FILE", None, role="read")
    words: tuple[str, ...] = argument("[WORD]... | -", ())
    sentences: bool = option(False, "Print one vector, without a name, per line or argument.", off=None)
    ngrams: str | None = option(
        None, "Print the vectors of WORD's character n-grams (fastText models).", metavar="WORD"
    )
    oov: Literal["empty", "skip", "error", "zero"] = option(
        "empty", "Unknown words: print an empty line (exit code 1), zeros, skip the query, or fail."
    )
    rule: TextPooling = field(default_factory=TextPooling)
    output: str | None = option(
        None, "With --pooling or --encoder: vector file, with rows named 0, 1, 2.", short="o", role="result"
    )
    encoder: str | None = option(
        None, "Folder of the encoder that encodes lines, instead of FILE.", metavar="DIR", role="read"
    )
    encoding: EncoderConfig = field(default_factory=EncoderConfig)
    add: str | None = option(None, "With --sentences: write records again, with vectors added as NAME.", metavar="NAME")
    fixed_size: bool = option(False, "Added vectors are lists of a fixed size, in Parquet and Arrow.", off=None)
    reading: LinesConfig = field(default_factory=LinesConfig)
    dask: str | None = dask_option()
    precision: Precision = option(
        WORD2VEC_PRECISION,
        "Decimals of numbers in text; exact writes the shortest text that keeps every bit.",
        low=1, high=9, metavar="1-9|exact", group="Output",
    )  # fmt: skip
    from_format: str | None = option(
        None, "Format of FILE; by default its content tells.", metavar="FORMAT", group="Input"
    )
    bad_rows: BadRowsName = bad_rows_option()
    as_json: bool = option(False, "Print one JSON object per vector.", off=None, group="Run")


def _print_vectors(
    file: str | None, words: tuple[str, ...], sentences: bool, ngrams: str | None, oov: str, precision: Precision,
    from_format: str | None, bad_rows: BadRowsName, dask: str | None, as_json: bool, quiet: bool, add: str | None,
    fixed_size: bool, **options: Any,
) -> int:  # fmt: skip
    file, words = take_encoder(file, words, sentences, options)
    refuse_options(dask="sentences", add="sentences", fixed_size="add", tokenize="sentences and not encoder")
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
        return add_vectors(texts, add, options["output"], options["encoder"], opened, fixed_size=fixed_size)
    if file is None:
        raise click.MissingParameter(param=click.get_current_context().command.params[0])
    pooling = pooling_of(options)
    if ngrams is not None and (words or sentences):
        raise conflict("--ngrams", "--sentences" if sentences else "WORD", "--ngrams names the one word itself")
    refuse_options(oov="not sentences and not ngrams")
    if add is not None and texts is not None:
        open_lines = partial(open_composer, file, from_format, quiet, piped=piped, bad_rows=bad_rows)
        output, lines_of = pooling["output"], lambda: finite_lines(open_lines(), file)
        return add_vectors(texts, add, output, file, lines_of, fixed_size=fixed_size)
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


command = make_command("vectors", VectorsOptions, run=_print_vectors)
