"""Where the matrices of a training are: in memory, or in mapped files when they are more than the run may take.

What is mapped is trained as memory is, and to the same bytes. The system holds as many of its pages as it has memory
for and keeps the others on the disk, so that matrices may be larger than memory; rows of frequent words, which lie side
by side, stay there by themselves. It is slower: pages are small, and each that is not there is read before it is
changed. Room on the disk is taken first, since a full disk would be a signal and not an error.
"""

import mmap

import numpy as np
from numpy.typing import NDArray

from wv_cli.io import host, memory
from wv_cli.io.events import Log
from wv_cli.io.spill import Spool


class MatrixAllocator:
    """Allocates the matrices of one run, which may take `most` bytes of memory together (None: any number): larger ones
    are in files without a name in the folder of `beside`. `log` is told of it, once: a message, and its figures by
    name."""

    def __init__(self, most: int | None = None, beside: str | None = None, log: Log = lambda *_, **__: None) -> None:
        self._most, self._beside, self._log = most, beside, log
        self.on_disk = False

    def _file(self) -> Spool:
        return Spool(self._beside, "the matrices")

    def require(self, needed: int, matrices: int, advice: str) -> None:
        """Decides where the matrices will be, of so many bytes together. What is on disk stays there. Raises WvError
        when there is no room for them, or no memory for what else training takes of the `needed` bytes; its message
        ends with `advice`."""
        if not self.on_disk and self._most is not None and matrices > self._most:
            self.on_disk = True
            where = f"in a file in {self._file().folder}, more than --memory; slower than in memory"
            self._log(f"{matrices / 1e6:,.0f} MB of matrices are {where}", matrices_on_disk=matrices)
        if self.on_disk:
            self._file().require_disk_space(matrices)
            needed -= matrices
        memory.require(needed, "training", advice)

    def zeros(self, rows: int, columns: int) -> NDArray[np.float32]:
        """A zeroed (rows, columns) float32 matrix that begins on a page. Raises WvError."""
        if not self.on_disk:
            return memory.zeros(rows, columns)
        mapped = self._map_file(rows * columns)
        host.want_single_pages(mapped)
        return np.frombuffer(mapped, np.float32, rows * columns).reshape(rows, columns)

    def beside_ids(self, count: int) -> NDArray[np.int32]:
        """`count` zeros that are read in order, as the ids of a text are. They are in a file when they alone are more
        than the run may take, whatever the matrices are. Raises WvError."""
        if self._most is not None and 4 * count > self._most:
            self._file().require_disk_space(4 * count)
            return np.frombuffer(self._map_file(count), np.int32, count)
        memory.require(4 * count, "training on the word n-grams of the text", "give --memory or lower --word-ngrams")
        numbers: NDArray[np.int32] = memory.zeros(1, count)[0].view(np.int32)
        return numbers

    def _map_file(self, numbers: int) -> mmap.mmap:
        length = 4 * max(numbers, 1)  # nothing cannot be mapped
        with self._file() as spool, spool.errors():
            host.reserve(spool.descriptor, length)
            return mmap.mmap(spool.descriptor, length)


IN_MEMORY = MatrixAllocator()
