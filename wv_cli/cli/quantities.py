"""Sizes and times written with a unit: `300M` bytes, `15m` of an hour, on command lines and in calls."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

_BYTES = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_size(text: str) -> int:
    """Bytes of 500000, 300M, 2G: decimal units, an optional B. Raises ValueError, which says what to write."""
    size = _times_unit(text.lower().removesuffix("b"), _BYTES)
    if not 1 <= size < 2**63:
        message = f"{text!r} is not a size; write 500000, 300M or 2G"
        raise ValueError(message)
    return int(size)


def parse_time(text: str) -> float:
    """Seconds of 90, 30s, 15m, 2h. Raises ValueError, which says what to write."""
    seconds = _times_unit(text.lower(), _SECONDS)
    if not 0 < seconds < float("inf"):
        message = f"{text!r} is not a time; write 90, 30s, 15m or 2h"
        raise ValueError(message)
    return seconds


# By what help calls such a value.
QUANTITIES: Mapping[str, Callable[[str], float]] = MappingProxyType({"SIZE": parse_size, "TIME": parse_time})


def _times_unit(text: str, units: Mapping[str, int]) -> float:
    """nan for what is no number."""
    unit = units.get(text[-1:])
    try:
        return float(text[:-1] if unit else text) * (unit or 1)
    except ValueError:
        return float("nan")
