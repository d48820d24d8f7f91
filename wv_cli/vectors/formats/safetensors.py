"""Safetensors: named arrays of a model, as other programs write and read them.

    n (8 bytes, little-endian)   n bytes of JSON   the numbers
    {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ..., "__metadata__": {"key": "text"}}

Offsets count from the first number, arrays are in C order, little-endian. Everything is checked before an array is
made: a range for every name, of the size that type and shape ask for, the ranges side by side from the first byte to
the last, so that neither a damaged header nor a crafted one shows bytes twice or leaves any unseen. A plain file is
mapped. Not here: what the names mean.
"""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile, show_value
from wv_cli.io.input import Input, open_input
from wv_cli.io.kinds import HEAD_BYTES, refuse_other_kinds

_MOST_HEADER = 100_000_000  # what the format allows
_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1",
    "U16": "<u2", "U32": "<u4", "U64": "<u8", "BOOL": "?", "BF16": "<u2",
}  # fmt: skip
_FLOATS = {"F64", "F32", "F16", "BF16"}


def sniff(head: bytes) -> bool:
    """Whether a file that begins with `head` is one: a header of the length it says."""
    return len(head) > 9 and 2 <= int.from_bytes(head[:8], "little") <= _MOST_HEADER and head[8:9] == b"{"


@dataclass(frozen=True)
class _Place:
    """Of an array: its type as the file calls it, its shape, the bytes from `begin` to `end`."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class Tensors:
    """The arrays of a file by name, and its `metadata`; see Tensors.open."""

    def __init__(
        self, path: str, places: dict[str, _Place], numbers: memoryview, metadata: Mapping[str, object]
    ) -> None:
        self.path, self._places, self._numbers, self.metadata = path, places, numbers, metadata

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Tensors":
        """Raises BadFile, WvError."""
        with open_input(path, "a safetensors file") as source:
            return cls.from_open_file(source)

    @classmethod
    def from_open_file(cls, source: Input) -> "Tensors":
        """Those of an open file. Raises BadFile, WvError."""
        name = source.name
        refuse_other_kinds(source.peek(HEAD_BYTES), name, "a safetensors file")
        length = int.from_bytes(source.read(8), "little")
        if not 2 <= length <= _MOST_HEADER or (source.size is not None and length > source.size - 8):
            problem = f"expected a safetensors file, whose first 8 bytes are the length of its header, found {length}"
            raise BadFile(name, problem, byte=0)
        places, metadata = _header(name, source.read(length))
        numbers, end = source.contents(), 0
        for key, place in sorted(places.items(), key=lambda item: (item[1].begin, item[1].end)):
            if place.begin != end:
                problem = f"expected the numbers of {key!r} at offset {end}, found offset {place.begin}"
                raise BadFile(name, problem, byte=8 + length)
            end = place.end
        if len(numbers) != end:
            problem = f"expected {end:,} bytes of numbers, found {len(numbers):,}"
            raise BadFile(name, problem, byte=8 + length + min(end, len(numbers)))
        return cls(name, places, numbers, metadata)

    def __contains__(self, name: str) -> bool:
        return name in self._places

    @property
    def names(self) -> list[str]:
        return list(self._places)

    def shape(self, name: str) -> tuple[int, ...]:
        """Raises BadFile when there is no such array."""
        return self._place(name).shape

    def floats(
        self, name: str, shape: tuple[int | None, ...], *, or_int8: bool = False, finite: bool = True
    ) -> NDArray[np.float32]:
        """(shape), None for any length; bfloat16, float16 and float64 become float32, with `or_int8` int8,
        too. Raises BadFile when it is not there, not of this shape, of whole numbers, or holds nan or infinity where
        the numbers must be `finite`."""
        place = self._place(name)
        fits = len(shape) == len(place.shape) and all(
            wanted in (None, found) for wanted, found in zip(shape, place.shape, strict=True)
        )
        if not fits or place.dtype not in (_FLOATS | {"I8"} if or_int8 else _FLOATS):
            wanted = " x ".join("any" if size is None else str(size) for size in shape)
            found = " x ".join(map(str, place.shape)) or "a single number"
            raise BadFile(self.path, f"{name}: expected floats, {wanted}, found {place.dtype}, {found}")
        count = math.prod(place.shape)
        raw = np.frombuffer(self._numbers, _TYPES[place.dtype], count, place.begin) if count else np.empty(0, "<f4")
        if place.dtype == "BF16":  # the upper half of a float32
            values = (raw.astype(np.uint32) << 16).view(np.float32)
        else:
            with np.errstate(over="ignore"):
                values = np.require(raw, np.float32, ("C", "A"))
        if finite and not np.isfinite(values).all():
            raise BadFile(self.path, f"{name}: expected finite numbers, found nan or infinity")
        return values.reshape(place.shape)

    def integers(self, name: str, length: int | None = None) -> NDArray[np.int64]:
        """(length,), None for any. Raises BadFile as floats()."""
        place = self._place(name)
        fits = len(place.shape) == 1 and length in (None, place.shape[0])
        if not fits or place.dtype not in ("I64", "I32", "U32", "I16", "U16"):
            wanted = "a row of" if length is None else f"{length:,}"
            problem = f"{name}: expected {wanted} whole numbers, found {place.dtype}, {list(place.shape)}"
            raise BadFile(self.path, problem)
        return np.frombuffer(self._numbers, _TYPES[place.dtype], place.shape[0], place.begin).astype(np.int64)

    def _place(self, name: str) -> _Place:
        if name not in self._places:
            some = ", ".join(list(self._places)[:5]) or "none at all"
            raise BadFile(self.path, f"expected an array {name!r}, found {some}{', ...' * (len(self._places) > 5)}")
        return self._places[name]


def _header(path: str, header: bytes) -> tuple[dict[str, _Place], Mapping[str, object]]:
    """(the place of every array, the metadata). Raises BadFile."""
    try:
        facts = json.loads(header)
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        raise BadFile(path, "expected a header in JSON, found something else; this is no safetensors file", byte=8)
    found: dict[str, _Place] = {}
    metadata = facts.pop("__metadata__", None)
    for name, each in facts.items():
        place = _place(each)
        if place is None:
            problem = f"{name!r}: expected type, shape and the two offsets of its numbers, found {show_value(each, 80)}"
            raise BadFile(path, problem, byte=8)
        found[name] = place
    return found, metadata if isinstance(metadata, dict) else {}


def _place(facts: Any) -> _Place | None:
    dtype: Any = facts.get("dtype") if isinstance(facts, dict) else None
    if not isinstance(dtype, str) or dtype not in _TYPES:
        return None
    shape: Any = facts.get("shape")
    offsets: Any = facts.get("data_offsets")
    for numbers in (shape, offsets):
        if not isinstance(numbers, list) or not all(type(each) is int and 0 <= each < 2**62 for each in numbers):
            return None
    size = math.prod(shape) * np.dtype(_TYPES[facts["dtype"]]).itemsize
    if len(offsets) != 2 or offsets[1] - offsets[0] != size:
        return None
    return _Place(facts["dtype"], tuple(shape), offsets[0], offsets[1])


def write(stream: BinaryIO, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Arrays in the order given; the first number stands at a multiple of 8 bytes, as the format's own writer puts
    it."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    written, end = [], 0
    for name, array in arrays.items():
        dtype = next(name for name, code in _TYPES.items() if np.dtype(code) == array.dtype)
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [end, end + array.nbytes]}
        end += array.nbytes
        written.append(np.ascontiguousarray(array, _TYPES[dtype]))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    stream.write(len(text).to_bytes(8, "little") + text)
    for array in written:
        stream.write(array.data)
