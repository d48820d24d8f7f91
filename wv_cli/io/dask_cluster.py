"""Work on a Dask cluster: shards mapped by a function, in order, or merged to one value.

Dask sends functions and values (pickled), runs a task of a lost worker on another one, and shows all of it on its
dashboard; nothing here does. What an error on a worker was is told with the worker's name. Needs the extra `dask`,
which is imported when a cluster is asked for, as is the part of the standard library that only it needs: every training
could be asked.
"""

import signal
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from wv_cli import _cpu
from wv_cli.errors import WvError
from wv_cli.io.events import Log
from wv_cli.io.executor import Held, Shard, Value
from wv_cli.io.extra import DISTRIBUTION, require
from wv_cli.io.host import processors

LOCAL = "local"
ANSWER_SECONDS = 10  # until a scheduler that has not answered is none
_END_SECONDS = 0.5  # for a worker of our own to end, of which Dask gives its task four fifths
_AHEAD = 2  # tasks a thread that wait to be done or fetched, of those whose results are wanted in order
_SPEAKERS = ("distributed", "tornado", "asyncio")  # loggers of what Dask tells beside what it raises


@contextmanager
def dask_cluster(address: str, log: Log, *, same_kernels: bool = False) -> Iterator["DaskCluster"]:
    """The cluster of the scheduler at `address`, or with "local" one of this machine, with a worker a processor, that
    is there as long as the block. Raises WvError without the extra, when no scheduler answers or has workers, and for a
    worker with another version of wv or, where `same_kernels` are to give the same bits, another instruction set."""
    distributed = require("distributed", f"--dask {address}")
    with ExitStack() as stack:
        stack.enter_context(_silent())
        if address == LOCAL:
            target = stack.enter_context(_local(distributed))
        else:
            target = address
            _require_scheduler(distributed, address)
        client = stack.enter_context(distributed.Client(target, timeout=ANSWER_SECONDS, set_as_default=False))
        stack.enter_context(client.as_current())
        cluster = DaskCluster(distributed, client, address)
        cluster.require_workers()
        if same_kernels:
            cluster.require_kernels()
        link: str | None = client.dashboard_link
        at = f"; dashboard {link}" if link else ""
        log(f"Dask: {cluster.threads} tasks at once{at}", threads=cluster.threads, dashboard=link)
        yield cluster


def worker_folder() -> str:
    """A name in the folder of the worker that does this task, beside which it may have files without a name."""
    from distributed import get_worker

    return f"{get_worker().local_directory}/task"


