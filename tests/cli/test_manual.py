"""The whole manual: `wv help --man DIR` and `wv help --html DIR`."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT, Run
from tests.walk import for_each
from wv_cli.cli import COMMANDS, html
from wv_cli.cli.document import read_markdown
from wv_cli.cli.roff import man_pages
from wv_cli.guides import FOLDER, GUIDES, guide_text

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """Elements that are closed in the order they were opened, names, and links to other pages and files."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.links: list[str] = []
        self.words = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.names += [given["id"] or ""] if "id" in given else []
        self.links += [given[name] or "" for name in ("href", "src") if name in given]
        assert tag != "style" and "style" not in given and (tag != "script" or given["src"] == "search.js")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_every_command_has_a_page(wv: Run, tmp_path: Path) -> None:
    done = wv("help", "--man", "deep/man")
    assert (done.returncode, done.stdout) == (0, "")
    assert f"{len(COMMANDS) + 1} pages in deep/man; read them: man -M deep/man wv-train" in done.stderr
    made = {
        path.relative_to(tmp_path / "deep" / "man").as_posix(): path.read_text(encoding="utf-8")
        for path in (tmp_path / "deep").rglob("*.1")
    }
    assert made == man_pages() and {f"man1/wv-{name}.1" for name in COMMANDS} < set(made)


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff")
@pytest.mark.parametrize("place", ["man1/wv.1", "man1/wv-train.1", "man1/wv-eval.1"])
def test_pages_are_good_roff(place: str) -> None:
    command = ["groff", "-man", "-ww", "-Tutf8", "-P-cbou"]
    done = subprocess.run(command, input=man_pages()[place], capture_output=True, text=True, check=True)
    assert done.stderr == "" and "\nSYNOPSIS\n" in done.stdout


def test_a_site_with_all_in_it(wv: Run, tmp_path: Path) -> None:
    done = wv("help", "--html", "deep/site")
    assert (done.returncode, done.stdout) == (0, "") and done.stderr.endswith("deep/site/index.html\n")
    made = {path.name: path for path in (tmp_path / "deep" / "site").iterdir()}
    pages = {name: Page(path.read_text(encoding="utf-8")) for name, path in made.items() if path.suffix == ".html"}
    commands = {"wv.html", *(f"wv-{name}.html" for name in COMMANDS)}
    assert set(pages) == {"index.html", *commands, *(f"{name}.html" for name in GUIDES)}
    assert {*made} - {*pages} == {"style.css", "search.js", *(path.name for path in FOLDER.glob("*.svg"))}
    for name, page in pages.items():
        assert len(page.names) == len(set(page.names)) and {*pages, "style.css"} <= set(page.links), name
        for link in page.links:
            file, _, mark = link.partition("#")
            assert link.startswith("http") or file in ("", *made), f"{name}: {link}"
            assert not mark or mark in pages[file or name].names, f"{name}: {link}"
        assert "<!--" not in made[name].read_text(encoding="utf-8")
    assert "wv train corpus.txt -o vectors.bin" in pages["wv-train.html"].words
    assert "--min-count N" in pages["wv-train.html"].words and "wv eval similarity" in pages["wv-eval.html"].words
    assert all("Ended by SIGHUP" in pages[name].words for name in commands)


def test_a_site_that_cannot_be_written(wv: Run, tmp_path: Path) -> None:
    (tmp_path / "site").write_text("a file")
    done = wv("help", "--html", "site")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("wv help: site: cannot make the folder: ")


def test_the_search_of_the_site() -> None:
    """Sections and options have entries, and each entry leads to one of them."""
    made = html.site()
    index = json.loads(made["search.js"].decode().splitlines()[0].removeprefix("const INDEX = ").removesuffix(";"))
    names = {name: Page(text.decode()).names for name, text in made.items() if name.endswith(".html")}
    for place, title, _ in index:
        file, _, mark = place.partition("#")
        assert title and (not mark or mark in names[file]), place
    found = {place: (title, text) for place, title, text in index}
    title, text = found["wv-train.html#--min-count"]
    assert title == "wv train: --min-count N" and text.startswith("Drop words seen fewer times.")
    title, text = found["wv-train.html"]
    assert title == "wv train" and text.startswith(COMMANDS["train"].summary.rstrip("."))
    assert "xz -dc wiki8-demo.txt.xz > text.txt" in found["word-vectors.html#get-the-text"][1]


def test_common_options_come_first() -> None:
    text = html.site()["wv-train.html"].decode()
    titles = re.findall(r"<h2 id=[^>]*>(Options.*?)</h2>", text)
    common, others = text.split("Options: Common")[1].split("Options: Input")
    assert titles[0] == "Options: Common" and 'id="--dim"' in common and 'id="--dedup"' not in common
    assert 'id="--dedup"' in others and text.count('id="--dim"') == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("help --html y --man x", "--man and --html cannot be used together"),
        ("help train --html y", "--html and COMMAND cannot be used together"),
        ("help train --man x", "--man and COMMAND cannot be used together"),
        ("help train --guides", "--guides and COMMAND cannot be used together"),
        ("help --guides --man x", "--man and --guides cannot be used together"),
    ],
)
def test_the_whole_or_a_part(line: str, said: str, wv: Run, tmp_path: Path) -> None:
    done = wv(*line.split())
    assert (done.returncode, done.stdout) == (2, "") and said in done.stderr
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_cannot_be_made(wv: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    done = wv("help", "--man", "file")
    assert (done.returncode, done.stdout) == (1, "")
    assert "wv help: file: cannot make the folder: " in done.stderr and (tmp_path / "file").read_text() == "mine"


class Elements(HTMLParser):
    """Elements and words in their order, without what means nothing: wrappers, attributes but links, blanks."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = [""]
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("p", "div", "span", "thead", "tbody"):
            links = [value or "" for name, value in attrs if name in ("href", "alt")]
            self.found += [" ".join([tag, *links]), ""]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("p", "div", "span", "thead", "tbody"):
            self.found += [f"/{tag}", ""]

    def handle_data(self, data: str) -> None:
        self.found[-1] += data

    @property
    def elements(self) -> list[str]:
        return [words for each in self.found if (words := " ".join(each.split()))]


@for_each("name", ["README", *GUIDES])
def test_markdown_is_read_as_others_read_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a reader of CommonMark with tables."""
    reader = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    text = (ROOT / "README.md").read_text(encoding="utf-8") if name == "README" else guide_text(name)
    monkeypatch.setattr(html, "_target", lambda link: link)
    ours = html._body(read_markdown(text), SimpleNamespace(page_of=lambda code: ""))
    theirs = reader.render(re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL))
    theirs = theirs.replace("<pre><code", "<pre").replace("</code></pre>", "</pre>")
    assert Elements(ours).elements == Elements(theirs).elements
