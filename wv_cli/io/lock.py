"""One process at a time: a lock on a name, held for as long as a run that owns the name lasts.

The lock is flock's, on `.NAME.wv-lock` beside NAME: the system lets it go however the process ends, so what a `kill -9`
leaves behind is an empty file that locks nothing. A run that ends removes the file while it still holds the lock;
whoever had opened it meanwhile sees that the name has another file now, or none, and begins again.
"""

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from wv_cli.errors import WvError, reason


def lock_path(path: str | os.PathLike[str]) -> Path:
    target = Path(os.path.realpath(path))
    return target.with_name(f".{target.name}.wv-lock")


@contextlib.contextmanager
def hold_lock(path: str | os.PathLike[str], who: str) -> Iterator[bool]:
    """Keeps others from holding `path` while the block runs; False where the file system has no locks. Raises WvError
    when it is held already, with `who` may hold it and what to do, or when the lock's file cannot be made."""
    name = lock_path(path)
    descriptor, locked = _open_locked(path, name, who)
    try:
        yield locked
    finally:
        if locked:
            with contextlib.suppress(OSError):
                name.unlink()
        os.close(descriptor)


def take(descriptor: int) -> bool:
    """Locks an open file until it is closed; False where its file system has no locks. Raises BlockingIOError when
    another holds it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # ENOLCK, ENOTSUP, ENOSYS ...: each file system has its own way to say no
        return False
    return True


def _open_locked(path: str | os.PathLike[str], name: Path, who: str) -> tuple[int, bool]:
    """(the lock's file, whether it is locked): the file that has the name, not one removed since it was opened."""
    while True:
        try:
            descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
        except OSError as error:
            why = "a symbolic link has its name; remove it" if error.errno == errno.ELOOP else reason(error)
            message = f"{path}: cannot make its lock {name}: {why}"
            raise WvError(message) from error
        try:
            _require_ours(path, name, os.fstat(descriptor))
            locked = take(descriptor)
            if not locked or _is_still(name, descriptor):
                return descriptor, locked
        except BlockingIOError:
            os.close(descriptor)
            message = f"{path}: {who}"
            raise WvError(message) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _require_ours(path: str | os.PathLike[str], name: Path, found: os.stat_result) -> None:
    """Raises WvError for a file that somebody else has planted: it could be held for ever, or be a link to another."""
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_nlink > 1:
        message = f"{path}: its lock {name} is no plain file of this user; remove it, or write to a folder of your own"
        raise WvError(message)


def _is_still(name: Path, descriptor: int) -> bool:
    try:
        found = name.stat()
    except FileNotFoundError:
        return False
    ours = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino)
