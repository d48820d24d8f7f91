"""The whole manual: `wv help --man DIR` and `wv help --html`."""

import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.conftest import Run
from wv_cli.commands import COMMANDS
from wv_cli.commands.shared.roff import man_pages

VOID = {"meta", "br", "hr", "img"}


class Page(HTMLParser):
    """Elements that are closed in the order they were opened, names and links to them."""

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
        self.links += [given["href"] or ""] if "href" in given else []
        assert tag not in ("script", "link", "img"), "the page needs nothing beside it"
        if tag not in VOID:
            self.open.append(tag)

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


def test_one_page_with_all_in_it(wv: Run) -> None:
    pytest.importorskip("markdown_it")
    done = wv("help", "--html")
    assert (done.returncode, done.stderr) == (0, "")
    page = Page(done.stdout)
    assert len(page.names) == len(set(page.names)) and {"wv", *(f"wv-{name}" for name in COMMANDS)} <= set(page.names)
    for link in page.links:
        assert link.startswith("http") or link.removeprefix("#") in page.names, link
    for text in (
        "wv train corpus.txt -o vectors.bin",
        "wv eval similarity",
        "--min-count N",
        "Ended by SIGHUP",
        "~/man",
    ):
        assert text in page.words
    assert "<!--" not in done.stdout


def test_without_the_package_that_reads_the_readme(wv: Run, tmp_path: Path) -> None:
    (tmp_path / "markdown_it.py").write_text("raise ImportError")
    done = wv("help", "--html", env={"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (1, "")
    assert "--html needs the package markdown-it-py; pip install markdown-it-py" in done.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("help --html --man x", "--man and --html cannot be used together"),
        ("help train --html", "--html and COMMAND cannot be used together"),
        ("help train --man x", "--man and COMMAND cannot be used together"),
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
