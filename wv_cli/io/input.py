"""A vector file opened for reading: a path or `-`, plain or compressed (told by its first bytes), read once, in blocks.

Vectors are read through a small buffer rather than mapped: the rows must be copied to an aligned matrix in any case,
the buffer stays in the cache (240 MB: 0.10 s of CPU; a mapping and one copy alone: 0.09 s), and a file that another
process cuts short gives an error instead of a bus error.
"""

import contextlib
import io
import os
import stat
from collections.abc import Iterator
from typing import Any, Protocol

from wv_cli._floattext import PADDING
from wv_cli.errors import BadFile, cannot_read
from wv_cli.io.compression import decompress, is_compressed
from wv_cli.io.kinds import PACKED_HEAD
from wv_cli.io.mapped import map_file
from wv_cli.io.marks import MARK, has_mark, without_mark
from wv_cli.io.origin import Origin, Reader
from wv_cli.io.pipes import open_bytes

BLOCK_BYTES = 2 << 20
# A longer line cannot be a row of vectors; it would only fill the memory.
LONGEST_LINE = 1 << 30

_HEAD_BYTES = 16


class _Raw(Protocol):
    def readinto(self, view: Any, /) -> int | None: ...


class Input:
    """`name` is how messages call the file; `size` is its length in bytes when that is known before reading.
    `position` counts the bytes handed out. `newline_missing` turns true when line_blocks() met a last line without one;
    `last_byte` is then the file's last byte."""

    def __init__(self, name: str, stream: _Raw, size: int | None) -> None:
        self.name, self.size = name, size
        self.position = 0
        self.newline_missing = False
        self.last_byte = 10
        self._stream = stream
        self._peeked = b""

    def peek(self, size: int) -> bytes:
        """The next bytes without taking them: `size`, or fewer at the end of the file."""
        if len(self._peeked) < size:
            more = bytearray(size - len(self._peeked))
            count = self._fill(memoryview(more))
            self._peeked += bytes(more[:count])
        return self._peeked[:size]

    def read(self, size: int) -> bytes:
        """Takes `size` bytes, fewer only at the end of the file."""
        block = bytearray(size)
        count = self.readinto(memoryview(block))
        return bytes(block[:count])

    def readinto(self, view: memoryview) -> int:
        """Fills `view`, less only at the end of the file."""
        ready = min(len(view), len(self._peeked))
        view[:ready] = self._peeked[:ready]
        self._peeked = self._peeked[ready:]
        count = ready + self._fill(view[ready:])
        self.position += count
        return count

    def contents(self) -> memoryview:
        """All that was not read yet. A plain file is mapped where the file system can do that: its pages are read when
        they are looked at; when it is cut short meanwhile, the process ends (wv_cli.io.mapped). Anything else is
        read whole."""
        if self.size is not None and isinstance(self._stream, io.FileIO):
            start = self._stream.tell() - len(self._peeked)
            end = self.size + start - self.position
            whole = map_file(self._stream, end, self.name)
            if whole is not None:
                self._peeked, self.position = b"", self.size
                return memoryview(whole)[start:]
        blocks = list(iter(lambda: self.read(BLOCK_BYTES), b""))
        return memoryview(b"".join(blocks))

    def origin(self, read: Reader) -> Origin | None:
        """The file itself, for objects that keep it mapped and that `read` reads again from its path; None for a
        pipe and for what is decompressed."""
        return (
            Origin.from_descriptor(self.name, self._stream.fileno(), read)
            if isinstance(self._stream, io.FileIO)
            else None
        )

    def line_blocks(self, size: int = BLOCK_BYTES) -> Iterator[tuple[bytearray, int]]:
        """Whole lines in buffers of at least `size` bytes: (buffer, length), the last byte a newline (added when the
        file has none at its end) and PADDING bytes behind it. The receiver may overwrite the buffer."""
        carry = b""
        while True:
            buffer = bytearray(max(size, 2 * len(carry)) + PADDING)
            most = len(buffer) - PADDING
            buffer[: len(carry)] = carry
            length = len(carry)
            with memoryview(buffer) as view:
                length += self.readinto(view[length:most])
            if length < most:
                if length and buffer[length - 1] != 10:
                    self.newline_missing, self.last_byte = True, buffer[length - 1]
                    buffer[length] = 10
                    length += 1
                if length:
                    yield buffer, length
                return
            end = buffer.rfind(b"\n", 0, length) + 1
            carry = bytes(buffer[end:length])
            if end:
                yield buffer, end
            elif length > LONGEST_LINE:
                message = f"a line of more than {LONGEST_LINE >> 20} MiB; this is no text file of vectors"
                raise BadFile(self.name, message, byte=self.position - length)

    def _fill(self, view: memoryview) -> int:
        count = 0
        while count < len(view):
            try:
                got = self._stream.readinto(view[count:])
            except OSError as error:
                raise cannot_read(self.name, error) from error
            if not got:
                break
            count += got
        return count


@contextlib.contextmanager
def open_input(path: str | os.PathLike[str], expected: str = "word vectors") -> Iterator[Input]:
    """Opens `path` (`-`: standard input) for one reading. Raises WvError when it cannot be read, BadFile when it is
    empty, where `expected` was, or compressed in a way that is not known."""
    is_stdin = os.fspath(path) == "-"
    name = "standard input" if is_stdin else os.fspath(path)
    try:
        stream = open_bytes(path)
    except (OSError, ValueError) as error:
        raise cannot_read(name, error) from error
    with stream:
        status = os.fstat(stream.fileno())
        # Standard input may be a file of which somebody has read a part.
        is_file = isinstance(stream, io.FileIO) and stat.S_ISREG(status.st_mode)
        size = status.st_size - stream.tell() if is_file else None
        source = Input(name, stream, size)
        head = source.peek(_HEAD_BYTES)
        if not head:
            raise BadFile(name, f"the file is empty; expected {expected}")
        if is_compressed(source.peek(PACKED_HEAD), name):
            chunks = decompress(iter(lambda: source.read(BLOCK_BYTES), b""), name)
            with contextlib.closing(chunks):
                yield Input(name, _Chunks(without_mark(chunks)), None)
        else:
            if has_mark(head):
                source.read(len(MARK))
            yield source


class _Chunks:
    """Chunks of bytes, read like a raw stream."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._left = memoryview(b"")

    def readinto(self, view: memoryview) -> int:
        if not self._left:
            self._left = memoryview(next(self._chunks, b""))
        count = min(len(view), len(self._left))
        view[:count] = self._left[:count]
        self._left = self._left[count:]
        return count
