import numpy as np
from numpy.typing import NDArray

METHODS: dict[str, int]

def lanes(isa: str | None = None) -> int: ...
def normalize(source: NDArray[np.float32], out: NDArray[np.float32], isa: str | None = None) -> None: ...
def pack(vectors: NDArray[np.float32], panels: NDArray[np.float32], isa: str | None = None) -> None: ...

class Rows:
    def __init__(
        self,
        source: NDArray[np.float32] | NDArray[np.uint8],
        scales: NDArray[np.float64],
        offsets: NDArray[np.int64] | None = None,
        dim: int = 0,
    ) -> None: ...
    @property
    def n(self) -> int: ...
    @property
    def dim(self) -> int: ...
    def unit(self, numbers: NDArray[np.int64], out: NDArray[np.float32], isa: str | None = None) -> None: ...

class TopK:
    def __init__(
        self,
        rows: Rows,
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

class Analogies:
    def __init__(
        self,
        rows: Rows,
        words: NDArray[np.float32],
        word_rows: NDArray[np.int32],
        questions: NDArray[np.int32],
        method: str,
        thresholds: NDArray[np.float32],
        scores: NDArray[np.float32],
        hits: NDArray[np.int32],
        isa: str | None = None,
    ) -> None: ...
    @property
    def scratch_bytes(self) -> int: ...
    def scan(self, start: int, end: int, scratch: NDArray[np.uint8]) -> None: ...
