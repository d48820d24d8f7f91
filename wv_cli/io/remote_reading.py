"""Files of other machines (remote.py) read in blocks.

Every reading ends with a look at the size and the version: what was cut short or replaced meanwhile is an error. What
fails on the way is tried again.
"""

import io
from pathlib import Path
from typing import Any

from wv_cli.io.remote import Status, explain_failure, know, open_place, require_unchanged, status, try_again

_FIRST, _LARGEST = 1 << 17, 1 << 23  # bytes asked for at once: at a new place, and after that twice as many each time


def open_stream(name: str) -> io.RawIOBase:
    """The bytes of a file, in order or from any place. What cannot be read from any place is copied to a temporary file
    first. Raises WvError."""
    found = status(name)
    if found.size and found.seekable is None:
        found = found._replace(seekable=_has_last_byte(name, found.size))
        know(name, found)
    if found.size is not None and found.seekable:
        return RemoteFile(name, found)
    import tempfile

    with tempfile.TemporaryDirectory(prefix="wv-") as folder:  # an open file stays after its folder
        copy_file(name, found, path := Path(folder, "file"))
        return path.open("rb", buffering=0)


def _has_last_byte(name: str, size: int) -> bool:
    """Whether a web server sends a part of a file where it is asked for one."""
    system, key = open_place(name)

    def read() -> bool:
        with system.open(key, "rb", size=size, cache_type="none") as file:
            file.seek(size - 1)
            return len(file.read(1)) == 1

    with explain_failure(name):
        try:
            return try_again(read, ValueError)
        except ValueError:
            return False


class RemoteFile(io.RawIOBase):
    """A file that is read in blocks; the next one comes while this one is used."""

    def __init__(self, name: str, found: Status) -> None:
        self._name, self._status = name, found
        self._system, self._key = open_place(name)
        self._size = found.size or 0
        self._at = self._start = 0
        self._block = b""
        self._coming: tuple[int, Any] | None = None
        self._pool: Any = None
        self._is_checked = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, place + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence])
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        if self._at >= self._size or not view:
            if view:
                self.require_unchanged()
            return 0
        if not self._start <= self._at < self._start + len(self._block):
            self._load(len(view))
        piece = self._block[self._at - self._start :][: len(view)]
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def require_unchanged(self) -> None:
        """Raises WvError where the file is another one than when its reading began."""
        if not self._is_checked:
            self._is_checked = True
            require_unchanged(self._name, self._status)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        super().close()

    def _load(self, wanted: int) -> None:
        goes_on = bool(self._block) and self._at == self._start + len(self._block)
        length = min(max(2 * len(self._block) if goes_on else _FIRST, wanted), _LARGEST)
        coming, self._coming = self._coming, None
        data = coming[1].result() if coming is not None and coming[0] == self._at else self._fetch(self._at, length)
        self._start, self._block = self._at, data
        after = self._at + len(data)
        if goes_on and after < self._size:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = self._pool or ThreadPoolExecutor(1, "wv-remote")
            self._coming = (after, self._pool.submit(self._fetch, after, min(2 * len(data), _LARGEST)))

    def _fetch(self, start: int, length: int) -> bytes:
        end = min(start + length, self._size)

        def read() -> bytes:
            data: bytes = self._system.cat_file(self._key, start=start, end=end)
            if len(data) != end - start:
                message = f"expected {end - start:,} bytes from byte {start:,} on, found {len(data):,}; run it again"
                raise OSError(message)
            return data

        with explain_failure(self._name):
            return try_again(read)


def copy_file(name: str, found: Status, path: Path) -> None:
    """Copies a file to `path`. Raises WvError."""
    system, key = open_place(name)

    def get() -> None:
        system.get_file(key, str(path))
        size = path.stat().st_size
        if found.size is not None and size != found.size:
            raise OSError(f"expected {found.size:,} bytes, found {size:,}; run it again")

    with explain_failure(name):
        try_again(get)
    require_unchanged(name, found)
