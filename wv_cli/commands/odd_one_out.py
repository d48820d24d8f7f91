"""`wv odd-one-out`: the word that does not belong to the others."""

from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.questions import Answerer, Layout, OpenedFiles, QuestionsJob
from wv_cli.config import argument, frozen, option
from wv_cli.errors import UsageError
from wv_cli.io.events import Log

if TYPE_CHECKING:
    from wv_cli.vectors.comparisons import Comparer
    from wv_cli.vectors.queries import Answer


@frozen
class OddOneOutJob(QuestionsJob):
    """Show which WORD has the lowest cosine with the mean of the unit vectors of all WORDs.

    Without WORD, lists are read from standard input, one per line; a terminal gets a prompt. The answer is printed
    as `word TAB cosine`, after the list and a tab for lists from a pipe. --json prints one object per list. A list
    with an unknown word has no answer, unlike in gensim's doesnt_match. Words that a fastText model does not list
    are composed of their character n-grams.
    """

    LAYOUT: ClassVar[Layout] = Layout("odd")

    words: tuple[str, ...] = argument("[WORD]...", ())
    k: int = option(1, "Words per list, the oddest first.", low=1)

    @property
    def queries(self) -> list[str]:
        return [" ".join(self.words)] if self.words else []

    @property
    def prompt(self) -> str:
        return "Several words"

    def check(self) -> None:
        super().check()
        if len(self.words) == 1:
            message = "expected two words or more, found 1"
            raise UsageError(message)

    def open(self, log: Log) -> OpenedFiles:
        from wv_cli.vectors.comparisons import Comparer

        loaded = [(each, each.load(mapped=True)) for each in self.source.each()]
        comparers = [Comparer(found, each.vectors, each.rest()) for each, found in loaded]
        return OpenedFiles([self._new_answerer(each) for each in comparers], self.k, loaded[0][1].words)

    def _new_answerer(self, comparer: "Comparer") -> Answerer:
        def answer(lines: list[str]) -> "list[Answer]":
            from wv_cli.words import split_words

            return [comparer.odd_ones(self.words or split_words(line), self.k) for line in lines]

        return Answerer(comparer.name, answer)
