import numpy as np
from numpy.typing import NDArray

CENTROIDS: int

def train_scratch_bytes(points: int, width: int, isa: str | None = None) -> int: ...
def train(
    x: NDArray[np.float32],
    sample: NDArray[np.int64],
    first: int,
    width: int,
    seed: int,
    centroids: NDArray[np.float32],
    errors: NDArray[np.float64],
    scratch: NDArray[np.uint8],
    isa: str | None = None,
) -> int: ...
def encode_scratch_bytes(dim: int, dsub: int, isa: str | None = None) -> int: ...
def encode(
    x: NDArray[np.float32],
    dsub: int,
    centroids: NDArray[np.float32],
    codes: NDArray[np.uint8],
    start: int,
    end: int,
    scratch: NDArray[np.uint8],
    isa: str | None = None,
) -> None: ...
def decode(
    codes: NDArray[np.uint8],
    rows: NDArray[np.int64],
    dim: int,
    dsub: int,
    centroids: NDArray[np.float32],
    scales: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None: ...

class Search:
    def __init__(
        self,
        codes: NDArray[np.uint8],
        dsub: int,
        centroids: NDArray[np.float32],
        unit: float,
        scales: NDArray[np.float32],
        panels: NDArray[np.float32],
        thresholds: NDArray[np.float32],
        scores: NDArray[np.float32],
        hits: NDArray[np.int32],
        exclude_start: NDArray[np.int64],
        exclude: NDArray[np.int32],
        isa: str | None = None,
    ) -> None: ...
    @property
    def scratch_bytes(self) -> int: ...
    def scan(self, start: int, end: int, scratch: NDArray[np.uint8]) -> None: ...
