"""Documents among the texts of a folder: .docx, .pdf and .html are left out, or their text is read."""

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
    """A folder with a text, two documents and two web pages; no package reads them."""
    monkeypatch.chdir(tmp_path)
    for package in ("trafilatura", "pypdf", "docx"):
        monkeypatch.setitem(sys.modules, package, None)
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
        "4 files that are no text are left out, such as in/b.pdf: a PDF file; to read its text, "
        "pip install 'wv-toolkit[documents]', or pdftotext FILE, in/c.docx: a .docx file; to read its text, "
        "pip install 'wv-toolkit[documents]', or pandoc FILE -t plain -o FILE.txt, in/d.html: a web page (HTML); "
        "to read its text, pip install 'wv-toolkit[html]'"
    )


@pytest.mark.parametrize("command", READERS)
def test_pages_are_text_where_the_package_is(command, folder, reads_pages, capsys):
    assert run(READERS[command]) == 0
    (said,) = [each for each in capsys.readouterr().err.splitlines() if "no text" in each]
    assert "2 files that are no text are left out" in said and "HTML" not in said


@pytest.fixture
def documents(tmp_path, monkeypatch):
    """A folder with a text, a PDF file and a .docx file."""
    docx = pytest.importorskip("docx")
    pytest.importorskip("pypdf")
    monkeypatch.chdir(tmp_path)
    (made := tmp_path / "in").mkdir()
    (made / "a.txt").write_text("the oven bakes the bread\n")
    (made / "b.pdf").write_bytes(make_pdf("Rain fell in winter."))
    document = docx.Document()
    document.add_paragraph("A concert for violin.")
    document.add_table(1, 1).cell(0, 0).text = "a cell"
    document.save(str(made / "c.docx"))
    return made


def make_pdf(text: str) -> bytes:
    """A page with a line of text."""
    show = f"BT /F 12 Tf 20 200 Td ({text}) Tj ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        f"<< /Length {len(show)} >>\nstream\n{show}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, rows = "%PDF-1.4\n", "0000000000 65535 f \n"
    for number, each in enumerate(objects, 1):
        rows += f"{len(out):010d} 00000 n \n"
        out += f"{number} 0 obj\n{each}\nendobj\n"
    table = f"xref\n0 6\n{rows}trailer << /Size 6 /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return f"{out}{table}".encode()


@pytest.mark.parametrize("command", READERS)
def test_documents_are_text_where_the_packages_are(command, documents, capsys):
    assert run(READERS[command]) == 0
    assert "no text" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["train", "build-vocab", "tokenize", "search"])
@pytest.mark.parametrize(("name", "word"), [("b.pdf", "winter"), ("c.docx", "violin")])
def test_a_document_that_is_named(command, name, word, documents):
    words = {"in": f"in/{name}", "oven": word}
    assert run([words.get(each, each) for each in READERS[command]]) == 0


def test_the_text_of_documents(documents, capsys):
    assert run(["tokenize", "in", "-o", "out.txt", "-q"]) == 0
    words = "the oven bakes the bread\nRain fell in winter .\nA concert for violin .\na cell\n"
    assert (documents.parent / "out.txt").read_text() == words
    capsys.readouterr()
    for query, found in (("winter", "in/b.pdf:1: Rain fell in winter.\n"), ("cell", "in/c.docx:2: a cell\n")):
        assert run(["search", "in", query]) == 0
        assert capsys.readouterr().out.endswith(found)


_NAMESPACES = " ".join(
    f'xmlns:{name}="{address}"'
    for name, address in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "v": "urn:schemas-microsoft-com:vml",
    }.items()
)


def _run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


