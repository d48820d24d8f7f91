import numpy as np
from numpy.typing import NDArray

from wv_cli._word2vec import Run

def most_in_block(ids: NDArray[np.int32], starts: NDArray[np.int64], weights: NDArray[np.int64]) -> int: ...

class Rounds:
    count: int
    def __init__(
        self,
        run: Run,
        starts: NDArray[np.int64],
        input_share: NDArray[np.float32],
        output_share: NDArray[np.float32],
        workers: int,
        threads: int,
    ) -> None: ...
    def thread(self, number: int = 0) -> RoundThread: ...
    def totals(self) -> tuple[float, int, int, float]: ...

class RoundThread:
    def __init__(self, rounds: Rounds, number: int) -> None: ...
    def train(self, first: int, end: int, epoch: int) -> None: ...
