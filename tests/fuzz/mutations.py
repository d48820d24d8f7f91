"""Ways to damage a file: bits, spans, numbers at the edge of their types, lines, JSON, and mixtures of two files.

Every mutation takes the bytes and a source of chance and returns other bytes; what comes out depends on nothing else.
"""

import json
import random
import re
import struct
from collections.abc import Callable, Sequence

Mutation = Callable[[bytes, random.Random], bytes]

INTEGERS = (0, 1, 2, 3, 4, 5, 11, 12, 13, 127, 128, 255, 256, 65535, 65536, 10**6, 2**24 - 1, 2**24, 2**24 + 1)
INTEGERS += (2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
INTEGERS += (-1, -2, -3, -(2**31), -(2**31) - 1, -(2**63), 793712314)
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-3, 1e30, -3e38, 3.4e38, 1e38, 1e-38, 1e-44, -1e-45, 1e15, 1e16)
FLOATS += (float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 5e-324, 1e-310)
# In the place of a decimal number or a word of a text.
FIELDS = [b"%d" % value for value in INTEGERS] + [repr(value).encode() for value in FLOATS]
FIELDS += [b"", b"-", b"+", b".", b"1.", b".5", b"1e", b"1e999", b"-1e999", b"1e-999", b"0x10", b"1_000", b"nan(1)"]
FIELDS += [
    b"1" * 25,
    b"0." + b"0" * 400 + b"1",
    b"9" * 400,
    b"9" * 5000,
    b"0x" + b"f" * 5000,
    b"1.7",
    b"true",
    b"</s>",
    b"<unk>",
    b"__label__",
    b": x",
]
FIELDS += [
    "\N{NO-BREAK SPACE}".encode(),
    "\N{ARABIC-INDIC DIGIT THREE}".encode(),
    b"\xff\xfe",
    b"\0",
    b"\r",
    b'"',
    b",",
]
FIELDS += [b"w" * 5000, b"\xed\xb3\xbf", b"\xef\xbb\xbf", b"\x1b[2J", b"#", b"\t", b"\x85", b"\xe2\x80\xa8"]
# In the place of a value of JSON.
VALUES: list[object] = [*INTEGERS, *FLOATS, None, True, False, "", "x", "mean", [], {}, [1], {"a": 1}, 1.7, "\0", "\n"]
VALUES += [10**30, "a\ud800", [[[]]], "x" * 1000, -0.5, "nan"]

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_VALUE = re.compile(rb'(?<=[:,\[])\s*("[^"]*"|-?\d[\d.eE+-]*|true|false|null|\[\]|\{\})(?=\s*[,}\]])')
_WORD = re.compile(rb"[^ \t\r\n,;]+")


def flip_bits(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 10])):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def set_bytes(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 3])):
        changed[chance.randrange(len(changed))] = chance.choice([0, 9, 10, 13, 32, 34, 48, 255, chance.randrange(256)])
    return bytes(changed)


def cut(data: bytes, chance: random.Random) -> bytes:
    """Anywhere, more often near the beginning and the end."""
    size = chance.choice([len(data), min(len(data), 200)])
    at = chance.randrange(size)
    return data[: len(data) - at] if chance.random() < 0.3 else data[:at]


def drop_span(data: bytes, chance: random.Random) -> bytes:
    start, size = chance.randrange(len(data)), chance.choice([1, 4, 8, chance.randrange(1, 1000)])
    return data[:start] + data[start + size :]


def repeat_span(data: bytes, chance: random.Random) -> bytes:
    start, size, to = chance.randrange(len(data)), chance.randrange(1, 1000), chance.randrange(len(data))
    return data[:to] + data[start : start + size] * chance.choice([1, 1, 2, 50]) + data[to:]


