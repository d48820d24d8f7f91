"""What an observer of a running training sees."""

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
