import numpy as np
from numpy.typing import NDArray

def batch_starts(ids: NDArray[np.int32], windows: int) -> NDArray[np.int64]: ...

class Room: ...

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
        isa: str | None = None,
    ) -> None: ...
    def room(self) -> Room: ...
    def train(self, starts: NDArray[np.int64], rate: float, thread: int, room: Room) -> float: ...
    def activations(self, start: int, end: int, words_only: bool, room: Room) -> NDArray[np.float32]: ...
