"""Character classes from Python's Unicode database, as csrc/core/characters.c has them.

`python -m tests.reference.characters` prints the rows of that file (Unicode 14, the database of Python 3.11).
"""

import sys
import unicodedata
from collections.abc import Iterator

SPACE, LETTER, SYMBOL, TERMINAL, BREAK, UPPER, PUNCTUATION, CLOSING, OPENING, ICON, QUOTE, CURRENCY, DIVIDING = (
    1 << bit for bit in range(13)
)
# datatrove's PUNCTUATION and TERMINAL_PUNCTUATION (utils/text.py).
SYMBOLS = "!/—”:％１〈&(、━\\【#%「」，】；+^]~“《„';’{|∶´[=-`*．（–？！：$～«〉,><》)?）。…@_.\"}►»"
SYMBOL_CONTROLS = {*range(9), *range(11, 32), *range(127, 160)}
TERMINALS = (
    "!.?։؝؞؟۔܀܁܂߹࠷࠹࠽࠾।॥၊။።፧፨᙮᜵᜶។៕៖៙៚᠃᠉᥄᥅᪨᪩᪪᪫᭚᭛᭞᭟\u1b7d\u1b7e᰻᰼᱾᱿‼‽⁇⁈⁉⸮⸼\u2e53\u2e54。꓿꘎꘏꛳꛷꡶꡷꣎꣏꤯꧈꧉꩝꩞꩟꫰꫱꯫﹒﹖﹗！．？｡"
)
HIGHER_TERMINALS = (
    "10a56 10a57 10f55 10f56 10f57 10f58 10f59 10f86 10f87 10f88 10f89 11047 11048 110be 110bf 110c0 110c1 11141 11142 "
    "11143 111c5 111c6 111cd 111de 111df 11238 11239 1123b 1123c 112a9 1144b 1144c 115c2 115c3 115c9 115ca 115cb 115cc "
    "115cd 115ce 115cf 115d0 115d1 115d2 115d3 115d4 115d5 115d6 115d7 11641 11642 1173c 1173d 1173e 11944 11946 11a42 "
    "11a43 11a9b 11a9c 11c41 11c42 11ef7 11ef8 11f43 11f44 16a6e 16a6f 16af5 16b37 16b38 16b44 16e98 1bc9f 1da88"
)
QUOTES = "'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉\u2329\u232a⟦⟧"
CLOSINGS = QUOTES + "…,:;!?¿؟¡()[]{}<>_#*&。？！，、；：～·।،۔؛٪—–"
CURRENCIES = "$£€¥฿₽﷼₴" + "".join(map(chr, range(0x20A0, 0x20C0)))
OPENINGS = CLOSINGS + CURRENCIES + "§%="
DIVIDERS = OPENINGS + "+-.~/^0123456789"  # no word is divided without one of these or an icon
SYMBOL_CODES = {*map(ord, SYMBOLS), *SYMBOL_CONTROLS}
TERMINAL_CODES = {*map(ord, TERMINALS), *(int(code, 16) for code in HIGHER_TERMINALS.split())}


def character_class(code: int) -> int:
    character = chr(code)
    category = unicodedata.category(character)
    icon = category == "So"
    upper = "A" <= character <= "Z" or ("À" <= character <= "Þ" and code != 0xD7) or 0x386 <= code <= 0x3AB
    upper = upper or 0x400 <= code <= 0x42F
    return (
        SPACE * character.isspace()
        | LETTER * character.isalpha()
        | SYMBOL * (code in SYMBOL_CODES or code in TERMINAL_CODES)
        | TERMINAL * (code in TERMINAL_CODES)
        | BREAK * (len(f"a{character}b".splitlines()) == 2)
        | UPPER * (upper and category == "Lu")
        | PUNCTUATION * category.startswith("P")
        | CLOSING * (icon or character in CLOSINGS)
        | OPENING * (icon or character in OPENINGS)
        | ICON * icon
        | QUOTE * (character in QUOTES)
        | CURRENCY * (character in CURRENCIES)
        | DIVIDING * (icon or character in DIVIDERS)
    )


def ranges() -> Iterator[tuple[int, int, int]]:
    """(first, last, class) of every run of characters that have the same class, but for class 0."""
    start, before = 0, 0
    for code in range(sys.maxunicode + 2):
        now = character_class(code) if code <= sys.maxunicode else 0
        if now != before:
            if before:
                yield start, code - 1, before
            start, before = code, now


if __name__ == "__main__":
    line = "   "
    for first, last, kind in ranges():
        row = f" {{0x{first:x}, 0x{last:x}, {kind}}},"
        if len(line) + len(row) > 120:
            sys.stdout.write(line + "\n")
            line = "   "
        line += row
    sys.stdout.write(line + "\n")
