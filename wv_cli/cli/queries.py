"""What commands that answer queries share: queries from arguments, a pipe or a terminal, and answers as lines or JSON,
of one file or of several side by side.

Words are bytes to us: what is not UTF-8 comes out as it went in.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING

import click

from wv_cli.cli.display import emit
from wv_cli.cli.habits import require_file_first
from wv_cli.cli.typed import typed_lines
from wv_cli.cli.unknown import Unknown

if TYPE_CHECKING:
    from wv_cli.commands.job import Job
    from wv_cli.commands.questions import Layout, OpenedFiles
    from wv_cli.vectors.queries import Answer

_MOST_HITS = 1 << 20  # in memory at once
_LONGEST = 1 << 20  # characters of a query, whose words are objects of Python


def piped_lines(log: Callable[[str], None] | None = None) -> Iterator[list[str]]:
    """The lines of standard input in batches of what is there already: large when a file is piped in, one line when
    another program asks and waits for the answer. `log` is told at the end what is no UTF-8."""
    from wv_cli.io.marks import without_mark
    from wv_cli.text.binary import note_invalid
    from wv_cli.words import decode

    unfinished = bytearray()  # a line of megabytes is there once more when it is decoded, and then gone
    chunks = without_mark(iter(partial(os.read, sys.stdin.fileno(), 1 << 16), b""))
    for block in chunks if log is None else note_invalid(chunks, log):
        first, *lines = block.split(b"\n")
        unfinished += first
        if lines:
            texts = [decode(unfinished).rstrip("\r")]
            unfinished = bytearray(lines.pop())
            texts += [decode(line).rstrip("\r") for line in lines]
            yield texts
    if unfinished:
        yield [decode(unfinished).rstrip("\r")]


def run_questions(job: "Job", quiet: bool, as_json: bool) -> int:
    """Answers the queries of `job`, or without any the lines of standard input, blank ones skipped. Returns the exit
    code, as Unknown has it.

    Several queries get a first column that tells them apart; a pipe always does, a terminal never. A query that has no
    answer gets an empty line, or is left out; on a terminal the message is enough.
    """
    from wv_cli.commands.questions import QuestionsJob

    assert isinstance(job, QuestionsJob)
    command = click.get_current_context().info_name or ""
    require_file_first([job.source.vectors], job.values().get("words", ()), command)
    job.validate()
    opened, arguments = job.open(partial(emit, quiet=quiet, as_json=False)), job.queries
    unknown, layout = Unknown(job.oov, quiet), job.layout
    typed = not arguments and sys.stdin.isatty()
    column = len(arguments) > 1 or (not arguments and not typed)
    batches = iter([arguments]) if arguments else typed_lines(job.prompt, opened.words) if typed else piped_lines()
    step, before = max(1, _MOST_HITS // max(1, opened.hits)), 0
    for batch in batches:
        asked = [(number, query) for number, query in enumerate(batch, before + 1) if query.strip()]
        before += len(batch)
        for part in (asked[i : i + step] for i in range(0, len(asked), step)):
            answers = _answer([query for _, query in part], opened)
            for (number, query), found in zip(part, answers, strict=True):
                for problem in filter(None, (each.problem for each in found)):
                    sys.stdout.buffer.flush()
                    unknown.tell(problem, None if arguments or typed else number)
                for note in filter(None, (each.note for each in found)):
                    sys.stdout.buffer.flush()
                    unknown.note(note)
                lost = all(each.problem for each in found)
                if not (lost and unknown.oov == "skip") and (any(each.hits for each in found) or not typed or as_json):
                    _write(query, opened.names, found, column, as_json, layout)
        sys.stdout.buffer.flush()
    return 0 if typed else unknown.exit_code()


def _answer(queries: list[str], opened: "OpenedFiles") -> "list[tuple[Answer, ...]]":
    from wv_cli.vectors.queries import Answer

    problems = [too_long(query) for query in queries]
    found = iter(opened.answer([query for query, problem in zip(queries, problems, strict=True) if not problem]))
    return [
        tuple(Answer(query, problem=problem) for _ in opened.names) if problem else next(found)
        for query, problem in zip(queries, problems, strict=True)
    ]


def too_long(query: str) -> str:
    """What is wrong with a query that is no question of a person; "" for any other."""
    if len(query) <= _LONGEST:
        return ""
    return f"expected a query of at most {_LONGEST:,} characters, found {len(query):,}"


def _write(
    query: str, names: Sequence[str], found: "Sequence[Answer]", column: bool, as_json: bool, layout: "Layout"
) -> None:
    """One line for each hit, an empty one when there is none; or one JSON object."""
    if as_json:
        from wv_cli.io.json_text import to_printable_json

        lines = [to_printable_json(layout.to_dict(query, names, found))]
    else:
        start = f"{query}\t" if column else ""
        rows = zip_longest(*(layout.lines(answer) for answer in found), fillvalue=layout.no_answer)
        lines = [start + "\t".join(row) for row in rows] or [""]
    sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
