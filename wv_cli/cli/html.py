"""README, guides and manual as a site: static pages that share one style sheet and one script, the search.

`index.html` is the README, NAME.html a guide, wv-NAME.html the manual of a command. Links and pictures have relative
names and the index of the search is part of its script: the folder works from a disk and from any server.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape, unescape
from pathlib import Path

from wv_cli import __version__
from wv_cli.cli.document import (
    Block,
    Items,
    Listed,
    Paragraph,
    Span,
    Table,
    Title,
    Usage,
    Verbatim,
    read_markdown,
    read_spans,
)  # fmt: skip
from wv_cli.cli.manual import EXIT_STATUS, Page, pages
from wv_cli.guides import FOLDER, GUIDES, KINDS, guide_text
from wv_cli.io.extra import DISTRIBUTION

_BOX = '<input id="q" type="search" placeholder="Search (press /)" aria-label="Search" autocomplete="off">'
_MARKDOWN_LINK = re.compile(r"(?:wv_cli/guides/)?([\w-]+)\.md(#.*)?")


def site() -> dict[str, bytes]:
    """The content of every file by its name."""
    manual = [*pages()]
    contents = _Contents(manual)
    texts = {"index.html": ("wv", [*read_markdown(_readme())])}
    for name, guide in GUIDES.items():
        texts[f"{name}.html"] = (guide.summary.rstrip("."), [*read_markdown(guide_text(name))])
    for page in manual:
        texts[f"{page.name}.html"] = (f"{_page_title(page)}: {page.summary}", [*_manual_page(page)])
    bodies = {name: _body(blocks, contents) for name, (_, blocks) in texts.items()}
    files = {name: "\n".join(_page(name, texts[name][0], body, contents)) + "\n" for name, body in bodies.items()}
    index = [entry for name, body in bodies.items() for entry in _index(name, body)]
    folder = Path(__file__).resolve().parent
    files["style.css"] = (folder / "site.css").read_text(encoding="utf-8")
    script = (folder / "site.js").read_text(encoding="utf-8")
    files["search.js"] = f"const INDEX = {json.dumps(index, ensure_ascii=False)};\n{script}"
    pictures = {path.name: path.read_bytes() for path in sorted(FOLDER.glob("*.svg"))}
    return {**{name: text.encode() for name, text in files.items()}, **pictures}


def _index(name: str, body: str) -> Iterator[tuple[str, str, str]]:
    """(place, title, text) of a page's sections and options."""
    page = "README" if name == "index.html" else name.removesuffix(".html").replace("wv-", "wv ", 1)
    for part in re.split("(?=<h1>|<(?:h[2-6]|dt) id=)", body):
        if found := re.match(r'<(\w+)(?: id="([^"]*)")?>(.*?)</\1>(.*)', part, re.DOTALL):
            mark, title, text = found[2], _words(found[3]), _words(found[4])
            yield f"{name}#{mark}" if mark else name, page if title == page else f"{page}: {title}", text


def _words(html: str) -> str:
    """The text of some HTML."""
    return " ".join(unescape(re.sub("<[^>]*>", " ", html)).split())


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
    yield from ('<link rel="stylesheet" href="style.css">', '<script src="search.js" defer></script>')
    yield from ("</head>", "<body>")
    yield f'<header><a href="index.html">wv {__version__}</a>'
    yield f'<div class="search" hidden>{_BOX}<ul id="found" hidden></ul></div>'
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


def _manual_page(page: Page) -> Iterator[Block]:
    yield Title(_page_title(page))
    yield Paragraph(page.summary)
    for block in [*page.blocks, Title("Exit status"), Listed(EXIT_STATUS)]:
        yield Title(block.text, block.level + 1) if isinstance(block, Title) else block


def _body(blocks: Iterable[Block], contents: _Contents) -> str:
    """The blocks of a page. Sections and options have names for links; the first of one name has it."""
    names: set[str] = {"contents", "q", "found"}

    def new_name(name: str) -> str:
        known = not name or name in names
        names.add(name)
        return "" if known else f' id="{name}"'

    return "\n".join(_block(block, contents, new_name) for block in blocks)


