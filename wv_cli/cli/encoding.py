"""`wv vectors --encoder`: lines of text through an encoder of another program; `--sentences`: lines as vectors."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from wv_cli.cli.bar import reading_bar
from wv_cli.cli.options import conflict, given_options, refuse_options, take
from wv_cli.cli.reading import ignore_format_warnings
from wv_cli.cli.unknown import tell_zeros
from wv_cli.commands.parts.pooling import OWN
from wv_cli.encoders.config import EncoderConfig
from wv_cli.errors import UsageError
from wv_cli.io.places import require_one_use

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.commands.adding import Vectors
    from wv_cli.commands.sentences import OfEncoder, Shown
    from wv_cli.encoders.base import Encoder
    from wv_cli.encoders.pooling import Pooling
    from wv_cli.vectors.file_options import BadRowsName, Precision

_OF_WORDS = ("sif", "idf")
_JOINING = ("mean", "cls", "max", "sqrt-len")
_ELSEWHERE = ("counts", "case", "from_format", "bad_rows", "ngrams", "oov")


def take_encoder(
    file: str | None, words: tuple[str, ...], sentences: bool, options: dict[str, Any]
) -> tuple[str | None, tuple[str, ...]]:
    """(FILE, WORDs). A FILE of sentences that is a folder with a tokenizer becomes --encoder, and beside --encoder FILE
    is the first WORD. Raises as wants_encoder."""
    if sentences and options["encoder"] is None and file not in (None, "-"):
        from wv_cli.encoders import encoder_folder

        if (folder := encoder_folder(str(file))) is not None:
            options["encoder"] = click.get_current_context().params["encoder"] = str(folder)
            options["pooling"] = None if options["pooling"] == OWN else options["pooling"]
            file = None
    if wants_encoder(sentences, options) and file is not None:
        return None, (file, *words)
    return file, words


def wants_encoder(sentences: bool, options: dict[str, Any]) -> bool:
    """Raises UsageError for options of an encoder without one, and for those that have no effect with one."""
    pooling = options["pooling"]
    if options["encoder"] is None:
        refuse_options(**dict.fromkeys(EncoderConfig.options(), "encoder"))
        if pooling not in (None, "mean", OWN, *_OF_WORDS):
            message = f"--pooling {pooling} joins the tokens of an encoder; give --encoder DIR, or mean, sif or idf"
            raise UsageError(message)
        return False
    refuse_options(**dict.fromkeys(_ELSEWHERE, "not encoder"), output="sentences", normalize="sentences")
    refuse_options(**dict(EncoderConfig.conditions()))
    if pooling in (OWN, *_OF_WORDS):
        message = f"--pooling {pooling} weighs words of a vector file; with --encoder choose mean, cls, max, ..."
        raise UsageError(message)
    if not sentences and pooling in _JOINING:
        message = f"--pooling {pooling} joins the tokens of a line, which have a vector each without --sentences"
        raise UsageError(message)
    return True


def encode_lines(
    batches: Iterator[list[str]], precision: "Precision", as_json: bool, quiet: bool, *, sentences: bool, encoder: str,
    pooling: str | None, output: str | None, dask: str | None, **options: Any,
) -> None:  # fmt: skip
    """Writes one vector for each line of `batches` to `output`, or to standard output, where answers come as the lines
    do; without `sentences` one for each of their tokens."""
    from wv_cli.cli.display import emit
    from wv_cli.commands.sentences import sentence_lines

    if output is not None:
        _check_output(output, encoder, precision, as_json, dask)
    asking = _encoder_options(encoder, pooling, precision, as_json, options)
    config = asking.config
    if sentences and output is None:
        if config.stateful and dask is not None:
            raise conflict("--stateful", "--dask", "a sentence then depends on those before it")
        _write(sentence_lines(asking, batches, partial(emit, quiet=quiet, as_json=as_json), dask), quiet)
        return
    source = asking.open()
    if output is None:
        for batch in batches:
            _write_tokens(source, batch, asking.require_pooling(source), precision, as_json)
        return
    every = list(chain.from_iterable(batches))
    with reading_bar(quiet, unit=" lines", desc="encoding") as progress:
        encoded = asking.encode(source, every, progress)
        _save(output, encoded.vectors, precision)
    if not quiet:
        _tell(len(every), encoded.cut, int(encoded.empty.sum()))


def encoder_of_lines(
    precision: "Precision", as_json: bool, *, encoder: str, pooling: str | None, output: str | None, **options: Any
) -> "Vectors":
    """What makes a vector of each line."""
    asking = _encoder_options(encoder, pooling, precision, as_json, options)
    source = asking.open()
    return lambda lines: asking.encode(source, lines).vectors


def _encoder_options(
    encoder: str, pooling: str | None, precision: "Precision", as_json: bool, options: dict[str, Any]
) -> "OfEncoder":
    from wv_cli.commands.sentences import OfEncoder

    config = take(EncoderConfig, options)
    config.validate()
    return OfEncoder(file=encoder, config=config, pooling=pooling, precision=precision, as_json=as_json)


def sentences_of(
    file: str, batches: Iterator[list[str]], from_format: str | None, precision: "Precision", as_json: bool,
    quiet: bool, *, piped: bool, bad_rows: "BadRowsName", dask: str | None,
) -> None:  # fmt: skip
    """The same by a model or vectors in `file`."""
    from wv_cli.cli.display import emit
    from wv_cli.commands.sentences import OfVectors, sentence_lines

    require_one_use(file, piped)
    ignore_format_warnings(quiet)
    asking = OfVectors(file=file, from_format=from_format, bad_rows=bad_rows, precision=precision, as_json=as_json)
    _write(sentence_lines(asking, batches, partial(emit, quiet=quiet, as_json=as_json), dask), quiet, "word")


def _write(answers: "Iterable[Shown]", quiet: bool, part: str = "token") -> None:
    """Writes the lines to standard output as they come, then what the user should know of them. `part`: what lines are
    made of."""
    lines = cut = empty = 0
    for each in answers:
        sys.stdout.buffer.write(each.text)
        sys.stdout.buffer.flush()
        lines, cut, empty = lines + each.lines, cut + each.cut, empty + each.empty
    if not quiet:
        _tell(lines, cut, empty, part)


def _write_tokens(
    source: "Encoder", batch: Sequence[str], chosen: "Pooling", precision: "Precision", as_json: bool
) -> None:
    """Those of every line, in their order."""
    from wv_cli.encoders.base import encode_tokens
    from wv_cli.vectors.formats.lines import json_lines, text_lines

    tokens, _ = source.tokens(batch)
    for text, each, vectors in zip(batch, tokens, encode_tokens(source, batch, chosen), strict=True):
        names = source.names(text, each)
        made = json_lines("token", names, vectors, precision) if as_json else text_lines(names, vectors, precision)
        sys.stdout.buffer.write(made)
    sys.stdout.buffer.flush()


def _check_output(output: str, encoder: str, precision: "Precision", as_json: bool, dask: str | None) -> None:
    from wv_cli.io.output import check_writable
    from wv_cli.io.places import refuse_reading
    from wv_cli.vectors.formats import format_for_output

    if as_json:
        error = conflict("-o", "--json", "-o writes a vector file; leave one out")
        raise error
    if dask is not None:
        raise conflict("-o", "--dask", "workers give lines; take them from standard output")
    row = format_for_output(output)
    if "precision" in given_options():
        row.require_precision(precision)
    refuse_reading([output], [encoder])
    check_writable(output)


def _save(output: str, vectors: "NDArray[np.float32]", precision: "Precision") -> None:
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.formats import save
    from wv_cli.words import WordList

    save(output, Embeddings(WordList.from_words(str(row) for row in range(len(vectors))), vectors), precision=precision)


def _tell(lines: int, cut: int, empty: int, part: str = "token") -> None:
    """What the user should know of lines that were not encoded whole."""
    if cut:
        click.echo(f"{cut:,} of {lines:,} lines are longer than the encoder reads; their ends were left out", err=True)
    tell_zeros(empty, lines, f"lines have no {part} with a vector")
