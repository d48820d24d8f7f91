import numpy as np
from numpy.typing import NDArray

PADDING: int
BINARY_WORD_LIMIT: int
STOP_NONE: int
STOP_BAD_ROW: int
STOP_NOT_FINITE: int
STOP_PARTIAL: int
STOP_LONG_WORD: int

def parse_float(text: bytes) -> float | None: ...
def read_rows(
    buffer: bytearray | memoryview,
    start: int,
    end: int,
    matrix: NDArray[np.float32],
    lengths: NDArray[np.int64],
    binary: bool,
    dim_is_known: bool = False,
) -> tuple[int, int, int, int]: ...
def find_rows(
    data: memoryview,
    dim: int,
    offsets: NDArray[np.int64],
    words: NDArray[np.uint8],
    lengths: NDArray[np.int64],
) -> tuple[int, int, int, int]: ...
def row_capacity(dim: int) -> int: ...
def format_rows(
    matrix: NDArray[np.float32],
    blob: bytes,
    starts: NDArray[np.int64],
    first: int,
    last: int,
    decimals: int,
    trailing_space: bool,
    out: bytearray | memoryview,
) -> int: ...
def pack_rows(
    matrix: NDArray[np.float32],
    blob: bytes,
    starts: NDArray[np.int64],
    first: int,
    last: int,
    out: bytearray | memoryview,
) -> int: ...
def format_float(value: float, decimals: int) -> bytes: ...
def first_not_finite(matrix: NDArray[np.float32]) -> tuple[int, int] | None: ...
def first_unwritable(blob: bytes, starts: NDArray[np.int64]) -> int: ...
def count_lines(buffer: bytes | bytearray | memoryview, start: int, end: int) -> int: ...
def count_fields(text: bytes) -> int: ...
