"""Web pages (HTML) as text, where the package trafilatura is installed; elsewhere they are no text."""

import re
from collections.abc import Iterable

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


def read_page(chunks: Iterable[bytes]) -> bytes:
    """The text of a web page, perhaps none."""
    page = b"".join(chunks).decode("utf-8", "replace")
    text = require("trafilatura", "HTML").extract(page) or ""
    return f"{text}\n".encode("utf-8", "replace") if text else b""
