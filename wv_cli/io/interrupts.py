"""Moments that no signal may cut in two, such as the renames of files that belong together."""

import contextlib
import signal
import threading
from collections.abc import Iterator

_WAITING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def defer_signals() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP wait until the block has ended. For blocks of milliseconds.

    Their handlers are exchanged rather than the signals blocked: a blocked signal goes to another thread of the
    process, and its handler then runs in the main thread all the same. In other threads no handler ever runs."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[int] = []
    with contextlib.ExitStack() as stack:
        stack.callback(_raise, caught)
        for number in _WAITING:
            handler = signal.getsignal(number)
            if handler not in (None, signal.SIG_IGN):
                stack.callback(signal.signal, number, handler)
                signal.signal(number, lambda number, frame: caught.append(number))
        yield


def _raise(caught: list[int]) -> None:
    for number in caught:
        signal.raise_signal(number)
