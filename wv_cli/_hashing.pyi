from typing import Any

import numpy as np
from numpy.typing import NDArray

CODE_LANES: int

class LinearHash:
    scratch_bytes: int
    def __init__(
        self,
        panels: NDArray[np.float32],
        units: int,
        active: int,
        thresholds: NDArray[np.float32],
        isa: str | None = None,
    ) -> None: ...
    def bits(self, rows: NDArray[np.float32], out: NDArray[np.uint64], scratch: NDArray[Any]) -> None: ...
    def active(self, rows: NDArray[np.float32], out: NDArray[np.int32], scratch: NDArray[Any]) -> None: ...

class BioHash:
    def __init__(
        self,
        weights: NDArray[np.float32],
        effective: NDArray[np.float32],
        rank: int,
        delta: float,
        p: float,
        normalise: bool,
        isa: str | None = None,
    ) -> None: ...
    def scratch_bytes(self, batch: int) -> int: ...
    def train(
        self, x: NDArray[np.float32], order: NDArray[np.int32], batch: int, lr: float, scratch: NDArray[Any]
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
    scratch_bytes: int
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
    def scan(self, start: int, end: int, scratch: NDArray[Any]) -> None: ...
