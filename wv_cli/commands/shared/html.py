"""The README and the manual as one HTML page that needs nothing else: no script, no font, no file beside it."""

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from wv_cli import __version__
from wv_cli.commands.shared.manual import EXIT_STATUS, Block, Listed, Page, Paragraph, Title, Usage, Verbatim, pages
from wv_cli.errors import WvError
from wv_cli.system.extra import DISTRIBUTION

_STYLE = """\
:root { color-scheme: light dark; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
pre, code, dt { font-family: ui-monospace, monospace; font-size: .9em; }
pre { overflow-x: auto; padding: .6rem .8rem; background: #8882; border-radius: .3rem; }
table { display: block; overflow-x: auto; border-collapse: collapse; }
th, td { padding: .2rem .6rem; border: 1px solid #8886; text-align: left; vertical-align: top; }
dt { margin-top: .5rem; font-weight: bold; }
section { border-top: 1px solid #8886; margin-top: 2rem; }
"""


def html_page() -> Iterator[str]:
    """The lines of the page. Raises WvError without the package that reads the README."""
    readme = _readme()
    yield from ("<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">')
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield from (f"<title>wv {__version__}</title>", f"<style>\n{_STYLE}</style>", "</head>", "<body>")
    made = [*pages()]
    links = [f'<a href="#{page.name}">{escape(page.name.replace("-", " ", 1))}</a>' for page in made]
    yield f"<nav>wv {__version__}: {' · '.join(links)}</nav>"
    yield f"<main>\n{readme}"
    for page in made:
        yield from _section(page)
    yield from ("</main>", "</body>", "</html>")


def _section(page: Page) -> Iterator[str]:
    yield f'<section id="{page.name}">\n<h2>{escape(page.name.replace("-", " ", 1))}: {escape(page.summary)}</h2>'
    ending: list[Block] = [Title("Exit status"), Listed(EXIT_STATUS)] if page.name == "wv" else []  # the same for all
    for block in [*page.blocks, *ending]:
        yield _block(block)
    yield "</section>"


def _block(block: Block) -> str:
    match block:
        case Title(text, level):
            return f"<h{level + 2}>{escape(text)}</h{level + 2}>"
        case Usage(command, arguments):
            return f"<pre><b>{escape(command)}</b> {escape(arguments)}</pre>"
        case Paragraph(text):
            return f"<p>{_mark_code(text)}</p>"
        case Verbatim(lines):
            return f"<pre>{escape(chr(10).join(lines))}</pre>"
        case Listed(rows):
            return f"<dl>{''.join(f'<dt>{escape(term)}</dt><dd>{_mark_code(text)}</dd>' for term, text in rows)}</dl>"


def _mark_code(text: str) -> str:
    """What stands between backquotes is code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _readme() -> str:
    """The README, which is the package's own description, as HTML. Its headings are marks, so that its links to
    itself lead there; links to files of the repository are words here."""
    from importlib.metadata import metadata

    try:
        from markdown_it import MarkdownIt
    except ImportError:
        message = "--html needs the package markdown-it-py; pip install markdown-it-py"
        raise WvError(message) from None
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    described = metadata(DISTRIBUTION).json["description"]
    assert isinstance(described, str)
    tokens = markdown.parse(re.sub("<!--.*?-->\n?", "", described, flags=re.DOTALL))
    for token, inner in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and token.tag != "h1" and inner is not None:
            token.attrSet("id", _mark(inner.content))
        if token.children:
            token.children = [*_keep_links(token.children)]
    rendered: str = markdown.renderer.render(tokens, markdown.options, {})
    return rendered


def _mark(heading: str) -> str:
    """The name that Markdown's links have for a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _keep_links(tokens: list[Any]) -> Iterator[Any]:
    """All but links that lead to files of the repository."""
    dropped = False
    for token in tokens:
        if token.type == "link_open":
            dropped = not str(token.attrs["href"]).startswith(("#", "http"))
        if not (dropped and token.type in ("link_open", "link_close")):
            yield token
