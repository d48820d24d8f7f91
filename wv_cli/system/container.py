"""Our own binary files (codes, hashers): a magic line, a line of JSON, raw arrays, a check sum.

    wv NAME 1\\n
    {..., "arrays": [[name, dtype, shape], ...]}\\n
    the arrays, raw, little-endian, in that order
    crc32 of everything before, 4 bytes little-endian, and DONE

A file cut short, with other bytes or a lying header is refused, before anything is allocated by its word.
"""

import json
import math
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile
from wv_cli.system.input import Input

_DONE = b"DONE"
END_BYTES = 4 + len(_DONE)
_LONGEST_HEADER = 1 << 20
_PIECE_BYTES = 1 << 24
_DTYPES = ("|u1", "<u2", "<u4", "<i4", "<i8", "<f4", "<f8")


def magic(name: str) -> bytes:
    return f"wv {name} 1\n".encode()


def write(stream: BinaryIO, name: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Writes a whole container; arrays of other byte orders or strides are turned first."""
    plain = {key: np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for key, array in arrays.items()}
    layout = [[key, array.dtype.str, list(array.shape)] for key, array in plain.items()]
    line = json.dumps({**header, "arrays": layout}).encode() + b"\n"
    crc = 0
    pieces = [memoryview(magic(name)), memoryview(line)]
    for piece in [*pieces, *(array.reshape(-1).view(np.uint8).data for array in plain.values())]:
        stream.write(piece)
        crc = zlib.crc32(piece, crc)
    stream.write(crc.to_bytes(4, "little") + _DONE)


def read(source: Input, name: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays. Raises BadFile with the byte where the file stops being a container."""
    expected = magic(name)
    head = source.read(len(expected))
    if head != expected:
        kind = expected.rsplit(b" ", 1)[0] + b" "
        what = f"version {head[len(kind) : -1].decode('ascii', 'replace')!r}" if head.startswith(kind) else repr(head)
        problem = f"expected a file of {name} written by wv (version 1), found {what}"
        raise BadFile(source.name, problem, byte=0)
    line = source.peek(_LONGEST_HEADER).partition(b"\n")[0] + b"\n"
    line = source.read(len(line))
    try:
        header = json.loads(line)
        layout = [(str(key), str(dtype), [int(size) for size in shape]) for key, dtype, shape in header.pop("arrays")]
        if any(dtype not in _DTYPES or len(shape) > 2 or min(shape, default=0) < 0 for _, dtype, shape in layout):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        problem = "expected a line of JSON that names the arrays; it is damaged; make the file again"
        raise BadFile(source.name, problem, byte=len(expected)) from error
    sizes = [math.prod(shape) * np.dtype(dtype).itemsize for _, dtype, shape in layout]
    whole = source.position + sum(sizes) + END_BYTES
    if source.size is not None and source.size != whole:
        problem = f"the header promises a file of {whole:,} bytes, found {source.size:,}: it is cut short or damaged"
        raise BadFile(source.name, problem, byte=min(whole, source.size))
    arrays, crc = {}, zlib.crc32(line, zlib.crc32(head))
    for (key, dtype, shape), size in zip(layout, sizes, strict=True):
        data = _take(source, size)
        if len(data) < size:
            problem = f"the file ends within its {key}: expected {size:,} bytes, found {len(data):,}"
            raise BadFile(source.name, problem, byte=source.position)
        crc = zlib.crc32(data, crc)
        array = np.frombuffer(data, dtype).reshape(shape)
        arrays[key] = array.astype(array.dtype.newbyteorder("="), copy=False)
    at = source.position
    if source.read(END_BYTES) != crc.to_bytes(4, "little") + _DONE or source.peek(1):
        raise BadFile(source.name, "the file is damaged (its check sum differs); make it again", byte=at)
    return header, arrays


def _take(source: Input, size: int) -> bytearray:
    """`size` bytes, fewer at the end of the file. Without a known file size memory follows the bytes that come."""
    data = bytearray(size if source.size is not None else 0)
    if source.size is not None:
        with memoryview(data) as view:
            count = source.readinto(view)
        del data[count:]
        return data
    while len(data) < size:
        piece = source.read(min(_PIECE_BYTES, size - len(data)))
        if not piece:
            break
        data += piece
    return data
