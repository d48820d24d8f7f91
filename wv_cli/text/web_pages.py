"""Web pages (HTML) as text, where the package trafilatura is installed; elsewhere they are no text."""

import codecs
import re

from wv_cli.errors import WvError
from wv_cli.io.extra import BROKEN, DISTRIBUTION, require
from wv_cli.text.binary import is_foreign

NO_PACKAGE = f"a web page (HTML); to read its text, pip install '{DISTRIBUTION}[html]'"
_BEGINNING = re.compile(rb"(?i)(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)\b")
_ENDINGS = (".html", ".htm", ".xhtml")


def is_page(path: str, head: bytes) -> bool:
    """Whether a file that begins with `head` is a web page, by that or by its name."""
    return bool(_BEGINNING.match(head)) or (path.lower().endswith(_ENDINGS) and b"<" in head)


def unreadable_page() -> str | None:
    """What a web page is where the package is missing or cannot be imported, None where pages are read."""
    try:
        require("trafilatura", "")
    except WvError as error:
        reason = str(error).partition(BROKEN)[2]
        return f"a web page (HTML); the import of trafilatura fails: {reason}" if reason else NO_PACKAGE
    return None


# As browsers read these names: most pages that give one have the letters of the other.
_WIDER = {"iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "shift_jis": "cp932", "euc_kr": "cp949"}
_WIDER |= dict.fromkeys(("gb2312", "gbk"), "gb18030")
_DECLARED = re.compile(rb"""(?i)<(?:meta\b[^>]*\bcharset|\?xml\b[^>]*\bencoding)\s*=\s*["']?\s*([\w.:-]+)""")
_HEAD = 1 << 14
_WHOLE = re.compile(r"(?i)<(?:!doctype|html|head|body)\b")
BLANK = "a web page without text"


def recode_page(page: bytes) -> bytes:
    """A web page in UTF-8, if it says which other encoding it has. One that is UTF-8 stays, whatever it says: whoever
    converts a page may forget its head. One that says nothing is in windows-1252, as the standard of HTML has it, but
    stays where it has letters of UTF-8, or so many other bytes that it is_foreign()."""
    try:
        page.decode()
    except UnicodeDecodeError:
        name = _encoding_of(page)
    else:
        return page
    try:
        return page.decode(name, "replace").encode("utf-8", "replace") if name else page
    except (LookupError, UnicodeError):  # no encoding of texts
        return page


def _encoding_of(page: bytes) -> str | None:
    """The encoding of a page, as Python calls it; None where it is UTF-8 or cannot be told."""
    if page.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    found = _DECLARED.search(page[:_HEAD])
    try:
        name = codecs.lookup(found[1].decode("ascii", "replace")).name if found else ""
    except LookupError:
        name = ""
    if not name:
        is_ascii = page.decode("utf-8", "ignore").isascii()
        return "cp1252" if is_ascii and not is_foreign(page) else None
    return None if name.startswith("utf-") else _WIDER.get(name, name)


def extract_page(page: str) -> str:
    """The text of a web page, or of a part of one. trafilatura takes one element alone, and words without any, for no
    page."""
    if not _WHOLE.search(page, 0, _HEAD):
        page = f"<html><body>{page}</body></html>"
    return require("trafilatura", "HTML").extract(page) or ""


def read_page(page: bytes) -> bytes:
    """The text of a web page in UTF-8, perhaps none."""
    text = extract_page(page.decode("utf-8", "replace"))
    return f"{text}\n".encode("utf-8", "replace") if text else b""
