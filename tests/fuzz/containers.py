"""Damages the meaning of our own containers: header and arrays change, the sizes fit and the check sum is right again.

What only flips bits is refused by the check sum and tests nothing behind it.
"""

import json
import random
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.fuzz.mutations import FLOATS, INTEGERS, change_value, cut, flip_bits, nested, put_number

_NESTED = "\0nested"  # stands in a header for what json.dumps() could not write
_DTYPES = ("|u1", "<u2", "<u4", "<i4", "<i8", "<f4", "<f8")


@dataclass
class Parsed:
    """`arrays` are [name, dtype, shape, numbers] in the order of the file."""

    title: bytes
    header: dict[str, object]
    arrays: list[list[object]]
    nested: bytes = b""

    @classmethod
    def of(cls, data: bytes) -> "Parsed":
        """Of a file that is whole."""
        title, line, rest = data.split(b"\n", 2)
        header = json.loads(line)
        layout = header.pop("arrays")
        arrays, at = [], 0
        for name, dtype, shape in layout:
            if dtype not in _DTYPES:
                raise ValueError
            count = int(np.prod(shape, dtype=np.int64))
            numbers = np.frombuffer(rest, dtype, count, at).reshape(shape).copy()
            arrays.append([name, dtype, list(shape), numbers])
            at += numbers.nbytes
        return cls(title, header, arrays)

    def data(self) -> bytes:
        head = {**self.header, "arrays": [[name, dtype, shape] for name, dtype, shape, _ in self.arrays]}
        parts = [
            self.title + b"\n",
            json.dumps(head).encode().replace(json.dumps(_NESTED).encode(), self.nested) + b"\n",
        ]
        parts += [np.ascontiguousarray(numbers).tobytes() for *_, numbers in self.arrays]
        whole = b"".join(parts)
        return whole + zlib.crc32(whole).to_bytes(4, "little") + b"DONE"


def change_container(data: bytes, chance: random.Random) -> bytes:
    """Some change of meaning, with a right check sum; data that is no container any more gets a change of bytes."""
    try:
        parsed = Parsed.of(data)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return chance.choice([flip_bits, cut, put_number])(data, chance)
    for _ in range(chance.choice([1, 1, 2])):
        chance.choice([_header, _header, _nest, _numbers, _numbers, _numbers, _layout])(parsed, chance)
    return parsed.data()


def _header(parsed: Parsed, chance: random.Random) -> None:
    changed = change_value(parsed.header, chance)
    parsed.header = changed if isinstance(changed, dict) else {}


def _nest(parsed: Parsed, chance: random.Random) -> None:
    """Lists in lists in the place of a value of the header."""
    at: Any = parsed.header
    while at:
        key = chance.choice(list(at) if isinstance(at, dict) else range(len(at)))
        if not isinstance(at[key], dict | list) or not at[key] or chance.random() < 0.3:
            at[key], parsed.nested = _NESTED, nested(chance)
            return
        at = at[key]


def _numbers(parsed: Parsed, chance: random.Random) -> None:
    """Numbers at the edge of their type in an array: one, some, a row, or all of them."""
    filled = [array for array in parsed.arrays if array[3].size]
    if not filled:
        return
    numbers: NDArray[np.generic] = chance.choice(filled)[3]
    flat = numbers.reshape(-1)
    value = _value(flat.dtype, chance)
    how = chance.randrange(5)
    if how == 0:
        flat[:] = value
    elif how == 1:
        flat[chance.randrange(len(flat))] = value
    elif how == 2:
        flat[chance.randrange(len(flat)) :][: chance.randrange(1, 20)] = value
    elif how == 3 and numbers.ndim > 1:
        numbers[chance.randrange(len(numbers))] = value
    else:
        one, other = chance.randrange(len(flat)), chance.randrange(len(flat))
        with np.errstate(all="ignore"):
            flat[one], flat[other] = flat[other], flat[one] + (value if flat.dtype.kind == "f" else flat.dtype.type(1))


def _value(dtype: "np.dtype[np.generic]", chance: random.Random) -> np.generic:
    with np.errstate(over="ignore"):
        if dtype.kind == "f":
            return np.float64(chance.choice(FLOATS)).astype(dtype)
        return np.array(chance.choice(INTEGERS) % 2**64, np.uint64).astype(dtype)[()]


def _layout(parsed: Parsed, chance: random.Random) -> None:
    """Another shape, type, order or number of arrays, all of which fits the size of the file."""
    if not parsed.arrays:
        return
    array = chance.choice(parsed.arrays)
    name, dtype, shape, numbers = array
    what = chance.randrange(8)
    if what == 0:
        array[1:] = [dtype, shape[::-1], numbers.reshape(shape[::-1])]
    elif what == 1:
        kept = numbers[: chance.choice([0, 1, max(len(numbers) - 1, 0)])]
        array[1:] = [dtype, list(kept.shape), kept]
    elif what == 2:
        more = np.concatenate([numbers, numbers[:1]])
        array[1:] = [dtype, list(more.shape), more]
    elif what == 3:
        other = chance.choice(_DTYPES)
        with np.errstate(all="ignore"):
            array[1:] = [other, shape, np.nan_to_num(numbers).astype(other)]
    elif what == 4:
        array[1:] = [dtype, [numbers.size], numbers.reshape(-1)]
    elif what == 5:
        other = chance.choice(parsed.arrays)
        array[0], other[0] = other[0], name
    elif what == 6:
        parsed.arrays.remove(array)
    else:
        kept = numbers[..., : chance.choice([0, 1, max(numbers.shape[-1] - 1, 0)])] if numbers.ndim else numbers
        array[1:] = [dtype, list(kept.shape), kept]
