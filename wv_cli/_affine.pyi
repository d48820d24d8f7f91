import numpy as np
from numpy.typing import NDArray

class Affine:
    def __init__(
        self,
        x: NDArray[np.float32],
        mean: NDArray[np.float64],
        matrix: NDArray[np.float64],
        out: NDArray[np.float32],
        isa: str | None = None,
    ) -> None: ...
    @property
    def scratch_bytes(self) -> int: ...
    def apply(self, start: int, end: int, scratch: NDArray[np.uint8]) -> None: ...
