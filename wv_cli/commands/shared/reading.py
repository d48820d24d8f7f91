"""How the commands that search or score vectors read them, and the options for it."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from wv_cli.commands.shared.options import Decorator, threads_option
from wv_cli.errors import UsageError, WvError
from wv_cli.system.places import require_one_use

if TYPE_CHECKING:
    from wv_cli.transforms.composition import Composer
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.file_options import BadRowsName
    from wv_cli.words import WordList


@dataclass(frozen=True)
class Source:
    """VECTORS, and how it is read and searched; see vector_options."""

    vectors: str
    from_format: str | None
    limit: int | None
    quiet: bool
    bad_rows: "BadRowsName" = "error"
    restrict_vocab: int | None = None
    threads: int = 0
    beside: tuple[str, ...] = ()

    def load(self, *, piped: bool) -> "Embeddings":
        """As load_vectors; numbers may stay in the mapped file."""
        return load_vectors(
            self.vectors, self.from_format, self.limit, self.quiet, piped=piped, mapped=True, bad_rows=self.bad_rows
        )

    def load_composer(self, *, piped: bool) -> "tuple[Embeddings, Composer]":
        """The same with the composer of its lines, by the rule of `wv vectors --sentences`."""
        from wv_cli.formats import open_vectors
        from wv_cli.formats.fasttext_bin import vectors_of
        from wv_cli.transforms.composition import composer
        from wv_cli.vectors.fasttext import FastTextModel

        require_one_use(self.vectors, piped)
        ignore_format_warnings(self.quiet)
        format, bad_rows = self.from_format, self.bad_rows
        found = open_vectors(self.vectors, format=format, limit=self.limit, mapped=True, bad_rows=bad_rows)
        if isinstance(found, FastTextModel):
            return vectors_of(found, self.vectors, self.limit), composer(found, self.vectors)
        return found, composer(found, self.vectors)

    def each(self) -> "list[Source]":
        """This one and those of the files `beside` it, whose content tells their format. Raises UsageError when
        standard input is to hold two of them."""
        require_one_use("-", [self.vectors, *self.beside].count("-") > 1)
        return [self, *(replace(self, vectors=path, from_format=None) for path in self.beside)]

    def rest(self) -> "Callable[[str], int] | None":
        """With a limit what finds the row of a word in the whole file, -1 when it is not there either; the file is read
        again when it is first asked. None where nothing was left out or it cannot be read twice."""
        if self.limit is None or self.vectors == "-":
            return None
        from functools import cache

        @cache
        def words() -> "list[WordList]":
            from wv_cli.formats.streams import RowSource

            try:
                source = RowSource(self.vectors, format=self.from_format, bad_rows=self.bad_rows)
                return [block.words for block in source.blocks()]
            except WvError:  # damage beyond the rows that were asked for
                return []

        def row(word: str) -> int:
            first = 0
            for block in words():
                if (found := block.find(word)) >= 0:
                    return first + found
                first += len(block)
            return -1

        return row


def bad_rows_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """--bad-rows for commands that read vectors."""
    return click.option(
        "--bad-rows", type=click.Choice(["error", "skip"]), default="error", show_default=True,
        help="Rows that cannot be read: stop, or count and skip them.",
    )(function)  # fmt: skip


def vector_options(function: Callable[..., int]) -> Callable[..., int]:
    """The options of a Source that is searched; their names are its fields."""
    for option in (
        threads_option("Search threads", default=0),
        click.option(
            "--restrict-vocab", type=click.IntRange(1), metavar="N", help="Answer only with the first N words."
        ),
        word_options,
    ):
        function = option(function)
    return function


def word_options(function: Callable[..., int]) -> Callable[..., int]:
    """The options of a Source of which single words are asked; their names are its fields."""
    for option in (
        bad_rows_option,
        click.option("--limit", type=click.IntRange(1), metavar="N", help="Read only the first N words of VECTORS."),
        click.option(
            "--from", "from_format", metavar="FORMAT", help="Format of VECTORS; by default its content tells."
        ),
        click.option(
            "--beside",
            multiple=True,
            metavar="FILE",
            help="Also query these vectors and show their answers alongside.",
        ),
        click.argument("vectors", metavar="VECTORS"),
    ):
        function = option(function)
    return function


def from_option(wanted: bool, what: str = "VECTORS; by default their") -> Decorator:
    """--from and --bad-rows for commands that read vectors; a model has one format."""
    help = f"Format of {what} content tells."

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return click.option("--from", "from_format", metavar="FORMAT", help=help)(bad_rows_option(function))

    return decorate if wanted else lambda function: function


def refuse_tokenizer(path: str, why: str) -> None:
    """Raises UsageError for a folder that cuts texts by a tokenizer of its own, where texts are cut into words."""
    from wv_cli.encoders import encoder_folder

    if path != "-" and encoder_folder(path) is not None:
        message = (
            f"{path}: cuts texts by its tokenizer, and {why}; write its tokens as words: wv convert {path} FILE.vec"
        )
        raise UsageError(message)


def load_vectors(
    path: str, from_format: str | None, limit: int | None, quiet: bool, *, piped: bool = False, mapped: bool = False,
    bad_rows: "BadRowsName" = "error",
) -> "Embeddings":  # fmt: skip
    """formats.load; its warnings go to stderr (wv_cli.__main__), with `quiet` nowhere. Raises UsageError when standard
    input holds the vectors and, `piped`, something else too."""
    from wv_cli.formats import load

    require_one_use(path, piped)
    ignore_format_warnings(quiet)
    return load(path, format=from_format, limit=limit, mapped=mapped, bad_rows=bad_rows)


def open_composer(
    path: str, from_format: str | None, quiet: bool, *, piped: bool, bad_rows: "BadRowsName"
) -> "Composer":
    """The same for vectors of single words and lines: a model or file is mapped where that can be done."""
    from wv_cli.formats import open_vectors
    from wv_cli.transforms.composition import composer

    require_one_use(path, piped)
    ignore_format_warnings(quiet)
    return composer(open_vectors(path, format=from_format, mapped=True, bad_rows=bad_rows), path)


def ignore_format_warnings(quiet: bool = True) -> None:
    """Warnings about files that were read whole go nowhere with `quiet`."""
    if quiet:
        from wv_cli.formats import FormatWarning

        warnings.simplefilter("ignore", FormatWarning)
