"""PDF and .docx as text, where the packages of the extra `documents` are installed; elsewhere they are no text."""

import io
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

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
    """The paragraphs, those in tables too."""
    document = require("docx", ".docx").Document(io.BytesIO(data))
    paragraph = require("docx.text.paragraph", ".docx").Paragraph
    name = require("docx.oxml.ns", ".docx").qn("w:p")
    return "\n".join(paragraph(each, document).text for each in document.element.body.iter(name))


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
