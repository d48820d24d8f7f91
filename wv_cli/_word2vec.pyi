import numpy as np
from numpy.typing import ArrayLike, NDArray

from wv_cli import _training

def fill_uniform(
    random: np.random.Generator, matrix: NDArray[np.float32], dim: int, *, factor: float = 1.0, divisor: float = 1.0
) -> None: ...
def alias_table(weights: ArrayLike) -> NDArray[np.uint32]: ...
def huffman(counts: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]: ...
def block_starts(ids: NDArray[np.int32], target: int, max_sentence: int) -> NDArray[np.int64]: ...
def subword_rows(
    starts: NDArray[np.int64], buckets: NDArray[np.int32], table_size: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...

class Run(_training.Run):
    def __init__(
        self,
        options: object,
        *,
        ids: NDArray[np.int32],
        input: NDArray[np.float32],
        output: NDArray[np.float32],
        keep: NDArray[np.uint32] | None = None,
        sampler: NDArray[np.uint32] | None = None,
        log_noise: NDArray[np.float32] | None = None,
        output_bias: NDArray[np.float32] | None = None,
        path: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]] | None = None,
        subwords: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None,
        isa: str | None = None,
    ) -> None: ...
    def worker(self, hot: object = None) -> Worker: ...

class Worker(_training.Worker):
    def __init__(self, run: Run, hot: object) -> None: ...
    def flush(self) -> None: ...
