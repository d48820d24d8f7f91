import numpy as np
from numpy.typing import NDArray

from wv_cli import _training

class Run(_training.Run):
    def __init__(
        self,
        options: object,
        *,
        ids: NDArray[np.int32],
        input: NDArray[np.float32],
        mixing: NDArray[np.float32],
        output: NDArray[np.float32],
        bias: NDArray[np.float32],
        hidden: int,
        hidden_bias: NDArray[np.float32] | None = None,
        sampler: NDArray[np.uint32] | None = None,
        log_noise: NDArray[np.float32] | None = None,
        path: tuple[NDArray[np.generic], ...] | None = None,
        classes: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None,
        isa: str | None = None,
    ) -> None: ...
    def worker(self) -> Worker: ...

class Worker(_training.Worker):
    def block(  # type: ignore[override]
        self, start: int, end: int, epoch: int, lr: float
    ) -> tuple[float, int, int, float]: ...
