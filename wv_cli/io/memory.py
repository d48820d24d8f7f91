"""Matrices and working memory for the kernels, aligned as they need them, and how much memory there is."""

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError
from wv_cli.io import host

ROW_FLOATS = 16  # WV_ROW_FLOATS of csrc/base/wv_shared.h
_CACHE_LINE = 64
_HUGE_PAGE = 1 << 21
_LEAST_BUFFERS = 1 << 18
_LARGE = 1 << 24  # bytes of a matrix that a smaller dimension would make much smaller


def pad_width(dim: int) -> int:
    """Floats per row so that every row starts on a cache line."""
    return -(-dim // ROW_FLOATS) * ROW_FLOATS


def allocate_aligned(shape: tuple[int, ...], dtype: type[np.generic] = np.float32) -> NDArray[Any]:
    """An uninitialized C-ordered array that begins on a cache line, as the kernels need their scratch."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    block = np.empty(size + 64, np.uint8)
    offset = -block.ctypes.data % 64
    return block[offset : offset + size].view(dtype).reshape(shape)


def zeros(rows: int, columns: int) -> NDArray[np.float32]:
    """A zeroed (rows, columns) float32 matrix on a 2 MiB boundary, in huge pages where the system gives them.

    Random rows of a large matrix miss the page table more often than the cache; huge pages buy 10 to 30 %. Pages that
    are never touched cost nothing.
    """
    size = rows * columns * 4
    try:
        # Private: a shared mapping, Python's default, gets no huge pages.
        block = mmap.mmap(-1, size + _HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, ValueError, OverflowError) as error:
        message = f"cannot allocate {_show_size(size)} for a matrix of {rows:,} x {columns}; {_advice(size)}"
        raise WvError(message) from error
    host.want_huge_pages(block)
    floats = np.frombuffer(block, np.float32)
    first = -floats.ctypes.data % _HUGE_PAGE // 4
    return floats[first : first + rows * columns].reshape(rows, columns)


def file_of(array: NDArray[Any]) -> mmap.mmap | None:
    """The file that an array is mapped from; None for an array in memory."""
    base: Any = array.base
    while isinstance(base, (np.ndarray, memoryview)):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    return base if isinstance(base, mmap.mmap) else None


def available() -> int | None:
    """Bytes this process can still take without swapping: the machine's free memory, the control group's limit or the
    process's own (ulimit -v), whichever is least; None where the system does not say."""
    return min((room for room in (host.free_memory(), host.address_space()) if room is not None), default=None)


def for_buffers(limit: int) -> int:
    """What is left for buffers when the whole process shall take `limit` bytes: all that Python, the vocabulary and ids
    in memory have not taken yet; a quarter of `limit` where that is more, since with hardly any buffers a text takes
    for ever."""
    return max(limit - host.resident(), limit // 4, _LEAST_BUFFERS)


def require(needed: int, what: str, advice: str) -> None:
    """Raises WvError with both numbers when `needed` bytes are more than there are."""
    free = available()
    if free is not None and needed > free:
        found = f"{_show_size(free)} are available"
        message = f"{what} needs {_show_size(needed)} of memory, but {found}; {advice}"
        raise WvError(message)


def _show_size(size: int) -> str:
    """In GB, small sizes in MB or KB."""
    if size >= 10_000_000:
        return f"{size / 1e9:,.2f} GB"
    return f"{size / 1e6:.2f} MB" if size >= 10_000 else f"{size / 1e3:.1f} KB"


def _advice(size: int) -> str:
    """What to do when a matrix of so many bytes cannot be allocated."""
    if size < _LARGE:
        return "raise the limit on memory (ulimit -v)" if host.is_limited() else "free some memory"
    return "lower --dim"
