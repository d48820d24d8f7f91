"""`wv vectors --encoder`: lines of text through an encoder of another program."""

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from wv_cli.commands.shared.bar import reading_bar
from wv_cli.commands.shared.options import field_options, given_options, refuse_meaningless, take
from wv_cli.commands.shared.pooling import OWN
from wv_cli.commands.shared.queries import piped_lines
from wv_cli.encoders.config import EncoderConfig
from wv_cli.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.encoders.base import Encoded, Encoder
    from wv_cli.encoders.pooling import Pooling
    from wv_cli.formats.base import Precision

_OF_WORDS = ("sif", "idf")
_JOINING = ("mean", "cls", "max", "sqrt-len")
_ELSEWHERE = ("counts", "case", "from_format", "ngrams", "oov")


def encoder_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """--encoder and what goes with it."""
    option = click.option("--encoder", metavar="DIR", help="Encode lines with the encoder in this folder; no FILE.")
    return option(field_options(EncoderConfig)(function))


def wants_encoder(sentences: bool, options: dict[str, Any]) -> bool:
    """Raises UsageError for options of an encoder without one, and for what has no meaning with one."""
    pooling = options["pooling"]
    if options["encoder"] is None:
        refuse_meaningless(**dict.fromkeys(EncoderConfig.options(), "encoder"))
        if pooling not in (None, "mean", OWN, *_OF_WORDS):
            message = f"--pooling {pooling} joins the tokens of an encoder; give --encoder DIR, or mean, sif or idf"
            raise UsageError(message)
        return False
    refuse_meaningless(**dict.fromkeys(_ELSEWHERE, "not encoder"), output="sentences", normalize="sentences")
    refuse_meaningless(**dict(EncoderConfig.conditions()))
    if pooling in (OWN, *_OF_WORDS):
        message = f"--pooling {pooling} weighs words of a vector file; with --encoder choose mean, cls, max, ..."
        raise UsageError(message)
    if not sentences and pooling in _JOINING:
        message = f"--pooling {pooling} joins the tokens of a line, which have a vector each without --sentences"
        raise UsageError(message)
    return True


def encode_lines(
    lines: tuple[str, ...], precision: "Precision", as_json: bool, quiet: bool, *, sentences: bool, encoder: str,
    pooling: str | None, output: str | None, **options: Any,
) -> None:  # fmt: skip
    """Writes one vector for each of `lines` (none, or -: of standard input) to `output`, or to standard output, where
    answers come as the lines do; without `sentences` one for each of their tokens."""
    from wv_cli.encoders import open_encoder
    from wv_cli.encoders.base import encode
    from wv_cli.encoders.pooling import Pooling
    from wv_cli.formats.lines import json_lines, text_lines

    if output is not None:
        _check_output(output, precision, as_json)
    config = take(EncoderConfig, options)
    config.validate()
    source = open_encoder(encoder, config, (pooling,) if pooling is not None else ())
    chosen = Pooling.of(pooling or source.pooling, source.layers, source.name)
    if config.mix is not None:
        chosen = chosen.mixed(config.mix, config.gamma, config.mix_norm, source.layers, source.name)
    batches: Iterator[list[str]] = piped_lines() if lines in ((), ("-",)) else iter([list(lines)])
    if not sentences:
        for batch in batches:
            _write_tokens(source, batch, chosen, precision, as_json)
        return
    normalize = source.normalize if config.normalize is None else config.normalize
    made: list[Encoded] = []

    def encoded(batch: Sequence[str], progress: Callable[[int, int | None], None] | None = None) -> "Encoded":
        (found,) = encode(source, batch, [chosen], normalize=normalize, threads=config.threads, progress=progress)
        made.append(found)
        return found

    if output is not None:
        every = list(chain.from_iterable(batches))
        with reading_bar(quiet, unit=" lines", desc="encoding") as progress:
            _save(output, encoded(every, progress).vectors, precision)
    else:
        for batch in batches:
            vectors = encoded(batch).vectors
            text = (
                json_lines("sentence", batch, vectors, precision) if as_json else text_lines(None, vectors, precision)
            )
            sys.stdout.buffer.write(text)
            sys.stdout.buffer.flush()
    if not quiet:
        _tell(made)


def _write_tokens(
    source: "Encoder", batch: Sequence[str], chosen: "Pooling", precision: "Precision", as_json: bool
) -> None:
    """Those of every line, in their order."""
    from wv_cli.encoders.base import encode_tokens
    from wv_cli.formats.lines import json_lines, text_lines

    tokens, _ = source.tokens(batch)
    for text, each, vectors in zip(batch, tokens, encode_tokens(source, batch, chosen), strict=True):
        names = source.names(text, each)
        made = json_lines("token", names, vectors, precision) if as_json else text_lines(names, vectors, precision)
        sys.stdout.buffer.write(made)
    sys.stdout.buffer.flush()


def _check_output(output: str, precision: "Precision", as_json: bool) -> None:
    from wv_cli.commands.shared.options import conflict
    from wv_cli.formats import format_for_output
    from wv_cli.system.output import check_writable

    if as_json:
        error = conflict("-o", "--json", "-o writes a vector file")
        raise error
    row = format_for_output(output)
    if "precision" in given_options():
        row.require_precision(precision)
    check_writable(output)


def _save(output: str, vectors: "NDArray[np.float32]", precision: "Precision") -> None:
    from wv_cli.formats import save
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.words import WordList

    save(output, Embeddings(WordList.of(str(row) for row in range(len(vectors))), vectors), precision=precision)


def _tell(made: "list[Encoded]") -> None:
    """What the user should know of lines that were not encoded whole."""
    lines, cut = sum(len(each.vectors) for each in made), sum(each.cut for each in made)
    empty = sum(int(each.empty.sum()) for each in made)
    if cut:
        click.echo(f"{cut:,} of {lines:,} lines are longer than the encoder reads; their ends were left out", err=True)
    if empty:
        click.echo(f"{empty:,} of {lines:,} lines have no token with a vector; theirs are zero", err=True)
