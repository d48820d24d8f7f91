"""How `wv search` asks its queries and shows answers: as grep does, or as JSON."""

import sys
from collections.abc import Callable, Sequence
from itertools import chain, islice

import click

from wv_cli.cli.queries import piped_lines, too_long
from wv_cli.cli.streams import shows_styles, write_orders
from wv_cli.cli.typed import typed_lines
from wv_cli.errors import escape_for_terminal
from wv_cli.io.json_text import to_json, to_printable_json
from wv_cli.retrieval.query import Answer, Searcher

_FILE, _LINE, _WORD, _PLAIN = "\x1b[35m", "\x1b[32m", "\x1b[1;31m", "\x1b[0m"  # as grep's


def run_searches(
    opening: Callable[[], Searcher], arguments: Sequence[str], k: int, *, quiet: bool, as_json: bool
) -> int:
    """Asks the `arguments`, or without any the lines of standard input, blank ones skipped. A pipe is asked for its
    first query before `opening` is. Returns the exit code: 1 when no query has an answer."""
    typed = not arguments and sys.stdin.isatty()
    column = len(arguments) > 1 or (not arguments and not typed)
    terminal = sys.stdout.isatty()
    color = shows_styles()
    batches = iter([list(arguments)]) if arguments else typed_lines("A query", None) if typed else piped_lines()
    piped = not arguments and not typed
    first = [*islice(batches, 1)] if piped else []
    if piped and not first:
        if not quiet:
            click.echo("wv search: no query is given", err=True)
        return 1
    searcher, some, explained = opening(), False, False
    for batch in chain(first, batches):
        queries = []
        for query in filter(str.strip, batch):
            if problem := too_long(query):
                click.echo(f"wv search: {problem}", err=True)
            else:
                queries.append(query)
        for query, answers in zip(queries, searcher.answers_to(queries, k), strict=True):
            if not answers and (why := searcher.explain_nothing(query)) and not quiet:
                click.echo(f"wv search: {query}: {why}", err=True)
                explained = True
            for rank, answer in enumerate(answers, 1):
                some = True
                if as_json:
                    line = _as_json(query, rank, answer)
                else:
                    asked = f"{query}\t" if column else ""
                    found = _as_text(searcher, query, answer, color)
                    line = escape_for_terminal(asked) + found if color else f"{asked}{found}"
                    line = escape_for_terminal(line) if terminal and not color else line
                write = write_orders if color and not as_json else _write
                write(f"{line}\n")
        sys.stdout.buffer.flush()
    if not some and not quiet and not explained:
        click.echo("wv search: nothing found", err=True)
    return 0 if some or typed else 1


def _write(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))


def _as_json(query: str, rank: int, answer: Answer) -> str:
    """The record's other fields are JSON already, whose numbers stay as they are written."""
    facts = {"query": query, "rank": rank, **answer._asdict(), "score": round(answer.score, 6)}
    record = str(facts.pop("record"))
    if not record:
        del facts["text_line"]  # `line` says as much
    text = to_printable_json(facts)
    return f'{text[:-1]}, "record": {"".join(map(_escape, record))}}}' if record else text


def _escape(character: str) -> str:
    """A character of JSON as it can be printed: a blank between values, or what stands in a string."""
    if character.isprintable():
        return character
    return " " if character in "\t\r\n" else to_json(character)[1:-1]


def _as_text(searcher: Searcher, query: str, answer: Answer, color: bool) -> str:
    if not color:
        return f"{answer.file}:{answer.line}: {answer.match}"
    pieces, end = [], 0
    for begin, stop in searcher.highlight(answer.match, query):
        before, word = escape_for_terminal(answer.match[end:begin]), escape_for_terminal(answer.match[begin:stop])
        pieces.append(f"{before}{_WORD}{word}{_PLAIN}")
        end = stop
    pieces.append(escape_for_terminal(answer.match[end:]))
    return f"{_FILE}{escape_for_terminal(answer.file)}{_PLAIN}:{_LINE}{answer.line}{_PLAIN}: {''.join(pieces)}"
