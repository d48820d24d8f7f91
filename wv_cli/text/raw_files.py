"""A file's bytes as they lie there, in blocks. Standard input is `-`."""

import io
import os
import select
from collections.abc import Iterator
from pathlib import Path

from wv_cli.errors import cannot_read
from wv_cli.io import remote
from wv_cli.io.pipes import open_bytes

_PIPE = 1 << 16  # bytes that a pipe holds, on Linux


def name_of_input(path: str) -> str:
    return "standard input" if path == "-" else path


def is_file(path: str) -> bool:
    """Whether a file has that name, here or elsewhere: no pipe, no device, no folder."""
    return bool(remote.is_remote(path)) or Path(path).is_file()


def size_of_file(path: str) -> int | None:
    """The bytes of a file; None where a server does not say. Raises OSError, WvError."""
    return remote.size_of(path) if remote.is_remote(path) else Path(path).stat().st_size


def whole_name(path: str) -> str:
    """The name of a file for a process in another folder."""
    return path if remote.is_remote(path) else os.fspath(Path(path).absolute())


def open_raw(path: str, *, once: bool = False) -> io.RawIOBase:
    """`once`: a pipe is not kept for whoever opens it again (wv_cli.io.pipes)."""
    if remote.is_remote(path):
        from wv_cli.io.remote_reading import open_stream

        return open_stream(path)
    try:
        return open_bytes(path, once=once)
    except OSError as error:
        raise cannot_read(name_of_input(path), error) from error


def blocks(raw: io.RawIOBase, name: str, size: int) -> Iterator[bytes]:
    """What is there, up to `size` bytes at once. Raises WvError when it cannot be read."""
    asked = size
    while True:
        try:
            block: bytes | None = raw.read(asked)
        except OSError as error:
            raise cannot_read(name, error) from error
        if block is None:  # a pipe somebody has made non-blocking has nothing to give yet
            select.select([raw], [], [])
            continue
        if not block:
            return
        yield block
        # Memory for what does not come takes longer than to read what does.
        asked = size if len(block) == asked else min(size, _PIPE)
