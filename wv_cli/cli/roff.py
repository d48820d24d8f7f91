"""The manual as pages for man(1)."""

from collections.abc import Iterator

from wv_cli import __version__
from wv_cli.cli import COMMANDS
from wv_cli.cli.document import Block, Listed, Paragraph, Title, Usage, Verbatim
from wv_cli.cli.manual import EXIT_STATUS, Page, pages


def man_pages() -> dict[str, str]:
    """Every page by its path in a folder of manual pages: man1/wv-train.1."""
    return {f"man1/{page.name}.1": "\n".join(_page(page)) + "\n" for page in pages()}


def _page(page: Page) -> Iterator[str]:
    yield f'.TH "{page.name.upper()}" 1 "" "wv {__version__}" "User Commands"'
    yield from (".SH NAME", _text(f"{page.name} - {page.summary}"))
    yield ".SH SYNOPSIS"
    for block in [*page.blocks, Title("Exit status"), Listed(EXIT_STATUS)]:
        yield from _block(block)
    others = ["wv", *(f"wv-{other}" for other in COMMANDS)]
    yield from (".SH SEE ALSO", ", ".join(f"\\fB{_text(other)}\\fR(1)" for other in others if other != page.name))


def _block(block: Block) -> Iterator[str]:
    match block:
        case Title(text, level):
            yield f"{'.SH' if level == 1 else '.SS'} {text.upper()}"
        case Usage(command, arguments):
            yield f"\\fB{_text(command)}\\fR {_text(arguments)}"
        case Paragraph(text):
            yield from (".PP", _text(text))
        case Verbatim(lines):
            yield from (".PP", ".nf", *map(_text, lines), ".fi")
        case Listed(rows):
            for term, text in rows:
                yield from (".TP", f"\\fB{_text(term)}\\fR", _text(text))


def _text(text: str) -> str:
    """Text that troff takes for text."""
    return "\n".join(
        f"\\&{line}" if line[:1] in (".", "'") else line
        for line in text.replace("\\", "\\e").replace("-", "\\-").split("\n")
    )
