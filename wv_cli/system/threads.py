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
    """task(argument) for every argument, in `threads` threads (at least one), taken in order. Raises what the first
    task in this order raised; tasks that had not begun by then are dropped."""
    with ThreadPoolExecutor(max(1, threads)) as pool:
        for _ in pool.map(task, arguments):
            pass
