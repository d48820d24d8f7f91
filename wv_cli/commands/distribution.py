"""Work done by the workers of a Dask cluster, and what they cannot do."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from wv_cli.config import option
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError
from wv_cli.io.events import Log
from wv_cli.io.launcher import refuse_processes

if TYPE_CHECKING:
    from wv_cli.io.executor import Executor
    from wv_cli.models.training.asking import Answer, Asking, Question

LEAVE_OUT = "leave it out"
FIND_BEFORE = "find them before with `wv phrases --save-phrases FILE` and give --phrases FILE"


def dask_option() -> str | None:
    help = "Work on the Dask cluster with the scheduler at ADDRESS; `local` starts workers here."
    return option(None, help, metavar="ADDRESS", group="Run")


@contextmanager
def executor(address: str, log: Log, *, same_kernels: bool = False) -> Iterator["Executor"]:
    """The workers of the Dask scheduler at `address`. With `same_kernels` all must compute the same bits. Raises
    WvError."""
    from wv_cli.io.dask_cluster import dask_cluster

    with dask_cluster(address, log, same_kernels=same_kernels) as cluster:
        yield cluster


def refuse_with_dask(dask: str | None, **asked: object) -> None:
    """Raises UsageError for the first option with a value that the workers of the cluster `dask` cannot do together,
    and WvError where a launcher has started several processes."""
    if dask is None:
        return
    refuse_processes()
    instead = {"learn_phrases": FIND_BEFORE, "merge": "vocabularies are summed once"}
    for name, value in asked.items():
        if value:
            problem = f"{flag_of(name)} is for one process, not for a cluster (--dask)"
            raise UsageError(f"{problem}; {instead.get(name, LEAVE_OUT)}")


def ask(
    dask: str, log: Log, what: str, asked: "Asking[Question, Answer]", questions: "Iterable[Question]"
) -> "Iterator[Answer]":
    """What the workers of the scheduler at `dask` answer; see wv_cli.models.training.asking.ask. A model that cannot be
    read here is refused before they are looked for."""
    from wv_cli.models.training import asking

    asking.bytes_of(asked.file)
    with executor(dask, log, same_kernels=True) as found:
        yield from asking.ask(found, what, asked, questions)
