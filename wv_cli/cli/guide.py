"""The guides on a terminal: their list, and one of them as plain text, with tables in columns and code indented."""

import re
import sys
import textwrap
from collections.abc import Iterator
from itertools import groupby

import click

from wv_cli.guides import GUIDES, KINDS, guide_text

WIDTH = 100
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


def list_guides(formatter: click.HelpFormatter) -> str:
    """Every guide with its summary, under the heading of its kind."""
    for kind, title in KINDS.items():
        rows = [(name, guide.summary) for name, guide in GUIDES.items() if guide.kind == kind]
        if rows:
            with formatter.section(f"{title} (wv help GUIDE)"):
                formatter.write_dl(rows)
    return formatter.getvalue().strip("\n")


def show_guide(name: str) -> None:
    """A page at a time on a terminal."""
    text = plain_text(guide_text(name))
    if sys.stdout.isatty():
        click.echo_via_pager(text)
    else:
        click.echo(text, nl=False)


def plain_text(markdown: str) -> str:
    """Markdown without comments and fences; titles keep their marks, links to guides become commands."""
    return "\n".join(_lines(_COMMENT.sub("", markdown))) + "\n"


def _lines(text: str) -> Iterator[str]:
    for kind, group in groupby(_kinds(text), lambda each: each[0]):
        lines = [line for _, line in group]
        if kind == "table":
            yield from _table([cells(line) for line in lines])
        elif kind == "code":
            yield from (f"    {line}".rstrip() for line in lines)
        elif kind == "text":
            yield _LINK.sub(_explain_link, _PICTURE.sub(r"[picture: \1]", "\n".join(lines)))


def _kinds(text: str) -> Iterator[tuple[str, str]]:
    """Each line and whether it is "text", "code", of a "table" or a "fence" around code."""
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
            yield "fence", line
        else:
            yield "code" if fenced else "table" if line.startswith("|") else "text", line


def cells(line: str) -> list[str]:
    r"""The cells of a row of a table; a bar in a cell is written `\|`."""
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def _explain_link(match: re.Match[str]) -> str:
    words, target = match.groups()
    if re.match("https?:", target):
        return f"{words} ({target})"
    guide, dot_md, _ = target.partition(".md")
    return f"{words} (`wv help {guide}`)" if dot_md and "/" not in guide else words


def _table(rows: list[list[str]]) -> Iterator[str]:
    """In columns where these are narrow enough, else each row as a paragraph: its first cell, then the others."""
    titles, _, *body = ([_LINK.sub(_explain_link, cell) for cell in row] for row in rows)
    widths = [max(map(len, column)) for column in zip(titles, *body, strict=True)]
    if sum(widths) + 2 * len(widths) <= WIDTH:
        for row in (titles, ["-" * width for width in widths], *body):
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        return
    for row in body:
        yield row[0]
        for title, cell in zip(titles[1:], row[1:], strict=True):
            shown = cell if len(titles) == 2 else f"{title}: {cell}"
            if cell:
                yield from textwrap.wrap(
                    shown, WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
                )
