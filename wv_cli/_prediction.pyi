import numpy as np
from numpy.typing import NDArray

class RowsRead: ...

class LineReader:
    def __init__(
        self,
        words: tuple[bytes, NDArray[np.int64]],
        labels: tuple[bytes, NDArray[np.int64]],
        *,
        minn: int,
        maxn: int,
        word_ngrams: int,
        buckets: int,
        bucket_row: NDArray[np.int32] | None,
        prefix: bytes,
    ) -> None: ...
    def read(
        self, text: bytes | memoryview, bare_end: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...

class Answers:
    labels: NDArray[np.int32]
    scores: NDArray[np.float32]
    found: NDArray[np.int32]
    def __init__(self, labels: NDArray[np.int32], scores: NDArray[np.float32], found: NDArray[np.int32]) -> None: ...
    def lines(self, blob: bytes, starts: NDArray[np.int64], prob: bool) -> memoryview: ...

class Predictor:
    def __init__(
        self,
        options: object,
        input: NDArray[np.uint8],
        output: NDArray[np.float32],
        *,
        dim: int,
        labels: int,
        sigmoid: NDArray[np.float32],
        tree: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None,
        isa: str | None = None,
        quantizer: tuple[int, NDArray[np.float32]] | None = None,
        norms: tuple[NDArray[np.uint8], NDArray[np.float32]] | None = None,
    ) -> None: ...
    def predict(
        self,
        starts: NDArray[np.int64],
        rows: NDArray[np.int32],
        k: int,
        threshold: float,
        input: NDArray[np.uint8] | None = None,
    ) -> Answers: ...

class LongLine:
    rows: int
    labels: list[int]
    seen: list[int]
    def __init__(self, reader: LineReader, predictor: Predictor) -> None: ...
    def add(self, text: bytes | memoryview, last: bool = False, bare_end: bool = False) -> None: ...
    def mean(self) -> NDArray[np.uint8]: ...
