import numpy as np
from numpy.typing import NDArray

from wv_cli import _training

class Rules:
    bucket_row: NDArray[np.int32] | None
    ngram_rows: NDArray[np.int32] | None
    def __init__(
        self,
        *,
        ids: int,
        words: int,
        end_of_line: int,
        word_rows: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None,
        hashes: NDArray[np.int32] | None = None,
        word_ngrams: int = 1,
        bucket_row: NDArray[np.int32] | None = None,
        labels: int = 0,
        line_weights: NDArray[np.float32] | None = None,
    ) -> None: ...
    def survey(
        self,
        ids: NDArray[np.int32],
        next_row: int,
        isa: str | None = None,
        *,
        ngram_rows: NDArray[np.int32] | None = None,
    ) -> dict[str, int]: ...

class Run(_training.Run):
    def __init__(
        self,
        options: object,
        *,
        rules: Rules,
        survey: dict[str, int],
        ids: NDArray[np.int32],
        input: NDArray[np.float32],
        output: NDArray[np.float32],
        labels: int,
        sampler: NDArray[np.uint32] | None = None,
        path: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]] | None = None,
        class_weights: NDArray[np.float32] | None = None,
        isa: str | None = None,
    ) -> None: ...
    def worker(self, private: object = None) -> Worker: ...

class Worker(_training.Worker):
    def __init__(self, run: Run, private: object) -> None: ...
    def flush(self) -> None: ...
