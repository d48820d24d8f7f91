"""A file without a name for what does not fit in memory: it is gone when the process ends, however it ends.

It is read and written in blocks, not mapped: a full disk is then an error and not a signal, and its pages do not count
as memory of this process.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError, reason
from wv_cli.io import host
from wv_cli.io.places import is_stream


class Closeable:
    """A context that is closed at its end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        raise NotImplementedError


class Spool(Closeable):
    """A file in the folder of `beside` (None, `-`, a pipe: the current folder), made when it is first needed. `what` is
    kept in it, in messages. Arrays are one-dimensional, C-contiguous and of any type; positions count their items. Use
    as a context, or close it. Every method raises WvError where the folder cannot do what is asked."""

    def __init__(self, beside: str | None, what: str = "the word ids") -> None:
        self.folder = "." if beside is None or is_stream(beside) else str(Path(os.path.realpath(beside)).parent)
        self._what = what
        self._file: BinaryIO | None = None

    @property
    def is_open(self) -> bool:
        return self._file is not None

    @property
    def descriptor(self) -> int:
        if self._file is None:
            import tempfile

            # Opened and unlinked at once, or never named at all where the file system can do that.
            self._file = tempfile.TemporaryFile(dir=self.folder, buffering=0)  # noqa: SIM115 (closed by close())
        assert self._file is not None
        return self._file.fileno()

    def write(self, array: NDArray[np.generic], position: int) -> None:
        """Puts all of `array` at `position`."""
        data = array.view(np.uint8).data
        done = 0
        with self.errors():
            while done < len(data):
                done += os.pwrite(self.descriptor, data[done:], position * array.itemsize + done)

    def read(self, out: NDArray[np.generic], position: int) -> int:
        """Fills `out` from `position` on, except at the end of the file; how many items were read."""
        data = out.view(np.uint8).data
        done = 0
        with self.errors():
            while done < len(data):
                got = host.read_at(self.descriptor, data[done:], position * out.itemsize + done)
                if got == 0:
                    break
                done += got
        return done // out.itemsize

    def fill(self, out: NDArray[np.generic], position: int) -> None:
        """Fills `out` from `position` on with what was written there."""
        if self.read(out, position) < len(out):
            message = f"{self.folder}: the file of {self._what} here has become shorter; start again"
            raise WvError(message)

    def require_disk_space(self, size: int) -> None:
        """Raises WvError when the disk has no room for `size` bytes more, before some of them fill it."""
        import shutil

        with self.errors():
            free = shutil.disk_usage(self.folder).free
        if size > free:
            message = (
                f"{self.folder}: needs {size / 1e6:,.1f} MB for {self._what}, but {free / 1e6:,.1f} MB are free; free "
                "some space, give more --memory or write to another disk"
            )
            raise WvError(message)

    def truncate(self, size: int) -> None:
        """Cuts the file to `size` bytes."""
        with self.errors():
            os.ftruncate(self.descriptor, size)

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turns an OSError into a WvError that names the folder; for code that uses the descriptor."""
        try:
            yield
        except OSError as error:
            message = f"{self.folder}: cannot keep {self._what} in a file here: {reason(error)}"
            raise WvError(message) from error

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