def _block(block: Block, contents: _Contents, new_name: Callable[[str], str]) -> str:
    match block:
        case Title(text, level):
            return f"<h{level}{new_name(_mark(text)) if level > 1 else ''}>{_inline(text, contents)}</h{level}>"
        case Usage(command, arguments):
            return f"<pre><b>{escape(command)}</b> {escape(arguments)}</pre>"
        case Paragraph(text):
            return f"<p>{_inline(text, contents)}</p>"
        case Verbatim(lines):
            return f"<pre>{escape(chr(10).join(lines))}</pre>"
        case Listed(rows):
            lines = [
                f"<dt{new_name(_option_name(term))}>{_link_code(term, contents)}</dt><dd>{_inline(text, contents)}</dd>"
                for term, text in rows
            ]
            return "\n".join(["<dl>", *lines, "</dl>"])
        case Items(rows):
            kind = "ol" if rows[0][0][0].isdigit() else "ul"
            return "\n".join([f"<{kind}>", *(f"<li>{_inline(text, contents)}</li>" for _, text in rows), f"</{kind}>"])
        case Table(titles, rows, right):
            # Of a table of words each row is a list on a narrow screen, where cells begin with the titles of columns.
            names = [escape(_words(_inline(title, contents))) for title in titles]
            starts = [
                '<td class="n">' if at in right else f'<td data-title="{name}: ">' if at else "<td>"
                for at, name in enumerate(names)
            ]
            lines = [_row(["<th>"] * len(titles), titles, contents), *(_row(starts, row, contents) for row in rows)]
            kind = "" if right else ' class="words"'
            return "\n".join([f'<div class="table"><table{kind}>', *lines, "</table></div>"])


def _row(starts: Sequence[str], cells: list[str], contents: _Contents) -> str:
    made = (f"{start}{_inline(cell, contents)}</{start[1:3]}>" for start, cell in zip(starts, cells, strict=True))
    return f"<tr>{''.join(made)}</tr>"


def _option_name(term: str) -> str:
    """`--dim` of `-d, --dim N`, "" where no option stands."""
    found = re.search(r"--[\w-]+", term) if term.startswith("-") else None
    return found[0] if found else ""


def _inline(text: str, contents: _Contents, linked: bool = False) -> str:
    """A paragraph as HTML. Links to headings lead there, links to guides and pictures to those beside the page; links
    to other files of the repository become words."""
    return "".join(_span(span, contents, linked) for span in read_spans(text))


def _span(span: Span, contents: _Contents, linked: bool) -> str:
    match span.kind:
        case "text":
            return _keep_options(escape(span.text))
        case "code":
            return f"<code>{_keep_options(escape(span.text)) if linked else _link_code(span.text, contents)}</code>"
        case "picture":
            return f'<img src="{escape(span.target.rpartition("/")[2])}" alt="{escape(span.text)}">'
        case "link":
            target, words = _target(span.target), _inline(span.text, contents, True)
            return words if target is None else f'<a href="{escape(target)}">{words}</a>'
        case "strong" | "emphasis":
            tag = "strong" if span.kind == "strong" else "em"
            return f"<{tag}>{_inline(span.text, contents, linked)}</{tag}>"


def _link_code(code: str, contents: _Contents) -> str:
    """Code, with a link to the page of the command that it names."""
    page = contents.page_of(code)
    return f'<a href="{page}">{escape(code)}</a>' if page else _keep_options(escape(code))


def _keep_options(html: str) -> str:
    """The names of options are not broken at their hyphens."""
    return re.sub(r"(?<![\w-])--?[a-z][\w-]*", r"<span>\g<0></span>", html)


def _readme() -> str:
    """The README, which is the package's own description."""
    from importlib.metadata import metadata

    described = metadata(DISTRIBUTION).json["description"]
    assert isinstance(described, str)
    return described


def _mark(heading: str) -> str:
    """The name that Markdown's links have for a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _target(link: str) -> str | None:
    """Where a link leads in the site, None for a file that is not in it."""
    guide = _MARKDOWN_LINK.fullmatch(link)
    if guide and guide[1] in GUIDES:
        return f"{guide[1]}.html{guide[2] or ''}"
    return link if link.startswith(("#", "http")) else None
