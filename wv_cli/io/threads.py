"""How many threads there can be, the same task run on several of them, and what a thread does ahead or behind."""

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from threading import Event, Thread, current_thread
from typing import TYPE_CHECKING, TypeVar

from wv_cli.errors import WvError
from wv_cli.io import host

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

NO_THREAD = "can't start new thread"  # Python's RuntimeError
_THREAD_BYTES = 64 << 20  # of address space: a stack, and what the C library's allocator keeps for a thread
_PATIENCE = 1.0  # seconds that a reader in the background has to end
_AHEAD, _BEHIND = 2, 4  # items that wait between two threads
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
    is the caller's. Where the arguments end with an exception, the results before it come first."""
    if threads <= 1:
        yield from map(task, arguments)
        return
    with raise_start_errors(), new_pool(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        problem: Exception | None = None
        each = iter(arguments)
        while True:
            try:
                argument = next(each)
            except StopIteration:
                break
            except Exception as error:
                problem = error
                break
            waiting.append(pool.submit(task, argument))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
        if problem is not None:
            raise problem


def read_ahead(items: Iterable[Result], name: str) -> Generator[Result, None, None]:
    """`items`, made by a background thread up to three ahead. Its exceptions are raised here."""
    import queue

    ready: queue.Queue[Result | BaseException | None] = queue.Queue(maxsize=_AHEAD)
    stop = Event()

    def put(item: Result | BaseException | None) -> None:
        while not stop.is_set():
            with contextlib.suppress(queue.Full):
                ready.put(item, timeout=0.1)
                return

    def work() -> None:
        try:
            for item in items:
                put(item)
                if stop.is_set():
                    return
            put(None)
        except BaseException as error:
            put(error)

    thread = Thread(target=work, name=name, daemon=True)
    with raise_start_errors():
        thread.start()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stop.set()
        # Else it may read on, from a file that the caller closes now: from whatever is opened next under its number. A
        # pipe that gives nothing is not waited for. The garbage collector may close this in the thread itself.
        if thread is not current_thread():
            thread.join(_PATIENCE)


class Backlog:
    """Calls that a thread of its own makes, in their order and a few behind the caller; for one thread that is the
    caller's. Raises what an earlier call raised."""

    def __init__(self, threads: int) -> None:
        self._pool = new_pool(1) if threads > 1 else None
        self._waiting: deque[Future[None]] = deque()

    def call(self, task: Callable[[], None]) -> None:
        if self._pool is None:
            task()
            return
        with raise_start_errors():
            self._waiting.append(self._pool.submit(task))
        if len(self._waiting) > _BEHIND:
            self._waiting.popleft().result()

    def wait(self) -> None:
        """Until all calls are made."""
        while self._waiting:
            self._waiting.popleft().result()

    def close(self) -> None:
        """Drops the calls that have not begun."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