_BOX = f"<w:txbxContent><w:p>{_run('boxed')}</w:p></w:txbxContent>"


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (f"<w:ins>{_run('new ')}</w:ins>", "new"),
        (f"<w:moveTo>{_run('moved ')}</w:moveTo>", "moved"),
        ("<w:del><w:r><w:delText>old </w:delText></w:r></w:del>", ""),
        (f"<w:moveFrom>{_run('moved ')}</w:moveFrom>", ""),
        (f"<w:sdt><w:sdtContent>{_run('filled in ')}</w:sdtContent></w:sdt>", "filled in"),
        (f"<w:smartTag>{_run('a place ')}</w:smartTag>", "a place"),
        (f'<w:fldSimple w:instr="DATE">{_run("today ")}</w:fldSimple>', "today"),
        (f"<w:hyperlink>{_run('a link ')}</w:hyperlink>", "a link"),
        ("<m:oMath><m:r><m:t>x+y </m:t></m:r></m:oMath>", "x+y"),
        ("<w:r><w:t>page</w:t><w:br w:type='page'/></w:r>", "page\n"),
        ("<w:r><w:t>left</w:t><w:tab/></w:r>", "left"),
        ("<w:r><w:t>well</w:t><w:noBreakHyphen/><w:t>known </w:t></w:r>", "well-known"),
    ],
)
def test_all_text_of_a_docx_paragraph(inside, text, documents):
    assert _read(documents, inside) == f"before {text} after\n".replace("  ", " ").replace("\n a", "\na")


def test_the_text_of_a_docx_text_box_comes_once(documents):
    """Word writes a box twice: as a drawing, and as a picture for older programs."""
    both = (
        f"<mc:Choice Requires='wps'><w:drawing>{_BOX}</w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{_BOX}</v:textbox></w:pict></mc:Fallback>"
    )
    assert _read(documents, f"<w:r><mc:AlternateContent>{both}</mc:AlternateContent></w:r>") == "before after\nboxed\n"


def test_the_footnotes_of_a_docx(documents):
    opc = pytest.importorskip("docx.opc.part")
    uri = pytest.importorskip("docx.opc.packuri").PackURI("/word/footnotes.xml")
    notes = f"<w:footnotes {_NAMESPACES}><w:footnote><w:p>{_run('a note')}</w:p></w:footnote></w:footnotes>"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"

    def attach(document):
        relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
        document.part.relate_to(opc.Part(uri, kind, notes.encode(), document.part.package), relation)

    assert _read(documents, "", attach) == "before after\na note\n"


def _read(folder, inside: str, change=lambda _: None) -> str:
    """What wv reads of a .docx file with a paragraph that has `inside` in the middle; tab stops are no text."""
    docx = pytest.importorskip("docx")
    document = docx.Document()
    stops = "<w:pPr><w:tabs><w:tab w:val='left' w:pos='720'/></w:tabs></w:pPr>"
    paragraph = f"<w:p {_NAMESPACES}>{stops}{_run('before ')}{inside}{_run('after')}</w:p>"
    document.element.body.insert(0, pytest.importorskip("docx.oxml").parse_xml(paragraph))
    change(document)
    document.save(str(folder / "c.docx"))
    assert run(["tokenize", "in/c.docx", "-o", "out.txt", "--words", "blanks", "-q"]) == 0
    return (folder.parent / "out.txt").read_text()


def test_a_document_without_text_is_told(documents, capsys):
    """A scanned page is a picture."""
    (documents / "b.pdf").write_bytes(make_pdf(""))
    (documents / "d.pdf").write_bytes(make_pdf(" "))
    assert run(["tokenize", "in", "-o", "out.txt"]) == 0
    said = capsys.readouterr().err
    told = "in/b.pdf: a PDF file without text, as scanned pages are\n"
    assert f"2 documents have no text, such as {told}" in said
    assert run(["search", "in", "oven"]) == 0
    found = capsys.readouterr()
    assert found.out and found.err == f"2 files that are no text are left out, such as {told}"
    assert run(["train", "in/b.pdf", "-o", "out.vec"]) == 1
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("name", ["b.pdf", "c.docx"])
def test_a_damaged_document(name, documents, capsys):
    (documents / name).write_bytes((documents / name).read_bytes()[:60])
    assert run(["tokenize", "in", "-o", "out.txt"]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"wv tokenize: in/{name}: cannot read a ")
    assert not (documents.parent / "out.txt").exists()
    assert run(["search", "in", "oven"]) == 0
    captured = capsys.readouterr()
    assert captured.out and f"in/{name}: cannot read a " in captured.err and captured.err.count("\n") == 1


def test_the_text_of_a_page(folder, reads_pages, capsys):
    assert run(["tokenize", "in", "-o", "out.txt", "-q"]) == 0
    assert (folder.parent / "out.txt").read_text() == "the oven bakes the bread\n" * 5 + "pages have bread\n" * 2
    assert run(["search", "in", "pages"]) == 0
    assert capsys.readouterr().out == "in/d.html:1: pages have bread\nin/e.htm:1: pages have bread\n"


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
