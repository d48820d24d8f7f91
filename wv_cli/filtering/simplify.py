"""The words by which near-duplicates are compared: datatrove's `simplify_text`, divided at white space.

Capitals become small letters, a number becomes 0 unless it is kept, punctuation and controls become spaces, accents go.
`simplify` does this to a whole text in Python. `character_page` says it of single characters, for the C code that does
the same (csrc/core/simplify.c).
"""

import re
import unicodedata

from wv_cli._minhash import BYTES, CASED, DIGIT, GROWTH, HARD, IGNORED, LETTER, MARK, PAGE, SIGMA, SPACE

_ASCII_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_PUNCTUATION = "«´»–—’“”„…∶━►、。〈〉《》「」【】！％（），．１：；？～"
_CONTROLS = [*range(0x00, 0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)]
_TO_SPACE = dict.fromkeys([*map(ord, _ASCII_PUNCTUATION + _PUNCTUATION), *_CONTROLS], " ")
_NUMBER_MARKS = ".,،٫⎖⎗⎘"
_NUMBER = re.compile(rf"\d+(?:[{_NUMBER_MARKS}]\d+)?")


def simplify(text: str, *, keep_numbers: bool = False) -> str:
    """The words of a text, with a space between two."""
    lower = text.lower()
    spaced = (lower if keep_numbers else _NUMBER.sub("0", lower)).translate(_TO_SPACE)
    return " ".join(_without_accents(spaced).split())


def simplify_bytes(text: bytes, *, keep_numbers: bool = False) -> bytes:
    """The same of bytes, of which those that are no UTF-8 become U+FFFD."""
    return simplify(text.decode("utf-8", "replace"), keep_numbers=keep_numbers).encode("utf-8")


def character_page(number: int, *, keep_numbers: bool = False) -> bytes:
    """What becomes of the characters from PAGE * number on, as core/simplify.h has it."""
    return b"".join(_row(chr(code), keep_numbers) for code in range(number * PAGE, (number + 1) * PAGE))


def _without_accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")


def _row(character: str, keep_numbers: bool) -> bytes:
    kind, replacement = _fate(character, keep_numbers)
    octets = replacement.encode("utf-8")
    # What the rule of the sigma sees: str.lower knows it, and makes of it what a sigma before or behind becomes.
    cased = (character + "Σ").lower().endswith("ς")
    ignored = not cased and ("A" + character + "Σ").lower().endswith("ς")
    flags = kind | MARK * (character in _NUMBER_MARKS) | CASED * cased | IGNORED * ignored
    return bytes([flags, len(octets)]) + octets.ljust(BYTES, b"\0")


def _fate(character: str, keep_numbers: bool) -> tuple[int, str]:
    """The kind of a character, and what it becomes."""
    if unicodedata.category(character) == "Nd" and not keep_numbers:
        return DIGIT, "0"
    if character == "Σ":
        return SIGMA, "σ"
    spaced = character.lower().translate(_TO_SPACE)
    if spaced.isspace():
        return SPACE, ""
    replacement = _without_accents(spaced)
    # NFD puts marks in order among each other. UTF-8 has no surrogates. The rest does not happen in Unicode 16.
    ordered = any(map(unicodedata.combining, replacement)) or any(map(str.isspace, replacement))
    if ordered or "\ud800" <= character <= "\udfff":
        return HARD, ""
    octets = len(replacement.encode("utf-8"))
    return (LETTER, replacement) if octets <= min(BYTES, GROWTH * len(character.encode("utf-8"))) else (HARD, "")
