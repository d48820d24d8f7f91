"""Files of vectors scored by the workers of a Dask cluster, a file a task."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from wv_cli.cluster.dask_cluster import dask_cluster
from wv_cli.cluster.held import bytes_of, require_bytes
from wv_cli.cluster.inputs import refuse_for_cluster
from wv_cli.evaluation.base import Found, Vectors
from wv_cli.system.events import Log
from wv_cli.vectors.embeddings import Embeddings

Loading = Callable[[str], Embeddings]
_Asked = tuple[str, str, int]  # what the file is called, its path wherever it is looked for, its bytes


def on_cluster(
    address: str, say: Log, load: Loading, function: Callable[[Vectors], Found], vectors: Sequence[Vectors]
) -> Iterator[Found]:
    """With the first three an Each whose function is applied by the cluster at `address`, where `load` reads the file
    that is called as the vectors are. Raises WvError, for a worker that does not see it, too."""
    refuse_for_cluster(address)
    asked = [(each.name, str(Path(each.name).absolute()), bytes_of(each.name)) for each in vectors]
    with dask_cluster(address, say, same_kernels=True) as cluster:
        yield from cluster.mapped("score", partial(_found, load, function), asked)


def _found(load: Loading, function: Callable[[Vectors], Found], asked: _Asked) -> Found:
    name, path, size = asked
    require_bytes(path, size)
    return function(Vectors(name, partial(load, path)))
