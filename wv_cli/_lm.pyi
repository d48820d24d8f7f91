from typing import Self, final

import numpy as np
from numpy.typing import NDArray

LARGEST_ORDER: int
NO_NODE: int

@final
class Windows:
    first_words: NDArray[np.int64]
    def __init__(self, stream: NDArray[np.int32], order: int, words: int) -> None: ...
    def sort(self, low: int, high: int) -> tuple[int, int]: ...
    def take(self, at: int, end: int, records: NDArray[np.int32]) -> tuple[int, int]: ...

def merge(
    order: int,
    records: NDArray[np.int32],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    more: NDArray[np.uint8],
    pending: NDArray[np.int32],
    out: NDArray[np.int32],
) -> int: ...

@final
class Builder:
    def __new__(cls, order: int) -> Self: ...
    def add(self, records: NDArray[np.int32]) -> None: ...
    def held(self, length: int) -> int: ...
    def take(self, length: int, finished: bool) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]: ...

def count_ids(ids: NDArray[np.int32], base: int, counts: NDArray[np.int64]) -> None: ...

@final
class Links:
    def __init__(
        self,
        levels: NDArray[np.int64],
        word: NDArray[np.int32],
        first: NDArray[np.int32],
        suffix: NDArray[np.int32],
        linked: bool,
    ) -> None: ...
    def check(self, end: int) -> None: ...
    def fill(self, length: int, begin: int, end: int) -> int: ...
    def below(
        self, prob: NDArray[np.float32], backoff: NDArray[np.float32], length: int, begin: int, end: int
    ) -> NDArray[np.float32]: ...
