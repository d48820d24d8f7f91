"""Normalization of text before its perplexity is taken, as CCNet and datatrove do it.

Both lower-case the text, drop accents, make digits 0, write punctuation in ASCII and drop control characters. Line ends
are among these, so that a text has no lines afterwards. CCNet makes 0,000.00 of 1,234.56 and datatrove 0.0. CCNet drops
blanks at the ends before all else, datatrove after the accents.

Sources: cc_net bda555b, text_normalizer.normalize; datatrove 0.10.1, the perplexity filter's normalize.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from wv_cli.registry import Registry

# What CCNet writes for a character; not for “‘” and “―”.
_PUNCTUATION = {
    **dict.fromkeys("„”“«»」「《》", '"'), **dict.fromkeys("´’", "'"), **dict.fromkeys("∶：", ":"),
    **dict.fromkeys("–━►", "-"), "，": ",", "。": ".", "、": ",", "？": "?", "！": "!", "（": "(", "）": ")", "；": ";",
    "～": "~", "〈": "<", "〉": ">", "【": "[", "】": "]", "％": "%",
}  # fmt: skip
_LONGER = {"—": " - ", "．": ". ", "…": "..."}
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
# Planes in which characters have other categories than letters and symbols, and variation selectors.
_LISTED = range(0x20000), range(0xE0000, 0xE0200)
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_ASCII_CONTROLS = bytes(code for code in _CONTROLS if code < 0x80)
_NUMBER = re.compile("\\d+(?:[.,\u060c\u066b\u2396\u2397\u2398]\\d+)?")
_MARK = "Mn"


def normalize_ccnet(text: str) -> str:
    """CCNet's normalize, with its defaults."""
    return _simplify(text.strip().lower())


def normalize_datatrove(text: str) -> str:
    """What datatrove's perplexity filter makes of a text; also that of bigscience's data tooling."""
    text = _NUMBER.sub("0", text.lower())
    return _simplify(text.strip() if text.isascii() else _strip(unicodedata.normalize("NFD", text)))


NORMALIZERS: Registry[Callable[[str], str]] = Registry(
    "normalization", [("ccnet", normalize_ccnet), ("datatrove", normalize_datatrove)]
)


def _simplify(text: str) -> str:
    """What both do to a text in lower case."""
    if text.isascii():
        return text.encode().translate(_ZEROS, _ASCII_CONTROLS).decode()
    codes = np.frombuffer(unicodedata.normalize("NFD", text).encode("utf-32-le", "surrogatepass"), np.uint32)
    codes = _table()[codes]
    text = codes[codes != 0].tobytes().decode("utf-32-le", "surrogatepass")
    for mark, longer in _LONGER.items():
        text = text.replace(mark, longer)
    return text


@cache
def _table() -> NDArray[np.uint32]:
    """What becomes of each character; 0 drops it."""
    table = np.arange(0x110000, dtype=np.uint32)
    for code in chain(*_LISTED):
        category = unicodedata.category(chr(code))
        if category in (_MARK, "Nd"):
            table[code] = 0 if category == _MARK else ord("0")
    table[_CONTROLS] = 0
    for mark, written in _PUNCTUATION.items():
        table[ord(mark)] = ord(written)
    return table


def _strip(text: str) -> str:
    """The text without blanks at its ends, as if it had no accents."""
    text = text.strip()
    while text:
        begin, end = (unicodedata.category(text[place]) == _MARK for place in (0, -1))
        if not begin and not end:
            break
        text = text[begin : len(text) - end].strip()
    return text
