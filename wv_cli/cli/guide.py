"""A guide on a terminal or in a pipe: Markdown at the terminal's width, with tables in columns and code indented."""

import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from shutil import get_terminal_size

import click

from wv_cli.cli import group_commands
from wv_cli.cli.document import Block, Items, Paragraph, Table, Title, Verbatim, read_markdown, read_spans
from wv_cli.cli.streams import shows_styles, write_orders
from wv_cli.guides import GUIDES, KINDS, guide_text

WIDTH = 100  # of the longest lines, however wide the terminal is
_NARROWEST = 16  # column of a table whose cells are wrapped
_BETWEEN = 2  # columns of a table
_STYLES = {"code": {"bold": True}, "strong": {"bold": True}, "emphasis": {"underline": True}}
_MARKS = {"code": "`", "strong": "**", "emphasis": "*"}


def list_guides(formatter: click.HelpFormatter) -> str:
    """Every guide with its summary, under the heading of its kind."""
    for kind, title in KINDS.items():
        rows = [(name, guide.summary) for name, guide in GUIDES.items() if guide.kind == kind]
        if rows:
            with formatter.section(f"{title} (wv help GUIDE)"):
                formatter.write_dl(rows)
    return formatter.getvalue().strip("\n")


def list_names(formatter: click.HelpFormatter) -> str:
    """The tutorials, then the names of the other guides and of the commands: one screen."""
    tutorials = [(name, guide.summary.split(":")[0]) for name, guide in GUIDES.items() if guide.kind == "tutorial"]
    others = [name for name, guide in GUIDES.items() if guide.kind != "tutorial"]
    with formatter.section("Tutorials (wv help NAME shows one)"):
        formatter.write_dl(tutorials)
    formatter.write_paragraph()
    listed = " ".join(["Other guides (wv help --guides):", *others])
    formatter.write("\n  ".join(wrap(listed, formatter.width - 2)) + "\n")
    groups = {group: " ".join(name for name, _ in rows) for group, rows in group_commands().items()}
    with formatter.section("Commands (wv -h describes each)"):
        formatter.write_dl([(group, names) for group, names in groups.items() if "originals" not in group])
    return formatter.getvalue().strip("\n")


def show_guide(name: str) -> None:
    """A page at a time on a terminal that is shorter than the guide."""
    size, styled = get_terminal_size(), shows_styles()
    text = render(guide_text(name), min(size.columns, WIDTH), styled=styled)
    if sys.stdout.isatty() and text.count("\n") >= size.lines:
        click.echo_via_pager(text.removesuffix("\n"))
    elif styled:
        write_orders(text)
    else:
        click.echo(text, nl=False)


def render(markdown: str, width: int = 80, *, styled: bool = False) -> str:
    """Markdown without comments and fences. Titles, code and emphasis keep their marks, links to guides become
    commands. `styled` adds a terminal's orders and changes nothing else."""
    parts = ("".join(f"{line}\n" for line in _lines(block, width, styled)) for block in read_markdown(markdown))
    return "\n".join(parts)


def _lines(block: Block, width: int, styled: bool) -> Iterator[str]:
    match block:
        case Title(text, level):
            title = _style(f"{'#' * level} {_inline(text, False)}", styled, bold=True, underline=level == 1)
            yield from wrap(title, width, "")
        case Paragraph(text):
            yield from wrap(_inline(text, styled), width)
        case Items(rows):
            for mark, text in rows:
                yield from wrap(_inline(text, styled), width, f"{mark} ")
        case Verbatim(lines):
            yield from (f"    {line}".rstrip() for line in lines)
        case Table():
            yield from _table(block, width, styled)


def _inline(text: str, styled: bool) -> str:
    """A paragraph as one line."""
    parts = []
    for span in read_spans(text):
        if span.kind == "link":
            parts.append(_inline(span.text, styled) + _explain_link(span.target))
        elif span.kind == "picture":
            parts.append(f"[picture: {span.text}]")
        elif span.kind == "text":
            parts.append(span.text)
        else:
            inner = span.text if span.kind == "code" else _inline(span.text, False)
            parts.append(_style(f"{_MARKS[span.kind]}{inner}{_MARKS[span.kind]}", styled, **_STYLES[span.kind]))
    return "".join(parts)


def _style(text: str, styled: bool, **style: bool) -> str:
    """Each word has its own orders, so that the text may be wrapped."""
    return re.sub(r"\S+", lambda word: click.style(word[0], **style), text) if styled else text


def _explain_link(target: str) -> str:
    if re.match("https?:", target):
        return f" ({target})"
    guide, dot_md, _ = target.partition(".md")
    return f" (`wv help {guide}`)" if dot_md and "/" not in guide else ""


def wrap(text: str, width: int, mark: str = "") -> Iterator[str]:
    """Lines of at most `width` columns, unless a word is longer. `mark` begins the first one, blanks the others."""
    line, used = mark, len(mark)
    for number, word in enumerate(text.split(" ")):
        size = _columns(word)
        if number and used + 1 + size > width:
            yield line
            line, used = " " * len(mark) + word, len(mark) + size
        else:
            line, used = (f"{line} {word}", used + 1 + size) if number else (line + word, used + size)
    yield line


def _columns(text: str) -> int:
    """The columns of a terminal that a text takes. East Asian letters take two."""
    plain = click.unstyle(text)
    return len(plain) + (0 if plain.isascii() else sum(unicodedata.east_asian_width(each) in "WF" for each in plain))


def _table(table: Table, width: int, styled: bool) -> Iterator[str]:
    """In columns, with wrapped cells where there is room for them; else each row as a term and lines below it."""
    titles, *body = ([_inline(cell, styled) for cell in row] for row in (table.titles, *table.rows))
    widths = _fit([titles, *body], width)
    if widths:
        rows = [[[*wrap(cell, size)] for cell, size in zip(row, widths, strict=True)] for row in (titles, *body)]
        rows.insert(1, [["-" * size] for size in widths])
        apart = any(len(row[0]) > 1 for row in rows[2:])  # else the first column shows where a row begins
        for number, row in enumerate(rows):
            if apart and number > 2:
                yield ""
            for parts in zip_longest(*row, fillvalue=""):
                aligned = (
                    _align(part, size, at in table.right)
                    for at, (part, size) in enumerate(zip(parts, widths, strict=True))
                )
                yield (" " * _BETWEEN).join(aligned).rstrip()
        return
    for term, *others in body:
        yield from wrap(term, width)
        for title, cell in zip(titles[1:], others, strict=True):
            if cell:
                yield from wrap(cell if len(titles) == 2 else f"{title}: {cell}", width, "    ")


def _align(text: str, width: int, right: bool) -> str:
    blanks = " " * (width - _columns(text))
    return blanks + text if right else text + blanks


def _fit(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """The widths of columns that fit, made by narrowing the widest one; none where a word would not fit."""
    columns = [*zip(*rows, strict=True)]
    widths = [max(map(_columns, column)) for column in columns]
    least = [max(_NARROWEST, *(_columns(word) for cell in column for word in cell.split(" "))) for column in columns]
    while sum(widths) + _BETWEEN * (len(widths) - 1) > width:
        widest = widths.index(max(widths))
        if widths[widest] <= least[widest]:
            return []
        widths[widest] -= 1
    return widths
