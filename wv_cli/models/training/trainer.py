"""The protocol of a model in training, for the loop (wv_cli.models.training.run) and its threads."""

import math
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

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


class Epochs(Protocol):
    """A config that says how often the text is read."""

    @property
    def epochs(self) -> int: ...


Config = TypeVar("Config", bound=Epochs)


class Immediate(Generic[Config]):
    """A Trainable of as many epochs as its config says, all of the same steps, which change the model itself."""

    config: Config

    @property
    def epochs(self) -> int:
        return self.config.epochs

    @property
    def epoch_steps(self) -> int:
        raise NotImplementedError

    @property
    def steps(self) -> int:
        return self.epochs * self.epoch_steps

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