class DaskCluster:
    """`threads` is the number of tasks it does at once. Satisfies wv_cli.io.executor.Executor."""

    scratch = staticmethod(worker_folder)

    def __init__(self, distributed: Any, client: Any, address: str) -> None:
        self._distributed, self._client, self._address = distributed, client, address

    @property
    def threads(self) -> int:
        return sum(self._client.nthreads().values())

    def require_workers(self) -> None:
        """Raises WvError where there are none, or one has another wv than this process."""
        from importlib.metadata import PackageNotFoundError, version

        own = version(DISTRIBUTION)
        try:
            self._client.wait_for_workers(1, timeout=ANSWER_SECONDS)
        except TimeoutError:
            message = f"--dask {self._address}: the scheduler has no workers; start some: dask worker {self._address}"
            raise WvError(message) from None
        # A function of the standard library, which every worker has.
        for worker, found in self._client.run(version, DISTRIBUTION, on_error="return").items():
            if isinstance(found, PackageNotFoundError) or (isinstance(found, str) and found != own):
                shown = f"wv {found}" if isinstance(found, str) else "no wv"
                message = f"worker {worker} has {shown}, this process {own}; install the same one everywhere"
                raise WvError(message)

    def require_kernels(self) -> None:
        """Raises WvError for a worker that computes with other kernels than this process."""
        own = _cpu.name()
        for worker, found in self.everywhere(_cpu.name).items():
            if found != own:
                message = (
                    f"worker {worker} computes with {found} kernels, this process with {own}, which may differ in the "
                    "last digits; set WV_ISA to what all can run, for workers and for this command"
                )
                raise WvError(message)

    def everywhere(self, function: Callable[[], Value]) -> dict[str, Value]:
        """function() of every worker, by its address."""
        found: dict[str, Value] = self._client.run(function)
        return found

    def reduce(
        self,
        what: str,
        function: Callable[..., Value],
        shards: Sequence[Shard],
        merge: Callable[[Value, Value], Value],
        after: Callable[[int], None],
        *held: Held,
    ) -> Value | None:
        """function(shard, *held) of all shards merged in their order, neighbors first, by the workers, which hold no
        more values than there are tasks at once and levels of merging; None without shards. `merge` is associative.
        `after` is told the place of each shard that is done, in any order. `what` names the tasks on the dashboard.
        Raises WvError."""
        if not shards:
            return None
        level = self._submit(what, function, shards, *([each] * len(shards) for each in held))
        places = {future.key: place for place, future in enumerate(level)}
        done = self._distributed.as_completed(level)
        while len(level) > 1:
            # Before shards that wait, so that few values do. What nobody refers to any more is forgotten once merged.
            last = level[len(level) // 2 * 2 :]
            level = self._submit(f"merge {what}", merge, level[:-1:2], level[1::2], priority=1) + last
        for future in done:
            if future.status != "finished":
                self._result(future)
            after(places[future.key])
        value: Value = self._result(level[0])
        return value

    def broadcast(self, value: object) -> Held:
        """A value that many tasks are given, which is sent once and goes from worker to worker: the result of a task,
        so that it is made again where the workers that have it are lost, as what is scattered is not."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is large
            (future,) = self._submit("hold", _itself, [value])
        return future

    def map(self, what: str, function: Callable[..., Value], shards: Iterable[Shard], *held: Held) -> Iterator[Value]:
        """function(shard, *held) of one shard after the other, in order; at most a few are done and not yet fetched.
        Raises WvError."""
        waiting: deque[Any] = deque()
        for shard in shards:
            waiting += self._submit(what, function, [shard], *([each] for each in held))
            if len(waiting) >= _AHEAD * max(self.threads, 1):
                yield self._result(waiting.popleft())
        while waiting:
            yield self._result(waiting.popleft())

    def _submit(self, what: str, function: Callable[..., Value], *values: Sequence[Any], priority: int = 0) -> Any:
        """The futures of function(*each) for each of zip(*values)."""
        task = partial(_on_worker, function)
        return self._client.map(task, *values, key=what, pure=False, priority=priority)

    def _result(self, future: Any) -> Any:
        try:
            return future.result()
        except WvError:
            raise
        except self._distributed.KilledWorker as error:
            count, last = error.allowed_failures + 1, error.last_worker.address
            message = (
                f"--dask {self._address}: the workers that did one of the tasks were lost, {count} in all, the last of "
                f"them {last}; its log says why, often that memory was short"
            )
            raise WvError(message) from error
        except self._distributed.CancelledError as error:
            message = f"--dask {self._address}: the scheduler was lost while it had work; see to it and run this again"
            raise WvError(message) from error
        except Exception as error:
            said = (str(error).strip().splitlines() or [""])[0][:200]
            raise WvError(f"--dask {self._address}: a task failed: {type(error).__name__}: {said}") from error


def _itself(value: Value) -> Value:
    return value


def _on_worker(function: Callable[..., Value], *values: Any) -> Value:
    """What a worker does. A WvError is raised again with the name of the worker, as one that can be pickled."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nobody reads them there
            return function(*values)
    except WvError as error:
        from distributed import get_worker

        told = WvError(f"worker {get_worker().address}: {error}")
        told.exit_code = error.exit_code
        raise told from None


def _require_scheduler(distributed: Any, address: str) -> None:
    """Raises WvError unless one answers soon. A client would wait for ever for one that is mute, and where there is no
    address it would end late."""

    import asyncio

    async def find_scheduler() -> None:
        arguments = distributed.Security().get_connection_args("client")
        comm = await distributed.core.connect(address, ANSWER_SECONDS, **arguments)
        await comm.close()

    try:
        asyncio.run(asyncio.wait_for(find_scheduler(), ANSWER_SECONDS))
    except (OSError, ValueError) as error:  # ValueError: no address
        why = str(error) or f"for {ANSWER_SECONDS} s"
        message = (
            f"--dask {address}: no scheduler answers ({why}); start one with `dask scheduler`, and workers with `dask "
            "worker ADDRESS`, or use --dask local"
        )
        raise WvError(message) from None


@contextmanager
def _local(distributed: Any) -> Iterator[Any]:
    """A cluster of processes of one thread, with the memory of the machine, heard on this machine alone."""
    import logging
    from multiprocessing import resource_tracker

    import dask

    class Nanny(distributed.Nanny):  # type: ignore[misc]
        """Starts a worker and ends it, for whose task it otherwise waits four seconds."""

        async def close(self, timeout: float = _END_SECONDS, reason: str = "nanny-close") -> Any:
            return await super().close(timeout=min(timeout, _END_SECONDS), reason=reason)

    # Ctrl-C goes to all processes of a terminal: this one ends the others, which inherit what is blocked here.
    resource_tracker.ensure_running()  # which otherwise unblocks it, in the thread that starts a process
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    with ExitStack() as stack:
        stack.callback(signal.pthread_sigmask, signal.SIG_SETMASK, before)
        stack.enter_context(dask.config.set({"distributed.nanny.pre-spawn-environ.PYTHONWARNINGS": "ignore"}))
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # that the disk is slow, or one of many services; workers would tell it, too
            cluster = distributed.LocalCluster(
                n_workers=processors(),
                threads_per_worker=1,
                worker_class=Nanny,
                memory_limit=None,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
        stack.enter_context(cluster)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield cluster


@contextmanager
def _silent() -> Iterator[None]:
    """Loggers of Dask say nothing of what is raised besides."""
    import logging

    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in _SPEAKERS]
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
