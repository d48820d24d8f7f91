"""Copies of one model that several processes train together, each on its own part of the text."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wv_cli.engine.saved_run import Savable
from wv_cli.engine.trainer import Worker

# What a checkpoint of peers counts in: parts of the whole training, however many processes it takes.
PARTS = 1_000_000


class Peers(Protocol):
    """The `count` processes that train one model together, seen by process number `index`. All take part in every
    call, in the same order."""

    index: int
    count: int

    def union(self, own: NDArray[np.int32]) -> NDArray[np.int32]:
        """The numbers that any process has, each once, in order of first sight in the whole text. `own` is in order of
        first sight in this process's part."""
        ...

    def total(self, own: int) -> int:
        """The sum over all processes."""
        ...


def seed_of(seed: int, peers: Peers | None) -> int:
    """The seed of this process's draws; process 0 has that of the whole run."""
    return (seed + (peers.index if peers is not None else 0) * 0x9E3779B97F4A7C15) % 2**63


class Counted(Protocol):
    """A text that is known by its counts."""

    @property
    def counted(self) -> str: ...


@runtime_checkable
class Shareable(Savable[Worker], Protocol[Worker]):
    """A model that peers can train together: all start from the same rows."""

    @property
    def corpus(self) -> Counted: ...

    def shared(self) -> Sequence[tuple[NDArray[np.float32], NDArray[np.float64]]]:
        """The rows of all that training changes, and how often one word of this process's text changes each."""
        ...

    def words(self) -> int:
        """Words of this process's text, which it trains in an epoch."""
        ...

    @property
    def lr(self) -> float:
        """The learning rate at the start."""
        ...


class InParts:
    """A model as any number of peers save it, one alone among them: its training counts in parts of the whole, and its
    text is known by the counts. Satisfies engine.saved_run.Checkpointed."""

    steps = PARTS

    def __init__(self, model: Shareable[Any]) -> None:
        self.model = model

    @property
    def epochs(self) -> int:
        return self.model.epochs

    def identity(self) -> Mapping[str, object]:
        return {**self.model.identity(), "corpus": self.model.corpus.counted}

    def schedule(self) -> Mapping[str, object]:
        """Parts are what they are whatever the length of a step."""
        return {"version": self.model.schedule()["version"]}

    def arrays(self) -> Mapping[str, NDArray[np.generic]]:
        return self.model.arrays()
