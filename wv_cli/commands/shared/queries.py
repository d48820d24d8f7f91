"""What `wv nn` and `wv analogy` share: queries from arguments, a pipe or a terminal, and answers as lines or JSON.

Words are bytes to us: what is not UTF-8 comes out as it went in.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from wv_cli.vectors.queries import Answer

_MOST_HITS = 1 << 20  # in memory at once


def piped_lines() -> Iterator[list[str]]:
    """The lines of standard input in batches of what is there already: large when a file is piped in, one line when
    another program asks and waits for the answer."""
    from wv_cli.words import decode

    unfinished: list[bytes] = []  # joined when its line ends: a long line is copied once
    while block := os.read(sys.stdin.fileno(), 1 << 16):
        first, *lines = block.split(b"\n")
        unfinished.append(first)
        if lines:
            lines.insert(0, b"".join(unfinished))
            unfinished = [lines.pop()]
            yield [decode(line.rstrip(b"\r")) for line in lines]
    if any(unfinished):
        yield [decode(b"".join(unfinished))]


def _typed_lines(prompt: str) -> Iterator[list[str]]:
    """Lines from a terminal until Ctrl-D. The prompt goes to stderr, so that stdout can be a file."""
    click.echo(f"{prompt} per line; Ctrl-D ends.", err=True)
    while True:
        click.echo("> ", err=True, nl=False)
        line = sys.stdin.readline()
        if not line:
            click.echo(err=True)
            return
        yield [line.rstrip("\r\n")]


def run_queries(
    arguments: Sequence[str],
    answer: "Callable[[list[str]], list[Answer]]",
    *,
    hits: int,
    prompt: str,
    as_json: bool,
    key: str,
) -> int:
    """Answers `arguments`, or without any the lines of standard input, blank ones skipped. Returns the exit code: 1
    when an argument could not be answered. `hits` is how many each query has at most; `key` names their list in JSON.

    Several queries get a first column that tells them apart; a pipe always does, a terminal never.
    """
    typed = not arguments and sys.stdin.isatty()
    column = len(arguments) > 1 or (not arguments and not typed)
    batches = iter([list(arguments)]) if arguments else _typed_lines(prompt) if typed else piped_lines()
    failed = False
    for batch in batches:
        queries = [query for query in batch if query.strip()]
        step = max(1, _MOST_HITS // max(1, hits))
        for result in (result for i in range(0, len(queries), step) for result in answer(queries[i : i + step])):
            if result.problem:
                failed = True
                click.echo(f"{click.get_current_context().command_path}: {result.problem}", err=True)
            _write(result, column, as_json, key)
        sys.stdout.buffer.flush()
    return int(failed and bool(arguments))


def _write(result: "Answer", column: bool, as_json: bool, key: str) -> None:
    if as_json:
        facts: dict[str, object] = {"query": result.query}
        facts[key] = [{"word": word, "score": round(score, 6)} for word, score in result.hits]
        if result.problem:
            facts["error"] = result.problem
        text = json.dumps(facts, ensure_ascii=False)
        if not text.isprintable():  # a lone surrogate from a word that is not UTF-8, or an odd blank
            text = json.dumps(facts)
        lines = [text]
    else:
        start = f"{result.query}\t" if column else ""
        lines = [f"{start}{word}\t{score:.6f}" for word, score in result.hits]
    sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
