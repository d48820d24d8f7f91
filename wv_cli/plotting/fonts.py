"""Fonts for the letters of labels: matplotlib's own, and installed ones for letters that it lacks, such as Chinese."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

_OWN = "DejaVu Sans"  # comes with matplotlib
_LESS_PLAIN = re.compile("serif|song|ming|mono|bold|black|heavy|light|thin|italic|oblique", re.IGNORECASE)

_BOXES = re.compile("last.?resort|blank", re.IGNORECASE)  # fonts that have a box, or nothing, for every letter


def _say_nothing_of_weights(record: logging.LogRecord) -> bool:
    """A font of one weight is as good as any, and matplotlib warns of it for every label."""
    return "font weight" not in record.getMessage()


def choose_fonts(text: str) -> tuple[list[str], str]:
    """The families that together have the letters of a text, and the letters that no installed font has."""
    from matplotlib import font_manager

    lacking = {letter for letter in text if not letter.isspace()}
    lacking -= _letters_of(font_manager.findfont(_OWN))
    chosen: list[str] = []
    found: dict[str, set[str]] = {}
    if lacking:
        logging.getLogger(font_manager.__name__).addFilter(_say_nothing_of_weights)
        # Fresh, not from matplotlib's list: that is a file in the user's cache, older than a font just installed.
        for path in _plain_first(font_manager.findSystemFonts()):
            found[path] = _letters_of(path) & lacking
            if found[path] == lacking:
                break
    while best := max(found, key=lambda path: len(found[path] & lacking), default=""):
        if not found[best] & lacking:
            break
        lacking -= found[best]
        font_manager.fontManager.addfont(best)
        chosen.append(font_manager.get_font(best).family_name)
    return [_OWN, *chosen], "".join(sorted(lacking))


def _plain_first(paths: list[str]) -> Iterator[str]:
    names = {path: Path(path).name for path in paths if not _BOXES.search(Path(path).name)}
    yield from sorted(names, key=lambda path: (bool(_LESS_PLAIN.search(names[path])), path))


def _letters_of(path: str) -> set[str]:
    """The letters of a font; none of one that matplotlib cannot draw, such as one of colored bitmaps."""
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(path)
    except (OSError, RuntimeError):
        return set()
    return set(map(chr, font.get_charmap())) if font.scalable else set()
