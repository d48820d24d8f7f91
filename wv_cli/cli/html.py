"""README, guides and manual as a site: static pages that share one style sheet, without scripts and fonts.

`index.html` is the README, NAME.html a guide, wv-NAME.html the manual of a command. Links and pictures have relative
names: the folder works from a disk and from any server.
"""

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from wv_cli import __version__
from wv_cli.cli.manual import EXIT_STATUS, Block, Listed, Page, Paragraph, Title, Usage, Verbatim, pages
from wv_cli.errors import WvError
from wv_cli.guides import FOLDER, GUIDES, KINDS, guide_text
from wv_cli.io.extra import DISTRIBUTION

_STYLE = """\
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 0 1rem 2rem; font: 1rem/1.55 system-ui, sans-serif; }
header { display: flex; justify-content: space-between; padding: .8rem 0; border-bottom: 1px solid #8886; }
header a, nav a { text-decoration: none; }
main { min-width: 0; overflow-wrap: anywhere; }
main img { max-width: 100%; background: #fff; }
h1, h2, h3 { line-height: 1.25; }
pre, code, dt { font-family: ui-monospace, monospace; font-size: .9em; }
code { overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: .6rem .8rem; background: #8882; border-radius: .3rem; }
pre code { font-size: 1em; }
table { display: block; overflow-x: auto; border-collapse: collapse; overflow-wrap: normal; }
td code, th code { overflow-wrap: normal; }
th, td { padding: .2rem .6rem; border: 1px solid #8886; text-align: left; vertical-align: top; }
dt { margin-top: .6rem; font-weight: bold; overflow-wrap: anywhere; }
dd { margin-left: 1.5rem; }
nav { border-top: 1px solid #8886; font-size: .95em; }
nav h2 { margin: 1rem 0 .2rem; font-size: 1em; }
nav ul { margin: 0; padding: 0; list-style: none; columns: 10rem; }
nav [aria-current] { font-weight: bold; }
@media (min-width: 60rem) {
  .page { display: grid; grid-template-columns: 13rem minmax(0, 1fr); gap: 2.5rem; }
  nav { order: -1; border: 0; }
  nav ul { columns: auto; }
  header .to-contents { display: none; }
}
"""
_MARKDOWN_LINK = re.compile(r"(?:wv_cli/guides/)?([\w-]+)\.md(#.*)?")
_PICTURE_LINK = re.compile(r"(?:wv_cli/guides/)?([\w-]+\.svg)")


def site() -> dict[str, bytes]:
    """The content of every file by its name. Raises WvError without the package that reads Markdown."""
    manual = [*pages()]
    contents = _Contents(manual)
    texts = {"index.html": ("wv", _render(_readme(), contents))}
    for name, guide in GUIDES.items():
        texts[f"{name}.html"] = (guide.summary.rstrip("."), _render(guide_text(name), contents))
    for page in manual:
        texts[f"{page.name}.html"] = (f"{_page_title(page)}: {page.summary}", "\n".join(_manual_page(page, contents)))
    made = {name: "\n".join(_page(name, title, body, contents)) + "\n" for name, (title, body) in texts.items()}
    pictures = {path.name: path.read_bytes() for path in sorted(FOLDER.glob("*.svg"))}
    return {**{name: text.encode() for name, text in made.items()}, "style.css": _STYLE.encode(), **pictures}


class _Contents:
    """What pages there are: their headings with (file, words) of each page, and the page that a piece of code names."""

    def __init__(self, manual: list[Page]) -> None:
        self.parts = {"Start": [("index.html", "README")]}
        for kind, title in KINDS.items():
            self.parts[title] = [(f"{name}.html", name) for name, guide in GUIDES.items() if guide.kind == kind]
        self.parts["Commands"] = [(f"{page.name}.html", _page_title(page)) for page in manual]
        self._pages = {words: file for file, words in self.parts["Commands"] if words != "wv"}
        self._pages |= {f"wv help {name}": f"{name}.html" for name in GUIDES}

    def page_of(self, code: str) -> str:
        """The page of `wv train` or `wv help changes`, "" when there is none."""
        return self._pages.get(code, "")


def _page_title(page: Page) -> str:
    return page.name.replace("-", " ", 1)


