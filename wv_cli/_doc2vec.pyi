import numpy as np
from numpy.typing import NDArray

from wv_cli import _training

class Run(_training.Run):
    def __init__(
        self,
        options: object,
        *,
        ids: NDArray[np.int32],
        words: int,
        documents: NDArray[np.float32],
        output: NDArray[np.float32],
        input: NDArray[np.float32] | None = None,
        keep: NDArray[np.uint32] | None = None,
        sampler: NDArray[np.uint32] | None = None,
        path: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]] | None = None,
        tags: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None,
        frozen: bool = False,
        isa: str | None = None,
    ) -> None: ...
    def worker(self) -> Worker: ...

class Worker(_training.Worker):
    def block(  # type: ignore[override]
        self, start: int, end: int, epoch: int, document: int
    ) -> tuple[float, int, int, float]: ...
