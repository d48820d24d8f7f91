"""Large arrays of which not all fit in memory: up to a bound they are in memory, beyond it in files without a name.

Those in files are mapped, so that any code can use them. Their pages count as memory of this process until let_go()
finds it too large, which the code that works on them calls between pieces of work: the system keeps them in its own
memory or on the disk, and gives them back when they are touched again. Room on the disk is taken first, since a full
disk would be a signal and not an error.
"""

import mmap
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.io import host
from wv_cli.io.spill import Spool

Array = NDArray[Any]
_BLOCK = 1 << 22  # numbers at a time


class Shelf:
    """For a process that may take `memory` bytes (None: any number): arrays of a quarter of that together are in
    memory, others in the folder of `beside`. `what` they are, in messages."""

    def __init__(self, beside: str | None = None, what: str = "arrays", memory: int | None = None) -> None:
        self._beside, self._what = beside, what
        self._left = None if memory is None else memory // 4
        self._most = (memory or 0) // 2
        self._mapped: list[mmap.mmap] = []
        self._spools: list[Spool] = []
        self._lock = Lock()

    def new(self, size: int, dtype: type[np.generic]) -> Array:
        """An array whose numbers are anything. Raises WvError where the folder cannot hold it."""
        length = size * np.dtype(dtype).itemsize
        if self.take(length):
            return np.empty(size, dtype)
        with Spool(self._beside, self._what) as spool, spool.errors():
            host.reserve(spool.descriptor, length)
            mapped = mmap.mmap(spool.descriptor, length)
        self._mapped.append(mapped)
        return np.frombuffer(mapped, dtype)

    def pieces(self, dtype: type[np.generic]) -> "Pieces":
        spool = Spool(self._beside, self._what)
        self._spools.append(spool)
        return Pieces(self, spool, dtype)

    def drop_pieces(self) -> None:
        """Ends all pieces; arrays stay."""
        for spool in self._spools:
            spool.close()
        self._spools.clear()

    def let_go(self) -> None:
        """Gives the memory of what is in files back to the system when the process takes half of what it may."""
        if self._mapped and host.resident() > self._most:
            for mapped in self._mapped:
                host.let_go(mapped)

    def take(self, length: int) -> bool:
        """Whether there is room in memory for so many bytes, which is then taken; give() returns it."""
        if self._left is None:
            return True
        with self._lock:
            room = length <= self._left
            self._left -= length if room else 0
        return room

    def give(self, length: int) -> None:
        if self._left is not None:
            with self._lock:
                self._left += length


class Pieces:
    """An array that is made piece by piece and whose length is not known before. See Shelf.pieces."""

    def __init__(self, shelf: Shelf, spool: Spool, dtype: type[np.generic]) -> None:
        self._shelf, self._spool, self._dtype = shelf, spool, dtype
        self._held: list[Array] = []
        self.length = 0

    def append(self, piece: Array) -> None:
        """Takes a piece, which is not copied."""
        if not self._spool.is_open and self._shelf.take(piece.nbytes):
            self._held.append(piece)
        else:
            held, self._held = self._held, []
            position = 0
            for each in held:
                self._spool.write(each, position)
                position += len(each)
            self._shelf.give(position * np.dtype(self._dtype).itemsize)
            self._spool.write(piece, self.length)
        self.length += len(piece)

    def move(self, out: Array) -> None:
        """Copies all to `out`, which is as long, and keeps nothing in memory."""
        if self._spool.is_open:
            for begin in range(0, len(out), _BLOCK):
                self._spool.fill(out[begin : begin + _BLOCK], begin)
                self._shelf.let_go()
            return
        at = 0
        while self._held:
            piece = self._held.pop(0)
            out[at : at + len(piece)] = piece
            at += len(piece)
            self._shelf.give(piece.nbytes)
