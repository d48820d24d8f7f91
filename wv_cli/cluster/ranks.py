"""What the ranks of a run do together, behind one small interface; whether they are there, and how they agree.

A launcher (mpirun, srun) says in the environment how many processes it has started. Only when these are two or more is
mpi4py imported (wv_cli.cluster.mpi): one process alone pays nothing. Nothing here knows what the ranks train.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import Elsewhere, WvError
from wv_cli.system.launcher import started_together

Value = TypeVar("Value")


class Pending(Protocol):
    """A reduction that goes on while the caller computes."""

    def done(self) -> bool:
        """Whether it is complete; each call moves it on."""
        ...

    def wait(self) -> None:
        """Returns once it is complete."""
        ...


class Ranks(Protocol):
    """The ranks of a run, 0 .. size - 1, as one of them sees them. All take part in every call but abort_at_exit(),
    in the same order. `bytes_sent` counts what this one has handed over while training."""

    rank: int
    size: int
    bytes_sent: int

    @property
    def name(self) -> str:
        """This rank and where it runs, for messages."""
        ...

    def gather(self, value: Value) -> list[Value]:
        """What all ranks have given, in their order, on every rank."""
        ...

    def reduce(self, value: Value, merge: Callable[[Value, Value], Value]) -> Value | None:
        """All values merged in the order of the ranks, neighbours first, on rank 0; None elsewhere. `merge` is
        associative."""
        ...

    def broadcast(self, value: Value | None) -> Value:
        """Broadcasts the value of rank 0 to all ranks."""
        ...

    def broadcast_array(self, array: NDArray[Any]) -> None:
        """Broadcasts the array of rank 0 into those of all ranks, which have its shape and type."""
        ...

    def start_all_reduce(self, buffer: NDArray[np.float32]) -> Pending:
        """Starts an all-reduce: `buffer` becomes the sum of those of all ranks. Nobody touches it until that is
        complete."""
        ...

    def start_all_or(self, bits: NDArray[np.uint8]) -> Pending:
        """Starts an all-reduce by OR: each bit is set that is set on any rank."""
        ...

    def abort_at_exit(self, code: int) -> None:
        """When this process ends it ends all ranks, wherever they are, with this exit code."""
        ...


@cache
def ranks_of_launcher() -> Ranks | None:
    """The ranks this process is one of; None when it is alone. Raises WvError when mpi4py is not installed, or belongs
    to another MPI than the launcher."""
    expected = started_together()
    if expected == 1:
        return None
    from wv_cli.cluster.mpi import world

    return world(expected)


@contextmanager
def agree(ranks: Ranks | None) -> Iterator[None]:
    """All ranks do what is in this block, or none goes on. After a WvError on any rank the first of these raises it,
    with its name, and the others raise Elsewhere."""
    if ranks is None:
        yield
        return
    error: WvError | None = None
    try:
        yield
    except WvError as found:
        error = found
    codes = ranks.gather(error.exit_code if error is not None else None)
    failed = next((rank for rank, code in enumerate(codes) if code is not None), None)
    if failed is None:
        return
    if error is None or failed != ranks.rank:
        raise Elsewhere(next(code for code in codes if code is not None)) from error
    if codes.count(None):  # what all have met is no matter of one
        name_rank(error, ranks)
    error.agreed = True
    raise error


@contextmanager
def ending_all(ranks: Ranks | None) -> Iterator[None]:
    """What goes wrong on one rank in this block ends all of them, with its name in the message."""
    try:
        yield
    except BaseException as error:
        if ranks is None or (isinstance(error, WvError) and error.agreed):
            raise
        if isinstance(error, WvError):
            name_rank(error, ranks)
        ranks.abort_at_exit(getattr(error, "exit_code", 1))
        if not isinstance(error, Exception):  # a signal, by which the launcher ends all: it says so, or who failed did
            raise Elsewhere(1) from error
        raise


def name_rank(error: WvError, ranks: Ranks) -> None:
    """Puts the rank before the message of an error."""
    error.args = (f"{ranks.name}: {error}", *error.args[1:])
