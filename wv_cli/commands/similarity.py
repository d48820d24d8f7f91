"""`wv similarity`: the cosine of two words, or of two lists of words."""

from typing import ClassVar

from wv_cli.commands.questions import Answerer, Layout, OpenedFiles, QuestionsJob
from wv_cli.config import argument, frozen
from wv_cli.errors import UsageError
from wv_cli.io.events import Log


@frozen
class SimilarityJob(QuestionsJob):
    """Show the cosine of the vectors of A and B, two words or two lists of words ("breakfast lunch").

    A list stands for the mean of its vectors, which are not normalized, as in gensim's n_similarity. Without A B,
    pairs are read from standard input: two words per line, or two lists with a tab between. A terminal gets a
    prompt. The cosine of a pair from a pipe is printed after the pair and a tab; --json prints one object per pair.
    Words that a fastText model does not list are composed of their character n-grams.
    """

    LAYOUT: ClassVar[Layout] = Layout("similarity", number=True)

    words: tuple[str, ...] = argument("[A B]", ())

    @property
    def queries(self) -> list[str]:
        return ["\t".join(self.words)] if self.words else []

    @property
    def prompt(self) -> str:
        return "Two words, or two lists of words with a tab between,"

    def check(self) -> None:
        super().check()
        if len(self.words) == 1 and self.source.beside:
            message = f"expected two words A B, each asked in each file, found 1: {self.words[0]!r}"
            raise UsageError(f"{message}; `wv nn` with --beside shows how one word differs between files")
        if len(self.words) not in (0, 2):
            message = f"expected two words A B, found {len(self.words)}"
            raise UsageError(f"{message}; a list of words is one argument, such as 'a b c'")

    def open(self, log: Log) -> OpenedFiles:
        from wv_cli.vectors.comparisons import Comparer

        loaded = [(each, each.load(mapped=True)) for each in self.source.each()]
        answerers = [
            Answerer(each.vectors, Comparer(found, each.vectors, each.rest()).similarities) for each, found in loaded
        ]
        return OpenedFiles(answerers, 1, loaded[0][1].words)
