import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

def word_hash(word: bytes) -> int: ...
def word_hashes(blob: Buffer, starts: NDArray[np.int64]) -> NDArray[np.uint32]: ...
def of_words(
    blob: Buffer, starts: NDArray[np.int64], minn: int, maxn: int, buckets: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
def ngrams(word: bytes, minn: int, maxn: int, buckets: int) -> list[tuple[bytes, int]]: ...
def line_ngrams(hashes: NDArray[np.uint32], n: int, buckets: int) -> NDArray[np.int32]: ...
def mean_rows(
    matrix: NDArray[np.uint8], starts: NDArray[np.int64], rows: NDArray[np.int64] | None, out: NDArray[np.float32]
) -> None: ...
def weighted_means(
    matrix: NDArray[np.uint8],
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    weights: NDArray[np.float32] | None,
    out: NDArray[np.float64],
) -> None: ...
def spread_rows(
    values: NDArray[np.float32],
    kept: NDArray[np.int64],
    source: NDArray[np.int32] | None,
    first: int,
    out: NDArray[np.float32],
) -> None: ...
def read_table(
    data: Buffer, start: int, entries: int
) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64], NDArray[np.int8], int]: ...
def write_table(
    blob: Buffer, starts: NDArray[np.int64], counts: NDArray[np.int64], type: int, first: int, last: int
) -> bytes: ...
