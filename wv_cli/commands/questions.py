"""Jobs that answer queries: those of the options, or lines that the caller reads.

job.open(log)  ->  OpenedFiles  ->  .answer(queries)  ->  an answer of each file to each query
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from wv_cli.commands.job import Job
from wv_cli.commands.parts.asking import AskedVectors
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import frozen, option, require
from wv_cli.errors import WvError
from wv_cli.io.events import Log
from wv_cli.io.places import require_one_use

if TYPE_CHECKING:
    from wv_cli.vectors.queries import Answer
    from wv_cli.words import WordList


class Answerer(NamedTuple):
    """Who answers queries: `name` is the file's, `answer` gives one answer to each."""

    name: str
    answer: "Callable[[list[str]], list[Answer]]"


@dataclass(frozen=True)
class OpenedFiles:
    """The files that answer queries. A query has at most `hits` answers; `words` are what a user may type."""

    answerers: Sequence[Answerer]
    hits: int
    words: "WordList | None" = None

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.answerers]

    def answer(self, queries: Sequence[str]) -> "list[tuple[Answer, ...]]":
        """The answers of all files to each query."""
        return [*zip(*(each.answer([*queries]) for each in self.answerers), strict=True)]


class Layout(NamedTuple):
    """How answers are shown. `key` names them in JSON; each is a list of words with scores, or `number` alone."""

    key: str
    number: bool = False

    @property
    def no_answer(self) -> str:
        """What stands in a line where one of several files has no answer."""
        return "" if self.number else "\t"

    def lines(self, answer: "Answer") -> list[str]:
        return [f"{score:.6f}" if self.number else f"{word}\t{score:.6f}" for word, score in answer.hits]

    def to_dict(self, query: str, names: Sequence[str], found: "Sequence[Answer]") -> dict[str, object]:
        """A query and its answers, those of several files by the `names` of these."""
        each = [self._describe(answer) for answer in found]
        if len(each) == 1:
            return {"query": query, **each[0]}
        return {"query": query, "files": [{"file": name, **more} for name, more in zip(names, each, strict=True)]}

    def _describe(self, answer: "Answer") -> dict[str, object]:
        hits = [{"word": word, "score": round(score, 6)} for word, score in answer.hits]
        value: object = next((hit["score"] for hit in hits), None) if self.number else hits
        return {self.key: value, "error": answer.problem} if answer.problem else {self.key: value}


@frozen
class QuestionsJob(Job):
    """Base of the jobs that answer queries. `oov`: what becomes of a query with an unknown word."""

    ANSWERS: ClassVar[bool] = True
    JSON_HELP: ClassVar[str] = "Print one JSON object per query."
    LAYOUT: ClassVar[Layout]

    source: AskedVectors
    oov: Literal["empty", "skip", "error"] = option(
        "empty", "Unknown words: print an empty line (exit code 1), skip the query, or fail."
    )

    @property
    def layout(self) -> Layout:
        return self.LAYOUT

    @property
    def queries(self) -> list[str]:
        """Those given as options; with none of them, standard input has the queries."""
        raise NotImplementedError

    @property
    def prompt(self) -> str:
        """What a user is asked to type."""
        raise NotImplementedError

    def check(self) -> None:
        require_one_use("-", self.reads().count("-") + (not self.queries) > 1)

    def open(self, log: Log) -> OpenedFiles:
        """Reads the files. `log` is told what the user should know. Raises UsageError, WvError."""
        raise NotImplementedError

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Answers the queries of the options: `answers` has what --json prints of each. Raises UsageError for none."""
        queries = [query for query in self.queries if query.strip()]
        require(bool(queries), "no query is given, and a call reads none from standard input; give one")
        opened, answers = self.open(run.log), []
        for query, found in zip(queries, opened.answer(queries), strict=True):
            for note in filter(None, (each.note for each in found)):
                run.log(note)
            problems = [each.problem for each in found if each.problem]
            if problems and self.oov == "error":
                raise WvError(problems[0])
            if self.oov != "skip" or len(problems) < len(found):
                answers.append(self.layout.to_dict(query, opened.names, found))
        return None, {"answers": answers}
