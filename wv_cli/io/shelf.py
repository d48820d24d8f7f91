"""Large arrays of which not all fit in memory: up to a bound they are in memory, beyond it in files without a name.

Those in files are mapped, so that any code can use them. Their pages count as memory of this process until let_go()
finds it too large, which the code that works on them calls between pieces of work: the system keeps them in its own
memory or on the disk, and gives them back when they are touched again. Room on the disk is taken first, since a full
disk would be a signal and not an error.
"""

import mmap
import weakref
from itertools import pairwise
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.io import host
from wv_cli.io.spill import Spool

Array = NDArray[Any]
_BLOCK = 1 << 18  # numbers at a time
_CACHED = 1 << 23  # bytes of a span


class Shelf:
    """For a process that has taken `taken` bytes and may take `memory` more (None: any number): arrays of a quarter of
    that together are in memory, others in the folder of `beside`. `what` they are, in messages."""

    def __init__(
        self, beside: str | None = None, what: str = "arrays", memory: int | None = None, taken: int = 0
    ) -> None:
        self._beside, self._what = beside, what
        self._left = None if memory is None else memory // 4
        self._most = taken + (memory or 0) // 4
        self._quarter = memory and memory // 4
        self._mapped: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
        self._spools: list[Spool] = []
        self._lock = RLock()  # give() may run, when an array goes, in a thread that holds it

    def new(self, size: int, dtype: type[np.generic]) -> Array:
        """An array whose numbers are anything. When nobody uses it any more its room is free again. Raises WvError
        where the folder cannot hold it."""
        length = size * np.dtype(dtype).itemsize
        if self.take(length):
            array = np.empty(size, dtype)
            weakref.finalize(array, self.give, length).atexit = False
            return array
        with Spool(self._beside, self._what) as spool, spool.errors():
            host.reserve(spool.descriptor, length)
            return self.map_file(spool, length, dtype)

    def map_file(self, spool: Spool, length: int, dtype: type[np.generic]) -> Array:
        mapped = mmap.mmap(spool.descriptor, length)
        self._mapped.add(mapped)
        return np.frombuffer(mapped, dtype)

    def spans(self, begin: int, end: int, size: int) -> list[tuple[int, int]]:
        """Cuts begin .. end into ranges whose items, of `size` bytes each, may be used in any order: they fit the
        memory and the processor's cache. Who needs items of all ranges goes through them range by range."""
        edges = [*range(begin, end, self.capacity(size, _CACHED // size)), end]
        return list(pairwise(edges))

    def capacity(self, size: int, most: int) -> int:
        """How many items of `size` bytes a quarter of the memory holds: 1 to `most`."""
        return most if self._quarter is None else max(min(self._quarter // size, most), 1)

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
            for mapped in list(self._mapped):
                host.let_go(mapped)
            if host.resident() > self._most:
                host.let_go_of_freed()

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

    def array(self) -> Array:
        """All as one array; nothing can be appended afterwards."""
        if not self._spool.is_open:
            out = self._shelf.new(self.length, self._dtype)
            self.move(out)
            return out
        with self._spool.errors():
            return self._shelf.map_file(self._spool, self.length * np.dtype(self._dtype).itemsize, self._dtype)

    def move(self, out: Array, more: int = 0) -> None:
        """Copies all to `out`, which is as long, `more` added to each number, and keeps nothing in memory."""
        if self._spool.is_open:
            for begin in range(0, len(out), _BLOCK):
                block = out[begin : begin + _BLOCK]
                self._spool.fill(block, begin)
                block += block.dtype.type(more)
                self._shelf.let_go()
            return
        at = 0
        while self._held:
            piece = self._held.pop(0)
            np.add(piece, piece.dtype.type(more), out=out[at : at + len(piece)])
            at += len(piece)
            self._shelf.let_go()
            self._shelf.give(piece.nbytes)
