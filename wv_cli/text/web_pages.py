"""Web pages (HTML) as text, where the package trafilatura is installed; elsewhere they are no text."""

import codecs
import re

from wv_cli.errors import WvError
from wv_cli.io.extra import BROKEN, DISTRIBUTION, require

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


def recode_page(page: bytes) -> bytes:
    """A web page in UTF-8, if it says which other encoding it has. One that is UTF-8 stays, whatever it says: whoever
    converts a page may forget its head."""
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
    """The encoding that a page declares, as Python calls it; None where it is UTF-8, not known or not there."""
    if page.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    found = _DECLARED.search(page[:_HEAD])
    try:
        name = codecs.lookup(found[1].decode("ascii", "replace")).name if found else "utf-8"
    except LookupError:
        return None
    return None if name.startswith("utf-") else _WIDER.get(name, name)


def read_page(page: bytes) -> bytes:
    """The text of a web page in UTF-8, perhaps none."""
    text = require("trafilatura", "HTML").extract(page.decode("utf-8", "replace")) or ""
    return f"{text}\n".encode("utf-8", "replace") if text else b""
