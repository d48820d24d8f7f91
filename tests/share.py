"""Makes the manual pages and the completion scripts of wv_cli/share from the commands, so that they cannot disagree.

    python -m tests.share           writes them anew

tests/commands/test_share.py checks that they are current. They are installed under PREFIX/share (csrc/CMakeLists.txt).
"""

from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from wv_cli import __version__
from wv_cli.commands import COMMANDS, ORIGINALS
from wv_cli.commands.shared.help import examples, sections, words
from wv_cli.commands.shared.program import wv

SHARE = Path(__file__).resolve().parent.parent / "wv_cli" / "share"
SCRIPTS = {
    "bash": "bash-completion/completions/wv",
    "zsh": "zsh/site-functions/_wv",
    "fish": "fish/vendor_completions.d/wv.fish",
}
EXIT_STATUS = [
    ("0", "Done."),
    ("1", "Failed; one line on standard error says where, what was expected, what was found and what to do."),
    ("2", "The command line makes no sense."),
    ("3", "A score is below --min-score."),
    ("124", "--max-time is over."),
    ("129, 130, 143", "Ended by SIGHUP, SIGINT, SIGTERM; training can be continued with --resume."),
]


def files() -> dict[str, str]:
    """Every file by its path in SHARE."""
    root = click.Context(wv, info_name="wv", **wv.context_settings)
    made = {"man/man1/wv.1": "\n".join(_page(root, "word vectors on the command line", _program(root)))}
    for name, row in COMMANDS.items():
        command = wv.get_command(root, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=root)
        body = [*_explained(context), *_parts(context)]
        made[f"man/man1/wv-{name}.1"] = "\n".join(_page(context, row.summary.rstrip("."), body))
    for shell, place in SCRIPTS.items():
        kind = get_completion_class(shell)
        assert kind is not None
        made[place] = kind(wv, {}, "wv", "_WV_COMPLETE").source().strip()
    return {place: f"{text}\n" for place, text in made.items()}


def roff(text: str) -> str:
    """Text that troff takes for text."""
    return "\n".join(
        f"\\&{line}" if line[:1] in (".", "'") else line
        for line in text.replace("\\", "\\e").replace("-", "\\-").split("\n")
    )


def _page(context: click.Context, summary: str, body: list[str]) -> Iterator[str]:
    name = context.command_path.replace(" ", "-")
    yield f'.TH "{name.upper()}" 1 "" "wv {__version__}" "User Commands"'
    yield from (".SH NAME", roff(f"{name} - {summary}"))
    yield from (".SH SYNOPSIS", *_synopsis(context))
    yield from body
    yield ".SH EXIT STATUS"
    yield from _listed(EXIT_STATUS)
    others = ["wv", *(f"wv-{other}" for other in COMMANDS)]
    yield from (".SH SEE ALSO", ", ".join(f"\\fB{roff(other)}\\fR(1)" for other in others if other != name))


def _synopsis(context: click.Context) -> list[str]:
    pieces = context.command.collect_usage_pieces(context)
    return [f"\\fB{roff(context.command_path)}\\fR {roff(' '.join(pieces))}"]


def _program(root: click.Context) -> list[str]:
    body = _explained(root)
    for title, table in (("COMMANDS", COMMANDS), ("THE ORIGINALS' COMMAND LINES", ORIGINALS)):
        body += [f".SH {title}", *_listed((f"wv {name}", row.summary) for name, row in table.items())]
    return body


def _explained(context: click.Context) -> list[str]:
    """Description, options and examples of one command."""
    found = [".SH DESCRIPTION", *_paragraphs(context.command.help or "")]
    for title, options in sections(context.command, context).items():
        found += [f".SH OPTIONS: {title.upper()}" if title != "Options" else ".SH OPTIONS"]
        found += _listed(words(option, context) for option in options)
    lines = examples(context.command_path.partition(" ")[2])
    return found + ([".SH EXAMPLES", *_verbatim(lines)] if lines else [])


def _parts(context: click.Context) -> list[str]:
    """The same of the commands that one consists of."""
    found = []
    if isinstance(context.command, click.Group):
        for name, part in context.command.commands.items():
            inner = click.Context(part, info_name=name, parent=context)
            found += [f".SH {inner.command_path.upper()}", *_synopsis(inner)]
            found += [f".SS{line[3:]}" if line.startswith(".SH") else line for line in _explained(inner)]
    return found


def _paragraphs(text: str) -> list[str]:
    """Those that begin with \\b stay as they are broken."""
    found = []
    for paragraph in text.replace("\f", "").strip().split("\n\n"):
        lines = [line.removeprefix("    ") for line in paragraph.split("\n")]
        if lines[0] == "\b":
            found += _verbatim(lines[1:])
        else:
            found += [".PP", roff(" ".join(line.strip() for line in lines))]
    return found


def _verbatim(lines: list[str]) -> list[str]:
    return [".PP", ".nf", *(roff(line) for line in lines), ".fi"]


def _listed(rows: "Iterator[tuple[str, str]] | list[tuple[str, str]]") -> list[str]:
    return [line for term, text in rows for line in (".TP", f"\\fB{roff(term)}\\fR", roff(text))]


if __name__ == "__main__":
    for place, text in files().items():
        (SHARE / place).parent.mkdir(parents=True, exist_ok=True)
        (SHARE / place).write_text(text, encoding="utf-8")
