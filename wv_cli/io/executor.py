"""Where tasks on shards are done: in this process, one after the other, or by workers elsewhere.

What needs no exchange between tasks is written as a function of one shard, and a merge of two results. An Executor maps
and reduces in the order of the shards, so that the result is that of one process."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

Shard = TypeVar("Shard")
Value = TypeVar("Value")
Held = Any  # what Executor.broadcast gives


class Executor(Protocol):
    """Does tasks. A function and its arguments may go to another process, and are then pickled.

    `scratch` is for tasks: it returns a path beside which a task may have files without a name, None for the current
    folder."""

    @property
    def scratch(self) -> Callable[[], str | None]: ...
    def map(self, what: str, function: Callable[..., Value], shards: Iterable[Shard], *held: Held) -> Iterator[Value]:
        """function(shard, *held) of one shard after the other, in order; shards are taken as results are asked for.
        `what` names the tasks to whoever watches. Raises WvError."""
        ...

    def reduce(
        self,
        what: str,
        function: Callable[..., Value],
        shards: Sequence[Shard],
        merge: Callable[[Value, Value], Value],
        after: Callable[[int], None],
        *held: Held,
    ) -> Value | None:
        """function(shard, *held) of all shards merged in their order, neighbors first; None without shards. `merge` is
        associative. `after` is told the place of each shard that is done, in any order. Raises WvError."""
        ...

    def broadcast(self, value: object) -> Held:
        """A value that many tasks are given: sent once, wherever they run."""
        ...

    def everywhere(self, function: Callable[[], Value]) -> dict[str, Value]:
        """function() in every process that does tasks, by its name."""
        ...


class ThisProcess:
    """Does one task after the other, here. Satisfies Executor."""

    @staticmethod
    def scratch() -> None:
        """See Executor."""

    def map(self, what: str, function: Callable[..., Value], shards: Iterable[Shard], *held: Held) -> Iterator[Value]:
        """See Executor."""
        return (function(shard, *held) for shard in shards)

    def reduce(
        self,
        what: str,
        function: Callable[..., Value],
        shards: Sequence[Shard],
        merge: Callable[[Value, Value], Value],
        after: Callable[[int], None],
        *held: Held,
    ) -> Value | None:
        """See Executor."""
        merged: Value | None = None
        for place, shard in enumerate(shards):
            own = function(shard, *held)
            merged = own if merged is None else merge(merged, own)
            after(place)
        return merged

    def broadcast(self, value: object) -> Held:
        return value

    def everywhere(self, function: Callable[[], Value]) -> dict[str, Value]:
        return {"here": function()}
