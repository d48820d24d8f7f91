"""The processes that a launcher has started on one machine train as threads of the first of them.

What has one memory need not tell itself what changed: threads of one process train faster than processes that exchange
rows, and take the memory of one. The first process of a machine takes the others' processors and does their work; the
others wait for its end. Machines are ranks to each other.
"""

import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from wv_cli import __version__
from wv_cli.cluster.ranks import Ranks, agree, ranks_of_launcher
from wv_cli.engine.run import caught_signals
from wv_cli.errors import Elsewhere, UsageError
from wv_cli.system.host import processors, usable, use_processors

if TYPE_CHECKING:
    from wv_cli.cluster.mpi import MpiRanks

# In the environment: every process is a rank, whichever machine it is on.
CHOICE = "WV_RANKS"
APART = f"{CHOICE}=apart"


@dataclass(frozen=True)
class Place:
    """Where a process stands among those that a launcher has started together. `ranks` is None where no other one
    works. It works for so many `processes` of its machine, on all their processors."""

    ranks: Ranks | None = None
    processes: int = 1
    processors_before: int = 0  # that this process could use, when each had its own
    apart: ClassVar[str] = APART  # what a user sets so that each process works by itself

    def threads(self, each: int) -> int:
        """Those of all `processes`, each of which was to have so many: all processors, if it was to have all of its
        own."""
        if self.processes == 1:
            return each
        return processors() if each == self.processors_before else each * self.processes


@cache
def place() -> Place:
    """Where this process stands. One that another one works for does not return: it raises Elsewhere with code 0 once
    that has ended. Raises what ranks_of_launcher() does, and UsageError for a CHOICE that there is not."""
    every = ranks_of_launcher()
    if every is None:
        return Place()
    from wv_cli.cluster.mpi import MpiRanks

    assert isinstance(every, MpiRanks), "processes that a launcher has started"
    choice = os.environ.get(CHOICE, "")
    with agree(every):
        if choice not in ("", "apart"):
            raise UsageError(f"{CHOICE} must be 'apart' or unset, not {choice!r}")
    machine, before = every.of_machine(), processors()
    as_one = _works_as_one(machine, choice)
    ranks = every.those(machine.rank == 0 or not as_one)
    if ranks is None:
        with caught_signals():  # which the first process has, too, and something to save
            machine.await_exit()
        raise Elsewhere(0)
    if as_one:
        machine.tell_at_exit()
    return Place(ranks if ranks.size > 1 else None, machine.size if as_one else 1, before)


def _works_as_one(machine: "MpiRanks", choice: str) -> bool:
    """Whether the processes of a machine are to do the same, and the first one now may use the processors of all."""
    own = __version__, sys.argv[1:], Path.cwd(), choice
    found = machine.gather((own, usable()))
    if len(found) == 1 or choice or any(each != own for each, _ in found):
        return False
    by_any = set().union(*(those for _, those in found))
    return machine.broadcast(use_processors(by_any) if machine.rank == 0 else None)