def _page(name: str, title: str, body: str, contents: _Contents) -> Iterator[str]:
    yield from ("<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">')
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(title)}</title>"
    yield from ('<link rel="stylesheet" href="style.css">', "</head>", "<body>")
    yield f'<header><a href="index.html">wv {__version__}</a>'
    yield '<a class="to-contents" href="#contents">Contents</a></header>'
    yield from ('<div class="page">', f"<main>\n{body}\n</main>", '<nav id="contents">')
    for heading, rows in contents.parts.items():
        if rows:
            yield f"<h2>{escape(heading)}</h2>\n<ul>"
            for file, words in rows:
                current = ' aria-current="page"' if file == name else ""
                yield f'<li><a href="{file}"{current}>{escape(words)}</a></li>'
            yield "</ul>"
    yield from ("</nav>", "</div>", "</body>", "</html>")


def _manual_page(page: Page, contents: _Contents) -> Iterator[str]:
    yield f"<h1>{escape(_page_title(page))}</h1>\n<p>{escape(page.summary)}</p>"
    for block in [*page.blocks, Title("Exit status"), Listed(EXIT_STATUS)]:
        yield _block(block, contents)


def _block(block: Block, contents: _Contents) -> str:
    match block:
        case Title(text, level):
            return f"<h{level + 1}>{escape(text)}</h{level + 1}>"
        case Usage(command, arguments):
            return f"<pre><b>{escape(command)}</b> {escape(arguments)}</pre>"
        case Paragraph(text):
            return f"<p>{_mark_code(text, contents)}</p>"
        case Verbatim(lines):
            return f"<pre>{escape(chr(10).join(lines))}</pre>"
        case Listed(rows):
            items = (
                f"<dt>{_link_code(term, contents)}</dt><dd>{_mark_code(text, contents)}</dd>" for term, text in rows
            )
            return f"<dl>{''.join(items)}</dl>"


def _mark_code(text: str, contents: _Contents) -> str:
    """What stands between backquotes is code."""
    parts = re.split("`([^`]+)`", text)
    marked = [
        f"<code>{_link_code(part, contents)}</code>" if place % 2 else escape(part) for place, part in enumerate(parts)
    ]
    return "".join(marked)


def _link_code(code: str, contents: _Contents) -> str:
    """Code, with a link to the page of the command that it names."""
    page = contents.page_of(code)
    return f'<a href="{page}">{escape(code)}</a>' if page else escape(code)


def _readme() -> str:
    """The README, which is the package's own description."""
    from importlib.metadata import metadata

    described = metadata(DISTRIBUTION).json["description"]
    assert isinstance(described, str)
    return described


def _render(markdown: str, contents: _Contents) -> str:
    """Markdown as HTML. Links to headings lead there, links to guides and pictures to those beside the page; links to
    other files of the repository become words."""
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        message = "--html needs the package markdown-it-py; pip install markdown-it-py"
        raise WvError(message) from None
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = reader.parse(re.sub("<!--.*?-->\n?", "", markdown, flags=re.DOTALL))
    for token, inner in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and token.tag != "h1" and inner is not None:
            token.attrSet("id", _mark(inner.content))
        if token.children:
            token.children = [*_lead_links(token.children, contents)]
    rendered: str = reader.renderer.render(tokens, reader.options, {})
    return rendered


def _mark(heading: str) -> str:
    """The name that Markdown's links have for a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _lead_links(tokens: list[Any], contents: _Contents) -> Iterator[Any]:
    """The parts of a paragraph, links changed to what they lead to in the site."""
    kept, depth = True, 0
    for token in tokens:
        if token.type == "link_open":
            depth += 1
            target = _target(str(token.attrs["href"]))
            kept = target is not None
            token.attrs["href"] = target
        elif token.type == "image" and (picture := _PICTURE_LINK.fullmatch(str(token.attrs["src"]))):
            token.attrs["src"] = picture[1]
        elif token.type == "code_inline" and not depth:
            token.type, token.content = "html_inline", f"<code>{_link_code(token.content, contents)}</code>"
        depth -= token.type == "link_close"
        if kept or token.type not in ("link_open", "link_close"):
            yield token


def _target(link: str) -> str | None:
    """Where a link leads in the site, None for a file that is not in it."""
    guide = _MARKDOWN_LINK.fullmatch(link)
    if guide and guide[1] in GUIDES:
        return f"{guide[1]}.html{guide[2] or ''}"
    return link if link.startswith(("#", "http")) else None