def insert_span(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    junk = chance.choice([chance.randbytes(chance.choice([1, 4, 100])), chance.choice(FIELDS), b"\n", b" "])
    return data[:at] + junk + data[at:]


def blank_span(data: bytes, chance: random.Random) -> bytes:
    start, size = chance.randrange(len(data)), chance.randrange(1, 1000)
    size = min(size, len(data) - start)
    return data[:start] + chance.choice([b"\0", b"\xff", b" ", b"\n"]) * size + data[start + size :]


def put_number(data: bytes, chance: random.Random) -> bytes:
    """A number at the edge of its type over a field of 4 or 8 bytes, more often aligned and near the beginning."""
    place = chance.randrange(chance.choice([len(data), min(len(data), 128)]))
    place -= place % chance.choice([1, 4, 4, 8])
    value = packed(chance)
    return (data[:place] + value + data[place + len(value) :])[: max(len(data), place + len(value))]


def packed(chance: random.Random) -> bytes:
    kind = chance.choice("iqfd")
    if kind in "iq":
        value, size = chance.choice(INTEGERS), struct.calcsize(f"<{kind}")
        return (value % 2 ** (8 * size)).to_bytes(size, "little")
    number = chance.choice(FLOATS)
    return struct.pack(f"<{kind}", number if kind == "d" or not 3.5e38 < abs(number) < 1e309 else 3.4e38)


def nudge_number(data: bytes, chance: random.Random) -> bytes:
    """A field of 4 bytes becomes a little larger or smaller."""
    if len(data) < 4:
        return data
    place = chance.randrange(chance.choice([len(data), min(len(data), 128)]) - 3)
    (value,) = struct.unpack_from("<I", data, place)
    value = (value + chance.choice([-2, -1, 1, 2, 100])) % 2**32
    return data[:place] + struct.pack("<I", value) + data[place + 4 :]


def put_field(data: bytes, chance: random.Random) -> bytes:
    """Another number, or something odd, in the place of a decimal number or a word; more often near the beginning."""
    pattern = chance.choice([_NUMBER, _WORD])
    start = chance.randrange(chance.choice([1, 30, len(data)])) % len(data)
    found = pattern.search(data, start)
    if found is None:
        return insert_span(data, chance)
    return data[: found.start()] + chance.choice(FIELDS) + data[found.end() :]


def move_lines(data: bytes, chance: random.Random) -> bytes:
    """Drops, repeats, swaps, empties or joins lines."""
    lines = data.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    what = chance.randrange(5)
    if what == 0:
        del lines[one]
    elif what == 1:
        lines[one:one] = [lines[other]] * chance.choice([1, 1, 100])
    elif what == 2:
        lines[one], lines[other] = lines[other], lines[one]
    elif what == 3:
        lines[one] = b""
    else:
        lines[one : one + 2] = [b"".join(lines[one : one + 2])]
    return b"\n".join(lines)


def nested(chance: random.Random) -> bytes:
    """Lists in lists, some of them as deep as Python can read and not deep enough for it to refuse."""
    depth = chance.choice([3, 200, 100_000, *range(960, 1000)])
    return b"[" * depth + b"]" * depth


def nest(data: bytes, chance: random.Random) -> bytes:
    """Lists in lists in the place of a value of JSON."""
    values = list(_VALUE.finditer(data, 0, 1 << 16))
    if not values:
        return put_field(data, chance)
    found = chance.choice(values)
    return data[: found.start()] + nested(chance) + data[found.end() :]


def change_json(data: bytes, chance: random.Random) -> bytes:
    """One value of a line that holds a JSON object becomes another, goes or gets company."""
    lines = data.split(b"\n")
    holding = [number for number, line in enumerate(lines[:50]) if b"{" in line and line.endswith(b"}")]
    if not holding:
        return put_field(data, chance)
    at = chance.choice(holding)
    before, _, text = lines[at].partition(b"{")
    try:
        facts = json.loads(b"{" + text)
    except (ValueError, RecursionError):
        return put_field(data, chance)
    lines[at] = before + json.dumps(change_value(facts, chance)).encode()
    return b"\n".join(lines)


def change_value(value: object, chance: random.Random) -> object:
    """A copy of what JSON can hold, with one place changed."""
    inner = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not inner or chance.random() < 0.05:
        return chance.choice(VALUES)
    assert isinstance(value, dict | list)
    at, copy = chance.choice(inner), value.copy()
    what = chance.random()
    if what < 0.12:
        del copy[at]
    elif what < 0.2 and isinstance(copy, dict):
        copy[chance.choice(["x", "rows", "bits", "words", "arrays", "rank", ""])] = chance.choice(VALUES)
    elif what < 0.3 and type(copy[at]) in (int, float):
        copy[at] += chance.choice([-1, 1])
    else:
        copy[at] = change_value(copy[at], chance) if isinstance(copy[at], dict | list) else chance.choice(VALUES)
    return copy


ANYWHERE: Sequence[Mutation] = (
    *(flip_bits, set_bytes, cut, drop_span, repeat_span, insert_span, blank_span),
    *(put_number, put_number, put_number, nudge_number, nudge_number),
)
IN_TEXT: Sequence[Mutation] = (
    *(flip_bits, set_bytes, cut, drop_span, repeat_span, insert_span, blank_span),
    *(put_field, put_field, put_field, put_field, move_lines, move_lines, change_json, change_json),
    nest,
)


def mutated(seeds: Sequence[bytes], ways: Sequence[Mutation], chance: random.Random) -> bytes:
    """A damaged copy of one of `seeds`, now and then of two of them put together."""
    data = chance.choice(seeds)
    if len(seeds) > 1 and chance.random() < 0.05:
        other = chance.choice(seeds)
        data = data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        if data:
            data = chance.choice(ways)(data, chance)
    return data
