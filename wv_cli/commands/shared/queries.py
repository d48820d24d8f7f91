"""What commands that answer queries share: queries from arguments, a pipe or a terminal, and answers as lines or JSON,
of one file or of several side by side.

Words are bytes to us: what is not UTF-8 comes out as it went in.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING

from wv_cli.commands.shared.typed import typed_lines

if TYPE_CHECKING:
    from wv_cli.commands.shared.unknown import Unknown
    from wv_cli.vectors.queries import Answer
    from wv_cli.words import WordList

_MOST_HITS = 1 << 20  # in memory at once
_LONGEST = 1 << 20  # characters of a query, whose words are objects of Python


def piped_lines(log: Callable[[str], None] | None = None) -> Iterator[list[str]]:
    """The lines of standard input in batches of what is there already: large when a file is piped in, one line when
    another program asks and waits for the answer. `log` is told at the end what is no UTF-8."""
    from wv_cli.system.marks import without_mark
    from wv_cli.text.binary import note_invalid
    from wv_cli.words import decode

    unfinished = bytearray()  # a line of megabytes is there once more when it is decoded, and then gone
    chunks = without_mark(iter(partial(os.read, sys.stdin.fileno(), 1 << 16), b""))
    for block in chunks if log is None else note_invalid(chunks, "standard input", log):
        first, *lines = block.split(b"\n")
        unfinished += first
        if lines:
            texts = [decode(unfinished).rstrip("\r")]
            unfinished = bytearray(lines.pop())
            texts += [decode(line).rstrip("\r") for line in lines]
            yield texts
    if unfinished:
        yield [decode(unfinished).rstrip("\r")]


@dataclass(frozen=True)
class Asked:
    """Who answers queries: `name` is the file's, `answer` gives one answer to each."""

    name: str
    answer: "Callable[[list[str]], list[Answer]]"


@dataclass(frozen=True)
class Layout:
    """How answers are shown. `key` names them in JSON; each is a list of words with scores, or `number` alone."""

    key: str
    number: bool = False

    @property
    def no_answer(self) -> str:
        """What stands in a line where one of several files has no answer."""
        return "" if self.number else "\t"

    def lines(self, answer: "Answer") -> list[str]:
        return [f"{score:.6f}" if self.number else f"{word}\t{score:.6f}" for word, score in answer.hits]

    def facts(self, answer: "Answer") -> dict[str, object]:
        hits = [{"word": word, "score": round(score, 6)} for word, score in answer.hits]
        value: object = next((hit["score"] for hit in hits), None) if self.number else hits
        return {self.key: value, "error": answer.problem} if answer.problem else {self.key: value}


def run_queries(
    arguments: Sequence[str],
    sources: Sequence[Asked],
    *,
    hits: int,
    prompt: str,
    as_json: bool,
    layout: Layout,
    unknown: "Unknown",
    words: "WordList | None" = None,
) -> int:
    """Asks all `sources` the `arguments`, or without any the lines of standard input, blank ones skipped. Returns the
    exit code, as `unknown` has it. `hits` is how many answers a query has at most; on a terminal `words` are completed.

    Several queries get a first column that tells them apart; a pipe always does, a terminal never. A query that has no
    answer gets an empty line, or is left out; on a terminal the message is enough.
    """
    typed = not arguments and sys.stdin.isatty()
    column = len(arguments) > 1 or (not arguments and not typed)
    batches = iter([list(arguments)]) if arguments else typed_lines(prompt, words) if typed else piped_lines()
    step, before = max(1, _MOST_HITS // max(1, hits)), 0
    for batch in batches:
        asked = [(number, query) for number, query in enumerate(batch, before + 1) if query.strip()]
        before += len(batch)
        for part in (asked[i : i + step] for i in range(0, len(asked), step)):
            queries = [query for _, query in part]
            answers = zip(*(_answers(source, queries) for source in sources), strict=True)
            for (number, query), found in zip(part, answers, strict=True):
                for problem in filter(None, (each.problem for each in found)):
                    sys.stdout.buffer.flush()
                    unknown.tell(problem, None if arguments or typed else number)
                lost = all(each.problem for each in found)
                if not (lost and unknown.oov == "skip") and (any(each.hits for each in found) or not typed or as_json):
                    _write(query, sources, found, column, as_json, layout)
        sys.stdout.buffer.flush()
    return 0 if typed else unknown.exit_code()


def _answers(source: Asked, queries: list[str]) -> "list[Answer]":
    from wv_cli.vectors.queries import Answer

    problems = [too_long(query) for query in queries]
    found = iter(source.answer([query for query, problem in zip(queries, problems, strict=True) if not problem]))
    return [
        Answer(query, problem=problem) if problem else next(found)
        for query, problem in zip(queries, problems, strict=True)
    ]


def too_long(query: str) -> str:
    """What is wrong with a query that is no question of a person; "" for any other."""
    if len(query) <= _LONGEST:
        return ""
    return f"expected a query of at most {_LONGEST:,} characters, found {len(query):,}"


def _write(
    query: str, sources: Sequence[Asked], found: "Sequence[Answer]", column: bool, as_json: bool, layout: Layout
) -> None:
    """One line for each hit, an empty one when there is none; or one JSON object."""
    if as_json:
        from wv_cli.system.json_text import to_printable_json

        each = [layout.facts(answer) for answer in found]
        if len(each) == 1:
            facts = {"query": query, **each[0]}
        else:
            files = [{"file": source.name, **more} for source, more in zip(sources, each, strict=True)]
            facts = {"query": query, "files": files}
        lines = [to_printable_json(facts)]
    else:
        start = f"{query}\t" if column else ""
        rows = zip_longest(*(layout.lines(answer) for answer in found), fillvalue=layout.no_answer)
        lines = [start + "\t".join(row) for row in rows] or [""]
    sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
