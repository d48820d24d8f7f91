"""The manual as data: what every command says of itself, for the manual pages (roff.py) and the site (html.py)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from wv_cli.cli import COMMANDS, COMPAT
from wv_cli.cli.document import Block, Listed, Paragraph, Title, Usage, Verbatim
from wv_cli.cli.help import examples, sections, words
from wv_cli.cli.options import is_common
from wv_cli.io.output import commit_together, open_output
from wv_cli.io.places import make_folder

EXIT_STATUS = [
    ("0", "Done."),
    ("1", "Failed; one line on standard error says where, what was expected, what was found and what to do."),
    ("2", "The command line makes no sense."),
    ("3", "A score is below --min-score."),
    ("124", "--max-time is over."),
    ("129, 130, 143", "Ended by SIGHUP, SIGINT, SIGTERM; training can be continued with --resume."),
]


@dataclass(frozen=True)
class Page:
    """The manual of one command: `wv-train` for `wv train`, and `wv` for the program."""

    name: str
    summary: str
    blocks: list[Block]


def pages() -> Iterator[Page]:
    """Of the program, then of every command in the order of the table."""
    from wv_cli.cli.program import wv

    root = click.Context(wv, info_name="wv", **wv.context_settings)
    body = [*_usage(root), *_explain_command(root)]
    for title, table in (("Commands", COMMANDS), ("The originals' command lines", COMPAT)):
        body += [Title(title), Listed([(f"wv {name}", row.summary) for name, row in table.items()])]
    yield Page("wv", "word vectors on the command line", body)
    for name, row in COMMANDS.items():
        command = wv.get_command(root, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=root)
        yield Page(
            f"wv-{name}", row.summary.rstrip("."), [*_usage(context), *_explain_command(context), *_parts(context)]
        )


def _usage(context: click.Context) -> Iterator[Block]:
    yield Usage(context.command_path, " ".join(context.command.collect_usage_pieces(context)))


def _explain_command(context: click.Context, level: int = 1) -> Iterator[Block]:
    """Description, options and examples of one command."""
    yield Title("Description", level)
    yield from _paragraphs(context.command.help or "")
    for title, options in _common_first(sections(context.command, context)).items():
        yield Title(title if title == "Options" else f"Options: {title}", level)
        yield Listed([words(option, context) for option in options])
    lines = examples(context.command_path.partition(" ")[2])
    if lines:
        yield from (Title("Examples", level), Verbatim(lines))


def _common_first(found: dict[str, list[click.Option]]) -> dict[str, list[click.Option]]:
    """First the options of the short help, for a command that has one; the others under their headings."""
    options = [each for listed in found.values() for each in listed]
    if not any("--help-all" in each.opts for each in options):
        return found
    common = [each for each in options if is_common(each)]
    others = {title: [each for each in listed if not is_common(each)] for title, listed in found.items()}
    return {title: listed for title, listed in {"Common": common, **others}.items() if listed}


def _parts(context: click.Context) -> Iterator[Block]:
    """The same of the commands that one consists of."""
    if isinstance(context.command, click.Group):
        for name, part in context.command.commands.items():
            inner = click.Context(part, info_name=name, parent=context)
            yield Title(inner.command_path)
            yield from _usage(inner)
            yield from _explain_command(inner, 2)


def _paragraphs(text: str) -> Iterator[Block]:
    """Those that begin with \\b stay as they are broken."""
    for paragraph in text.replace("\f", "").strip().split("\n\n"):
        lines = [line.removeprefix("    ") for line in paragraph.split("\n")]
        if lines[0] == "\b":
            yield Verbatim(lines[1:])
        else:
            yield Paragraph(" ".join(line.strip() for line in lines))


def write_files(folder: str, files: Mapping[str, bytes]) -> None:
    """Writes files by their places in a folder, which is made. All appear together. Raises WvError."""
    make_folder(folder, parents=True)
    for place in files:
        make_folder((Path(folder) / place).parent, parents=True)
    with commit_together():
        for place, content in files.items():
            with open_output(Path(folder) / place) as file:
                file.write(content)
