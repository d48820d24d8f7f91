"""The arguments of Python callers: each is checked by name before it is used, so that a wrong one raises a TypeError
about the call and not about what the library does with it."""

import numbers
import os
from collections.abc import Iterable
from typing import Any

from wv_cli.errors import EMPTY_NAME, UsageError


def require_type(value: object, kind: type | tuple[type, ...], name: str, expected: str) -> None:
    """Raises TypeError unless `value` is of `kind`, which messages call `expected`."""
    if not isinstance(value, kind):
        raise _wrong(value, name, expected)


def list_texts(value: Any, name: str, each: str) -> list[str]:
    """One str, or several in any iterable, which is read once. A message calls one of them `each`: "word", "line".
    Raises TypeError for anything else, bytes included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, bytes | bytearray):
        raise _wrong(value, name, f"a {each} as str")
    try:
        found = list(value)
    except TypeError:
        raise _wrong(value, name, f"a {each} as str, or several") from None
    for item in found:
        require_type(item, str, name, f"each {each} as str")
    return found


def list_words(value: str | Iterable[str], name: str) -> list[str]:
    return list_texts(value, name, "word")


def path_text(value: str | os.PathLike[str], name: str) -> str:
    """The path as str. Raises TypeError for anything else, bytes included, UsageError for an empty one."""
    plain = os.fspath(value) if isinstance(value, os.PathLike) else value
    require_type(plain, str, name, "a path as str or os.PathLike")
    if not plain:
        raise UsageError(f"{name}: {EMPTY_NAME}")
    return plain


def whole_number(value: Any, name: str) -> int:
    """`value` as an int; NumPy's integers count. Raises TypeError for anything else, True and False included."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    raise _wrong(value, name, "a whole number")


def real_number(value: Any, name: str) -> Any:
    """`value`, of a number of NumPy the same of Python's. Raises TypeError for anything else, True and False
    included."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return value.item() if hasattr(value, "item") else value
    raise _wrong(value, name, "a number")


def truth(value: Any, name: str) -> bool:
    """`value` as a bool; NumPy's counts. Raises TypeError for anything else, 0 and 1 included."""
    plain = value.item() if type(value).__module__ == "numpy" and not getattr(value, "ndim", 1) else value
    require_type(plain, bool, name, "True or False")
    return bool(plain)


def _wrong(value: object, name: str, expected: str) -> TypeError:
    if value is None:
        return TypeError(f"{name}: expected {expected}, found None")
    shown = repr(value)
    found = f"{type(value).__name__} {shown}" if len(shown) <= 40 and "\n" not in shown else type(value).__name__
    decode = "; decode it" if isinstance(value, bytes | bytearray) else ""
    return TypeError(f"{name}: expected {expected}, found {found}{decode}")
