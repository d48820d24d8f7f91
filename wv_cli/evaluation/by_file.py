"""Files of vectors scored by an executor's tasks, a file a task."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from wv_cli.evaluation.base import Found, Vectors
from wv_cli.io.executor import Executor
from wv_cli.models.training.asking import bytes_of, require_bytes
from wv_cli.vectors.embeddings import Embeddings

Loading = Callable[[str], Embeddings]
Asked = tuple[str, str, int]  # what the file is called, its path wherever it is looked for, its bytes


def asked_of(vectors: Sequence[Vectors]) -> list[Asked]:
    """What a task must know of each file. Raises WvError."""
    return [(each.name, str(Path(each.name).absolute()), bytes_of(each.name)) for each in vectors]


def score_files(
    executor: Executor, load: Loading, function: Callable[[Vectors], Found], asked: Sequence[Asked]
) -> Iterator[Found]:
    """The function of each file, which a task reads by `load`. Raises WvError, for a process that does not see the
    file, too."""
    return executor.map("score", partial(_call_with_vectors, load, function), asked)


def _call_with_vectors(load: Loading, function: Callable[[Vectors], Found], asked: Asked) -> Found:
    name, path, size = asked
    require_bytes(path, size)
    return function(Vectors(name, partial(load, path)))
