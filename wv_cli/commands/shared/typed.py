"""Queries typed on a terminal."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from wv_cli.words import WordList


def typed_lines(prompt: str, words: "WordList | None") -> Iterator[list[str]]:
    """Lines from a terminal until Ctrl-D. The prompt goes to stderr, so that stdout can be a file."""
    click.echo(f"{prompt} per line; Ctrl-D ends.", err=True)
    while True:
        click.echo("> ", err=True, nl=False)
        line = sys.stdin.readline()
        if not line:
            click.echo(err=True)
            return
        yield [line.rstrip("\r\n")]
