"""Files mapped for reading, which another process may cut short or write anew in the meantime.

A page that is gone ends the process with one line on stderr and exit code 1 (wv_cli._mapguard) instead of a bus error.
What has changed without a missing page, such as the zeros behind the new end of the file, is found afterwards, by
require_unchanged().
"""

import io
import mmap
import os
import weakref
from collections.abc import Callable

from wv_cli.errors import WvError, escape_for_terminal
from wv_cli.io import host

_FAULT_BYTES = 1 << 16  # that one page fault maps of a file which is in memory
_State = tuple[int, int]
_watched: dict[int, tuple[str, int, _State]] = {}  # by address: name, descriptor, state when it was mapped
_changed: list[str] = []  # names of mappings that are gone


def map_file(file: io.FileIO, size: int, name: str) -> mmap.mmap | None:
    """The first `size` bytes of a file, mapped and guarded; None where that cannot be done."""
    from wv_cli import _mapguard

    try:
        mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    message = (
        f"wv: {escape_for_terminal(name)}: was cut short by another process while it was read; run it again on a whole "
        "file, and replace files by renaming new ones over them\n"
    )
    address = _mapguard.guard(mapped, os.fsencode(message))
    if not address:
        return None
    descriptor = os.dup(file.fileno())
    _watched[address] = (name, descriptor, _state(descriptor))
    weakref.finalize(mapped, _unmap, address, _mapguard.release).atexit = False
    return mapped


def map_pages(contents: memoryview, places: int) -> bool:
    """Maps a whole file at once if it is read at so many `places`, in no order, that page faults would map nearly all
    of it one by one. For fewer places its pages stay unread. Whether all are mapped now."""
    if not isinstance(contents.obj, mmap.mmap) or places < len(contents) // _FAULT_BYTES:
        return False
    host.want_all_pages(contents.obj)
    return True


def require_unchanged() -> None:
    """Raises WvError when a file was changed while it was mapped, since the last call."""
    names = [*_changed, *(name for name, descriptor, state in _watched.values() if _state(descriptor) != state)]
    _changed.clear()
    if names:
        what = "was changed by another process while it was read: the results may be wrong"
        message = f"{names[0]}: {what}; run it again"
        raise WvError(message)


def _state(descriptor: int) -> _State:
    status = os.fstat(descriptor)
    return status.st_size, status.st_mtime_ns


def _unmap(address: int, release: Callable[[int], None]) -> None:
    release(address)
    name, descriptor, state = _watched.pop(address)
    if _state(descriptor) != state:
        _changed.append(name)
    os.close(descriptor)
