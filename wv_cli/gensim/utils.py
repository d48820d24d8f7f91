"""gensim's words of a text, and the answers of its trim rules."""

import re
import unicodedata
from collections.abc import Iterator

RULE_DEFAULT, RULE_DISCARD, RULE_KEEP = 0, 1, 2  # the answers of a trim rule
_LETTERS = re.compile(r"[^\W\d]+")  # "_" is one


def to_unicode(text: str | bytes, encoding: str = "utf8", errors: str = "strict") -> str:
    """A str as it is, bytes decoded."""
    return text if isinstance(text, str) else str(text, encoding, errors)


def to_utf8(text: str | bytes, errors: str = "strict", encoding: str = "utf8") -> bytes:
    """A text as bytes of UTF-8."""
    return to_unicode(text, encoding, errors).encode()


any2unicode, any2utf8 = to_unicode, to_utf8


def deaccent(text: str | bytes) -> str:
    """A text without the marks above and below its letters."""
    parts = unicodedata.normalize("NFD", to_unicode(text))
    return unicodedata.normalize("NFC", "".join(each for each in parts if unicodedata.category(each) != "Mn"))


def tokenize(
    text: str | bytes,
    lowercase: bool = False,
    deacc: bool = False,
    encoding: str = "utf8",
    errors: str = "strict",
    to_lower: bool = False,
    lower: bool = False,
) -> Iterator[str]:
    """The runs of letters of a text, without digits; `lowercase`, `to_lower` and `lower` say the same."""
    text = to_unicode(text, encoding, errors)
    if lowercase or to_lower or lower:
        text = text.lower()
    return (match.group() for match in _LETTERS.finditer(deaccent(text) if deacc else text))


def simple_preprocess(doc: str | bytes, deacc: bool = False, min_len: int = 2, max_len: int = 15) -> list[str]:
    """The runs of `min_len` to `max_len` small letters of a text, but for those that begin with "_"."""
    words = tokenize(doc, lower=True, deacc=deacc, errors="ignore")
    return [word for word in words if min_len <= len(word) <= max_len and not word.startswith("_")]
