"""`wv eval` on a cluster: each worker scores one file."""

from collections.abc import Callable, Iterator, Sequence

from wv_cli.commands.distribution import executor, refuse_with_dask
from wv_cli.evaluation.base import Found, Vectors
from wv_cli.evaluation.by_file import Loading, asked_of, score_files
from wv_cli.io.events import Log


def scored_on(
    address: str, log: Log, load: Loading, function: Callable[[Vectors], Found], vectors: Sequence[Vectors]
) -> Iterator[Found]:
    """With the first three an evaluation.base.Each, whose function the workers of the scheduler at `address` apply;
    `load` reads there the file that is called as the vectors are. Raises WvError."""
    refuse_with_dask(address)
    asked = asked_of(vectors)
    with executor(address, log, same_kernels=True) as workers:
        yield from score_files(workers, load, function, asked)
