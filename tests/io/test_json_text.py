"""JSON that every strict reader takes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from wv_cli.io.json_text import to_json, to_printable_json, to_unicode

_ANY = st.text(st.characters(blacklist_categories=()), max_size=6)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _ANY,
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(_ANY, inner, max_size=3),
    max_leaves=8,
)


def refuse(name):
    raise AssertionError(name)


def plain(value):
    """What a reader gets."""
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value)
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, dict):
        return {plain(key): plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


@given(_VALUES)
def test_a_strict_reader_takes_it(value):
    for text in (to_json(value), to_json(value, escape=False), to_printable_json(value), to_json(value, indent=1)):
        assert json.loads(text.encode(), parse_constant=refuse) == plain(value)
    assert to_json(value).isascii()


def test_bytes_that_are_no_utf8():
    assert to_unicode(b"caf\xc3".decode("utf-8", "surrogateescape")) == "caf\ufffd"
    assert to_json("caf\udcc3") == r'"caf\ufffd"' and to_printable_json("caf\udcc3") == '"caf\ufffd"'
    assert to_json(["\U0001f600", float("nan")]) == r'["\ud83d\ude00", null]'
