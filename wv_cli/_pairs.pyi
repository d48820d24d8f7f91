from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

class Run:
    def __init__(
        self,
        *,
        ids: NDArray[np.int32],
        starts: NDArray[np.int64],
        same: NDArray[np.int32],
        columns: int,
        table: NDArray[np.float32],
        last: NDArray[np.int32],
        dim: int,
        levels: Sequence[int],
        weights: Sequence[float],
        scale: float,
        symmetric: bool,
        batch: int,
        threads: int = 1,
        mean: NDArray[np.float32] | None = None,
        square: NDArray[np.float32] | None = None,
        sum: NDArray[np.float32] | None = None,
        ahead: NDArray[np.float64] | None = None,
        decay_mean: float = 0.9,
        decay_square: float = 0.999,
        epsilon: float = 1e-8,
        isa: str | None = None,
    ) -> None: ...
    @property
    def nbytes(self) -> int: ...
    def take(self, pairs: NDArray[np.int64], step: int, lr: float) -> int: ...
    def loss(self) -> float: ...
    def work(self, thread: int = 0) -> None: ...
