import numpy as np
from numpy.typing import NDArray

DIRECTIONS: int

class Ways:
    def __init__(
        self,
        directions: NDArray[np.float32],
        transposed: NDArray[np.float32],
        way: NDArray[np.float32],
        other_way: float,
    ) -> None: ...

class Exchanged:
    def __init__(
        self,
        current: NDArray[np.float32],
        base: NDArray[np.float32],
        updates: NDArray[np.float32],
        movers: NDArray[np.float32],
        isa: str | None = None,
    ) -> None: ...
    def moved(self, rows: NDArray[np.int64], moved: NDArray[np.uint8]) -> None: ...
    def send(self, rows: NDArray[np.int64], sent: NDArray[np.float32], sum: NDArray[np.float32]) -> None: ...
    def share(self, ways: Ways, rows: NDArray[np.int64], summed: NDArray[np.float32]) -> None: ...
    def take_in(self, rows: NDArray[np.int64], sent: NDArray[np.float32], added: NDArray[np.float32]) -> None: ...
