"""Text in lower case, in chunks: words that begin as labels do may keep theirs."""

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from wv_cli._text import SEPARATORS


def lowercase_chunks(chunks: Iterable[bytes], keep_case: bytes = b"") -> Iterator[bytes]:
    """Lowercases UTF-8 text by Unicode's rules; bytes that are not UTF-8 stay as they are, and so do words that begin
    with `keep_case`.

    Chunks are cut anew between words: a capital sigma becomes another letter at a word's end than inside it.
    """
    unfinished: list[bytes] = []
    kept = re.compile(_WORD % re.escape(keep_case)) if keep_case else None
    for chunk in chunks:
        cut = max(map(chunk.rfind, _SEPARATORS)) + 1
        if cut == 0:
            unfinished.append(chunk)
            continue
        yield lower_bytes(b"".join([*unfinished, chunk[:cut]]), kept)
        unfinished = [chunk[cut:]] if cut < len(chunk) else []
    if unfinished:
        yield lower_bytes(b"".join(unfinished), kept)


_SEPARATORS = [bytes([byte]) for byte in SEPARATORS]
_WORD = rb"(?<![^%s])%%s[^%s]*" % ((re.escape(SEPARATORS),) * 2)  # that begins so


def lower_bytes(text: bytes, kept: re.Pattern[bytes] | None = None) -> bytes:
    """The same for whole words; those that match `kept` stay."""
    if kept is not None and (words := kept.findall(text)):
        others = (lower_bytes(other) for other in kept.split(text))
        return b"".join(part for pair in zip_longest(others, words, fillvalue=b"") for part in pair)
    if text.isascii():
        return text.lower()
    return text.decode("utf-8", "surrogateescape").lower().encode("utf-8", "surrogateescape")
