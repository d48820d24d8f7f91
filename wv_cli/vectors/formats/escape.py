"""Words that a text or binary vector file cannot hold, because spaces separate its fields and newlines its rows.

They are refused by default, with the word and the way out. Escaped, a space, tab, newline, NUL and % become % and two
hexadecimal digits (new%20york), the empty word a lone %; everything else stays as it is, and unescaping is exact.
"""

import re

from wv_cli._floattext import first_unwritable
from wv_cli.errors import BadFile, WvError, show_bytes
from wv_cli.words import WordList, is_utf8

# What core/floattext.h calls unwritable, by the name that messages give it.
_NAMES = {b" ": "a space", b"\t": "a tab", b"\n": "a newline", b"\0": "a NUL"}
_UNSAFE = re.compile(b"[%s%%]" % b"".join(_NAMES))
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})?")


def unwritable_part(text: bytes) -> str:
    """What is in a word, or in many, that few programs can read; "" for nothing."""
    return next((name for mark, name in _NAMES.items() if mark in text), "")


def escape_word(word: bytes) -> bytes:
    return _UNSAFE.sub(lambda found: b"%%%02X" % found[0][0], word) or b"%"


def unescape_word(word: bytes) -> bytes:
    """Raises ValueError when `word` was not made by escape_word."""
    if word == b"%":
        return b""

    def unescape(found: re.Match[bytes]) -> bytes:
        if found[1] is None:
            message = "a % without two hexadecimal digits"
            raise ValueError(message)
        return bytes([int(found[1], 16)])

    return _ESCAPE.sub(unescape, word)


def escape_words(words: WordList) -> WordList:
    if b"%" not in words.blob and first_unwritable(words.blob, words.starts) < 0:
        return words
    return WordList.from_words(escape_word(words.bytes_at(i)) for i in range(len(words)))


def unescape_words(words: WordList, path: object) -> WordList:
    """Raises BadFile when a word holds a % that no escaping wrote."""
    if b"%" not in words.blob:
        return words
    found = []
    for i in range(len(words)):
        word = words.bytes_at(i)
        try:
            found.append(unescape_word(word) if b"%" in word else word)
        except ValueError:
            problem = (
                f"row {i + 1}: the word {show_bytes(word)} holds a % that --escape did not write; "
                "read it without --unescape"
            )
            raise BadFile(path, problem) from None
    return WordList.from_words(found)


def require_writable(words: WordList, format_name: str, path: object, before: int = 0) -> None:
    """Raises WvError for the first word the format cannot hold; `before`: how many rows come before these."""
    row = first_unwritable(words.blob, words.starts)
    if row < 0:
        return
    word = words.bytes_at(row)
    what = unwritable_part(word) or "no character at all"
    message = (
        f"{path}: row {before + row + 1}: the word {show_bytes(word)} holds {what}, which {format_name} cannot keep; "
        f"nothing was written. Write it as {show_bytes(escape_word(word))} with --escape"
    )
    raise WvError(message)


def require_utf8(words: WordList, format_name: str, path: object) -> None:
    """Raises WvError for the first word that is not UTF-8."""
    for row in range(len(words)):
        if not is_utf8(word := words.bytes_at(row)):
            message = f"{path}: row {row + 1}: the word {word!r} is not UTF-8, which {format_name} cannot keep"
            raise WvError(message)
