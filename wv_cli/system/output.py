"""Files that appear whole or not at all.

A file is written as `.NAME.wv-tmp` beside its target, flushed, fsynced and renamed. The name is fixed, so what a
`kill -9` leaves behind is overwritten and gone after the next success; a lock on it keeps two runs from writing the
same target at once. (click's `atomic=True` is not safe: it renames the half-written file when the block raises.)
"""

import contextlib
import errno
import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from wv_cli.errors import WvError


def temporary_path(target: Path) -> Path:
    return target.with_name(f".{target.name}.wv-tmp")


def reason(error: OSError) -> str:
    """What the system says, with the next step for the failures that have an obvious one."""
    steps = {
        errno.ENOSPC: "free some space or write to another disk; nothing that was there has been changed",
        errno.EDQUOT: "free some space or write to another disk; nothing that was there has been changed",
        errno.EACCES: "check the permissions of the file and its folder",
        errno.EROFS: "write to another disk",
        errno.EISDIR: "name a file, not a folder",
        errno.ENOENT: "check the spelling of the path",
    }
    text = (error.strerror or str(error)).lower()
    step = steps.get(error.errno or 0)
    return f"{text}; {step}" if step else text


@contextlib.contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that becomes `path` when the block ends without an exception; `-` is standard output.

    Raises WvError when the folder is missing or not writable, the disk is full, or another process is writing `path`.
    A symbolic link is followed, a device or pipe (/dev/null, a FIFO) is written directly.
    """
    if os.fspath(path) == "-":
        with _explained("standard output"):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    target = Path(os.path.realpath(path))
    if target.is_dir():
        message = f"{path}: cannot write: is a directory; name a file, not a folder"
        raise WvError(message)
    if target.exists() and not target.is_file():
        with _explained(path), target.open("wb") as device:
            yield device
        return
    temporary = temporary_path(target)
    with _explained(path):
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    stream = os.fdopen(descriptor, "wb", buffering=1 << 20)
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        message = f"{path}: another process is writing this file; wait for it or choose another name"
        raise WvError(message) from None
    try:
        with _explained(path):
            stream.truncate(0)
            if target.exists():
                shutil.copymode(target, temporary)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            temporary.replace(target)
            _sync_folder(target.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    finally:
        with contextlib.suppress(OSError):
            stream.close()


@contextlib.contextmanager
def _explained(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns an OSError that does not name another file into a WvError about `path`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"{path}: cannot write: {reason(error)}"
        raise WvError(message) from error


def _sync_folder(folder: Path) -> None:
    """Makes the rename itself survive a power cut; file systems that cannot sync a folder are let be."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_output(path: str | os.PathLike[str]) -> None:
    """Removes a file made by open_output, and what a killed process left of its successor."""
    target = Path(os.path.realpath(path))
    target.unlink(missing_ok=True)
    temporary_path(target).unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str], expected_bytes: int = 0) -> None:
    """Raises WvError now, before hours of work, when `path` could not be written later.

    `expected_bytes` is compared with the free space of the folder's file system.
    """
    if os.fspath(path) == "-":
        return
    target = Path(os.path.realpath(path))
    folder = target.parent
    if target.is_dir():
        message = f"{path}: cannot write: is a directory; name a file, not a folder"
        raise WvError(message)
    if not folder.is_dir():
        message = f"{path}: cannot write: the folder {folder} does not exist; create it first"
        raise WvError(message)
    if target.exists() and not target.is_file():
        return
    if not os.access(folder, os.W_OK | os.X_OK):
        message = f"{path}: cannot write: no permission to write in the folder {folder}"
        raise WvError(message)
    free = shutil.disk_usage(folder).free
    if expected_bytes > free:
        message = (
            f"{path}: needs about {expected_bytes / 1e6:,.0f} MB, but {folder} has {free / 1e6:,.0f} MB free; "
            "free some space or write to another disk"
        )
        raise WvError(message)
