"""The vectors that are asked, of one file or of several side by side, and how they are searched."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.part import Part
from wv_cli.commands.parts.vectors import VectorInput
from wv_cli.config import argument, frozen, option, threads_option
from wv_cli.errors import UsageError, WvError

if TYPE_CHECKING:
    from wv_cli.transforms.composition import Composer
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.sums import Sum
    from wv_cli.words import WordList

# The option of `wv nn` that asks something else than words, and the prompt for it.
PROMPTS = {
    "": "One word, or several for their mean or `a - b + c`,",
    "--vector": "A vector, its numbers with blanks between,",
    "--sentence": "A sentence",
}


@frozen
class AskedVectors(VectorInput):
    """The file of vectors that is asked, and those `beside` it, whose content tells their format."""

    ASKS_WORDS: ClassVar[bool] = True

    beside: tuple[str, ...] = option(
        (), "Also query these vectors and show their answers alongside.", role="read", group="Options"
    )

    def each(self) -> "list[AskedVectors]":
        """One for each file."""
        return [self, *(replace(self, vectors=path, from_format=None, beside=()) for path in self.beside)]

    def load_composer(self) -> "tuple[Embeddings, Composer]":
        """The vectors with the composer of lines, by the rule of `wv vectors --sentences`."""
        from wv_cli.transforms.composition import composer
        from wv_cli.vectors.fasttext import FastTextModel
        from wv_cli.vectors.formats import open_vectors
        from wv_cli.vectors.formats.fasttext_bin import vectors_of

        format, bad_rows = self.from_format, self.bad_rows
        found = open_vectors(self.vectors, format=format, limit=self.limit, mapped=True, bad_rows=bad_rows)
        if isinstance(found, FastTextModel):
            return vectors_of(found, self.vectors, self.limit), composer(found, self.vectors)
        return found, composer(found, self.vectors)

    def rest(self) -> "Callable[[str], int] | None":
        """With a limit what finds the row of a word in the whole file, -1 when it is not there either; the file is read
        again when it is first asked. None where nothing was left out or it cannot be read twice."""
        if self.limit is None or self.vectors == "-":
            return None
        from functools import cache

        @cache
        def words() -> "list[WordList]":
            from wv_cli.vectors.formats.streams import RowSource

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


@frozen
class Searching(Part):
    """Which words may be answers, and by how many threads they are searched."""

    restrict_vocab: int | None = option(None, "Answer only with the first N words.", low=1)
    threads: int = threads_option("Search threads", common=False)


@frozen
class NeighborQueries(Part):
    """What `wv nn` is asked, among which words, and how codes are searched."""

    words: tuple[str, ...] = argument("[WORD]...", ())
    positive: tuple[str, ...] = option((), "Words to add up, instead of WORD.", metavar="WORD...")
    negative: tuple[str, ...] = option((), "Words to subtract.", metavar="WORD...")
    vector: tuple[str, ...] = option((), "A vector to ask, instead of WORD; - reads lines.", metavar="NUMBERS")
    sentence: tuple[str, ...] = option((), "A sentence to ask, instead of WORD; - reads lines.", metavar="TEXT")
    among: str | None = option(
        None, "Answer only with the words of FILE, one a line; with --sentence its lines.", role="read"
    )
    exclude: str | None = option(None, "Never answer with the words of FILE, one a line.", role="read")
    rerank: str | None = option(
        None, "Vectors by whose cosines the nearest codes are ordered.", metavar="VECTORS2", role="read"
    )
    candidates: int | None = option(None, "Codes for which cosines are computed.", low=1, shown="10 x k", only="rerank")

    @property
    def kind(self) -> str:
        """The option that asks something else than words."""
        return "--sentence" if self.sentence else "--vector" if self.vector else ""

    @property
    def among_sentences(self) -> bool:
        return bool(self.sentence and self.among is not None)

    @property
    def total(self) -> "Sum":
        from wv_cli.vectors.sums import Sum

        return Sum.from_words(self.positive, self.negative)

    @property
    def queries(self) -> list[str]:
        """None of them when standard input has them."""
        if self.kind:
            given = list(self.vector or self.sentence)
            return [] if given == ["-"] else given
        return [self.total.text] if self.total.words else list(self.words)

    def check(self) -> None:
        """Raises UsageError for two kinds of queries."""
        asked = {
            "WORD": self.words, "--positive": self.positive, "--negative": self.negative,
            "--vector": self.vector, "--sentence": self.sentence,
        }  # fmt: skip
        given = [name for name, words in asked.items() if words]
        if len(given) > 1 and given != ["--positive", "--negative"]:
            first, second = (given[-1], given[0]) if given[-1] in PROMPTS else (given[1], given[0])
            raise UsageError(f"{first} and {second} cannot be used together: one of them is the query")
        if self.kind and self.rerank:
            message = f"{self.kind} and --rerank cannot be used together: codes are searched by words"
            raise UsageError(message)
