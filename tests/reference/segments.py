"""Unicode's properties of characters for word and sentence boundaries, as csrc/core/segmenttable.c has them.

`python -m tests.reference.segments` prints the tables of that file; it needs `pip install uniseg`, whose 0.10.1 has
Unicode 16. Digits, spaces and controls are those of Python's database.
"""

import sys
import unicodedata
from collections.abc import Iterator

WORD_BREAKS = [
    "Other",
    "CR",
    "LF",
    "Newline",
    "Extend",
    "ZWJ",
    "Regional_Indicator",
    "Format",
    "Katakana",
    "Hebrew_Letter",
    "ALetter",
    "Single_Quote",
    "Double_Quote",
    "MidNumLet",
    "MidLetter",
    "MidNum",
    "Numeric",
    "ExtendNumLet",
    "WSegSpace",
]
SENTENCE_BREAKS = [
    "Other",
    "CR",
    "LF",
    "Extend",
    "Sep",
    "Format",
    "Sp",
    "Lower",
    "Upper",
    "OLetter",
    "Numeric",
    "ATerm",
    "SContinue",
    "STerm",
    "Close",
]
SENTENCE_SHIFT = 5
PICTOGRAPH, WORD, INVISIBLE, DIGIT, EMOJI = (1 << bit for bit in range(9, 14))
KEYCAP = 0x20E3


def character_kind(code: int) -> int:
    from uniseg.db import get_handle, get_value

    def value(name: str) -> str:
        found: str = get_value(get_handle(name), code)
        return found or "Other"

    category = unicodedata.category(chr(code))
    sentence = value("Sentence_Break")
    return (
        WORD_BREAKS.index(value("Word_Break"))
        | SENTENCE_BREAKS.index(sentence) << SENTENCE_SHIFT
        | PICTOGRAPH * (value("Extended_Pictographic") not in ("Other", "N", "No"))
        | WORD * (sentence in ("Lower", "Upper", "OLetter", "Numeric") or category[0] in "LN")
        | INVISIBLE * (category[0] == "Z" or category in ("Cc", "Cf"))
        | DIGIT * (category == "Nd")
        | EMOJI * (code == KEYCAP or value("Word_Break") == "Regional_Indicator")
    )


def ranges() -> Iterator[tuple[int, int, int, int]]:
    """(first, last, kind, other) of stretches of characters whose kinds are in turn `kind` and `other`, but for kind
    0."""
    kinds = [character_kind(code) for code in range(sys.maxunicode + 1)]
    first = 0
    while first < len(kinds):
        last = first
        while last + 1 < len(kinds) and kinds[last + 1] == kinds[first]:
            last += 1
        other = kinds[first]
        if last == first and last + 3 < len(kinds):
            pair = kinds[first], kinds[first + 1]
            turn = first
            while turn + 1 < len(kinds) and kinds[turn + 1] == pair[(turn + 1 - first) % 2]:
                turn += 1
            if turn >= first + 3 and all(pair):
                last, other = turn, pair[1]
        if kinds[first]:
            yield first, last, kinds[first], other
        first = last + 1


def rows(all_ranges: list[tuple[int, int, int, int]], *, in_turn: bool) -> str:
    """The rows of one of the two tables in C."""
    lines = ["   "]
    for first, last, kind, other in all_ranges:
        if (kind != other) is in_turn:
            row = f" {{0x{first:x}, {last - first + 1}, {kind}{f', {other}' if in_turn else ''}}},"
            if len(lines[-1]) + len(row) > 120:
                lines.append("   ")
            lines[-1] += row
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    found = [*ranges()]
    sys.stdout.write(f"static const run runs[] = {{\n{rows(found, in_turn=False)}}};\n\n")
    sys.stdout.write(f"static const turn turns[] = {{\n{rows(found, in_turn=True)}}};\n")
