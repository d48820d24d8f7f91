"""Our own binary files (moments, transforms, hashers, codes, checkpoints): a magic line, a line of JSON, raw arrays, a
check sum.

    wv KIND 1\\n
    {..., "arrays": [[name, dtype, shape], ...]}\\n
    the arrays, raw, little-endian, in that order
    crc32 of everything before, 4 bytes little-endian, and DONE

A file cut short, with other bytes or a lying header is refused, before anything is allocated by its word. Arrays go
straight between the file and where they lie in memory. Nothing in the file can be code, which a pickle would be.
"""

import json
import math
import mmap
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, TypeVar

from wv_cli.errors import BadFile, show_bytes, show_value
from wv_cli.io import host
from wv_cli.io.input import Input
from wv_cli.io.kinds import HEAD_BYTES, kind_of
from wv_cli.io.output import open_output

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Fact = TypeVar("Fact")
# Name -> (dtype or several divided by blanks, shape). A size in words is any number, the same wherever the word stands.
Layout = Mapping[str, tuple[str, tuple[int | str, ...]]]

_DONE = b"DONE"
_END_BYTES = 4 + len(_DONE)
_LONGEST_TITLE = 100
_LONGEST_HEADER = 1 << 20
_PIECE_BYTES = 1 << 24
_CACHE_LINE = 64
_WAYS = {"state": "; --save-state writes one with the training"}
# What struct calls the types of numbers that a file may hold.
_CODES: Mapping[str, Any] = {"|u1": "B", "<u2": "H", "<u4": "I", "<i4": "i", "<i8": "q", "<f4": "f", "<f8": "d"}
_MOST_DIMENSIONS = 3


def magic(kind: str) -> bytes:
    return f"wv {kind} 1\n".encode()


def save(
    path: str | os.PathLike[str], kind: str, header: Mapping[str, object], arrays: "Mapping[str, NDArray[np.generic]]"
) -> None:
    """Writes a container, whole or not at all. Raises WvError."""
    with open_output(path) as stream:
        write(stream, kind, header, arrays)


def write(
    stream: BinaryIO,
    kind: str,
    header: Mapping[str, object],
    arrays: "Mapping[str, NDArray[np.generic]]",
    *,
    aligned: bool = False,
    between: Callable[[], object] | None = None,
) -> None:
    """Writes a container to an open file. `aligned`: the arrays begin on a cache line, to be used where they lie; those
    of larger numbers must then come first. `between` is called after every piece that is written."""
    import numpy as np

    layout = [[name, _little(array).str, list(array.shape)] for name, array in arrays.items()]
    crc = 0

    def put(piece: bytes | memoryview) -> None:
        nonlocal crc
        stream.write(piece)
        crc = zlib.crc32(piece, crc)

    line = json.dumps({**header, "arrays": layout}).encode()
    padding = -(len(magic(kind)) + len(line) + 1) % _CACHE_LINE if aligned else 0
    put(magic(kind))
    put(line + b" " * padding + b"\n")
    for array in arrays.values():
        for part in _parts(array):
            octets = _octets(np.ascontiguousarray(part, _little(array)))
            for start in range(0, len(octets), _PIECE_BYTES):
                put(octets[start : start + _PIECE_BYTES])
                if between is not None:
                    between()
    stream.write(crc.to_bytes(4, "little") + _DONE)


