"""`wv analogy`: a is to b as c is to ?"""

from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, Literal

from wv_cli.commands.parts.asking import Searching
from wv_cli.commands.questions import Answerer, Layout, OpenedFiles, QuestionsJob
from wv_cli.config import argument, frozen, option
from wv_cli.errors import UsageError
from wv_cli.io.events import Log

if TYPE_CHECKING:
    from wv_cli.vectors.queries import Answer, WordIndex


@frozen
class AnalogyJob(QuestionsJob):
    """Show the best answers to: A is to B as C is to ?

    Without A B C, questions are read from standard input, three words per line; a terminal gets a prompt. An answer
    is printed as `word TAB score`, after the question and a tab for questions from a pipe. --json prints one object
    per question. The three words of the question are never answers. Words that a fastText model does not list are
    composed of their character n-grams.
    """

    LAYOUT: ClassVar[Layout] = Layout("answers")

    words: tuple[str, ...] = argument("[A B C]", ())
    k: int = option(10, "Answers per question.", low=1)
    method: Literal["3cosadd", "3cosmul"] = option(
        "3cosadd", "Rank by the cosine with b - a + c, or by products of cosines."
    )
    search: Searching = field(default_factory=Searching)

    @property
    def queries(self) -> list[str]:
        return [" ".join(self.words)] if self.words else []

    @property
    def prompt(self) -> str:
        return "Three words a b c: a is to b as c is to ?"

    def check(self) -> None:
        super().check()
        if len(self.words) > 3 and {"+", "-"}.intersection(self.words):
            total = " ".join(self.words)
            message = f"{total!r} is a sum: `wv nn VECTORS {total!r}` answers it; an analogy is three words A B C"
            raise UsageError(message)
        if len(self.words) not in (0, 3):
            raise UsageError(f"expected three words A B C, found {len(self.words)}")

    def open(self, log: Log) -> OpenedFiles:
        from wv_cli.vectors.queries import WordIndex

        indexes = []
        for each in self.source.each():
            vectors = each.load(mapped=True).require_listed(each.vectors)
            exact = vectors.exact(threads=self.search.threads)
            indexes.append(WordIndex(vectors, exact, each.vectors, rest=each.rest()))
        most = min(self.k, max(map(len, indexes)))
        return OpenedFiles([self._new_answerer(each, most) for each in indexes], most, indexes[0].words)

    def _new_answerer(self, index: "WordIndex", most: int) -> Answerer:
        def answer(questions: list[str]) -> "list[Answer]":
            return index.analogies(questions, most, method=self.method, rows=self.search.restrict_vocab)

        return Answerer(index.name, answer)
