"""The sentences of a text in Markdown, and of the program's help, for tests of how they are written."""

import re
from collections.abc import Iterator

import click

from wv_cli.cli import COMMANDS
from wv_cli.cli.document import cells
from wv_cli.cli.program import wv as group

_END = re.compile(r"""(?<=[.!?])["')*]*\s+(?=["'(*]*[A-Z`])""")
_ITEM = re.compile(r"\s*(?:[*+-]|\d+\.)\s+")


def sentences(markdown: str) -> list[str]:
    """Those of paragraphs, items, headings and tables; no code blocks. Code in a sentence is one word."""
    return [
        sentence.strip()
        for passage in passages(markdown)
        for sentence in _END.split(re.sub(r"(`+)[^`]+\1", "`X`", passage))
        if words(sentence)
    ]


def words(sentence: str) -> int:
    return sum(any(letter.isalnum() for letter in word) for word in sentence.split())


def passages(markdown: str) -> Iterator[str]:
    """Stretches of text in which a sentence may go on: a paragraph, an item, a heading, a part of a cell up to `;`."""
    text = re.sub(r"<!--.*?-->|^```.*?^```", "", markdown, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for paragraph in re.split(r"\n\s*\n", text):
        passage: list[str] = []
        if re.match(r" {4}|\t", paragraph.lstrip("\n")):  # code
            continue
        for line in paragraph.splitlines():
            alone = line.startswith(("|", "#"))
            if alone or _ITEM.match(line):
                yield " ".join(passage)
                passage = []
            if line.startswith("|"):
                yield from (part for cell in cells(line) for part in cell.split("; "))
            elif alone:
                yield line.lstrip("#")
            else:
                passage.append(_ITEM.sub("", line, count=1) if _ITEM.match(line) else line.strip())
        yield " ".join(passage)


def help_texts() -> Iterator[tuple[str, str]]:
    """Every command with what it says of itself and of its options, as Markdown."""
    root = click.Context(group)
    for name in COMMANDS:
        command = group.get_command(root, name)
        assert command is not None
        yield from _help_texts(name, command)


def _help_texts(path: str, command: click.Command) -> Iterator[tuple[str, str]]:
    options = [each.help or "" for each in command.params if isinstance(each, click.Option) and not each.hidden]
    prose = [part for part in (command.help or "").split("\n\n") if not part.lstrip().startswith("\b")]
    yield path, "\n\n".join([*prose, *options])
    if isinstance(command, click.Group):
        for name, part in command.commands.items():
            yield from _help_texts(f"{path} {name}", part)
