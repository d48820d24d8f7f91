import numpy as np
from numpy.typing import NDArray

CODE_LANES: int

class LinearHash:
    def __init__(
        self,
        panels: NDArray[np.float32],
        units: int,
        active: int,
        thresholds: NDArray[np.float32],
        isa: str | None = None,
    ) -> None: ...
    @property
    def scratch_bytes(self) -> int: ...
    def bits(self, rows: NDArray[np.float32], out: NDArray[np.uint64], scratch: NDArray[np.uint8]) -> None: ...
    def active(self, rows: NDArray[np.float32], out: NDArray[np.int32], scratch: NDArray[np.uint8]) -> None: ...

class BioHash:
    def __init__(
        self,
        weights: NDArray[np.float32],
        effective: NDArray[np.float32],
        rank: int,
        delta: float,
        p: float,
        normalize: bool,
        isa: str | None = None,
    ) -> None: ...
    def scratch_bytes(self, batch: int) -> int: ...
    def train(
        self, x: NDArray[np.float32], order: NDArray[np.int32], batch: int, lr: float, scratch: NDArray[np.uint8]
    ) -> float: ...

def pack_codes(codes: NDArray[np.uint64], panels: NDArray[np.uint64]) -> None: ...

class Hamming:
    def __init__(
        self,
        panels: NDArray[np.uint64],
        n: int,
        queries: NDArray[np.uint64],
        scores: NDArray[np.float32],
        hits: NDArray[np.int32],
        exclude_start: NDArray[np.int64],
        exclude: NDArray[np.int32],
        isa: str | None = None,
    ) -> None: ...
    def scan(self, start: int, end: int) -> None: ...
    def distances(self, start: int, end: int, out: NDArray[np.int32]) -> None: ...

def invert(codes: NDArray[np.int32], starts: NDArray[np.int64], rows: NDArray[np.int32]) -> None: ...

class Overlap:
    def __init__(
        self,
        starts: NDArray[np.int64],
        rows: NDArray[np.int32],
        n: int,
        queries: NDArray[np.int32],
        scores: NDArray[np.float32],
        hits: NDArray[np.int32],
        exclude_start: NDArray[np.int64],
        exclude: NDArray[np.int32],
        isa: str | None = None,
    ) -> None: ...
    @property
    def scratch_bytes(self) -> int: ...
    def scan(self, start: int, end: int, scratch: NDArray[np.uint8]) -> None: ...
