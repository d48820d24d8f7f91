"""Pipes that are read more than once. What has come out of one is kept, for whoever opens it again.

A shell's <(command) and standard input are pipes, and many readers look at the head of a file, or read it again for
every trial. Inside kept_pipes() each of them begins at the first byte. What is kept is in memory, beyond a limit in a
file without a name. Running text is read once, however long it is, and not kept.
"""

import contextlib
import io
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_IN_MEMORY = 1 << 26
_Key = tuple[int, int]


class _Pipe:
    """A pipe and what has been read of it."""

    def __init__(self, stream: io.FileIO) -> None:
        import tempfile

        self.stream, self._lock, self._length = stream, threading.Lock(), 0
        self._kept = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115, closed by kept_pipes()

    def read_at(self, position: int, view: memoryview) -> int | None:
        with self._lock:
            if position < self._length:
                self._kept.seek(position)
                data = self._kept.read(len(view))
                view[: len(data)] = data
                return len(data)
            count = self.stream.readinto(view)
            if count:
                self._kept.seek(self._length)
                self._kept.write(view[:count])
                self._length += count
            return count

    def close(self) -> None:
        self._kept.close()
        self.stream.close()


class PipeReader(io.RawIOBase):
    """A pipe from its first byte on."""

    def __init__(self, pipe: _Pipe) -> None:
        self._pipe, self._position = pipe, 0

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._pipe.stream.fileno()

    def readinto(self, buffer: Any) -> int | None:
        count = self._pipe.read_at(self._position, memoryview(buffer).cast("B"))
        self._position += count or 0
        return count


class _Kept:
    pipes: dict[_Key, _Pipe] | None = None
    again: frozenset[str] = frozenset()
    begin: int | None = None  # of standard input that is a file


@contextlib.contextmanager
def kept_pipes() -> Iterator[None]:
    """Pipes that are opened in this block can be opened again. A block inside another one is a part of it."""
    if _Kept.pipes is not None:
        yield
        return
    pipes = _Kept.pipes = {}
    try:
        yield
    finally:
        _Kept.pipes, _Kept.again, _Kept.begin = None, frozenset(), None
        for pipe in pipes.values():
            pipe.close()


def keep(paths: list[str]) -> None:
    """Running text under these names is kept, too."""
    _Kept.again |= set(paths)


def open_bytes(path: str | os.PathLike[str], *, once: bool = False) -> io.RawIOBase:
    """The bytes of a file, of a pipe or (`-`) of standard input, unbuffered. What is read `once` is not kept. Raises
    OSError, ValueError."""
    is_stdin = os.fspath(path) == "-"
    if _Kept.pipes is None:
        return _open_pipe(path, is_stdin)
    status = os.fstat(0) if is_stdin else Path(path).stat()
    if is_stdin and stat.S_ISREG(status.st_mode):
        stream = _open_pipe(path, is_stdin)
        _Kept.begin = stream.tell() if _Kept.begin is None else stream.seek(_Kept.begin)
        return stream
    if not (stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)):
        return _open_pipe(path, is_stdin)
    key = (status.st_dev, status.st_ino)
    if key not in _Kept.pipes:
        if once and os.fspath(path) not in _Kept.again:
            return _open_pipe(path, is_stdin)
        _Kept.pipes[key] = _Pipe(_open_pipe(path, is_stdin))
    return PipeReader(_Kept.pipes[key])


def _open_pipe(path: str | os.PathLike[str], is_stdin: bool) -> io.FileIO:
    # Standard input by its descriptor: a thread may hang in a read of it when the interpreter ends, and the lock of
    # sys.stdin would then be fatal.
    return open(0 if is_stdin else path, "rb", buffering=0, closefd=not is_stdin)
