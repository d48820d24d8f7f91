"""What an index collects of its texts: numbers or bytes, kept in a file without a name beyond some megabytes."""

import mmap
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError
from wv_cli.io import host
from wv_cli.io.spill import Spool

_HELD = 1 << 22  # bytes in memory; also that many at once go to the file


class NoRoom(WvError):
    """The folder cannot hold the file."""


class Spilled:
    """Items of one type, added at the end and cut off there. `beside` is the file in whose folder they are kept; None:
    in memory. Raises NoRoom."""

    def __init__(self, beside: str | None, dtype: type[np.generic]) -> None:
        self._spool = Spool(beside, "the index") if beside is not None else None
        self._dtype = np.dtype(dtype)
        if self._spool is not None:
            weakref.finalize(self, self._spool.close).atexit = False
        self._data, self._written = bytearray(), 0
        self._mapped: mmap.mmap | None = None

    def __len__(self) -> int:
        return (self._written + len(self._data)) // self._dtype.itemsize

    def add(self, items: bytes) -> None:
        self._data += items
        if len(self._data) >= _HELD:
            self._spill()

    def cut(self, length: int) -> None:
        """Keeps the first `length` items."""
        size = length * self._dtype.itemsize
        if self._spool is not None and size < self._written:
            self._spool.truncate(size)
            self._written = size
        del self._data[size - self._written :]

    def array(self) -> NDArray[Any]:
        """All items, as they lie in the file. Nothing can be added or cut off afterwards."""
        if not self._written or self._spool is None:
            return np.frombuffer(self._data, self._dtype)
        self._spill()
        if self._mapped is None:
            with self._spool.errors():
                self._mapped = mmap.mmap(self._spool.descriptor, self._written, prot=mmap.PROT_READ)
        return np.frombuffer(self._mapped, self._dtype)

    def let_go(self) -> None:
        """Gives the memory of the items in the file back."""
        if self._mapped is not None:
            host.let_go(self._mapped)

    def _spill(self) -> None:
        if self._spool is None or not self._data:
            return
        data, self._data = self._data, bytearray()
        try:
            self._spool.write(np.frombuffer(data, np.uint8), self._written)
        except WvError as error:
            raise NoRoom(str(error)) from error
        self._written += len(data)
