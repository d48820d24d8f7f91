"""Queries to a model by an executor's tasks: each process reads the model once, checks that it is the same, and drops
it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from wv_cli.errors import WvError, cannot_read
from wv_cli.io.executor import Executor
from wv_cli.text.cuts import size_of

Question = TypeVar("Question", contravariant=True)
Answer = TypeVar("Answer", covariant=True)
State = tuple[tuple[str, int, int, int], ...]


class Asking(Protocol[Question, Answer]):
    """A query to the model in `file`, which may be a folder: a frozen dataclass of the question and its options."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def file(self) -> str: ...
    def __hash__(self) -> int: ...
    def open(self) -> Any:
        """Opens the model. Raises WvError."""
        ...

    def answer(self, model: Any, question: Question, /) -> Answer:
        """The answer of the model that open() gave. Raises WvError."""
        ...


def ask(
    executor: Executor, what: str, asking: Asking[Question, Answer], questions: Iterable[Question]
) -> Iterator[Answer]:
    """The answers, in order. `what` names the tasks. Raises WvError, for a process that does not see the file, too."""
    bytes_here = bytes_of(asking.file)
    asking = replace(asking, file=str(Path(asking.file).absolute()))
    yield from executor.map(what, partial(_answer, asking, bytes_here), questions)
    executor.everywhere(forget)


def _answer(asking: Asking[Question, Answer], bytes_there: int, question: Question) -> Answer:
    require_bytes(asking.file, bytes_there)
    return asking.answer(_open_model(asking, _state(asking.file)), question)


@lru_cache(maxsize=1)
def _open_model(asking: Asking[Any, Any], state: State) -> Any:
    """The model that is there now: a process lives longer than a file may stay the same."""
    return asking.open()


def forget() -> None:
    """Gives up the model."""
    _open_model.cache_clear()


def bytes_of(path: str) -> int:
    """Size of a file, or of all files in a folder. Raises WvError."""
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
        raise cannot_read(path, error) from error
    return tuple((name, status.st_size, status.st_mtime_ns, status.st_ino) for name, status in found)
