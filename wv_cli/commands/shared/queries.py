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
    from wv_cli.commands.shared.unknown import Unknown
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
    unknown: "Unknown",
) -> int:
    """Answers `arguments`, or without any the lines of standard input, blank ones skipped. Returns the exit code, as
    `unknown` has it. `hits` is how many each query has at most; `key` names their list in JSON.

    Several queries get a first column that tells them apart; a pipe always does, a terminal never. A query that has no
    answer gets an empty line, or is left out; on a terminal the message is enough.
    """
    typed = not arguments and sys.stdin.isatty()
    column = len(arguments) > 1 or (not arguments and not typed)
    batches = iter([list(arguments)]) if arguments else _typed_lines(prompt) if typed else piped_lines()
    step, before = max(1, _MOST_HITS // max(1, hits)), 0
    for batch in batches:
        asked = [(number, query) for number, query in enumerate(batch, before + 1) if query.strip()]
        before += len(batch)
        for part in (asked[i : i + step] for i in range(0, len(asked), step)):
            for (number, _), result in zip(part, answer([query for _, query in part]), strict=True):
                if result.problem:
                    sys.stdout.buffer.flush()
                    unknown.tell(result.problem, None if arguments or typed else number)
                if not (result.problem and unknown.oov == "skip") and (result.hits or not typed or as_json):
                    _write(result, column, as_json, key)
        sys.stdout.buffer.flush()
    return 0 if typed else unknown.exit_code()


def _write(result: "Answer", column: bool, as_json: bool, key: str) -> None:
    """One line for each hit, an empty one when there is none; or one JSON object."""
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
        lines = [f"{start}{word}\t{score:.6f}" for word, score in result.hits] or [""]
    sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
