"""The file that a mapped object was read from: such an object is pickled as its path and a digest.

A model of gigabytes then travels to other processes as a few bytes, and all of them share the pages of one mapping.
The other process must see the file at the same path, whole and unchanged.
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from wv_cli.errors import WvError, reason

_PIECES, _PIECE_BYTES = 64, 1 << 16

Reader = Callable[[str], Any]  # a function of a module, found again by its name


class Origin(NamedTuple):
    """`state` is (device, inode, size, time of the last change) of the file when it was opened."""

    read: Reader
    path: str
    state: tuple[int, int, int, int]

    @classmethod
    def from_descriptor(cls, path: str, descriptor: int, read: Reader) -> "Origin | None":
        """The origin of what was read from an open file; None where `path` does not lead to that file."""
        state = _state(os.fstat(descriptor))
        whole = str(Path(path).absolute())
        return cls(read, whole, state) if state is not None and _state_of(whole) == state else None

    def reduce(self) -> tuple[Callable[..., Any], tuple[Reader, str, str]] | None:
        """What pickle keeps of the object: how to read it again. None when the file has gone or changed."""
        if _state_of(self.path) != self.state:
            return None
        try:
            return read_again, (self.read, self.path, _digest(self.path))
        except OSError:
            return None


def read_again(read: Reader, path: str, digest: str) -> Any:
    """The object that was pickled. Raises WvError when its file cannot be read or is another one."""
    try:
        same = _digest(path) == digest
    except OSError as error:
        message = f"{path}: cannot read: {reason(error)}; the pickled model holds only the path of this file"
        raise WvError(message) from error
    if not same:
        raise WvError(f"{path}: is not the file that the pickled model was read from; load it and pickle it again")
    return read(path)


def _state_of(path: str) -> tuple[int, int, int, int] | None:
    try:
        return _state(Path(path).stat())
    except (OSError, ValueError):
        return None


def _state(status: os.stat_result) -> tuple[int, int, int, int] | None:
    plain = stat.S_ISREG(status.st_mode)
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns) if plain else None


def _digest(path: str) -> str:
    """Of the size and of 64 pieces of 64 KB, evenly spread: a training changes all of a model."""
    import hashlib

    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        made = hashlib.blake2b(str(size).encode(), digest_size=16)
        for piece in range(_PIECES):
            file.seek(max(0, size - _PIECE_BYTES) * piece // (_PIECES - 1))
            made.update(file.read(_PIECE_BYTES))
    return made.hexdigest()
