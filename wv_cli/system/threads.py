"""How many threads there can be, and the same task run on several of them."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Argument = TypeVar("Argument")


def processors() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(task: Callable[[Argument], None], arguments: Iterable[Argument], threads: int) -> None:
    """task(argument) for every argument, in `threads` threads, taken in order; for one thread that is the caller's.
    Raises what the first task in this order raised; tasks that had not begun by then are dropped."""
    if threads <= 1:
        for argument in arguments:
            task(argument)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(task, arguments):
            pass
