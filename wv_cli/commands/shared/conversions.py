"""What `wv convert` writes that is no file of vectors: a static embedding's folder, a fastText model."""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wv_cli.commands.shared.options import conflict, given_options, refuse_meaningless
from wv_cli.errors import WvError

if TYPE_CHECKING:
    from wv_cli.formats.static import Split

STATIC, MODEL = "static", "fasttext-bin"
_OF_STATIC = ("lowercase", "split", "counts")
# What such an output has no place for, and why.
_NO_PLACE = {
    STATIC: (("precision", "escape"), "a tokenizer keeps every word, safetensors every bit"),
    MODEL: (("limit", "precision", "escape", "unescape"), "a model is written whole and as it is"),
}


def static_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Those of save_static; their names are its parameters."""
    for option in (
        click.option(
            "--counts", metavar="VOCAB", help="With --to static: SIF weights of the words, by `word count` lines."
        ),
        click.option(
            "--split",
            type=click.Choice(["blanks", "punctuation"]),
            default="blanks",
            show_default=True,
            help="With --to static: text is cut at blanks, or also where letters and punctuation meet.",
        ),
        click.option(
            "--lowercase/--no-lowercase",
            default=None,
            help="With --to static: text is made lower case.  [default: if no word has a capital]",
        ),
    ):
        function = option(function)
    return function


def refuse_others(to_format: str | None) -> None:
    """Raises UsageError for an option that the output has no place for."""
    refuse_meaningless(**dict.fromkeys(_OF_STATIC, "to_format=static"))
    names, why = _NO_PLACE.get(to_format or "", ((), ""))
    given = given_options()
    for name in names:
        if name in given:
            raise conflict(f"--{name}", f"--to {to_format}", why)


def save_static(
    source: str,
    target: str,
    from_format: str | None,
    limit: int | None,
    unescape: bool,
    quiet: bool,
    *,
    lowercase: bool | None,
    split: "Split",
    counts: str | None,
) -> None:
    """Writes the folder and says how it takes text apart."""
    from wv_cli.formats import FormatWarning, load
    from wv_cli.formats.beside import MODEL as FILE
    from wv_cli.formats.static import save_folder
    from wv_cli.system.output import check_writable
    from wv_cli.text.vocab import read_vocab
    from wv_cli.transforms.sentences import sif_weights

    folder = Path(target)
    check_writable(str(folder / FILE) if folder.is_dir() else target)
    if quiet:
        warnings.simplefilter("ignore", FormatWarning)
    vectors = load(source, format=from_format, limit=limit, unescape=unescape)
    weights = sif_weights(vectors.words, read_vocab(counts)) if counts is not None else None
    made = save_folder(target, vectors, lowercase=lowercase, split=split, weights=weights)
    if quiet:
        return
    how = f"text is cut at {'blanks' if split == 'blanks' else 'blanks and punctuation'}"
    how += " and made lower case" if made.lowercase else ", upper and lower case differ"
    click.echo(f"{target}: {made.tokens:,} words of {vectors.dim} numbers, static; {how}", err=True)
    if made.repeated:
        click.echo(f"{made.repeated:,} rows were left out: earlier ones have their words", err=True)
    if made.unreachable:
        click.echo(f"{made.unreachable:,} words hold blanks; no text will have them", err=True)


def save_model_again(source: str, target: str, from_format: str | None, quiet: bool) -> None:
    """A fastText model as one that is not quantised, in the newest layout. Raises WvError for vectors alone."""
    from wv_cli.formats import open_vectors
    from wv_cli.formats.fasttext_bin import dense, save_model
    from wv_cli.vectors.fasttext import FastTextModel

    vectors = open_vectors(source, format=from_format)
    if not isinstance(vectors, FastTextModel):
        message = f"{source}: expected a fastText model, found vectors alone; a model cannot be made of them"
        raise WvError(message)
    model = dense(vectors, source)
    save_model(target, model)
    if not quiet:
        words = f"{len(model.words)} words, {len(model.labels)} labels"
        rows = f"{model.input.shape[0]} rows of {model.dim} numbers"
        click.echo(f"{'standard output' if target == '-' else target}: {words}, {rows}, fasttext-bin", file=sys.stderr)
