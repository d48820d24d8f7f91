"""How many threads NumPy's matrix products take.

The threads of OpenBLAS spin while they wait. Products of a few hundred rows then cost four times the processor time and
are no faster (measured: 471 s against 107 s for the words of an encoder). Who computes in threads of its own, or on
small matrices, wants one.
"""

import contextlib
import ctypes
import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

_PREFIXES, _SUFFIXES = ("scipy_openblas", "openblas"), ("64_", "_64_", "")


@functools.cache
def _functions() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """(get, set) of the OpenBLAS that came with NumPy; None where there is another library."""
    folders = (Path(np.__file__).parent.with_name("numpy.libs"), Path(np.__file__).parent / ".dylibs")
    for path in [path for folder in folders for path in sorted(folder.glob("*openblas*"))]:
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(str(path))
            for prefix, suffix in ((prefix, suffix) for prefix in _PREFIXES for suffix in _SUFFIXES):
                with contextlib.suppress(AttributeError):
                    return (
                        getattr(library, f"{prefix}_get_num_threads{suffix}"),
                        getattr(library, f"{prefix}_set_num_threads{suffix}"),
                    )
    return None


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Matrix products in this block have one thread each; those of a library that is not known as many as ever."""
    functions = _functions()
    if functions is None:
        yield
        return
    get, set_threads = functions
    before = get()
    set_threads(1)
    try:
        yield
    finally:
        set_threads(before)
