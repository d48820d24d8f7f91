"""What operating systems do differently: Linux's way where it is better, otherwise what every POSIX system has.

No other module asks which system this is, or calls what only some have: mypy looks with the eyes of macOS, too
(.ci/run). WV_PORTABLE=1 takes the second way on Linux,
too: the tests run both. Locks are flock's, which belong to the open file on Linux, macOS and the BSDs alike.
"""

import contextlib
import fcntl
import mmap
import os
import re
import resource
import sys
from pathlib import Path

LINUX = sys.platform == "linux" and os.environ.get("WV_PORTABLE") != "1"

# What names an open descriptor: a shell's >(command), and the systems' names for it.
DESCRIPTOR = re.compile(rf"/dev/fd/(\d+)|/proc/(?:self|{os.getpid()})/fd/(\d+)")
CONTROL_GROUP = Path("/sys/fs/cgroup")
_POPULATE_READ = 22  # MADV_POPULATE_READ, which Python has no name for
_PYTHON = 64 << 20  # bytes that Python and our library take, about
_BLOCK = bytes(1 << 20)
_SYNC_FILE_RANGE_WRITE = 2  # of Linux's fs.h


def processors() -> int:
    """The processors this process may use: those it is bound to, at most the whole part of its control group's share
    of time and OMP_NUM_THREADS; all there are, where nothing says which."""
    counts = [len(usable()) or os.cpu_count() or 1]
    if share := _share_of_time():
        counts.append(max(1, int(share)))
    named = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if named.isdecimal() and int(named):
        counts.append(int(named))
    return min(counts)


def _share_of_time() -> float | None:
    """Processors' time that the control group may take (docker run --cpus 1.5); None without a limit."""
    if LINUX:
        with contextlib.suppress(OSError, ValueError):
            quota, period = (CONTROL_GROUP / "cpu.max").read_text().split()
            return int(quota) / int(period)  # or "max", a ValueError
        with contextlib.suppress(OSError, ValueError):
            quota, period = ((CONTROL_GROUP / f"cpu/cpu.cfs_{each}_us").read_text() for each in ("quota", "period"))
            return int(quota) / int(period) if int(quota) > 0 else None
    return None


def usable() -> set[int]:
    """The numbers of the processors this process may use; none where the system does not say."""
    return os.sched_getaffinity(0) if LINUX else set()  # type: ignore[attr-defined,unused-ignore]


def resident() -> int:
    """Bytes of memory that this process takes now; the most it ever took where the system says only that."""
    pages = _pages()
    return pages[1] * mmap.PAGESIZE if pages else peak_memory()


def peak_memory() -> int:
    """The most bytes of memory that this process has taken so far."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def free_memory() -> int | None:
    """Bytes that the machine, and the control group this process is in, can still give without swapping; without /proc
    all the machine has; None where it does not say that either."""
    found = []
    if LINUX:
        with contextlib.suppress(OSError, KeyError, ValueError):
            fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
            found.append(int(fields["MemAvailable"].split()[0]) * 1024)
        for most, used in [
            ("memory.max", "memory.current"),
            ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
        ]:
            with contextlib.suppress(OSError, ValueError):  # no such group, or "max"
                found.append(int((CONTROL_GROUP / most).read_text()) - int((CONTROL_GROUP / used).read_text()))
    if not found:
        with contextlib.suppress(OSError, ValueError):
            found += [pages * mmap.PAGESIZE] if (pages := os.sysconf("SC_PHYS_PAGES")) > 0 else []
    return min(found, default=None)


def address_limit() -> int | None:
    """Bytes of address space that this process may take in all (ulimit -v); None without a limit."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0] if hasattr(resource, "RLIMIT_AS") else resource.RLIM_INFINITY
    return None if limit == resource.RLIM_INFINITY else limit


