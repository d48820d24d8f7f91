from typing import Any

import numpy as np
from numpy.typing import NDArray

def alias_table(weights: Any) -> NDArray[np.uint32]: ...
def huffman(counts: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]: ...
def block_starts(ids: NDArray[np.int32], target: int, max_sentence: int) -> NDArray[np.int64]: ...
def subword_rows(
    starts: NDArray[np.int64], buckets: NDArray[np.int32], table_size: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...

class Run:
    length: int
    def __init__(
        self,
        *,
        ids: NDArray[np.int32],
        input: NDArray[np.float32],
        output: NDArray[np.float32],
        dim: int,
        context: str,
        layer: str,
        window: int,
        shrink_window: bool,
        negative: int,
        share_negatives: bool,
        max_sentence: int,
        cbow_mean: bool,
        cbow_divide_gradient: bool,
        lr: float,
        lr_floor: float,
        epochs: int,
        seed: int,
        keep: NDArray[np.uint32] | None = None,
        sampler: NDArray[np.uint32] | None = None,
        log_noise: NDArray[np.float32] | None = None,
        output_bias: NDArray[np.float32] | None = None,
        path: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]] | None = None,
        subwords: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None,
        isa: str | None = None,
    ) -> None: ...
    def worker(self, hot_rows: int = 0) -> Worker: ...

class Worker:
    def __init__(self, run: Run, hot_rows: int) -> None: ...
    def block(self, start: int, end: int, epoch: int) -> tuple[float, int, int, float]: ...
