import numpy as np
from numpy.typing import NDArray

def batch_starts(ids: NDArray[np.int32], windows: int) -> NDArray[np.int64]: ...

class Run:
    def __init__(
        self,
        *,
        raw: NDArray[np.float32],
        scale: NDArray[np.float64],
        norm2: NDArray[np.float64],
        largest: NDArray[np.float32],
        inverse: NDArray[np.float64],
        ids: NDArray[np.int32],
        starts: NDArray[np.int64],
        cells: int,
        window: int,
        threads: int = 1,
        bag: bool = False,
        isa: str | None = None,
    ) -> None: ...
    def worker(self, thread: int = 0) -> Worker: ...

class Worker:
    def __init__(self, run: Run, thread: int) -> None: ...
    def train(self, starts: NDArray[np.int64], rate: float) -> float: ...
    def activations(self, start: int, end: int, words_only: bool) -> NDArray[np.float32]: ...
