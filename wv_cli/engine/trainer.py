"""The protocols of the training loop (wv_cli.engine.run): the model, and the trainer that does its steps."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from wv_cli.engine.progress import Totals
from wv_cli.errors import WvError

Worker = TypeVar("Worker")
StepResult = tuple[float, int, int, float]  # loss sum, examples, tokens, learning rate


class Trainable(Protocol[Worker]):
    """A model whose training is a fixed list of steps."""

    @property
    def steps(self) -> int: ...
    @property
    def epochs(self) -> int: ...
    @property
    def epoch_steps(self) -> int: ...
    def worker(self) -> Worker:
        """The state of one thread: working memory and the like."""
        ...

    def train_step(self, step: int, worker: Worker, /) -> StepResult:
        """Trains one step without the GIL, with what worker() made for this thread."""
        ...

    def flush(self, worker: Worker, /) -> None:
        """Writes the thread's private results to the model; the thread trains no more for now."""
        ...


class Immediate:
    """A Trainable whose steps change the model itself."""

    def flush(self, worker: object, /) -> None:
        """No thread holds anything back."""


class Diverged(WvError):
    """Error: a row holds NaN or infinity."""


def require_finite(loss: float, step: int, steps: int) -> None:
    """Raises Diverged when the loss of a step is not."""
    if not math.isfinite(loss):
        message = f"the vectors diverged (NaN or infinity) in step {step:,} of {steps:,}"
        raise Diverged(message)


@dataclass(frozen=True)
class Wishes:
    """What the loop does next: it ends after a `signal`, or when the time is over, and saves when that is due."""

    signal: int | None = None
    timed_out: bool = False
    save: bool = False

    @property
    def to_end(self) -> bool:
        return self.signal is not None or self.timed_out


class Trainer(Protocol):
    """Does the steps of one training, from `next_step` on; the loop decides when it pauses and when it ends.

    `steps`, `epoch_steps` and `next_step` are in the trainer's own unit, which is the one that checkpoints count in.
    `totals` are the sums over all steps done so far."""

    @property
    def steps(self) -> int: ...
    @property
    def epochs(self) -> int: ...
    @property
    def epoch_steps(self) -> int: ...
    @property
    def next_step(self) -> int: ...
    @property
    def totals(self) -> Totals: ...
    def train_until(self, limit: int, deadline: float | None, watch: Callable[[], bool]) -> None:
        """Trains steps before `limit`; none is under way when this returns. It returns early after the `deadline` (of
        the monotonic clock), and once `watch`, which is called about five times a second, has said True. A trainer
        whose processes must meet first may return later than that. Raises Diverged."""
        ...

    def agree(self, wishes: Wishes) -> Wishes:
        """The wishes of all processes that train together, given those of this one; the same answer on each."""
        ...

    def flush(self) -> None:
        """Gives all processes that train together the same values."""
        ...
