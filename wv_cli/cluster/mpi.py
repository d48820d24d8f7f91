"""Ranks through MPI (mpi4py, the extra `mpi`). Imported only when a launcher has started several processes."""

import atexit
import platform
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError

Value = TypeVar("Value")
_MOST_BYTES = 1 << 28  # at once: MPI counts in 32 bits
_TELLING_SECONDS = 0.5  # until the launcher, which ends with the ranks, has passed on what this one has said last
_NAP_SECONDS = 0.0002  # between two looks at a reduction: waiting ranks leave the processor to others
_DOZE_SECONDS = 0.02  # between two looks of a process that has nothing to do until the end


def world(expected: int) -> "MpiRanks":
    """All processes that the launcher has started. Raises WvError when mpi4py is missing, or when MPI knows another
    number of processes than the `expected`, which the launcher says it has started."""
    try:
        MPI: Any = import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:  # RuntimeError: mpi4py without an MPI library to load
        message = (
            f"started as one of {expected} processes, which needs the package mpi4py and an MPI "
            f"({str(error).splitlines()[0]}); pip install mpi4py"
        )
        raise WvError(message) from None
    found = MpiRanks(MPI, MPI.COMM_WORLD)
    if found.size != expected:
        library = MPI.Get_library_version().split(",")[0].strip()
        message = (
            f"the launcher has started {expected} processes, MPI knows {found.size}: mpi4py here uses {library}; "
            "start them with the mpirun of that MPI, or with srun --mpi=pmix"
        )
        raise WvError(message)
    return found


class MpiRanks:
    """All processes of a communicator. Satisfies wv_cli.cluster.ranks.Ranks."""

    def __init__(self, mpi: Any, world: Any) -> None:
        self._mpi, self._world = mpi, world
        self.rank, self.size = world.Get_rank(), world.Get_size()
        self.bytes_sent = 0

    @property
    def name(self) -> str:
        everyone = self._mpi.COMM_WORLD
        return f"rank {everyone.Get_rank()} of {everyone.Get_size()} ({platform.node()})"

    def of_machine(self) -> "MpiRanks":
        """Those of them that are on this machine, in their order."""
        return MpiRanks(self._mpi, self._world.Split_type(self._mpi.COMM_TYPE_SHARED, key=self.rank))

    def those(self, chosen: bool) -> "MpiRanks | None":
        """The ranks that are chosen, in their order, on each of these; None elsewhere."""
        found = self._world.Split(0 if chosen else self._mpi.UNDEFINED, key=self.rank)
        return MpiRanks(self._mpi, found) if chosen else None

    def tell_at_exit(self) -> None:
        """When this process, rank 0, ends it tells the others, which are in await_exit()."""
        atexit.register(self._meet)

    def await_exit(self) -> None:
        """Until rank 0 ends."""
        self._meet(_DOZE_SECONDS)

    def _meet(self, nap: float = _NAP_SECONDS) -> None:
        """Until all are here. MPI itself waits at full speed."""
        _Request(self._world.Ibarrier()).wait(nap)

    def gather(self, value: Value) -> list[Value]:
        self._meet()
        found: list[Value] = self._world.allgather(value)
        return found

    def reduce(self, value: Value, merge: Callable[[Value, Value], Value]) -> Value | None:
        merged: Value | None = self._world.reduce(value, op=merge, root=0)
        return merged

    def broadcast(self, value: Value | None) -> Value:
        shared: Value = self._world.bcast(value, root=0)
        return shared

    def broadcast_array(self, array: NDArray[Any]) -> None:
        rows = max(1, _MOST_BYTES // max(1, array[:1].nbytes))
        for first in range(0, len(array), rows):
            self._world.Bcast(array[first : first + rows], root=0)

    def start_all_reduce(self, buffer: NDArray[np.float32]) -> "_Request":
        self.bytes_sent += buffer.nbytes
        return _Request(self._world.Iallreduce(self._mpi.IN_PLACE, buffer, op=self._mpi.SUM))

    def start_all_or(self, bits: NDArray[np.uint8]) -> "_Request":
        self.bytes_sent += bits.nbytes
        return _Request(self._world.Iallreduce(self._mpi.IN_PLACE, bits, op=self._mpi.BOR))

    def abort_at_exit(self, code: int) -> None:
        def abort() -> None:
            time.sleep(_TELLING_SECONDS)
            self._mpi.COMM_WORLD.Abort(code)

        atexit.register(abort)  # by then the message is on its way


class _Request:
    """A reduction or a message that does not block. Satisfies wv_cli.cluster.ranks.Pending."""

    def __init__(self, request: Any) -> None:
        self._request = request

    def done(self) -> bool:
        return bool(self._request.Test())

    def wait(self, nap: float = _NAP_SECONDS) -> None:
        while not self._request.Test():
            time.sleep(nap)
