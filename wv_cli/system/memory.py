"""Matrices and working memory for the kernels, aligned as they need them, and how much memory there is."""

import contextlib
import mmap
import resource
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError

ROW_FLOATS = 16  # WV_ROW_FLOATS of csrc/kernels/wv_kernels.h
_CACHE_LINE = 64
_HUGE_PAGE = 1 << 21


def padded(dim: int) -> int:
    """Floats per row so that every row starts on a cache line."""
    return -(-dim // ROW_FLOATS) * ROW_FLOATS


def aligned(shape: tuple[int, ...], dtype: type[np.generic] = np.float32) -> NDArray[Any]:
    """An uninitialised C-ordered array that begins on a cache line, as the kernels need their scratch."""
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
        message = f"cannot allocate {size / 1e9:,.1f} GB for a matrix of {rows:,} x {columns}; lower --dim"
        raise WvError(message) from error
    if hasattr(mmap, "MADV_HUGEPAGE"):
        block.madvise(mmap.MADV_HUGEPAGE)
    floats = np.frombuffer(block, np.float32)
    first = -floats.ctypes.data % _HUGE_PAGE // 4
    return floats[first : first + rows * columns].reshape(rows, columns)


def available() -> int | None:
    """Bytes this process can still take without swapping: the machine's free memory, the control group's limit or the
    process's own (ulimit -v), whichever is least; None where the system does not say."""
    found = []
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        with contextlib.suppress(OSError, ValueError):
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            found.append(max(0, limit - pages * mmap.PAGESIZE))
    try:
        fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        found.append(int(fields["MemAvailable"].split()[0]) * 1024)
    except (OSError, KeyError, ValueError):
        pass
    for most, used in [
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ]:
        try:
            found.append(int(Path(most).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return min(found) if found else None


def resident() -> int:
    """Bytes of memory that this process takes now; a guess for Python and our library where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except (OSError, IndexError, ValueError):
        return 64 << 20


def require(needed: int, what: str, advice: str) -> None:
    """Raises WvError with both numbers when `needed` bytes are more than there are."""
    free = available()
    if free is not None and needed > free:
        message = f"{what} needs {needed / 1e9:,.2f} GB of memory, but {free / 1e9:,.2f} GB are available; {advice}"
        raise WvError(message)
