import numpy as np
from numpy.typing import NDArray

RECORD: np.dtype[np.void]
TILE_RECORD: np.dtype[np.void]

class Segment:
    @property
    def starts(self) -> NDArray[np.int64]: ...
    @property
    def capacity(self) -> NDArray[np.int64]: ...
    def __init__(
        self,
        ids: NDArray[np.int32],
        low: int,
        end: int,
        words: int,
        units: NDArray[np.int64],
        both_sides: bool,
        scale: float,
    ) -> None: ...
    def scratch(self) -> NDArray[np.int64]: ...
    def rows(self, first: int, last: int, scratch: NDArray[np.int64], out: NDArray[np.void]) -> NDArray[np.void]: ...

def merge(
    records: NDArray[np.void],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    more: NDArray[np.uint8],
    as_values: bool,
    pending: NDArray[np.void],
    out: NDArray[np.void],
) -> int: ...
def check(records: NDArray[np.void], words: int, last_key: int) -> tuple[int, int, bool]: ...
def sort(records: NDArray[np.void]) -> None: ...
def tiles(
    records: NDArray[np.void],
    first_row: int,
    range_of: NDArray[np.uint16],
    range_first: NDArray[np.int32],
    largest: int,
    out: NDArray[np.void],
) -> NDArray[np.int64]: ...

class Run:
    def __init__(
        self,
        *,
        words: NDArray[np.float32],
        contexts: NDArray[np.float32],
        eta: float,
        clip: float,
        x_max: float,
        alpha: float,
        seed: int,
        clipped: int | None = None,
        isa: str | None = None,
    ) -> None: ...
    def scratch_bytes(self, records: int) -> int: ...
    def chunk(
        self,
        records: NDArray[np.void],
        first_row: int,
        first_column: int,
        iteration: int,
        chunk: int,
        scratch: NDArray[np.float32],
    ) -> float: ...
