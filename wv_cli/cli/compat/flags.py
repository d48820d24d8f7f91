"""Flags as word2vec's and GloVe's programs read them: a single dash, the value is the next word.

The first occurrence counts, unknown words are skipped, a value may itself be the name of a flag, and numbers are read
up to the first character that does not belong to one (C's atoi and atof).
"""

import re
from collections.abc import Sequence

from wv_cli.cli.compat import Exit, say

_WHOLE = re.compile(r"\s*([+-]?\d+)")
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf(?:inity)?|nan))", re.IGNORECASE)
_INT = 1 << 31


def atoi(text: str) -> int:
    """C's atoi: 0 without digits; what does not fit wraps to 32 bits."""
    return (atoll(text) + _INT) % (2 * _INT) - _INT  # strtol's own limits come first


def atoll(text: str) -> int:
    """C's atoll: 0 without digits; what does not fit is the nearest number of 64 bits."""
    found = _WHOLE.match(text)
    return max(-(1 << 63), min(int(found[1]), (1 << 63) - 1)) if found else 0


def atof(text: str) -> float:
    """C's atof: 0 without digits."""
    found = _NUMBER.match(text)
    return float(found[1]) if found else 0.0


class Flags:
    """The words of one command line. A flag that is the very last word prints `missing` and raises Exit(1)."""

    def __init__(self, words: Sequence[str], missing: str) -> None:
        self._words, self._missing = words, missing

    def text(self, flag: str, default: str = "") -> str:
        return self.value_after(flag) or default

    def whole(self, flag: str, default: int) -> int:
        found = self.value_after(flag)
        return default if found is None else atoi(found)

    def long(self, flag: str, default: int) -> int:
        found = self.value_after(flag)
        return default if found is None else atoll(found)

    def number(self, flag: str, default: float) -> float:
        found = self.value_after(flag)
        return default if found is None else atof(found)

    def value_after(self, flag: str) -> str | None:
        """The word after the first `flag`, None where there is no such word."""
        if flag not in self._words:
            return None
        place = self._words.index(flag)
        if place == len(self._words) - 1:
            say(f"{self._missing.format(flag)}\n")
            raise Exit(1)
        return self._words[place + 1]
