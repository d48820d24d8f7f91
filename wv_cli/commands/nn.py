"""`wv nn`: the nearest neighbors of words, vectors or sentences, among vectors or codes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from wv_cli.commands.parts.asking import PROMPTS, NeighborQueries, Searching
from wv_cli.commands.questions import Layout, OpenedFiles, QuestionsJob
from wv_cli.config import option
from wv_cli.io.events import Log


@dataclass(frozen=True, kw_only=True)
class NnJob(QuestionsJob):
    """Show the words whose vectors have the highest cosine with each WORD.

    Without WORD, queries are read from standard input, one per line; a terminal gets a prompt. Several words in one
    query ("new york") stand for the mean of their unit vectors; words after a minus are subtracted. Words that a
    fastText model does not list are composed of their character n-grams.

    --vector asks numbers between blanks or commas. --sentence asks a text, whose vector is that of `wv vectors
    --sentences`. With --sentence, the lines of --among FILE are sentences, too.

    A neighbor is printed as `word TAB score`, after the query and a tab if there are several queries. --json prints
    one object per query. Blank lines are skipped. The search is exact.

    VECTORS may be codes from `wv hash`: the score is then the fraction of equal bits (dense codes) or of common
    active bits (sparse codes). Codes of pq are searched as the vectors that they stand for.
    """

    LAYOUT: ClassVar[Layout] = Layout("neighbors")
    CONDITIONS: ClassVar[Mapping[str, str]] = {
        "beside": "not rerank",
        "restrict_vocab": "not among or not sentence",
    }

    asked: NeighborQueries = field(default_factory=NeighborQueries)
    k: int = option(10, "Neighbors per query.", low=1)
    search: Searching = field(default_factory=Searching)

    @property
    def queries(self) -> list[str]:
        return self.asked.queries

    @property
    def prompt(self) -> str:
        return PROMPTS[self.asked.kind]

    def open(self, log: Log) -> OpenedFiles:
        from wv_cli.commands.nn_run import open_neighbors

        return open_neighbors(self.source, self.asked, self.search, self.k, log)