class Reader:
    """A container being read. `header` is what its line of JSON says beside the arrays, `layout` names these with their
    dtypes and shapes; a caller checks both (fact, expect) before read() allocates, and the numbers after it. `advice`
    ends the messages about damage: what the user should do with such a file."""

    def __init__(self, source: Input, kind: str, advice: str = "make it again") -> None:
        """Reads magic line and header. Raises BadFile with the byte where the file stops being a container."""
        self._source, self._advice = source, advice
        title = self._title(kind)
        line = source.read(len(source.peek(_LONGEST_HEADER).partition(b"\n")[0]) + 1)
        self._crc = zlib.crc32(line, zlib.crc32(title))
        self.header_at = len(title)
        try:
            self.header, self.layout = _parse(line)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.refuse("expected a line of JSON that names the arrays; it is damaged")
        self._arrays_at = source.position
        whole = self.offset(None) + _END_BYTES
        if source.size is not None and source.size != whole:
            problem = f"the header promises a file of {whole:,} bytes, found {source.size:,}"
            self.refuse(f"{problem}: it is cut short or damaged", min(whole, source.size))

    @property
    def name(self) -> str:
        """The file that is read."""
        return self._source.name

    def refuse(self, problem: str, byte: int | None = None) -> NoReturn:
        """Raises BadFile about a place in the file (None: the header)."""
        byte = self.header_at if byte is None else byte
        raise BadFile(self._source.name, f"{problem}; {self._advice}", byte=byte)

    def fact(self, name: str, kind: type[Fact], low: float | None = None, high: float | None = None) -> Fact:
        """What the header says about `name`: of this type (an int passes for a float), a number finite and from `low`
        to `high`, a text without a line end. Raises BadFile."""
        value = self.header.get(name)
        if kind is float and type(value) is int and abs(value) < 1 << 53:
            value = float(value)
        if type(value) is not kind or not isinstance(value, kind) or not _sane(value, low, high):
            article = "an" if kind.__name__[0] in "aeiou" else "a"
            limits = "".join(f" {word} {limit:,}" for word, limit in (("from", low), ("to", high)) if limit is not None)
            expected = f"{article} {kind.__name__}{limits}"
            self.refuse(f"expected `{name}` to be {expected}, found {show_value(value, 80)}")
        return value

    def expect(self, arrays: Layout, what: str) -> dict[str, int]:
        """Checks that the file has exactly these arrays; the sizes that words stand for. `what` is how messages call
        them all. Raises BadFile."""
        sizes: dict[str, int] = {}
        fits = list(self.layout) == list(arrays)
        for name, (dtypes, shape) in arrays.items() if fits else ():
            dtype, found = self.layout[name]
            fits = fits and dtype in dtypes.split() and len(found) == len(shape)
            for expected, size in zip(shape, found, strict=False):
                fits = fits and size == (sizes.setdefault(expected, size) if isinstance(expected, str) else expected)
        if not fits:
            problem = f"expected the arrays {_describe_layout(arrays)}, found {_describe_layout(self.layout)}"
            self.refuse(f"the arrays do not fit {what}: {problem}")
        return sizes

    def offset(self, name: str | None) -> int:
        """The byte where an array begins; None: where the last one ends."""
        before = list(self.layout)[: None if name is None else list(self.layout).index(name)]
        return self._arrays_at + sum(_size(*self.layout[each]) for each in before)

    def read(self, into: "Mapping[str, NDArray[np.generic]] | None" = None) -> "dict[str, NDArray[Any]]":
        """All arrays. Those in `into` are filled in place, whatever their strides, and must have the layout's type and
        shape; the others are allocated. Raises BadFile when the file is cut short or its check sum differs; `into` is
        then spoiled."""
        arrays = {name: into[name] if into and name in into else None for name in self.layout}
        done: dict[str, NDArray[Any]] = {}
        for name, array in arrays.items():
            done[name] = self._new(name) if array is None else array
            if array is not None:
                self._fill(name, array)
        at, end = self._source.position, self._crc.to_bytes(4, "little") + _DONE
        if self._source.read(len(end)) != end or self._source.peek(1):
            self.refuse("the file is damaged (its check sum differs)", at)
        return done

    def views(self, *, checked: bool = False) -> "dict[str, NDArray[Any]]":
        """All arrays as they lie in the file, read-only. A plain file is mapped (io.input.Input.contents), and its
        check sum, for which all of it must be read, is compared only if they are to be `checked`. Raises BadFile when
        the file is cut short, or was read whole and its check sum differs."""
        import numpy as np

        contents, found = self._contents(checked), {}
        for name, (dtype, shape) in self.layout.items():
            array = np.frombuffer(self._octets(contents, name), dtype).reshape(shape)
            found[name] = array if array.flags.aligned else array.copy()
        return found

    def buffers(self) -> dict[str, memoryview]:
        """The same as buffers, which take no NumPy; of two dimensions at most, and of one where a size is 0."""
        contents, found = self._contents(), {}
        skipped = len(contents.obj) - len(contents)  # type: ignore[arg-type]  # both a mapping and bytes are aligned
        for name, (dtype, shape) in self.layout.items():
            octets = self._octets(contents, name)
            if (skipped + self.offset(name) - self._arrays_at) % int(dtype[2:]):
                octets = memoryview(bytes(octets))
            found[name] = octets.cast(_CODES[dtype], shape) if len(shape) > 1 else octets.cast(_CODES[dtype])
        return found

    def _contents(self, checked: bool = False) -> memoryview:
        """All arrays and the check sum (views)."""
        contents = self._source.contents()
        length = self.offset(None) - self._arrays_at
        whole = checked or not isinstance(contents.obj, mmap.mmap)
        end = self._end(contents[:length]) if whole else _DONE
        if len(contents) != length + _END_BYTES or bytes(contents[-len(end) :]) != end:
            self.refuse("the file is cut short or damaged (its check sum differs)", self._arrays_at)
        return contents

    def _octets(self, contents: memoryview, name: str) -> memoryview:
        begin = self.offset(name) - self._arrays_at
        return contents[begin : begin + _size(*self.layout[name])]

    def _end(self, arrays: memoryview) -> bytes:
        """The last bytes of a whole file with these arrays; of a mapped one no more than a piece is in memory."""
        crc = self._crc
        for start in range(0, len(arrays), _PIECE_BYTES):
            crc = zlib.crc32(arrays[start : start + _PIECE_BYTES], crc)
            if isinstance(arrays.obj, mmap.mmap):
                host.let_go(arrays.obj)
        return crc.to_bytes(4, "little") + _DONE

    def require_finite(self, arrays: "Mapping[str, NDArray[np.generic]]", largest: float | None = None) -> None:
        """Raises BadFile for NaN, infinity and, given `largest`, numbers further from 0."""
        for name, array in arrays.items():
            ends = (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)
            if not all(map(math.isfinite, ends)):
                self.refuse(f"the array {name} holds NaN or infinity: the file is damaged", self.offset(name))
            if largest is not None and max(-ends[0], ends[1]) > largest:
                found = ends[0] if -ends[0] > largest else ends[1]
                problem = f"the array {name}: expected numbers up to {largest:g}, found {found:g}"
                self.refuse(f"{problem}: the file is damaged", self.offset(name))

    def _title(self, kind: str) -> bytes:
        """Takes the magic line."""
        title = self._source.peek(_LONGEST_TITLE).partition(b"\n")[0] + b"\n"
        first, *more = title.split() or [b""]
        found, version = more if first == b"wv" and len(more) == 2 else (b"", b"")
        if not found:
            problem = kind_of(self._source.peek(HEAD_BYTES)) or f"something else ({show_bytes(title[:20])})"
        elif found != kind.encode():
            problem = f"a {show_bytes(found)[1:-1]} file"
        elif version != b"1":
            problem = f"version {show_bytes(version)}; update wv"
        else:
            return self._source.read(len(title))
        problem = f"expected a {kind} file of wv (version 1), found {problem}{_WAYS.get(kind, '')}"
        raise BadFile(self._source.name, problem, byte=0)

    def _new(self, name: str) -> "NDArray[Any]":
        """An array read to new memory, which without a known size of the file follows the bytes that come."""
        import numpy as np

        dtype, shape = self.layout[name]
        if self._source.size is not None:
            array = np.empty(shape, np.dtype(dtype).newbyteorder("="))
            self._fill(name, array)
            return array
        data, size = bytearray(), _size(dtype, shape)
        while len(data) < size:
            piece = self._source.read(min(_PIECE_BYTES, size - len(data)))
            if not piece:
                self._refuse_end(name, len(data))
            data += piece
        self._crc = zlib.crc32(data, self._crc)
        array = np.frombuffer(data, dtype).reshape(shape)
        return array.astype(array.dtype.newbyteorder("="), copy=False)

    def _fill(self, name: str, array: "NDArray[np.generic]") -> None:
        import numpy as np

        assert (_little(array).str, array.shape) == self.layout[name], "checked by expect()"
        begin = self._source.position
        for part in _parts(array):
            direct = part.flags.c_contiguous and part.dtype == _little(array)
            block = part if direct else np.empty(part.shape, _little(array))
            octets = _octets(block)
            count = self._source.readinto(octets)
            if count < len(octets):
                self._refuse_end(name, self._source.position - begin)
            self._crc = zlib.crc32(octets, self._crc)
            if not direct:
                part[...] = block

    def _refuse_end(self, name: str, found: int) -> NoReturn:
        problem = f"the file ends within its {name}: expected {_size(*self.layout[name]):,} bytes, found {found:,}"
        self.refuse(f"{problem}: it is cut short or damaged", self._source.position)


