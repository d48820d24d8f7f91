"""Block-by-block training, common to all models: which step trains which block, and in which order.

Not here: what a block does (the models' kernels), and running the steps (wv_cli.models.training.run).
"""

import zlib
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli.models.training.trainer import Config, Immediate, StepResult


class EpochOrder:
    """The order in which every epoch takes `count` blocks, or rows: a function of seed and epoch, so that a run that
    stops and goes on takes the same ones."""

    def __init__(self, seed: int, count: int) -> None:
        self._seed, self._count = seed, count
        self._last: tuple[int, NDArray[np.int64]] = (-1, np.empty(0, np.int64))

    def for_epoch(self, epoch: int) -> NDArray[np.int64]:
        """The numbers 0 .. count - 1 as this epoch takes them. Threads may ask at the same time."""
        last = self._last
        if last[0] != epoch:
            order = np.random.default_rng((self._seed, epoch)).permutation(self._count)
            last = self._last = (epoch, order)
        return last[1]


def epoch_order() -> int:
    """A fingerprint of the orders drawn here: another one where NumPy, or this file, draws others."""
    return zlib.crc32(EpochOrder(1, 1000).for_epoch(2).astype("<i8").tobytes())


class BlockWorker(Protocol):
    """The state of one thread, made by a model's worker()."""

    def block(self, start: int, end: int, epoch: int, /) -> StepResult:
        """Trains on ids[start:end] without the GIL."""
        ...


class BlockTraining(Immediate[Config]):
    """Step s trains block s % epoch_steps of epoch s // epoch_steps; block b is ids[starts[b]:starts[b + 1]]."""

    starts: NDArray[np.int64]

    @property
    def epoch_steps(self) -> int:
        return len(self.starts) - 1

    def train_step(self, step: int, worker: BlockWorker) -> StepResult:
        """See models.training.trainer.Trainable."""
        epoch, block = divmod(step, self.epoch_steps)
        return worker.block(int(self.starts[block]), int(self.starts[block + 1]), epoch)
