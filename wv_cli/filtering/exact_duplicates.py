"""Paragraphs that came before, known again by their digests (text/digests.py).

Paragraphs are the lines of a document. They are compared as CCNet does: without white space at their ends, in small
letters, each digit as 0, without some punctuation and all controls. CCNet takes two passes and leaves out every
paragraph that comes twice. Here the first one stays.
"""

import hashlib
import re
from itertools import compress, pairwise

import numpy as np
from numpy.typing import NDArray

from wv_cli.text.digests import Digests, read_digests

_PUNCTUATION = "，。、„”“«»１」「《》´∶：？！（）；–—．～’…━〈〉【】％►"
_CONTROLS = "".join(map(chr, [*range(0x00, 0x0A), *range(0x0B, 0x20), *range(0x7F, 0xA0)]))  # but for the line feed
_REMOVED = re.compile(f"[{re.escape(_PUNCTUATION + _CONTROLS)}]+")
_DIGIT = re.compile(r"\d")
_ASCII_CONTROLS = "".join(c for c in _CONTROLS if c.isascii()).encode()
_ASCII_SPACE = b" \t\n\r\v\f\x1c\x1d\x1e\x1f"
_ASCII_DIGITS = bytes.maketrans(b"123456789", b"000000000")


def paragraph_digests(texts: list[bytes]) -> tuple[Digests, NDArray[np.int64]]:
    """(paragraphs,), (n + 1,) the digests of the paragraphs of all documents, and where each document's begin."""
    paragraphs = [normalize_paragraphs(text) for text in texts]
    whole = (hashlib.sha1(each, usedforsecurity=False) for lines in paragraphs for each in lines)
    octets = b"".join(each.digest()[:8] for each in whole)
    return read_digests(octets), np.cumsum([0, *map(len, paragraphs)], dtype=np.int64)


def normalize_paragraphs(text: bytes) -> list[bytes]:
    """The lines of a document as CCNet's `normalize_for_dedup` compares them. Bytes that are no UTF-8 become U+FFFD."""
    if text.isascii():
        lines = b"\n".join(line.strip(_ASCII_SPACE) for line in text.split(b"\n"))
        return lines.lower().translate(_ASCII_DIGITS, _ASCII_CONTROLS).split(b"\n")
    stripped = "\n".join(line.strip() for line in text.decode("utf-8", "replace").split("\n"))
    return _REMOVED.sub("", _DIGIT.sub("0", stripped.lower())).encode("utf-8").split(b"\n")


def left_over(texts: list[bytes], starts: NDArray[np.int64], stays: NDArray[np.bool_]) -> list[bytes]:
    """The documents with only the paragraphs that stay: `starts` is from
    paragraph_digests(), `stays` from DigestSet.first(). A document that
    lost nothing is the same object. One that lost everything is empty."""
    kept = []
    for text, (begin, end) in zip(texts, pairwise(starts.tolist()), strict=True):
        lines = stays[begin:end]
        kept.append(text if lines.all() else b"\n".join(compress(text.split(b"\n"), lines.tolist())))
    return kept
