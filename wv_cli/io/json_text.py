"""JSON as every reader takes it: U+FFFD stands for a byte that is no UTF-8, null for NaN and infinity."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

# A str has them for bytes that are no UTF-8.
_SURROGATES = re.compile("[\ud800-\udfff]")
_BEYOND_ASCII = re.compile("[^\0-\x7f]+")


def to_unicode(text: str) -> str:
    """`text` with U+FFFD for every byte that is no UTF-8."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def to_json(value: Any, *, escape: bool = True, indent: int | None = None) -> str:
    """`value` as JSON text. With `escape` it is ASCII."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except ValueError:
        text = json.dumps(_to_finite(value), ensure_ascii=False, indent=indent)
    text = to_unicode(text)
    return _BEYOND_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text) if escape else text


def to_printable_json(value: Any) -> str:
    """The same as it is read best: not escaped where all characters can be printed."""
    text = to_json(value, escape=False)
    return text if text.isprintable() else to_json(value)


def _to_finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _to_finite(each) for key, each in value.items()}
    return [_to_finite(each) for each in value] if isinstance(value, list | tuple) else value
