from typing import Self, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

STOP_ALL: int
STOP_SECTION: int
STOP_FIELDS: int
STOP_NUMBER: int
STOP_POSITIVE: int
STOP_UNKNOWN_WORD: int
STOP_DUPLICATE: int

@final
class Reader:
    def __new__(cls, blob: Buffer, starts: NDArray[np.int64]) -> Self: ...
    def parse(
        self,
        buffer: Buffer,
        begin: int,
        end: int,
        has_backoff: bool,
        zero: float,
        rows: NDArray[np.int32],
        prob: NDArray[np.float32],
        backoff: NDArray[np.float32],
    ) -> tuple[int, int, int, int]: ...
    def vocabulary(self) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]: ...

def format_lines(
    rows: NDArray[np.int32],
    blob: Buffer,
    starts: NDArray[np.int64],
    prob: NDArray[np.float32],
    backoff: NDArray[np.float32] | None = None,
) -> memoryview: ...
def ascending(rows: NDArray[np.int32], words: int) -> NDArray[np.int32]: ...
def parents(contexts: NDArray[np.int32], rows: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]: ...
