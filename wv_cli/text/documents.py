"""PDF and .docx as text, where the packages of the extra `documents` are installed; elsewhere they are no text."""

import io
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from wv_cli.errors import WvError
from wv_cli.io.extra import DISTRIBUTION, foreign, require
from wv_cli.io.kinds import ZIP

DOCX = ".docx"


class Document(NamedTuple):
    """A kind of document: its name, the package that reads it, and how. `other` is a program that converts it, `blank`
    what one is that has no text."""

    what: str
    package: str
    read: Callable[[bytes], str]
    other: str
    blank: str

    def problem(self) -> str | None:
        """What such a file is where the package is missing, None where it is read."""
        try:
            require(self.package, self.what)
        except WvError:
            return f"{self.what}; to read its text, pip install '{DISTRIBUTION}[documents]', or {self.other}"
        return None


def _read_pdf(data: bytes) -> str:
    import logging

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells what it repairs
    pages = require("pypdf", "PDF").PdfReader(io.BytesIO(data)).pages
    return "\n".join(page.extract_text() for page in pages)


def _read_docx(data: bytes) -> str:
    """A line of each paragraph, those of tables, text boxes, footnotes and endnotes too, with all changes accepted."""
    part = require("docx", ".docx").Document(io.BytesIO(data)).part
    parse = require("docx.oxml", ".docx").parse_xml
    notes = [each for each in part.rels.values() if each.reltype.endswith(("/footnotes", "/endnotes"))]
    trees = [part.element.body, *(parse(each.target_part.blob) for each in notes)]
    return "\n".join(line for tree in trees for line in _paragraphs(tree))


_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_TEXT = (f"{_WORD}t", f"{_MATH}t")
_MARKS = {f"{_WORD}tab": "\t", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-"}
# Properties have tab stops. Deleted text is text no more, and a fallback repeats what stands beside it.
_LEFT_OUT = {
    *(f"{_WORD}{name}" for name in ("pPr", "rPr", "del", "moveFrom")),
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
}


def _paragraphs(tree: Any) -> Iterator[str]:
    """The text of each paragraph of an XML tree. A text box's come after the paragraph that holds it. `Paragraph.text`
    of python-docx lacks what stands in insertions, fields and content controls."""
    walk = require("lxml.etree", ".docx").iterwalk(tree, events=("start", "end"))
    paragraphs: list[list[str]] = []
    around: list[list[str]] = []  # the paragraphs that hold the element
    for event, element in walk:
        if element.tag in _LEFT_OUT:
            if event == "start":
                walk.skip_subtree()
        elif element.tag == f"{_WORD}p":
            if event == "start":
                around.append([])
                paragraphs.append(around[-1])
            else:
                around.pop()
        elif event == "start" and around:
            text = element.text if element.tag in _TEXT else _MARKS.get(element.tag)
            around[-1].append(text or "")
    return map("".join, paragraphs)


_PDF = Document("a PDF file", "pypdf", _read_pdf, "pdftotext FILE", "a PDF file without text, as scanned pages are")
_DOCX = Document("a .docx file", "docx", _read_docx, "pandoc FILE -t plain -o FILE.txt", "a .docx file without text")


def document_of(path: str, head: bytes) -> Document | None:
    """What a file that begins with `head` is, None for no such document."""
    if re.match(rb"(?:\xef\xbb\xbf)?\s*%PDF-\d", head):
        return _PDF
    return _DOCX if path.lower().endswith(DOCX) and re.match(ZIP, head) else None


def read_documents(path: str, chunks: Iterable[bytes], on_blank: Callable[[str], None]) -> Iterator[bytes]:
    """The bytes of a file or, of a document that can be read, those of its text. `on_blank` is told what it is if it
    has none. Raises BadFile for a damaged one."""
    parts = iter(chunks)
    first = next(parts, b"")
    document = document_of(path, first)
    if document is None or document.problem() is not None:
        yield from filter(None, [first])
        yield from parts
        return
    with foreign(path, f"cannot read {document.what}", quiet=True):
        text = document.read(b"".join([first, *parts]))
    if not text.strip():
        on_blank(document.blank)
        text = ""
    yield f"{text}\n".encode("utf-8", "replace")
