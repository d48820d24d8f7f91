"""The file that an output is written to until it is whole: beside its target, under a name that nobody can foresee.

Several processes may write one target's temporaries at once. Each locks its own. The lock tells a file in use from what
a `kill -9` has left, and the order of the names tells which process came first: the others are refused.
"""

import contextlib
import io
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from wv_cli.errors import WvError
from wv_cli.io import host
from wv_cli.io.interrupts import defer_signals
from wv_cli.io.lock import take

if TYPE_CHECKING:
    from typing_extensions import Buffer  # collections.abc has it from Python 3.12 on

_ENDING = ".wv-tmp"
_DIGITS = 24  # of the time and a random number, between the beginning and the ending of a name
_LONGEST = 180  # bytes of a name that is repeated in that of its temporary; file systems allow 255 in all
_BUFFER = 1 << 16  # what comes in larger blocks is not copied
_BYTES_BETWEEN = 1 << 23  # two calls of host.start_sync()


class File(io.FileIO):
    """A file that the system puts on the disk while it grows."""

    _unsynced = 0

    def write(self, data: "Buffer", /) -> int:
        written = super().write(data)
        self._unsynced += written
        if self._unsynced >= _BYTES_BETWEEN:
            host.start_sync(self.fileno())
            self._unsynced = 0
        return written


class Temporary:
    """What becomes the file `target`; `path` is what messages call it."""

    def __init__(self, path: str | os.PathLike[str], target: Path) -> None:
        self.path, self.target = path, target
        self.stream: BinaryIO | None = None
        self.complete = False
        self._name, self._descriptor = target, -1

    def create(self) -> BinaryIO:
        """Makes the file, with the mode of the target that it will replace; root keeps its owner, too. Raises WvError
        when another process writes the same target, OSError."""
        import secrets

        while not self._is_ours():
            self.close()
            self._name = self.target.with_name(
                f"{temporary_prefix(self.target)}{time.time_ns():016x}{secrets.token_hex(4)}{_ENDING}"
            )
            with defer_signals():
                self._descriptor = os.open(
                    self._name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666
                )
        if any(name < self._name.name for name in _in_use(self.target)):
            message = f"{self.path}: another process is writing this file; wait for it or choose another name"
            raise WvError(message)
        keep_mode(self._descriptor, self.target)
        # Not os.fdopen(), which closes the descriptor, and with it gives up the lock, when there is no memory left.
        self.stream = io.BufferedWriter(File(self._descriptor, "wb", closefd=False), _BUFFER)
        return self.stream

    def _is_ours(self) -> bool:
        """Whether the name is that of the open file, which is locked where the file system has locks. Between opening
        and lock another process may have taken it for a stray and removed it."""
        try:
            if self._descriptor >= 0:
                take(self._descriptor)
                return os.path.samestat(os.fstat(self._descriptor), self._name.stat(follow_symlinks=False))
        except (BlockingIOError, FileNotFoundError):
            pass
        return False

    def finish(self) -> None:
        """All of it is on the disk. Raises OSError."""
        assert self.stream is not None
        self.stream.flush()
        host.sync(self.stream.fileno())
        self.complete = True

    def rename(self) -> None:
        self._name.replace(self.target)

    def close(self) -> None:
        """Gives up the lock. A file that was not renamed is removed."""
        if self._descriptor < 0:
            return
        with defer_signals():
            with contextlib.suppress(OSError):
                if self._is_ours():
                    self._name.unlink()
            with contextlib.suppress(OSError):
                if self.stream is not None:
                    self.stream.close()
            os.close(self._descriptor)
            self._descriptor = -1


def remove_strays(target: Path) -> None:
    """Removes what killed processes have left of the successors of `target`."""
    for _ in _in_use(target):
        pass


def _in_use(target: Path) -> Iterator[str]:
    """The names of the temporaries of `target` that a process is writing. Removes those that none does."""
    first = temporary_prefix(target)
    length = len(first) + _DIGITS + len(_ENDING)
    try:
        names = os.listdir(target.parent)
    except OSError:  # a folder may be written to and not be listed
        return
    for name in names:
        # By the length, too: those of `out.1` begin as those of `out` do.
        is_ours = name.startswith(first) and name.endswith(_ENDING)
        if is_ours and len(name) == length and _is_locked(target.with_name(name)):
            yield name


def _is_locked(path: Path) -> bool:
    """Whether a process writes this file. A regular file of ours that none writes is removed."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_uid == os.geteuid() and take(descriptor):
            path.unlink(missing_ok=True)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)


def keep_mode(descriptor: int, target: Path) -> None:
    """Gives an open file the mode of the `target` that it will replace, if that is there; root keeps its owner, too."""
    with contextlib.suppress(FileNotFoundError):
        before = target.stat()
        if os.geteuid() == 0:
            os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def temporary_prefix(target: Path) -> str:
    """Of the name that a file has until it becomes `target`: hidden, and not too long for what follows."""
    name = target.name
    if len(os.fsencode(name)) > _LONGEST:
        import hashlib

        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return f".{name}."
