"""`wv eval` on a cluster: each worker scores one file."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from wv_cli.commands.distribution import executor, refuse_with_dask
from wv_cli.evaluation.base import Found, Vectors
from wv_cli.io.events import Log
from wv_cli.models.training.asking import bytes_of, require_bytes
from wv_cli.vectors.embeddings import Embeddings

Loading = Callable[[str], Embeddings]
Asked = tuple[str, str, int]  # what the file is called, its path wherever it is looked for, its bytes


def _call_with_vectors(load: Loading, function: Callable[[Vectors], Found], asked: Asked) -> Found:
    name, path, size = asked
    require_bytes(path, size)
    return function(Vectors(name, partial(load, path)))


def scored_on(
    address: str, log: Log, load: Loading, function: Callable[[Vectors], Found], vectors: Sequence[Vectors]
) -> Iterator[Found]:
    """With the first three an evaluation.base.Each, whose function the workers of the scheduler at `address` apply;
    `load` reads there the file that is called as the vectors are. Raises WvError."""
    refuse_with_dask(address)
    asked = [(each.name, str(Path(each.name).absolute()), bytes_of(each.name)) for each in vectors]
    with executor(address, log, same_kernels=True) as workers:
        yield from workers.map("score", partial(_call_with_vectors, load, function), asked)
