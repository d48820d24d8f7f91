"""What the workers of a Dask cluster ask a model: it is read once by each, is the one that we see, and is given up."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from wv_cli.cluster.dask_cluster import dask_cluster
from wv_cli.errors import WvError, reason
from wv_cli.system.events import Log
from wv_cli.text.parts import size_of

Question = TypeVar("Question", contravariant=True)
Answer = TypeVar("Answer", covariant=True)
State = tuple[tuple[str, int, int, int], ...]


class Asking(Protocol[Question, Answer]):
    """A frozen dataclass that says what is asked of the model in `file`, which may be a folder, and how."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def file(self) -> str: ...
    def __hash__(self) -> int: ...
    def opened(self) -> Any:
        """The model. Raises WvError."""
        ...

    def answer(self, model: Any, question: Question, /) -> Answer:
        """What the model that opened() gave says. Raises WvError."""
        ...


def answered_on(
    address: str, say: Log, what: str, asking: Asking[Question, Answer], questions: Iterable[Question]
) -> Iterator[Answer]:
    """The answers of the Dask cluster at `address`, in order. `what` names the tasks on its dashboard. Raises WvError,
    for a worker that does not see the file, too."""
    bytes_here = bytes_of(asking.file)
    asking = replace(asking, file=str(Path(asking.file).absolute()))
    with dask_cluster(address, say, same_kernels=True) as cluster:
        yield from cluster.mapped(what, partial(_answer, asking, bytes_here), questions)
        cluster.everywhere(forget)


def _answer(asking: Asking[Question, Answer], bytes_there: int, question: Question) -> Answer:
    require_bytes(asking.file, bytes_there)
    return asking.answer(_opened(asking, _state(asking.file)), question)


@lru_cache(maxsize=1)
def _opened(asking: Asking[Any, Any], state: State) -> Any:
    """The model that is there now: a worker lives longer than a file may stay the same."""
    return asking.opened()


def forget() -> None:
    """Gives up the model."""
    _opened.cache_clear()


def bytes_of(path: str) -> int:
    """Of a file, or of all files in a folder. Raises WvError."""
    if path == "-":
        return size_of(path)
    return sum(size for _, size, _, _ in _state(path))


def require_bytes(path: str, there: int) -> None:
    """Raises WvError unless this process sees as many bytes as there are where the command runs."""
    if (found := bytes_of(path)) != there:
        message = f"{path}: {found:,} bytes here, {there:,} where the command runs; all must see the same files"
        raise WvError(message)


def _state(path: str) -> State:
    """Of every file that belongs to a model: its name, bytes, time and number. Raises WvError."""
    try:
        place = Path(path)
        files = sorted(each for each in place.rglob("*") if each.is_file()) if place.is_dir() else [place]
        found = [(str(each), each.stat()) for each in files]
    except OSError as error:
        message = f"{path}: cannot read: {reason(error)}"
        raise WvError(message) from error
    return tuple((name, status.st_size, status.st_mtime_ns, status.st_ino) for name, status in found)
