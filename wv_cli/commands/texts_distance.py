"""`wv texts-distance`: word mover's distance of two texts, or the texts nearest to one."""

from functools import partial
from typing import ClassVar, Literal

from wv_cli.commands.questions import Answerer, Layout, OpenedFiles, QuestionsJob
from wv_cli.config import argument, frozen, option
from wv_cli.errors import UsageError
from wv_cli.io.events import Log


@frozen
class TextsDistanceJob(QuestionsJob):
    """Show the word mover's distance of the texts A and B: the least movement of words that turns one into the other.

    The distance is exact. It uses the fractions of the words in each text; word order and words without a vector
    have no effect.

    Without texts, pairs are read from standard input: two texts per line with a tab between. With --among, each TEXT
    (or line of standard input) is compared with the lines of FILE. The nearest lines are printed as `line TAB
    distance`; the lower bound RWMD skips most exact distances.
    """

    LAYOUT: ClassVar[Layout] = Layout("nearest")

    texts: tuple[str, ...] = argument("[A B] | [TEXT]...", ())
    among: str | None = option(None, "Find the lines of FILE nearest to each TEXT (- is standard input).", role="read")
    k: int = option(10, "Lines of --among to show per TEXT.", low=1, only="among")
    case: Literal["fold-first", "lower", "none"] = option(
        "fold-first", "Match words regardless of case (fold-first), in lower case, or as written."
    )
    stop_words: Literal["keep", "drop"] = option("keep", "Keep or drop English stop words.")
    stop_list: str | None = option(
        None, "File of stop words to drop instead of the English ones.", role="read", only="stop_words=drop"
    )
    normalize: bool = option(True, "Scale all vectors to unit length.")

    @property
    def layout(self) -> Layout:
        return Layout("distance", number=True) if self.among is None else self.LAYOUT

    @property
    def queries(self) -> list[str]:
        return ["\t".join(self.texts)] if self.texts and self.among is None else [*self.texts]

    @property
    def prompt(self) -> str:
        return "Two texts with a tab between" if self.among is None else "A text"

    def check(self) -> None:
        if self.among is None and len(self.texts) not in (0, 2):
            message = f"expected two texts A B, found {len(self.texts)}"
            raise UsageError(f"{message}; a text is one argument, such as 'a b c'")
        if self.among == "-" and (not self.texts or "-" in self.source.reads()):
            message = "--among - takes standard input, which the texts or vectors are read from, too; name a file"
            raise UsageError(message)
        super().check()

    def open(self, log: Log) -> OpenedFiles:
        from wv_cli.text.stop_words import read_stop_words
        from wv_cli.transforms.text_distance import TextAnswers, TextSpace, read_lines

        stopped = read_stop_words(self.stop_list) if self.stop_words == "drop" else frozenset[str]()
        for path in self.source.reads():
            _refuse_tokenizer(path)
        lines = read_lines(self.among) if self.among is not None else None
        loaded = [(each, each.load(mapped=True)) for each in self.source.each()]
        found = [
            TextAnswers(
                TextSpace(vectors, self.case, stop_words=stopped, normalize=self.normalize), each.vectors, lines
            )
            for each, vectors in loaded
        ]
        answerers = [Answerer(each.name, partial(each.answers, k=self.k)) for each in found]
        return OpenedFiles(answerers, self.k, loaded[0][1].words)


def _refuse_tokenizer(path: str) -> None:
    """Raises UsageError for a folder that cuts texts by a tokenizer of its own, where texts are cut into words."""
    from wv_cli.encoders import encoder_folder

    if path != "-" and encoder_folder(path) is not None:
        why = "the word mover's distance is of words"
        message = (
            f"{path}: cuts texts by its tokenizer, and {why}; write its tokens as words: wv convert {path} FILE.vec"
        )
        raise UsageError(message)
