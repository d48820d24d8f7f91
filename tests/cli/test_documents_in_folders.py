"""Documents among the texts of a folder: .docx, .pdf and .html are left out, or a page's text is read."""

import sys
import types
import zipfile

import pytest

from tests.conftest import GOLDEN
from wv_cli.__main__ import run
from wv_cli.text.web_pages import unreadable_page

PAGE = "<!DOCTYPE html>\n<html><body><p>pages have bread</p></body></html>\n"
READERS = {
    "train": ["train", "in", "-o", "out.vec", "--dim", "4", "--epochs", "1", "--min-count", "1"],
    "glove": ["glove", "in", "-o", "out.vec", "--dim", "4", "--iterations", "1", "--min-count", "1"],
    "build-vocab": ["build-vocab", "in", "-o", "out.vocab", "--min-count", "1"],
    "phrases": ["phrases", "in", "-o", "out.txt", "--min-count", "1"],
    "tokenize": ["tokenize", "in", "-o", "out.txt"],
    "lm": ["lm", "train", "in", "-o", "out.arpa", "--order", "1", "--discount-fallback"],
    "predict": ["predict", str(GOLDEN / "ft-labels.bin"), "in"],
    "search": ["search", "in", "oven"],
    "index": ["search", "index", "in", "-o", "out.index"],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a text, two documents and two web pages; no package reads pages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    (made := tmp_path / "in").mkdir()
    (made / "a.txt").write_text("the oven bakes the bread\n" * 5)
    (made / "b.pdf").write_bytes(b"\xef\xbb\xbf\n%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n")
    with zipfile.ZipFile(made / "c.docx", "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "<document/>")
    (made / "d.html").write_text(PAGE)
    (made / "e.htm").write_text("<p>a part of a page</p>\n")
    return made


@pytest.fixture
def reads_pages(folder, monkeypatch):
    """The package that reads pages, as far as it is asked."""
    package = types.ModuleType("trafilatura")
    package.extract = lambda page: "pages have bread" if "<html>" in page else None
    monkeypatch.setitem(sys.modules, "trafilatura", package)


@pytest.mark.parametrize("command", READERS)
def test_documents_are_left_out_and_told_once(command, folder, capsys):
    assert run(READERS[command]) == 0
    (said,) = [each for each in capsys.readouterr().err.splitlines() if "no text" in each]
    assert said.removeprefix("in: ") == (
        "4 files that are no text are left out, such as in/b.pdf: a PDF file; take its text out first: pdftotext FILE, "
        "in/c.docx: an Office document; take its text out first: pandoc FILE -t plain -o FILE.txt (of tables: save "
        "them as CSV), in/d.html: a web page (HTML); to read its text, "
        "pip install 'wv-toolkit[html]'"
    )


@pytest.mark.parametrize("command", READERS)
def test_pages_are_text_where_the_package_is(command, folder, reads_pages, capsys):
    assert run(READERS[command]) == 0
    (said,) = [each for each in capsys.readouterr().err.splitlines() if "no text" in each]
    assert "2 files that are no text are left out" in said and "HTML" not in said


def test_the_text_of_a_page(folder, reads_pages, capsys):
    assert run(["tokenize", "in", "-o", "out.txt", "-q"]) == 0
    assert (folder.parent / "out.txt").read_text() == "the oven bakes the bread\n" * 5 + "pages have bread\n"
    assert run(["search", "in", "pages"]) == 0
    assert capsys.readouterr().out == "in/d.html:1: pages have bread\n"


@pytest.mark.parametrize("name", ["b.pdf", "c.docx", "d.html", "e.htm"])
@pytest.mark.parametrize("command", ["train", "phrases", "search"])
def test_one_that_is_named_is_refused(command, name, folder, capsys):
    assert run([f"in/{name}" if word == "in" else word for word in READERS[command]]) == 1
    said = capsys.readouterr().err
    assert f"in/{name}: " in said and ("expected text" in said or "cannot be read as text" in said)
    assert not list(folder.parent.glob("out*"))


def test_pages_as_they_are(folder):
    assert run(["phrases", "in/d.html", "-o", "out.txt", "--force-text", "-q"]) == 0
    assert (folder.parent / "out.txt").read_text() == PAGE


def test_a_package_that_cannot_be_imported_says_why(tmp_path, monkeypatch):
    (tmp_path / "trafilatura.py").write_text("raise ImportError('lxml.html.clean is another project now')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "trafilatura", raising=False)
    assert unreadable_page() == (
        "a web page (HTML); the import of trafilatura fails: lxml.html.clean is another project now"
    )
