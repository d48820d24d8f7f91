import numpy as np
from numpy.typing import NDArray

METHODS: dict[str, int]

def lanes(isa: str | None = None) -> int: ...
def normalise(source: NDArray[np.float32], out: NDArray[np.float32], isa: str | None = None) -> None: ...
def pack(vectors: NDArray[np.float32], panels: NDArray[np.float32], isa: str | None = None) -> None: ...

class TopK:
    def __init__(
        self,
        rows: NDArray[np.float32],
        panels: NDArray[np.float32],
        thresholds: NDArray[np.float32],
        scores: NDArray[np.float32],
        hits: NDArray[np.int32],
        exclude_start: NDArray[np.int64],
        exclude: NDArray[np.int32],
        isa: str | None = None,
    ) -> None: ...
    def scan(self, start: int, end: int) -> None: ...

class Analogies:
    def __init__(
        self,
        rows: NDArray[np.float32],
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
