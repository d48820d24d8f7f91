"""What the models have in common that train on a corpus block by block: which step trains which block.

Not here: what a block does (the models' kernels), and running the steps (wv_cli.engine.run).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class BlockTraining:
    """Step s trains block s % epoch_steps of epoch s // epoch_steps; block b is ids[starts[b]:starts[b + 1]]."""

    config: Any  # with `epochs`
    starts: NDArray[np.int64]

    @property
    def epochs(self) -> int:
        epochs: int = self.config.epochs
        return epochs

    @property
    def epoch_steps(self) -> int:
        return len(self.starts) - 1

    @property
    def steps(self) -> int:
        return self.epochs * self.epoch_steps

    def train_step(self, step: int, worker: Any) -> tuple[float, int, int, float]:
        """(loss sum, examples, tokens, learning rate) of one step; `worker` is what the model's worker() made."""
        epoch, block = divmod(step, self.epoch_steps)
        result: tuple[float, int, int, float] = worker.block(
            int(self.starts[block]), int(self.starts[block + 1]), epoch
        )
        return result