def address_space() -> int | None:
    """Bytes of address space that this process may still take; None without a limit."""
    if (limit := address_limit()) is None:
        return None
    pages = _pages()
    return max(0, limit - (pages[0] * mmap.PAGESIZE if pages else _PYTHON + peak_memory() - _FIRST_PEAK))


def is_limited() -> bool:
    """Whether the address space of this process has a limit (ulimit -v)."""
    return address_space() is not None


# A process begins with the peak of the one that started it, which is no memory of its own.
_FIRST_PEAK = peak_memory()


def _pages() -> list[int] | None:
    """Pages of address space and of memory that this process takes; None where the system does not say."""
    if LINUX:
        with contextlib.suppress(OSError, ValueError):
            return [int(field) for field in Path("/proc/self/statm").read_text().split()[:2]]
    return None


def reserve(descriptor: int, length: int) -> None:
    """Makes a new file `length` bytes long, of zeros, which have their room on the disk: what is mapped can then be
    written without the signal that a full disk would be. Raises OSError."""
    if LINUX:
        os.posix_fallocate(descriptor, 0, length)  # type: ignore[attr-defined,unused-ignore]
        return
    done = 0
    while done < length:
        done += os.pwrite(descriptor, _BLOCK[: length - done], done)


def read_at(descriptor: int, out: memoryview, position: int) -> int:
    """Fills `out` with the bytes of a file from `position` on, as far as one call reads; how many. Raises OSError."""
    if LINUX:
        return os.preadv(descriptor, [out], position)
    data = os.pread(descriptor, min(len(out), len(_BLOCK)), position)
    out[: len(data)] = data
    return len(data)


def let_go(mapped: mmap.mmap, length: int | None = None) -> bool:
    """Gives the memory of the first `length` bytes (None: all) of a shared mapping back, as whole pages; what they hold
    stays in the file. Elsewhere than on Linux the system finds out itself what nobody uses. Whether it was asked."""
    if LINUX:
        size = (len(mapped) if length is None else length) // mmap.PAGESIZE * mmap.PAGESIZE
        if size:
            mapped.madvise(mmap.MADV_DONTNEED, 0, size)
    return LINUX


def let_go_of_freed() -> None:
    """Gives memory back that was freed and that the C library keeps for later; only glibc's is asked."""
    if LINUX:
        import ctypes

        with contextlib.suppress(AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def want_huge_pages(block: mmap.mmap) -> None:
    """Asks for pages of 2 MB, where a process can ask; a kernel built without them says no, and means no harm."""
    if LINUX:
        with contextlib.suppress(OSError):
            block.madvise(mmap.MADV_HUGEPAGE)  # type: ignore[attr-defined,unused-ignore]


def want_all_pages(mapped: mmap.mmap) -> None:
    """Reads a mapped file into memory that is not there yet, and maps all of it at once. Kernels before Linux 5.14 say
    no, and then each page is mapped when it is looked at."""
    if LINUX:
        with contextlib.suppress(OSError):
            mapped.madvise(_POPULATE_READ)


def want_single_pages(block: mmap.mmap) -> None:
    """Says that a mapped file is used in no order: a page that is missing is then read without those after it."""
    if LINUX:
        with contextlib.suppress(OSError):
            block.madvise(mmap.MADV_RANDOM)


def start_sync(descriptor: int) -> bool:
    """Has the system begin to put on the disk what was written to a file, so that sync() has less to wait for. Returns
    whether it does; elsewhere than on Linux it cannot be asked."""
    if LINUX:
        import ctypes

        with contextlib.suppress(AttributeError):
            all_of_it = ctypes.c_int64(0), ctypes.c_int64(0)
            return bool(ctypes.CDLL(None).sync_file_range(descriptor, *all_of_it, _SYNC_FILE_RANGE_WRITE) == 0)
    return False


def sync(descriptor: int) -> None:
    """What was written to a file, or to a folder's list of names, is on the disk. Raises OSError."""
    if sys.platform == "darwin":
        with contextlib.suppress(OSError):  # network file systems have no such call; its fsync leaves data to the drive
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)
