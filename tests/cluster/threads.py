"""Ranks that are threads of one process: what MPI does, without MPI."""

import threading
from collections.abc import Callable
from copy import deepcopy
from functools import reduce
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from wv_cli.cluster.machine import Place

Value = TypeVar("Value")


class _Done:
    def done(self) -> bool:
        return True

    def wait(self) -> None:
        """It is complete."""


class _Meeting:
    """What the threads have in common."""

    def __init__(self, size: int) -> None:
        self.barrier = threading.Barrier(size, timeout=60)
        self.given: list[Any] = [None] * size


class ThreadRanks:
    """Satisfies wv_cli.cluster.ranks.Ranks; sums are complete when they have begun."""

    def __init__(self, rank: int, meeting: _Meeting) -> None:
        self.rank, self.size, self.bytes_sent = rank, len(meeting.given), 0
        self._meeting = meeting
        self.abort_code: int | None = None

    @property
    def name(self) -> str:
        return f"rank {self.rank} of {self.size} (here)"

    def gather(self, value: Value) -> list[Value]:
        self._meeting.given[self.rank] = value
        self._meeting.barrier.wait()
        found = list(self._meeting.given)
        self._meeting.barrier.wait()
        return found

    def reduce(self, value: Value, merge: Callable[[Value, Value], Value]) -> Value | None:
        values = self.gather(deepcopy(value))
        return reduce(merge, values) if self.rank == 0 else None

    def broadcast(self, value: Value | None) -> Value:
        return self.gather(value)[0]  # type: ignore[return-value]

    def broadcast_array(self, array: NDArray[Any]) -> None:
        array[...] = self.gather(array.copy())[0]

    def start_all_reduce(self, buffer: NDArray[np.float32]) -> _Done:
        self.bytes_sent += buffer.nbytes
        parts = self.gather(buffer.copy())
        buffer[...] = np.sum(parts, axis=0, dtype=np.float32) if len(buffer) else buffer
        return _Done()

    def start_all_or(self, bits: NDArray[np.uint8]) -> _Done:
        self.bytes_sent += bits.nbytes
        bits[...] = np.bitwise_or.reduce(self.gather(bits.copy()), axis=0)
        return _Done()

    def abort_at_exit(self, code: int) -> None:
        self.abort_code = code


def run_ranks(size: int, task: Callable[[ThreadRanks], Value]) -> list[Value]:
    """task(ranks) in as many threads; what each has returned. Raises what the first has raised."""
    meeting = _Meeting(size)
    results: list[Any] = [None] * size
    errors: list[BaseException | None] = [None] * size

    def run(rank: int) -> None:
        try:
            results[rank] = task(ThreadRanks(rank, meeting))
        except BaseException as error:
            errors[rank] = error
            meeting.barrier.abort()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        if error is not None and not isinstance(error, threading.BrokenBarrierError):
            raise error
    return results


def run_sessions(monkeypatch: pytest.MonkeyPatch, size: int, task: Callable[[ThreadRanks], Value]) -> list[Value]:
    """run_ranks() of tasks that run sessions, which find that they are ranks as processes of mpirun do."""
    own = threading.local()
    monkeypatch.setattr("wv_cli.cluster.ranks.ranks_of_launcher", lambda: getattr(own, "ranks", None))
    monkeypatch.setattr("wv_cli.cluster.machine.place", lambda: Place(getattr(own, "ranks", None)))

    def run(ranks: ThreadRanks) -> Value:
        own.ranks = ranks
        return task(ranks)

    return run_ranks(size, run)
