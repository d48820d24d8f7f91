"""A vector file opened for reading: a path or `-`, plain or compressed (told by its first bytes), read once, in blocks.

Vectors are read through a small buffer rather than mapped: the rows must be copied to an aligned matrix in any case,
the buffer stays in the cache, and a file that another process cuts short gives an error instead of a bus error.
"""

import contextlib
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from wv_cli._floattext import PADDING
from wv_cli.errors import BadFile, WvError
from wv_cli.text.output import reason

BLOCK_BYTES = 2 << 20
# A longer line cannot be a row of vectors; it would only fill the memory.
LONGEST_LINE = 1 << 30

_CODECS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


class Input:
    """`name` is how messages call the file; `size` is its length in bytes when that is known before reading.
    `position` counts the bytes handed out. `newline_missing` turns true when line_blocks() met a last line without one;
    `last_byte` is then the file's last byte."""

    def __init__(self, name: str, stream: BinaryIO, size: int | None) -> None:
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

    def line_blocks(self, size: int = BLOCK_BYTES) -> Iterator[tuple[bytearray, int]]:
        """Whole lines in buffers of at least `size` bytes: (buffer, length), the last byte a newline (added when the
        file has none at its end) and PADDING bytes behind it. The receiver may overwrite the buffer."""
        carry = b""
        while True:
            buffer = bytearray(max(size, 2 * len(carry)) + PADDING)
            room = len(buffer) - PADDING
            buffer[: len(carry)] = carry
            length = len(carry)
            with memoryview(buffer) as view:
                length += self.readinto(view[length:room])
            if length < room:
                if length and buffer[length - 1] != 10:
                    self.newline_missing, self.last_byte = True, buffer[length - 1]
                    buffer[length : length + 1] = b"\n"
                    length += 1
                    buffer += bytes(1)
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
                # readinto of a raw stream may return less than asked; only 0 is the end.
                got = cast(Any, self._stream).readinto(view[count:])
            except (EOFError, zlib.error) as error:
                raise self._damaged(error) from error
            except OSError as error:
                if error.errno is None:
                    raise self._damaged(error) from error
                message = f"{self.name}: cannot read: {reason(error)}"
                raise WvError(message) from error
            except Exception as error:
                # lzma.LZMAError and ZstdError derive from Exception directly and live in optional modules.
                if type(error).__name__ in ("LZMAError", "ZstdError"):
                    raise self._damaged(error) from error
                raise
            if not got:
                break
            count += got
        return count

    def _damaged(self, error: Exception) -> BadFile:
        return BadFile(self.name, f"the compressed data is damaged or cut short ({error}); copy or download it again")


@contextlib.contextmanager
def open_input(path: str | os.PathLike[str]) -> Iterator[Input]:
    """Opens `path` (`-`: standard input) for one reading. Raises WvError when it cannot be read, BadFile when it is
    empty."""
    if os.fspath(path) == "-":
        source = Input("standard input", sys.stdin.buffer, None)
        with _decompressed(source, None) as plain:
            yield plain
        return
    try:
        stream = Path(path).open("rb", buffering=0)  # noqa: SIM115
    except OSError as error:
        message = f"{path}: cannot read: {reason(error)}"
        raise WvError(message) from error
    with stream:
        status = os.fstat(stream.fileno())
        regular = stat.S_ISREG(status.st_mode)
        source = Input(str(path), cast(BinaryIO, stream), status.st_size if regular else None)
        with _decompressed(source, stream if regular else None) as plain:
            yield plain


@contextlib.contextmanager
def _decompressed(source: Input, stream: Any) -> Iterator[Input]:
    head = source.peek(6)
    if not head:
        raise BadFile(source.name, "the file is empty; expected word vectors")
    codec = next((name for magic, name in _CODECS.items() if head.startswith(magic)), None)
    if codec is None:
        yield source
        return
    with _open_codec(codec, _Reader(source), source.name) as unpacked:
        yield Input(source.name, unpacked, None)


class _Reader:
    """An Input as the file object the decompressors ask for."""

    def __init__(self, source: Input) -> None:
        self._source = source

    def read(self, size: int = -1) -> bytes:
        return self._source.read(size if size >= 0 else BLOCK_BYTES)

    def readinto(self, view: Any) -> int:
        return self._source.readinto(memoryview(view).cast("B"))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False


def _open_codec(codec: str, stream: Any, name: str) -> BinaryIO:
    if codec == "gzip":
        import gzip

        return cast(BinaryIO, gzip.GzipFile(fileobj=stream, mode="rb"))
    if codec == "bzip2":
        import bz2

        return cast(BinaryIO, bz2.BZ2File(stream))
    if codec == "xz":
        import lzma

        return cast(BinaryIO, lzma.LZMAFile(stream))
    try:
        import zstandard
    except ImportError:
        message = f"{name}: reading zstd needs an extra package: pip install 'wv-cli[zstd]'"
        raise WvError(message) from None
    return cast(BinaryIO, zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True))
