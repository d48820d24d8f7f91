"""A text as data: its blocks and the spans of a paragraph, for terminal (guide.py), manual pages (roff.py) and site
(html.py); and the reader of the Markdown that README and guides are written in.

The reader knows headings, paragraphs, items of one level, tables and code; in a line it knows code, links, pictures and
emphasis.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal


@dataclass(frozen=True)
class Title:
    """A heading: level 1 of a page, level 2 of a part of it."""

    text: str
    level: int = 1


@dataclass(frozen=True)
class Usage:
    """What is typed: the command in full, and its arguments."""

    command: str
    arguments: str


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Verbatim:
    """Lines that stay as they are."""

    lines: list[str]


@dataclass(frozen=True)
class Listed:
    """Terms and what each means."""

    rows: list[tuple[str, str]]


@dataclass(frozen=True)
class Items:
    """Texts one below the other, each with its mark: a bullet or a number."""

    rows: list[tuple[str, str]]


@dataclass(frozen=True)
class Table:
    """Rows of cells under titles; `right` names the columns of numbers."""

    titles: list[str]
    rows: list[list[str]]
    right: frozenset[int]


Block = Title | Usage | Paragraph | Verbatim | Listed | Items | Table
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_ITEM = re.compile(r" {0,3}([*+-]|\d+\.) +(?=\S)")
# What ends a paragraph beside an empty line. A wrapped line may begin with a number.
_OTHER = r"(?!```|\#{1,6}\ |\||[*+-]\ )"
_BLOCK = re.compile(
    rf"""
    ^(?:
      ``` .*\n (?P<fenced> (?:(?!```).*\n)*) ```.*\n
    | (?P<marks> \#{{1,6}} )\ + (?P<title> .*) \n
    | (?P<table> (?:\|.*\n)+ )
    | (?P<indented> \ {{4}}.*\n (?:\ {{4}}.*\n | \s*\n(?=\ {{4}}))* )
    | (?P<items> (?:\ {{0,3}}(?:[*+-]|\d+\.)\ +\S.*\n (?:{_OTHER}(?!\d+\.\ ).*\S.*\n)* \n?)+ )
    | (?P<paragraph> (?:{_OTHER}.*\S.*\n)+ )
    | \s*\n
    )
    """,
    re.VERBOSE | re.MULTILINE,
)


def read_markdown(markdown: str) -> Iterator[Block]:
    """The blocks of a text. Comments are left out."""
    text = _COMMENT.sub("", markdown).rstrip("\n") + "\n"
    at = 0
    while at < len(text):
        found = _BLOCK.match(text, at)
        assert found is not None, text[at : at + 80]
        at = found.end()
        match found.lastgroup, found[found.lastgroup or 0]:
            case "title", title:
                yield Title(title.strip(), len(found["marks"]))
            case "fenced", code:
                yield Verbatim(code.splitlines())
            case "indented", code:
                yield Verbatim([line[4:] for line in code.rstrip().splitlines()])
            case "table", lines:
                yield _read_table([cells(line) for line in lines.splitlines()])
            case "items", items:
                for _, rows in groupby(_read_items(items), key=lambda row: row[0][-1]):
                    yield Items([*rows])
            case "paragraph", lines:
                yield Paragraph(_join(lines))


def cells(line: str) -> list[str]:
    r"""The cells of a row of a table; a bar in a cell is written `\|`."""
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def _read_table(rows: list[list[str]]) -> Table:
    titles, rules, *body = rows
    return Table(titles, body, frozenset(at for at, rule in enumerate(rules) if rule.endswith("-:")))


def _read_items(text: str) -> Iterator[tuple[str, str]]:
    lines: list[str] = []
    for line in [*text.splitlines(), "* end"]:
        if _ITEM.match(line) and lines:
            found = _ITEM.match(lines[0])
            assert found is not None
            yield found[1], _join("\n".join(lines)[found.end() :])
            lines = []
        lines.append(line)


def _join(lines: str) -> str:
    return " ".join(line.strip() for line in lines.strip().splitlines())


@dataclass(frozen=True)
class Span:
    """A stretch of a paragraph; `target` is where a link leads or a picture lies. A link or emphasis may hold spans."""

    kind: Literal["text", "code", "picture", "link", "strong", "emphasis"]
    text: str
    target: str = ""


_SPAN = re.compile(
    r"""
    (?P<ticks> `+) (?P<code> .+?) (?P=ticks) (?!`)
    | !\[ (?P<picture> [^\]]*) \]\( (?P<source> [^)\s]+) \)
    | \[ (?P<link> (?:[^\]`] | `[^`]*`)+) \]\( (?P<target> [^)\s]+) \)
    | \*\* (?P<strong> \S (?:.*?\S)??) \*\*
    | (?<![\w*]) \* (?P<emphasis> [^\s*] (?:[^*]*[^\s*])?) \* (?![\w*])
    """,
    re.VERBOSE,
)


def read_spans(text: str) -> Iterator[Span]:
    """The spans of a paragraph, one after the other."""
    at = 0
    for found in _SPAN.finditer(text):
        if found.start() > at:
            yield Span("text", text[at : found.start()])
        at = found.end()
        if found["code"]:
            yield Span("code", found["code"].strip() if len(found["ticks"]) > 1 else found["code"])
        elif found["source"]:
            yield Span("picture", found["picture"], found["source"])
        elif found["link"]:
            yield Span("link", found["link"], found["target"])
        elif found["strong"]:
            yield Span("strong", found["strong"])
        else:
            yield Span("emphasis", found["emphasis"])
    if at < len(text):
        yield Span("text", text[at:])