Header = tuple[dict[str, object], dict[str, tuple[str, tuple[int, ...]]]]


def _parse(line: bytes) -> Header:
    """Raises ValueError, KeyError and their like for anything that write() would not have written."""
    header = json.loads(line)
    entries = header.pop("arrays")
    layout = {str(name): (str(dtype), tuple(shape)) for name, dtype, shape in entries}
    if len(layout) < len(entries):
        raise ValueError
    for dtype, shape in layout.values():
        if dtype not in _CODES or len(shape) > _MOST_DIMENSIONS or any(type(n) is not int or n < 0 for n in shape):
            raise ValueError
    return header, layout


def _sane(value: object, low: float | None, high: float | None) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        return False
    if isinstance(value, str):
        return value.isprintable()
    number = value if isinstance(value, int | float) else 0
    return (low is None or number >= low) and (high is None or number <= high)


def _size(dtype: str, shape: tuple[int, ...]) -> int:
    return math.prod(shape) * int(dtype[2:])


def _little(array: "NDArray[np.generic]") -> "np.dtype[np.generic]":
    return array.dtype.newbyteorder("<")


def _octets(array: "NDArray[np.generic]") -> memoryview:
    import numpy as np

    return array.reshape(-1).view(np.uint8).data


def _parts(array: "NDArray[np.generic]") -> "Iterator[NDArray[np.generic]]":
    """The array whole when its memory is what the file holds, else some rows at a time, so that a copy stays small."""
    if array.flags.c_contiguous and array.dtype == _little(array):
        yield array
        return
    rows = max(1, _PIECE_BYTES * len(array) // max(1, array.nbytes))
    for start in range(0, len(array), rows):
        yield array[start : start + rows]


def _describe_layout(layout: Layout) -> str:
    arrays = (f"{name} {dtype} ({', '.join(map(str, shape))})" for name, (dtype, shape) in layout.items())
    return ", ".join(arrays) or "none"
