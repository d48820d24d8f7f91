"""Progress of a running training, for an observer."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """A moment of a run. `loss` is the mean over the examples since the last report (None when there were none), in
    nats, summed in double; `rate` counts corpus tokens per second of this session, before subsampling."""

    fraction: float
    epoch: int
    epochs: int
    tokens: int
    rate: float
    lr: float
    loss: float | None
    elapsed: float
    eta: float | None


@dataclass
class Totals:
    """Sums over blocks. Two of them subtract to an interval."""

    loss: float = 0.0
    examples: int = 0
    tokens: int = 0
    lr: float = 0.0

    def add(self, loss: float, examples: int, tokens: int, lr: float) -> None:
        self.loss += loss
        self.examples += examples
        self.tokens += tokens
        self.lr = lr


class Reports:
    """Tells `on_progress` how far a run of `steps` is, of which the first `first_step` were done before."""

    def __init__(
        self,
        on_progress: Callable[[Progress], None] | None,
        *,
        steps: int,
        epochs: int,
        epoch_steps: int,
        first_step: int,
    ) -> None:
        self._on_progress, self._steps, self._first = on_progress, steps, first_step
        self._epochs, self._epoch_steps = epochs, epoch_steps
        self._begin, self._before = time.monotonic(), Totals()

    def __call__(self, step: int, totals: Totals) -> None:
        """Of the steps before `step`, those of this session have done `totals`."""
        if self._on_progress is None:
            return
        now, before = Totals(**vars(totals)), self._before
        seconds = max(time.monotonic() - self._begin, 1e-9)
        examples = now.examples - before.examples
        done, total = step - self._first, self._steps - self._first
        self._on_progress(
            Progress(
                fraction=step / self._steps if self._steps else 1.0,
                epoch=min(step // max(self._epoch_steps, 1) + 1, self._epochs),
                epochs=self._epochs,
                tokens=now.tokens,
                rate=now.tokens / seconds,
                lr=now.lr,
                loss=(now.loss - before.loss) / examples if examples else None,
                elapsed=seconds,
                eta=seconds * (total - done) / done if done else None,
            )
        )
        self._before = now
