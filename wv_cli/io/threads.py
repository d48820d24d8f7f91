"""How many threads there can be, and the same task run on several of them."""

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from wv_cli.errors import WvError
from wv_cli.io import host

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

NO_THREAD = "can't start new thread"  # Python's RuntimeError
_THREAD_BYTES = 64 << 20  # of address space: a stack, and what the C library's allocator keeps for a thread
Argument = TypeVar("Argument")
Result = TypeVar("Result")


@contextlib.contextmanager
def raise_start_errors() -> Iterator[None]:
    """Makes a WvError of a thread that the system does not start, for the code that starts one."""
    try:
        yield
    except RuntimeError as error:
        if NO_THREAD not in str(error):
            raise
        raise WvError(no_thread_message()) from error


def no_thread_message() -> str:
    """Why a thread does not start: address space is short, or there are as many processes as may be."""
    space = host.address_space()
    if space is not None and space < _THREAD_BYTES:
        return "too little memory for another thread; lower --threads, or raise the limit on memory (ulimit -v)"
    return "the system starts no more threads; lower --threads, or raise the limit on processes (ulimit -u)"


def new_pool(threads: int) -> "ThreadPoolExecutor":
    """A pool of threads. What it needs is imported for the first one: a query may have none."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads)


def all_started(threads: int) -> "ThreadPoolExecutor":
    """A pool whose threads all run already, for tasks that wait for each other. Raises WvError, and has none, when the
    system does not start them."""
    pool, go = new_pool(threads), Event()
    try:
        with raise_start_errors():
            for _ in range(threads):
                pool.submit(go.wait)
    except BaseException:
        go.set()
        pool.shutdown()
        raise
    go.set()
    return pool


def run_all(task: Callable[[Argument], None], arguments: Iterable[Argument], threads: int) -> None:
    """task(argument) for every argument, in `threads` threads, taken in order; for one thread that is the caller's.
    Raises what the first task in this order raised; tasks that had not begun by then are dropped."""
    if threads <= 1:
        for argument in arguments:
            task(argument)
        return
    with raise_start_errors(), new_pool(threads) as pool:
        for _ in pool.map(task, arguments):
            pass


def in_order(task: Callable[[Argument], Result], arguments: Iterable[Argument], threads: int) -> Iterator[Result]:
    """task(argument) for every argument, in their order, made by `threads` threads, somewhat ahead; for one thread that
    is the caller's."""
    if threads <= 1:
        yield from map(task, arguments)
        return
    with raise_start_errors(), new_pool(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        for argument in arguments:
            waiting.append(pool.submit(task, argument))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
